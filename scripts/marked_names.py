"""Names that people marked in SciREX, over the whole collection, and the entities that their uses speak of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from torch import Tensor

from kg.acronyms import find_definitions
from kg.assemble import context_vectors, word_count
from kg.ingest import read_all
from kg.mentions import MentionTable, encode_extraction, read_mentions
from kg.merge import Names
from kg.names import name_key
from kg.papers import Paper, paper_tables, sorted_papers
from kg.records import Extraction, Section, encode_id
from kg.sectioning import SectioningConfig
from scripts.labelled_sections import join_words, scirex_papers
from scripts.marked_graph import MarkedNames, read_marked

Embed = Callable[[Sequence[str]], Tensor]
Shares = list[Mapping[str, float]]


def read_marked_names(scirex: Path, folder: Path, embed: Embed) -> tuple[Names, Shares]:
    """Names of the collection, and for each the shares of entities among its linked uses, empty where none is linked.

    ``folder`` holds the papers' sections as documents ``paper#n``, as for ``scripts/marked_graph.py``.

    Raises:
        InputError: as ``scirex_papers`` and ``kg.ingest.read_all``.
    """
    extractor = MarkedNames(read_marked(scirex))
    papers = sorted_papers([Paper.of(document, SectioningConfig()) for document in read_all([folder])[0]])
    sections = [section for paper in papers for section in paper.sections]
    vectors = embed([section.full_text() for section in sections])
    blobs = [encode_extraction(_defined(extractor.extract(section), section)) for section in sections]
    documents = paper_tables(papers)[1]["document"].to_numpy()
    table, assertions = read_mentions(blobs, documents, [word_count(section.text) for section in sections], vectors)
    held = table.sections_of_names()
    names = Names(
        [""] * len(table.names), table.written(), embed(table.forms), context_vectors(held, vectors), held,
        assertions.senses.expansions(),
    )  # fmt: skip
    return names, _shares(scirex, table, [paper.document.doc_id for paper in papers])


def entity_name(name: str) -> str:
    """The canonical name of an entity of SciREX without what its spellings differ in."""
    return "".join(ch for ch in name.lower() if ch.isascii() and ch.isalnum())


def _defined(extraction: Extraction, section: Section) -> Extraction:
    return Extraction(
        extraction.mentions, definitions=tuple(find_definitions(section.text)), sentences=extraction.sentences
    )


def _shares(scirex: Path, table: MentionTable, documents: Sequence[str]) -> Shares:
    number = {doc_id: row for row, doc_id in enumerate(documents)}
    keys = [name_key(surface) for surface in table.surfaces]
    name_of: dict[tuple[int, str], int] = {}
    for section, surface, name in zip(table.section, table.surface, table.name, strict=True):
        name_of.setdefault((int(table.section_document[section]), keys[surface]), int(name))
    uses = [Counter[str]() for _ in table.names]
    for paper in scirex_papers(scirex):
        for entity, spans in paper["coref"].items():
            for start, end in spans:
                place = next((n for n, (first, last) in enumerate(paper["sections"]) if first <= start < last), None)
                document = number.get(f"{encode_id(paper['doc_id'])}#{place}", -1)
                name = name_of.get((document, name_key(join_words(paper["words"], start, end)[0])))
                if name is not None:
                    uses[name][entity_name(entity)] += 1
    return [{entity: times / own.total() for entity, times in own.items()} for own in uses]
