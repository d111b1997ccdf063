"""Sections whose names people marked: what extractors are measured on (``scripts.bench_extraction``).

Names are kept in their normal form (``kg.names.name_form``), so that spelling never decides.
"""

from __future__ import annotations

import json
import re
import reprlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from kg.errors import InputError
from kg.mentions import surface_form
from kg.records import Section, encode_id
from kg.sectioning import SectioningConfig, split_spans

LONGEST_NAME = 5
"""Words of the longest intervention, comparison or outcome that counts as a name rather than as a description."""

_SCIREX = {"doc_id": str, "words": list, "sections": list, "sentences": list, "ner": list, "coref": dict}
_CLOSING = re.compile(r"^[,.;:?!%)\]}’”]|^['’]s$|^n['’]t$")
_CITATION = frozenset("[ ] ][ , ; -".split())
_BRACKETS = frozenset("[ ][ ]".split())


@dataclass(frozen=True)
class Labelled:
    """A section; ``salient``: the forms by which it names each salient entity; ``mentions``: forms of all it names."""

    section: Section
    salient: tuple[frozenset[str], ...]
    mentions: frozenset[str]


def read_scirex(folder: Path) -> list[Labelled]:
    """Sections of the papers of SciREX (one JSON each), divided as a graph divides them; bibliographies left out.

    Raises:
        InputError: as ``scirex_papers``.
    """
    return [labelled for paper in scirex_papers(folder) for labelled in scirex_sections(paper)]


