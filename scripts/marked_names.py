"""Names that people marked in SciREX, over the whole collection, and the entities that their uses speak of.

The names are those of the graph that ``scripts/marked_graph.py`` builds, before any are merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kg.assemble import Embed, context_vectors, word_count
from kg.errors import InputError
from kg.mentions import MentionTable, encode_extraction, read_mentions
from kg.merge import Names
from kg.names import name_key
from kg.papers import Paper, paper_tables, sorted_papers
from kg.records import encode_id
from kg.sectioning import SectioningConfig
from scripts.labelled_sections import join_words, scirex_papers
from scripts.marked_graph import MarkedNames, read_marked
from scripts.reports import read_sources
from training.name_pairs import entity_key


def read_marked_names(scirex: Path, folder: Path, embed: Embed) -> tuple[Names, list[Mapping[str, float]]]:
    """The names of the collection, and for each the entities that its linked uses speak of, with their shares of these
    uses: empty where none is linked.

    ``scirex`` holds the papers, one JSON each; ``folder`` their sections as documents ``paper#n``. Types are left out:
    one name is often marked as several kinds of thing.

    Raises:
        InputError: as ``scirex_papers``; the folder is no whole one, or holds sections of other papers.
    """
    marked = MarkedNames(read_marked(scirex))
    papers = sorted_papers(_read_sections(folder))
    sections = [section for paper in papers for section in paper.sections]
    vectors = embed([section.full_text() for section in sections])
    extractions = [encode_extraction(marked.extract(section)) for section in sections]
    documents = paper_tables(papers)[1]["document"].to_numpy()
    words = [word_count(section.text) for section in sections]
    table, assertions = read_mentions(extractions, documents, words, vectors)
    shares = _shares(scirex, table, [paper.document.doc_id for paper in papers])
    if not any(shares):
        raise InputError(f"{folder} holds no name that a paper in {scirex} links; name the sections of these papers.")
    held = table.sections_of_names()
    names = Names(
        types=[""] * len(table.names),
        surfaces=table.written(),
        vectors=embed(table.forms),
        contexts=context_vectors(held, vectors),
        sections=held,
        expansions=assertions.senses.expansions(),
    )
    return names, shares


def _read_sections(folder: Path) -> list[Paper]:
    documents, read = read_sources([folder], None)
    if read.rejected:
        raise InputError(f"{folder} can be read only in part ({read.rejected[0]}); weights need the whole of it.")
    return [Paper.of(document, SectioningConfig()) for document in documents]


def _shares(scirex: Path, table: MentionTable, documents: Sequence[str]) -> list[Mapping[str, float]]:
    number = {doc_id: row for row, doc_id in enumerate(documents)}
    keys = [name_key(surface) for surface in table.surfaces]
    name_of: dict[tuple[int, str], int] = {}
    for section, surface, name in zip(table.section, table.surface, table.name, strict=True):
        name_of.setdefault((int(table.section_document[section]), keys[surface]), int(name))
    uses = [Counter[str]() for _ in table.names]
    for paper in scirex_papers(scirex):
        for entity, spans in paper["coref"].items():
            for start, end in spans:
                document = number.get(_section_id(paper, start), -1)
                key = name_key(join_words(paper["words"], start, end)[0])
                if (document, key) in name_of:  # else the section is not in the folder, or the span no marked name
                    uses[name_of[document, key]][entity_key(entity)] += 1
    return [{entity: times / own.total() for entity, times in sorted(own.items())} for own in uses]


def _section_id(paper: dict[str, Any], word: int) -> str:
    """Of the section that holds a word, "" if none does."""
    held = (number for number, (start, end) in enumerate(paper["sections"]) if start <= word < end)
    number = next(held, None)
    return "" if number is None else f"{encode_id(paper['doc_id'])}#{number}"
