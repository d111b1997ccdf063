"""Turn a question answering set in HippoRAG's layout into a BEIR folder.

    python scripts/hipporag_folder.py QUESTIONS.json CORPUS.json --out DIR
    evigraph build GRAPH DIR --triples openie.json
    python scripts/evaluate_retrieval.py DIR --graph GRAPH --out RESULTS

QUESTIONS.json lists ``{"id", "question", "answer", "paragraphs": [{"title", "text" or "paragraph_text",
"is_supporting"}]}``, CORPUS.json lists ``{"title", "text"}`` (Gutiérrez et al. 2024). Relevant to a question are the
passages of the corpus that are its supporting paragraphs, word for word. Exit code 1 if anything was left out.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from kg.errors import InputError
from kg.openie import words_of
from kg.places import fault_of_directory
from kg.records import clean_text, content_hash
from kg.targets import replace_files
from scripts.console import out, say
from scripts.entry import run_script

NAME = "hipporag_folder.py"
SHOWN = 20
"""Rows that are named before "and n more"."""
_HOPS = re.compile(r"([0-9]{1,2})hop")
_HASH = 8


@dataclass(frozen=True)
class Arguments:
    """Turn a question answering set in HippoRAG's layout into a BEIR folder: corpus, queries, judgements (split dev).

    `evigraph build GRAPH DIR --triples openie.json` makes its graph, scripts/evaluate_retrieval.py measures on it.
    """

    questions: Annotated[
        Path,
        tyro.conf.Positional,
        tyro.conf.arg(metavar="QUESTIONS.json", help="Questions with their supporting paragraphs."),
    ]
    corpus: Annotated[
        Path, tyro.conf.Positional, tyro.conf.arg(metavar="CORPUS.json", help="Passages: title and text.")
    ]
    out: Annotated[Path, tyro.conf.arg(metavar="DIR", help="New folder, or one that holds the same already.")]


@dataclass
class BeirFolder:
    """What is written, and what could not be: ``malformed`` rows, supporting paragraphs that are ``absent`` from the
    corpus, ``repeated`` passages (which stand once), each by name."""

    corpus: list[dict[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)
    judged: list[tuple[str, str]] = field(default_factory=list)
    """(query id, passage id) of each relevant passage."""
    malformed: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)

    def files(self) -> dict[str, bytes]:
        """Names in the folder and what the files hold."""
        rows = "".join(f"{query}\t{passage}\t1\n" for query, passage in self.judged)
        return {
            "corpus.jsonl": _lines(self.corpus),
            "queries.jsonl": _lines(self.queries),
            "qrels/dev.tsv": f"query-id\tcorpus-id\tscore\n{rows}".encode(),
        }


def convert(questions: Sequence[object], passages: Sequence[object]) -> BeirFolder:
    """The folder of a set, in the order of its lists.

    Raises:
        InputError: no passage or no question that could be used.
    """
    folder = BeirFolder()
    id_of = _add_passages(folder, passages)
    _add_questions(folder, questions, id_of)
    for what, rows in (("passage", folder.corpus), ("question", folder.queries)):
        if not rows:
            raise InputError(
                f"There is no {what} that could be used; {'; '.join(folder.malformed[:3]) or 'the list is empty'}."
            )
    if not folder.judged:
        raise InputError("No question has a supporting paragraph in the corpus; give the corpus that belongs to them.")
    return folder


def passage_ids(passages: Sequence[tuple[str, str]]) -> list[str]:
    """Ids of distinct (title, text): the title with underscores for spaces and per cent signs, which ids keep as they
    are, and, where several passages would be called the same, the beginning of the content's SHA-256."""
    names = [_readable(title) for title, _ in passages]
    times = Counter(names)
    ids = [
        name if name and times[name] == 1 else f"{name or 'untitled'}-{content_hash(*passage)[:_HASH]}"
        for name, passage in zip(names, passages, strict=True)
    ]
    if twice := [name for name, count in Counter(ids).items() if count > 1]:
        raise InputError(f"Two passages would have the id {twice[0]!r}; change the title of one.")
    return ids


def _add_passages(folder: BeirFolder, passages: Sequence[object]) -> dict[tuple[str, str], str]:
    """Fill the corpus; ids by the words of title and text."""
    kept: dict[tuple[str, str], tuple[str, str]] = {}
    for number, passage in enumerate(passages, 1):
        place = f"passage {number:,}"
        found = _title_and_text(passage, ("text",))
        if isinstance(found, str):
            folder.malformed.append(f"{place} {found}")
        elif (key := _key(*found)) in kept:
            folder.repeated.append(f"{place} ({found[0]})")
        else:
            kept[key] = found
    ids = passage_ids(list(kept.values()))
    for passage_id, (title, text) in zip(ids, kept.values(), strict=True):
        folder.corpus.append({"_id": passage_id, "title": title, "text": text})
    return dict(zip(kept, ids, strict=True))


def _add_questions(folder: BeirFolder, questions: Sequence[object], id_of: dict[tuple[str, str], str]) -> None:
    asked: set[str] = set()
    for number, question in enumerate(questions, 1):
        place = f"question {number:,}"
        if not isinstance(question, dict):
            folder.malformed.append(f"{place} is no object")
            continue
        query_id = _query_id(question.get("id"))
        text, paragraphs = question.get("question"), question.get("paragraphs")
        fault = ""
        if not query_id:
            fault = "has no id"
        elif query_id in asked:
            fault = f"repeats the id {query_id}"
        elif not isinstance(text, str) or not text.strip():
            fault = f"({query_id}) has no text"
        elif not isinstance(paragraphs, list):
            fault = f"({query_id}) has no list of paragraphs"
        if fault:
            folder.malformed.append(f"{place} {fault}")
            continue
        asked.add(query_id)
        folder.queries.append(
            {"_id": query_id, "text": clean_text(str(text)), "metadata": _metadata(query_id, question)}
        )
        _judge(folder, query_id, paragraphs or [], id_of)


