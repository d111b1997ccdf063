"""The report directory: ``report.json`` and ``claims.jsonl`` (DESIGN 3), all that renderers and judges read."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agents.reporting.model import Report, Sentence, walk
from agents.reporting.records import FORMAT, ClaimRecord, FormatRecord, ReportRecord, claim_records, report_record
from kg.errors import InputError
from kg.places import fault_of_directory
from kg.targets import replace_files

REPORT_FILE = "report.json"
CLAIMS_FILE = "claims.jsonl"
_Record = TypeVar("_Record", bound=BaseModel)


def write_report(report: Report, directory: str | os.PathLike[str]) -> None:
    """Write ``report`` into ``directory`` (made if need be); equal reports give the same bytes.

    Each file is replaced whole; a kill between the two leaves a pair that ``read_report`` refuses rather than mixes.
    Raises ``InputError`` if the directory cannot be written, or is inside a graph.
    """
    replace_files(stored_files(report, Path(directory)))


def stored_files(report: Report, folder: Path) -> dict[Path, bytes]:
    """What ``write_report`` writes, by path."""
    claims = "".join(_json(record) + "\n" for record in claim_records(report)).encode("utf-8")
    record = report_record(report, hashlib.sha256(claims).hexdigest())
    stored = (_json(record, indent=1) + "\n").encode("utf-8")
    return {folder / CLAIMS_FILE: claims, folder / REPORT_FILE: stored}


def read_report(directory: str | os.PathLike[str]) -> Report:
    """The report that ``write_report`` stored. Raises ``InputError`` naming the file (and line) that cannot be used."""
    folder = Path(directory)
    if folder.name == REPORT_FILE and folder.is_file():  # the file instead of its directory
        folder = folder.parent
    report_path, claims_path = folder / REPORT_FILE, folder / CLAIMS_FILE
    content, claims = _read(report_path), _read(claims_path)
    found = _parse(FormatRecord, content, str(report_path)).format
    if not 1 <= found <= FORMAT:
        raise InputError(
            f"{report_path} has format {found}, this version reads 1 to {FORMAT}; use the one that wrote it"
        )
    record = _parse(ReportRecord, content, str(report_path))
    lines = _parse_claims(claims, claims_path)
    if record.claims_sha256 not in (None, hashlib.sha256(claims).hexdigest()):
        raise InputError(f"{claims_path} is not the one that {report_path} was written with; write the report again")
    try:
        report = record.report({sentence.sentence_id: sentence for _, sentence in lines})
    except KeyError as error:
        raise InputError(f"{claims_path} lacks sentence {error.args[0]} of {report_path}; write both again") from None
    except InputError as error:
        raise InputError(f"{report_path} cannot be used: {error}") from None
    _check_paths(report, [line for line, _ in lines], claims_path)
    return report


def check_directory(directory: str | os.PathLike[str]) -> None:
    """Raise ``InputError`` if a report could not be written there, before any work is done for it."""
    if fault := fault_of_directory(Path(directory)):
        raise InputError(f"no report can be written there: {directory} {fault}; choose another directory")


def write_atomically(path: Path, content: bytes) -> None:
    """Replace ``path`` by ``content`` so that a kill leaves the old file or the new; makes its directory.

    Raises ``InputError`` naming the path if that fails (``kg.targets``).
    """
    replace_files({path: content})


def _json(record: BaseModel, indent: int | None = None) -> str:
    text = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, indent=indent)
    # Legal in JSON, but many tools take them for line ends.
    return text.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name the directory of a report") from None


def _parse_claims(content: bytes, path: Path) -> list[tuple[ClaimRecord, Sentence]]:
    """Lines in file order; ``content`` may be empty, as a report may say nothing."""
    claims: dict[str, tuple[ClaimRecord, Sentence]] = {}
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    for number, line in enumerate(lines, start=1):
        place = f"{path} line {number}"
        record = _parse(ClaimRecord, line, place)
        if record.sentence_id in claims:
            raise InputError(f"{place} repeats the sentence id {record.sentence_id}; give each line its own")
        try:
            claims[record.sentence_id] = record, record.sentence()
        except InputError as error:
            raise InputError(f"{place} cannot be used: {error}") from None
    return list(claims.values())


def _parse(record: type[_Record], content: bytes, place: str) -> _Record:
    try:
        return record.model_validate_json(content, strict=True)
    except InputError as error:
        raise InputError(f"{place} cannot be used: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        if "recursion limit" in first["msg"]:
            raise InputError(f"{place} holds sections within sections beyond what can be read; nest fewer") from None
        raise InputError(
            f"{place} is damaged ({where + ': ' if where else ''}{first['msg']}); write the report again"
        ) from None


def _check_paths(report: Report, lines: list[ClaimRecord], path: Path) -> None:
    """The claims say for themselves, in ``section_path``, where they stand; the tree must agree."""
    places = {sentence.sentence_id: headings for headings, sentence in walk(report.sections)}
    for number, line in enumerate(lines, start=1):
        if places.get(line.sentence_id) != line.section_path:
            raise InputError(
                f"{path} line {number} puts sentence {line.sentence_id} where {REPORT_FILE} does not; write both again"
            )