def scirex_papers(folder: Path) -> Iterator[dict[str, Any]]:
    """The papers of SciREX, one JSON each, by file name: ``doc_id``, ``words``, and, as [start, end) of the words,
    ``sections``, ``sentences``, ``ner`` (each name in one section, its kind after the end) and ``coref`` (by entity).

    What people marked is only worth something as a whole, so that nothing of a paper is passed over.

    Raises:
        InputError: the folder holds no paper; a file that is none; two of one id. The sentence names file and field.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputError(f"{folder} holds no papers of SciREX (*.json); name the folder that does.")
    places: dict[str, Path] = {}
    for path in paths:
        paper = _scirex_paper(path)
        if (first := places.setdefault(encode_id(paper["doc_id"]), path)) != path:
            raise InputError(f"{path}: field doc_id is that of {first} too; ids of papers must differ.")
        yield paper


def _scirex_paper(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():  # a pipe would be waited for
            raise InputError(f"{path} is no file; each paper of SciREX is one.")
        paper = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); restore the file.") from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{path} is not JSON in UTF-8 ({reason}); restore the file.") from error
    if fault := _fault_of_paper(paper):
        raise InputError(f"{path}: {fault}; restore the file.")
    return paper


def _fault_of_paper(paper: Any) -> str:
    """What is wrong with a paper of SciREX, as the middle of a sentence; else ""."""
    if not isinstance(paper, dict):
        return f"a {type(paper).__name__} and no object"
    for name, kind in _SCIREX.items():
        if not isinstance(paper.get(name), kind):
            given = f"is a {type(paper[name]).__name__}" if name in paper else "is missing"
            return f"field {name} {given}, where a {kind.__name__} is expected"
    if not paper["doc_id"].strip():
        return "field doc_id is empty"
    if not all(isinstance(word, str) for word in paper["words"]):
        return "field words holds something else than strings"
    if not all(isinstance(own, list) for own in paper["coref"].values()):
        return "field coref holds something else than lists of [start, end]"
    length = len(paper["words"])
    for name, fields in (("sections", 2), ("sentences", 2), ("ner", 3), ("coref", 2)):
        for span in chain.from_iterable(paper[name].values()) if name == "coref" else paper[name]:
            if not _is_span(span, fields, length, name != "sentences"):
                form = "[start, end]" if fields == 2 else "[start, end, kind]"
                return f"field {name} holds {reprlib.repr(span)}, which is no {form} of the {length:,} words"
    sections = sorted(paper["sections"])
    for one, other in pairwise(sections):
        if other[0] < one[1]:
            return f"field sections holds {one} and {other}, which overlap"
    starts = [start for start, _ in sections]
    for start, end, kind in paper["ner"]:
        at = bisect_right(starts, start) - 1
        if at < 0 or end > sections[at][1]:
            return f"field ner holds {reprlib.repr([start, end, kind])}, which lies in no section"
    return ""


def _is_span(span: Any, fields: int, length: int, filled: bool) -> bool:
    """Whether it is a list of ``fields``, the first two the start and end of words, of one or more if ``filled``."""
    if not isinstance(span, list) or len(span) != fields or any(type(place) is not int for place in span[:2]):
        return False
    return bool(0 <= span[0] <= span[1] - filled and span[1] <= length)


def scirex_sections(paper: dict[str, Any]) -> list[Labelled]:
    """Sections of one SciREX paper; the first sentence of each names its kind and its heading ("section : Results")."""
    words: list[str] = paper["words"]
    sentence_end = dict(paper["sentences"])
    entities, mentions = list(paper["coref"].values()), [span[:2] for span in paper["ner"]]
    found: list[Labelled] = []
    for start, end in paper["sections"]:
        kind, body = words[start], min(sentence_end.get(start, start), end)
        named = start + 2 if words[start + 1 : start + 2] == [":"] else start
        text, places = join_words(words, body, end)
        if kind == "bibliography" or not text.strip():
            continue
        heading = join_words(words, named, body)[0]
        for number, (left, right) in enumerate(split_spans(text, SectioningConfig())):
            inside = [word for word, (a, b) in places.items() if left <= a and b <= right]
            ranges = [(min(inside), max(inside) + 1)]
            title = heading if kind == "document" and number == 0 else ""
            if kind != "document" or title:
                ranges.append((named, body))
            section = Section(
                f"{paper['doc_id']}#{len(found)}",
                paper["doc_id"],
                "" if kind == "document" else heading,
                text[left:right],
                title,
            )
            salient = tuple(filter(None, (_forms(words, spans, ranges) for spans in entities)))
            found.append(Labelled(section, salient, _forms(words, mentions, ranges).union(*salient)))
    return found


def join_words(words: Sequence[str], start: int, end: int) -> tuple[str, dict[int, tuple[int, int]]]:
    """Running text of the tokens [start, end), and the characters of it that each token is.

    Tokens that only say that a citation was there ("[ reference ]") are left out.
    """
    pieces: list[str] = []
    places: dict[int, tuple[int, int]] = {}
    length, glued = 0, True
    for number in range(start, end):
        word = words[number]
        before = words[number - 1] if number > start else ""
        after = words[number + 1] if number + 1 < end else ""
        cited = word == "reference" and before in _CITATION and after in _CITATION
        if cited or (word in _BRACKETS and "reference" in (before, after)):
            continue
        hyphen = word in "-/" and bool(pieces) and before[-1:].isalnum() and after[:1].isalnum()
        if not (glued or hyphen or _CLOSING.match(word)):
            pieces.append(" ")
            length += 1
        places[number] = (length, length + len(word))
        pieces.append(word)
        length += len(word)
        glued = hyphen or word in "([{“"
    return "".join(pieces), places


def _forms(words: Sequence[str], spans: Iterable[Sequence[int]], ranges: Sequence[tuple[int, int]]) -> frozenset[str]:
    own = [(a, b) for a, b in spans if any(start <= a and b <= end for start, end in ranges)]
    return frozenset(filter(None, (surface_form(join_words(words, a, b)[0]) for a, b in own)))


def read_trials(folder: Path, split: str) -> list[Labelled]:
    """Abstracts of trials in the layout of BEIR whose questions name an intervention, a comparison and an outcome.

    Names of at most ``LONGEST_NAME`` words that stand in the abstract or its title are its salient entities, and all
    that is marked. Raises ``InputError`` if none are there.
    """
    salient: dict[str, set[str]] = {}
    try:
        asked = {row["_id"]: row["metadata"] for row in _rows(folder / "queries.jsonl")}
        for line in (folder / "qrels" / f"{split}.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            query, document, _ = line.split("\t")
            names = (surface_form(asked[query][part]) for part in ("intervention", "comparison", "outcome"))
            salient.setdefault(document, set()).update(n for n in names if n and len(n.split()) <= LONGEST_NAME)
        rows = [row for row in _rows(folder / "corpus.jsonl") if row["_id"] in salient]
    except (FileNotFoundError, KeyError) as error:
        raise InputError(f"{folder} does not hold questions on trials ({error}); name the folder that does.") from error
    found = []
    for row in rows:
        section = Section(f"{row['_id']}#0", row["_id"], "", row["text"], row["title"])
        text = f" {surface_form(section.full_text())} "
        standing = sorted(name for name in salient[row["_id"]] if f" {name} " in text)
        found.append(Labelled(section, tuple(frozenset({name}) for name in standing), frozenset(standing)))
    return found


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