def _judge(folder: BeirFolder, query_id: str, paragraphs: list[Any], id_of: dict[tuple[str, str], str]) -> None:
    relevant: dict[str, None] = {}
    for number, paragraph in enumerate(paragraphs, 1):
        place = f"paragraph {number:,} of question {query_id}"
        supports = paragraph.get("is_supporting") if isinstance(paragraph, dict) else None
        if not isinstance(supports, bool):
            folder.malformed.append(f"{place} does not say whether it is_supporting")
            continue
        if not supports:
            continue
        found = _title_and_text(paragraph, ("paragraph_text", "text"))
        if isinstance(found, str):
            folder.malformed.append(f"{place} {found}")
        elif (passage_id := id_of.get(_key(*found))) is None:
            folder.absent.append(f"{found[0]!r} of question {query_id}")
        else:
            relevant[passage_id] = None
    folder.judged.extend((query_id, passage_id) for passage_id in relevant)


def _metadata(query_id: str, question: dict[str, Any]) -> dict[str, Any]:
    """Answer, as given, and the number of hops where the id begins with it."""
    made: dict[str, Any] = {"answer": question["answer"]} if "answer" in question else {}
    if hops := _HOPS.match(query_id):
        made["hops"] = int(hops[1])
    return made


def _title_and_text(row: object, names: Sequence[str]) -> tuple[str, str] | str:
    """Clean title and text, the latter under one of ``names``; or, as the end of a sentence, why there are none."""
    if not isinstance(row, dict):
        return "is no object"
    title, text = row.get("title"), next((row[name] for name in names if name in row), None)
    if not isinstance(title, str):
        return "has no title"
    if not isinstance(text, str) or not text.strip():
        return "has no text"
    return clean_text(title), clean_text(text)


def _query_id(given: object) -> str:
    return _readable(str(given)) if isinstance(given, str | int) and not isinstance(given, bool) else ""


def _readable(name: str) -> str:
    return "_".join(clean_text(name).replace("%", " ").split())


def _key(title: str, text: str) -> tuple[str, str]:
    return words_of(title), words_of(text)


def _lines(records: Sequence[dict[str, Any]]) -> bytes:
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return text.encode("utf-8", "backslashreplace")  # a lone surrogate then stands as JSON's own escape


def read_list(path: Path, form: str) -> list[Any]:
    """The list that a JSON file holds. Raises ``InputError``; ``form`` says what to give."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"), strict=False)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {form}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text (byte {error.start:,}); {form}.") from error
    except json.JSONDecodeError as error:
        where = f"{error.msg} at line {error.lineno:,}, column {error.colno:,}"
        raise InputError(f"{path} is not JSON ({where}); {form}.") from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path} is nested too deeply or holds a number of thousands of digits; {form}.") from error
    if not isinstance(content, list):
        raise InputError(f"{path} holds no list; {form}.")
    return content


def write_folder(folder: BeirFolder, place: Path) -> None:
    """Write the files; those of the same content, as a killed run may leave some, are no hindrance.

    Raises:
        InputError: ``place`` cannot be written, or holds anything else.
    """
    if fault := fault_of_directory(place):
        raise InputError(f"{place} {fault}; choose another place for --out.")
    files = folder.files()
    there = [path for path in sorted(place.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    for path in there:
        name = path.relative_to(place).as_posix()
        if name not in files or path.read_bytes() != files[name]:
            raise InputError(f"{place} holds {name}, which this set does not have so; choose a new folder for --out.")
    if len(there) < len(files):
        replace_files({place / name: content for name, content in files.items()})


def run(arguments: Arguments) -> int:
    """Exit 1 when something was left out."""
    questions = read_list(arguments.questions, 'give the questions of HippoRAG, [{"question": ...}, ...]')
    passages = read_list(arguments.corpus, 'give the corpus of HippoRAG, [{"title": ..., "text": ...}, ...]')
    folder = convert(questions, passages)
    write_folder(folder, arguments.out)
    without = len(folder.queries) - len({query for query, _ in folder.judged})
    _tell("malformed and left out", folder.malformed)
    _tell("supporting and not in the corpus, so no judgement holds them", folder.absent)
    _tell("given twice and written once", folder.repeated)
    if without:
        say(f"{without:,} questions have no supporting passage, so they are in queries.jsonl alone.")
    out().print(
        f"{arguments.out}: {len(folder.corpus):,} passages, {len(folder.queries):,} questions, "
        f"{len(folder.judged):,} supporting passages"
    )
    return 1 if folder.malformed or folder.absent else 0


def _tell(what: str, entries: Sequence[str]) -> None:
    if entries:
        more = f"; and {len(entries) - SHOWN:,} more" if len(entries) > SHOWN else ""
        say(f"{len(entries):,} {what}: {'; '.join(entries[:SHOWN])}{more}.")


def main(argv: list[str] | None = None) -> int:
    """Parse, run, say errors in one sentence; returns the exit code."""
    return run_script(Arguments, run, NAME, "what is there is whole, and the same command writes the rest", argv)


if __name__ == "__main__":
    sys.exit(main())
