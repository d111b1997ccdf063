"""Ways to take the names from a section without a language model, under one interface, to be compared.

What others make is read in the normal form of names (``kg.names``), each name once, as ours is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kg.assemble import word_count
from kg.errors import InputError
from kg.keyphrase import KeyphraseConfig, KeyphraseExtractor
from kg.mentions import MentionTable, encode_extraction, read_mentions, surface_form
from kg.names import form_key
from kg.records import Section
from scripts.tools import load_encoder

MOST = 60
"""Terms asked of the extractors of others, before those of one name are joined."""

Term = frozenset[str]
"""The forms of one name in one section: a name that an acronym stands for has two."""
Rank = Callable[[Sequence[Section]], list[list[Term]]]
"""Sections -> their terms, best first."""


def mention_table(sections: Sequence[Section], extractor: KeyphraseExtractor) -> MentionTable:
    """What a graph of these sections counts before it selects."""
    papers = {paper: number for number, paper in enumerate(sorted({section.doc_id for section in sections}))}
    blobs = [encode_extraction(extractor.extract(section)) for section in sections]
    numbers = [papers[section.doc_id] for section in sections]
    return read_mentions(blobs, numbers, [word_count(section.text) for section in sections])[0]


def ranked(table: MentionTable, extractor: KeyphraseExtractor) -> list[list[Term]]:
    """Terms of each section of ``table``, by falling score."""
    if not len(table.section):
        return [[] for _ in range(table.n_sections)]
    section_of, name_of, row_pair, score = extractor.scores(table)
    forms = [{table.forms[name]} for name in name_of]
    for surface, pair in zip(table.surface, row_pair, strict=True):
        forms[pair].add(surface_form(table.surfaces[surface]))
    terms: list[list[Term]] = [[] for _ in range(table.n_sections)]
    for pair in np.lexsort((name_of, -score, section_of)):
        terms[section_of[pair]].append(frozenset(forms[pair]))
    return terms


def by_corpus(config: KeyphraseConfig) -> Callable[[Sequence[Section]], Rank]:
    """Ours, with counts over all sections of the corpus, as a graph selects."""

    def prepare(corpus: Sequence[Section]) -> Rank:
        extractor = KeyphraseExtractor(config)
        known: dict[str, list[Term]] = {}

        def rank(sections: Sequence[Section]) -> list[list[Term]]:
            if not known:  # counted at the first call, so that whoever times it times all of the work
                terms = ranked(mention_table(corpus, extractor), extractor)
                known.update(zip([section.section_id for section in corpus], terms, strict=True))
            return [known[section.section_id] for section in sections]

        return rank

    return prepare


def alone(_: Sequence[Section]) -> Rank:
    """Ours, with the counts of one section at a time: all that the others have, too."""
    extractor = KeyphraseExtractor()
    return lambda sections: [ranked(mention_table([section], extractor), extractor)[0] for section in sections]


def yake(_: Sequence[Section]) -> Rank:
    """YAKE (Campos et al. 2020) with its defaults: terms of up to three words, near-equal ones left out."""
    try:
        from yake import KeywordExtractor
    except ImportError:
        raise _missing("YAKE") from None
    extractor = KeywordExtractor(lan="en", n=3, top=MOST)
    return lambda sections: [
        distinct([term for term, _ in extractor.extract_keywords(section.full_text())]) for section in sections
    ]


def keybert(_: Sequence[Section]) -> Rank:
    """KeyBERT (Grootendorst 2020) with its defaults but for terms of up to three words, over the encoder of graphs."""
    try:
        from keybert import KeyBERT
        from keybert.backend import BaseEmbedder
    except ImportError:
        raise _missing("KeyBERT") from None
    encoder = load_encoder(None)

    class Embedder(BaseEmbedder):
        def embed(self, documents: Sequence[str], verbose: bool = False) -> np.ndarray:
            return np.asarray(encoder.encode_documents(list(documents)))

    model = KeyBERT(model=Embedder())

    def rank(sections: Sequence[Section]) -> list[list[Term]]:
        texts = [section.full_text() for section in sections]
        found = [model.extract_keywords(text, keyphrase_ngram_range=(1, 3), top_n=MOST) for text in texts]
        return [distinct([term for term, _ in terms]) for terms in found]

    return rank


def _missing(name: str) -> InputError:
    return InputError(f"{name} is not installed; it comes with the extra bench: pip install -e '.[bench]'.")


METHODS: dict[str, Callable[[Sequence[Section]], Rank]] = {
    "ours": by_corpus(KeyphraseConfig()),
    "section": by_corpus(KeyphraseConfig(elsewhere=0.0)),
    "plain": by_corpus(KeyphraseConfig(rarity=1.0, single=0.5, coined=1.0, elsewhere=0.0)),
    "alone": alone,
    "yake": yake,
    "keybert": keybert,
}
"""Name -> what makes a ``Rank`` from a corpus; "section": ours by the counts of the section, without those of its
paper; "plain": that with full inverse frequency, coined names like others."""


def distinct(terms: Sequence[str]) -> list[Term]:
    """The normal forms of ``terms``, each name once, in order."""
    forms: dict[str, str] = {}
    for form in map(surface_form, terms):
        if form:
            forms.setdefault(form_key(form), form)
    return [frozenset({form}) for form in forms.values()]
