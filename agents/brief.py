"""A cited brief without a language model: the passages that bear on a question, quoted word for word.

Sections are ranked, grouped by the concepts that carried them, and each is represented by its sentences nearest to the
question, with the way on which it was found: from the question's concepts along relations of the graph. Every sentence
is a quotation, so every claim is supported by construction; what the brief adds of its own is marked as a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor

from agents.brief_writing import BriefWriter, Found, group_by_concept, in_quotes
from agents.key_sentences import key_sentences
from agents.reporting.model import Figure, Report
from kg.inspect import section_numbers
from kg.lateral import LateralGraph
from kg.protocols import Encoder
from retrieval.bm25 import BM25Index
from retrieval.method_names import Method
from retrieval.methods import Methods, MethodsConfig
from retrieval.paths import contributions
from retrieval.relevance import (
    clear_sections,
    common_words,
    content_words,
    coverage,
    missing_words,
    relevant_sections,
    section_words,
    unknown_words,
)


@dataclass(frozen=True)
class BriefConfig:
    """``top_n`` sections at most, ``sentences`` quoted of each, in at most ``groups`` groups.

    ``picture``: end with a figure of the concepts that led from the question to the first ``pictured`` sections.
    """

    method: Method = "hybrid"
    top_n: int = 12
    sentences: int = 2
    groups: int = 5
    seeds_named: int = 5
    picture: bool = True
    pictured: int = 15
    retrieval: MethodsConfig = field(default_factory=MethodsConfig)


def write_brief(graph: LateralGraph, encoder: Encoder, question: str, config: BriefConfig = BriefConfig()) -> Report:
    """The brief as data; ``agents.reporting`` stores and renders it.

    Where no section bears on the question, the brief quotes none and says so, with the sections that were ranked.
    """
    vector = encoder.encode_queries([question])[0]
    methods = Methods(graph, encoder, config.retrieval)
    _, scores = methods.ppr.diffuse([question])
    ranking = methods.retriever(config.method).rank(question, config.top_n)
    rows = section_numbers(graph, ranking.ids)
    relevant = relevant_sections(graph, question, vector, rows, methods.lexical)
    kept = [(rank, row) for rank, row in enumerate(rows, start=1) if row in relevant]
    seeder = methods.ppr.seeder
    seeds = seeder.concepts_of(question, vector, config.seeds_named)
    writer = BriefWriter(graph, question, seeds, seeder.named(question))
    method = writer.method_note(config.method, len(rows))
    if not kept:
        return writer.nothing(rows, method, unknown_words(question, methods.lexical))
    texts = [graph.sections["text"][row].as_py() for _, row in kept]
    covered = partial(coverage, question, lexical=methods.lexical)
    quotes = key_sentences(texts, vector, encoder, config.sentences, covered=covered)
    found = [
        Found(
            row, rank, ranking.scores[rank - 1], own,
            writer.near(contributions(graph, row, scores[:, 0], config.retrieval.graph.spread_exponent)),
        )
        for (rank, row), own in zip(kept, quotes, strict=True)
        if own
    ]  # fmt: skip
    quoted = {section.row for section in found}
    left_out = {
        "Said already by what is quoted": [row for _, row in kept if row not in quoted],
        "Near the question neither in meaning nor in wording": [row for row in rows if row not in relevant],
    }
    clear = clear_sections(graph, question, vector, [section.row for section in found], methods.lexical)
    cautions = find_cautions(
        question, [section_words(graph, section.row) for section in found], bool(clear), methods.lexical
    )
    figure = _figure(graph, methods, question, vector, config, found) if config.picture else None
    return writer.report(group_by_concept(found, config.groups), cautions, method, left_out, figure)


def find_cautions(question: str, texts: Sequence[str], clear: bool, lexical: BM25Index) -> list[str]:
    """What a reader must know first: ``texts``, the sections quoted, are not ``clear``ly about the question, or no
    section of the graph holds some word of it.

    An answer in other words may still be there, so the reader is told what is missing, not that nothing was found.
    """
    if all(token.casefold() in common_words() for token in content_words(question)):
        return ["The question holds no word of content, so what stands below was found by chance. Ask with its topic."]
    if not clear:
        missing = missing_words(question, texts)
        words = f", and none holds {in_quotes(missing)}" if missing else ""
        return [f"No passage below is clearly about the question{words}. Take them as related to it, not as an answer."]
    unknown = unknown_words(question, lexical)
    return [f"No paper in this graph speaks of {in_quotes(unknown)}."] if unknown else []


def _figure(
    graph: LateralGraph, methods: Methods, question: str, vector: Tensor, config: BriefConfig, found: Sequence[Found]
) -> Figure:
    """The way from the question to the sections that are quoted, drawn."""
    from agents.pictures.svg import figure_of
    from retrieval.neighbourhood import NeighbourhoodConfig, find_neighbourhood

    limits = NeighbourhoodConfig(method=config.method, sections=config.pictured, retrieval=config.retrieval)
    shown = [(section.row, section.score) for section in found]
    return figure_of(find_neighbourhood(graph, methods, question, vector, limits, shown=shown))
