"""Boards that entity resolution is measured on: mentions with the thing each is of, and pairs of names and variants.

- a table of mentions (CSV, UTF-8): columns ``mention,name,type,context,cluster``, others allowed, ``kind`` used;
- SciREX: the names of entities that people linked within and across 187 papers of machine learning;
- itext2kg_er: lists of concepts and their variants.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kg.errors import InputError
from kg.names import name_form, name_key
from kg.records import clean_text, encode_id
from scripts.labelled_sections import join_words, scirex_papers

COLUMNS = ("mention", "name", "type", "context", "cluster")
NEGATIVES = ("random", "word", "hard")
"""Kinds of pairs from different concepts: drawn, those that share a word, and each name with the nearest other one."""

RANDOM_NEGATIVES = 20_000
Pair = tuple[str, str]


class Mention(NamedTuple):
    """``type``, ``context`` and ``kind`` (what is hard about it) may be empty."""

    mention: str
    name: str
    type: str
    context: str
    cluster: str
    kind: str = ""


@dataclass(frozen=True)
class Board:
    """``left_out``: names that no gold partition can hold, since people marked them as several things."""

    name: str
    mentions: tuple[Mention, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Variants:
    """Pairs of a concept and a variant, and ``NEGATIVES``, of one half of the concepts."""

    variants: list[Pair]
    random: list[Pair]
    word: list[Pair]
    hard: list[Pair]


def read_mentions(path: Path) -> Board:
    """The board of a CSV file.

    Raises:
        InputError: names the file and, for what is wrong within it, the line that the row begins on and the column.
    """
    seen: dict[str, int] = {}
    found = []
    for line, row in _rows(path):
        place = f"{path}, line {line}"
        for column, value in row.items():
            if any("\ud800" <= ch <= "\udfff" for ch in value):
                raise InputError(f"{place}: {column} is not UTF-8; save the file in that encoding.")
        for column in ("mention", "name", "cluster"):
            # A name of format characters alone is as empty as one of spaces.
            if not row[column].strip() or (column == "name" and not name_form(row[column])):
                raise InputError(f"{place}: {column} is empty; every mention needs one.")
        if (first := seen.setdefault(row["mention"], line)) != line:
            raise InputError(
                f"{place}: mention {row['mention']!r} stands in line {first} too; give each an id of its own."
            )
        found.append(Mention(**{column: row[column] for column in Mention._fields if column in row}))
    if not found:
        raise InputError(f"{path} holds no mention, only a head; add a row for each.")
    return Board(path.name, tuple(found))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows by column, each with the line it begins on; bytes that are no UTF-8 as lone surrogates."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise InputError(f"{path} is no file; name a CSV file of mentions.")
    line = 1
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, strict=True)
            head = next(reader, [])
            _check_head(path, head)
            line = reader.line_num + 1
            for row in reader:
                if row and len(row) != len(head):
                    raise InputError(
                        f"{path}, line {line}: {len(row)} fields under {len(head)} columns; quote fields with commas."
                    )
                if row:
                    yield line, dict(zip(head, row, strict=True))
                line = reader.line_num + 1
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); name a CSV file of mentions.") from error
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: no row of CSV ({error}); mend it.") from error


def _check_head(path: Path, head: list[str]) -> None:
    if any("\ud800" <= ch <= "\udfff" or ch == "\0" for ch in "".join(head)):
        raise InputError(f"{path}, line 1: the head is not UTF-8; save the file in that encoding.")
    if missing := [column for column in COLUMNS if column not in head]:
        raise InputError(f"{path}, line 1: the column {missing[0]} is missing; the head needs {', '.join(COLUMNS)}.")
    if twice := [column for column, times in Counter(head).items() if times > 1]:
        raise InputError(f"{path}, line 1: the column {twice[0]} stands there twice; leave one.")


def read_scirex_mentions(folder: Path) -> Board:
    """One mention per name and paper, of the names that people linked to an entity; names differ as strings.

    The gold cluster is the entity's canonical name, [a-z0-9] of it in lower case; the type is the kind most often
    marked, the context the sentence that the name first stands in. A name that a paper links to several entities is
    counted as left out.

    Raises:
        InputError: as ``scirex_papers``; no name is linked.
    """
    found: list[Mention] = []
    left_out = 0
    for paper in scirex_papers(folder):
        for name, spans in _linked_names(paper).items():
            entities = sorted({entity for entity, _, _ in spans})
            if len(entities) > 1:
                left_out += 1
                continue
            found.append(_mention(paper, name, entities[0], [(start, end) for _, start, end in spans]))
    if not found:
        raise InputError(f"{folder}: no paper links a name to an entity (field coref); name the folder of SciREX.")
    return Board("SciREX", tuple(found), left_out)


def _linked_names(paper: dict[str, Any]) -> dict[str, list[tuple[str, int, int]]]:
    """Name -> (entity, start, end) of where it is linked."""
    from training.name_pairs import entity_key  # loads what fits scorers

    names: dict[str, list[tuple[str, int, int]]] = {}
    for canonical, spans in paper["coref"].items():
        entity = entity_key(canonical)
        for start, end in spans:
            if name := clean_text(join_words(paper["words"], start, end)[0]):
                names.setdefault(name, []).append((entity, start, end))
    return names


def _mention(paper: dict[str, Any], name: str, entity: str, spans: list[tuple[int, int]]) -> Mention:
    marked = {(start, end): kind for start, end, kind in paper["ner"]}
    kinds = Counter(marked[span] for span in spans if span in marked)
    first = min(spans)[0]
    sentence = next((span for span in paper["sentences"] if span[0] <= first < span[1]), (0, 0))
    return Mention(
        f"{encode_id(paper['doc_id'])}/{name}",
        name,
        min(kinds, key=lambda kind: (-kinds[kind], kind), default=""),
        clean_text(join_words(paper["words"], *sentence)[0]),
        entity,
    )


def read_concepts(folder: Path) -> dict[str, set[str]]:
    """Concept -> variants; a concept that occurs in several lists of itext2kg_er keeps all its variants.

    Raises:
        InputError: the folder holds no list.
    """
    import openpyxl

    concepts: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*Concept*.xlsx")):
        workbook = openpyxl.load_workbook(path, read_only=True)
        for concept, variant in workbook.worksheets[0].iter_rows(min_row=2, values_only=True):
            concepts.setdefault(str(concept), set()).add(str(variant))
    if not concepts:
        raise InputError(f"{folder} holds no list of concepts (*Concept*.xlsx); name the folder itext2kg_er.")
    return concepts


def split_concepts(
    concepts: dict[str, set[str]], cosines: np.ndarray, names: list[str], seed: int
) -> tuple[Variants, Variants]:
    """Two halves of the concepts; negatives never join a half with the other. ``cosines`` [n, n] of ``names``."""
    rng = random.Random(seed)
    order = sorted(concepts)
    rng.shuffle(order)
    together: dict[str, set[str]] = {}
    for concept, variants in concepts.items():
        for name in (concept, *variants):
            together.setdefault(name_key(name), set()).update(map(name_key, (concept, *variants)))
    number = {name: i for i, name in enumerate(names)}

    def apart(a: str, b: str) -> bool:
        return name_key(b) not in together[name_key(a)]

    def half(own_concepts: list[str]) -> Variants:
        own = sorted({name for concept in own_concepts for name in (concept, *concepts[concept])})
        drawn: list[Pair] = []
        while len(drawn) < RANDOM_NEGATIVES:
            a, b = rng.sample(own, 2)
            if apart(a, b):
                drawn.append((a, b))
        columns = [number[name] for name in own]
        hard: list[Pair] = []
        for name in own:
            nearest = (own[i] for i in np.argsort(-cosines[number[name], columns], kind="stable"))
            hard += [(name, other) for other in nearest if apart(name, other)][:1]
        words = {name: set(name_form(name).split()) for name in own}
        word = [(a, b) for a, b in combinations(own, 2) if words[a] & words[b] and apart(a, b)]
        return Variants([(c, v) for c in own_concepts for v in sorted(concepts[c])], drawn, word, hard)

    return half(order[::2]), half(order[1::2])
