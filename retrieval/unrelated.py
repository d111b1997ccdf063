"""What documents without relevance stand at the top of a ranking, and whether words of the query draw them there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kg.records import Document
from retrieval.bm25 import words
from retrieval.measures import Qrels
from retrieval.relevance import content_words
from retrieval.significance import Interval, cluster_bootstrap
from retrieval.trec import Run

KINDS = (
    "judged not relevant",
    "relevant to another query of the cluster",
    "relevant to another query",
    "not judged",
)
"""What the judgements say of an unrelated document; the first that fits counts."""

NO_TEXT = "not in the corpus"
DRAWS = ("rarest word", "other word", "no word", NO_TEXT)
"""What an unrelated document holds of the question; the first that fits counts."""


@dataclass(frozen=True)
class QuestionWords:
    """Words of content (``relevance.content_words``) of questions, as stems, and who holds them.

    ``asked``: query id -> its words. ``rarest``: query id -> that of its words, or those, which the fewest documents
    hold, words that none holds aside; empty if none holds any. ``held``: document id -> words of any question in it.
    """

    asked: Mapping[str, frozenset[str]]
    rarest: Mapping[str, frozenset[str]]
    held: Mapping[str, frozenset[str]]

    def draw(self, query: str, document: str) -> str:
        """The one of ``DRAWS`` that fits."""
        held = self.held.get(document)
        if held is None:
            return NO_TEXT
        if held & self.rarest[query]:
            return DRAWS[0]
        return DRAWS[1] if held & self.asked[query] else DRAWS[2]


@dataclass(frozen=True)
class Unrelated:
    """Documents without relevance among the first of a run.

    ``per_query``: their mean number. ``counts``: kind -> draw -> their number over all queries, every kind and draw
    named. Anywhere in the run: ``n_absent`` distinct documents that the corpus lacks, ``n_unjudged`` pairs of query and
    document without a judgement.
    """

    per_query: Interval
    counts: Mapping[str, Mapping[str, int]]
    n_absent: int
    n_unjudged: int

    @property
    def total(self) -> int:
        """Number over all queries."""
        return sum(map(self.drawn, DRAWS))

    def drawn(self, draw: str) -> int:
        """Number over all queries and kinds of those that ``draw`` fits."""
        return sum(own[draw] for own in self.counts.values())


def document_text(document: Document) -> str:
    """Title, headings and text, a line each: what is searched for words."""
    pieces = (piece for part in document.parts for piece in (part.heading, part.text))
    return "\n".join([document.title, *pieces])


def question_words(queries: Mapping[str, str], texts: Mapping[str, str]) -> QuestionWords:
    """Words of ``queries`` (id -> text) in ``texts`` (document id -> title and text)."""
    asked = {query: frozenset().union(*content_words(text).values()) for query, text in queries.items()}
    known = frozenset().union(*asked.values())
    held = {document: known.intersection(words(text)) for document, text in texts.items()}
    frequency = Counter(word for own in held.values() for word in own)
    rarest = {}
    for query, own in asked.items():
        least = min((frequency[word] for word in own if frequency[word]), default=0)
        rarest[query] = frozenset(word for word in own if least and frequency[word] == least)
    return QuestionWords(asked, rarest, held)


def count_unrelated(
    run: Run, qrels: Qrels, clusters: Mapping[str, int], question_words: QuestionWords, depth: int
) -> Unrelated:
    """Count, of each query of ``qrels``, those of the first ``depth`` documents that are not judged above 0 for it.

    ``clusters``: query id -> number, of all queries of ``qrels``, among which "another query" is. A query that
    ``run`` lacks counts 0. ``InputError`` without a query.
    """
    asking: dict[str, set[str]] = {}
    for query, judged in qrels.items():
        for document, judgement in judged.items():
            if judgement > 0:
                asking.setdefault(document, set()).add(query)
    counts = {kind: dict.fromkeys(DRAWS, 0) for kind in KINDS}
    numbers: dict[str, float] = {}
    ranked: set[str] = set()
    n_unjudged = 0
    for query, judged in qrels.items():
        ids = run[query].ids if query in run else ()
        ranked.update(ids)
        n_unjudged += sum(document not in judged for document in ids)
        found = [document for document in ids[:depth] if judged.get(document, 0) <= 0]
        numbers[query] = len(found)
        for document in found:
            others = asking.get(document, set())
            if document in judged:
                kind = KINDS[0]
            elif any(clusters[other] == clusters[query] for other in others):
                kind = KINDS[1]
            else:
                kind = KINDS[2] if others else KINDS[3]
            counts[kind][question_words.draw(query, document)] += 1
    n_absent = len(ranked - question_words.held.keys())
    return Unrelated(cluster_bootstrap(numbers, clusters), counts, n_absent, n_unjudged)
