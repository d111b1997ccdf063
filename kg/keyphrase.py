"""An extractor that needs no language model: candidate terms per section, selected by corpus counts.

Candidates are the word sequences between stop words and punctuation (RAKE: Rose et al. 2010) and their
sub-sequences of up to five words (as C-value enumerates nested terms: Frantzi, Ananiadou & Mima 2000).
Which of them are terms is decided at assembly, from integer counts over the corpus: how many sections hold
the term, and how often it stands by itself rather than inside a longer one. Relations are not asserted here:
two terms of one sentence are related as far as they occur together more often than by chance
(``kg.cooccurrence``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import regex

from kg.acronyms import find_definitions
from kg.mentions import MentionTable
from kg.names import token_form
from kg.records import Extraction, Mention, Section
from kg.sectioning import sentence_spans
from kg.stopwords import section_stopwords
from kg.wordlists import ALONE, BREAKS, EDGE, NOT_ADVERBS, PLURAL_MODIFIERS

_WORD = regex.compile(
    r"(?P<cjk>[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]+)"
    r"|(?P<word>[\p{L}\p{N}\p{M}]+(?:(?:[-‐‑.+&/](?=[\p{L}\p{N}])|['’](?=\p{L}))[\p{L}\p{N}\p{M}]+)*(?:[+#]+(?![\p{L}\p{N}]))?)"
    r"|(?P<gap>\s+)|(?P<mark>.)",
    regex.DOTALL,
)
_NUMERIC = regex.compile(r"^[\d.,/+\-‐‑xX%]+$")
_CJK_PARTICLE = regex.compile(r"[的了和与與在是对對及等并並或而之为為被把从從以の、はがをにでと]")


@dataclass(frozen=True)
class KeyphraseConfig:
    """``max_words``: longest term. A section keeps one term per ``words_per_term`` words, within the two bounds."""

    max_words: int = 5
    words_per_term: float = 12.0
    min_terms: int = 6
    max_terms: int = 40
    cjk_max_characters: int = 8


class KeyphraseExtractor:
    """``kg.protocols.Extractor`` by counting; its speed stands in docs/performance.md."""

    def __init__(self, config: KeyphraseConfig = KeyphraseConfig()) -> None:
        self.config = config

    name = "keyphrase"
    cooccurrence = True

    @property
    def fingerprint(self) -> str:
        """Version of the rules and the settings that decide what is a candidate."""
        return f"keyphrase-2/{self.config}"

    def extract(self, section: Section) -> Extraction:
        """Candidates of one section with their counts; the section's title and heading count as sentence -1."""
        spans = sentence_spans(section.text)
        stop = BREAKS | section_stopwords(section.text)
        found: dict[str, list[int]] = {}  # surface -> [count, independent, sentence, sentence, ...]
        texts = [(-1, piece) for piece in (section.lead, section.heading) if piece]
        texts += [(number, section.text[start:end]) for number, (start, end) in enumerate(spans)]
        for number, text in texts:
            for words in self._phrases(text, stop):
                for surface, whole in self._candidates(words):
                    entry = found.setdefault(surface, [0, 0])
                    entry[0] += 1
                    entry[1] += whole
                    if len(entry) == 2 or entry[-1] != number:
                        entry.append(number)
        definitions = find_definitions(section.text)
        for (
            _,
            expansion,
        ) in definitions:  # may hold stop words, as in "analysis of variance", or be longer than terms are
            if expansion not in found:
                where = [n for n, text in texts if expansion in text]
                found[expansion] = [len(where), len(where), *where]
        mentions = tuple(
            Mention(surface, "term", entry[0], tuple(entry[2:]), entry[1])
            for surface, entry in sorted(found.items())
            if entry[0]
        )
        return Extraction(mentions, (), tuple(definitions), tuple(spans))

    def _phrases(self, text: str, stop: frozenset[str]) -> Iterator[list[str]]:
        """Runs of words between stop words, punctuation and numbers; a run of CJK text is cut at its particles."""
        words: list[str] = []
        for match in _WORD.finditer(text):
            kind = match.lastgroup
            if kind == "gap":
                continue
            if kind == "word":
                word = match["word"]
                if word.lower() not in stop and not _NUMERIC.match(word) and not self._adverb(word.lower()):
                    words.append(word)
                    continue
            if words:
                yield words
                words = []
            if kind == "cjk":
                for piece in _CJK_PARTICLE.split(match["cjk"]):
                    if 2 <= len(piece) <= self.config.cjk_max_characters:
                        yield [piece]
        if words:
            yield words

    def _candidates(self, words: list[str]) -> Iterator[tuple[str, bool]]:
        """All terms within a phrase: (surface, does it span the whole phrase less its edge words)."""
        lower = [word.lower() for word in words]
        first, last = 0, len(words)
        while first < last and lower[first] in EDGE:
            first += 1
        while last > first and (lower[last - 1] in EDGE or lower[last - 1].endswith("ed")):
            last -= 1
        verb = [w.endswith("s") and w not in PLURAL_MODIFIERS and token_form(w) != w for w in lower]
        for start in range(first, last):
            if lower[start] in EDGE:
                continue
            # "shaping asymmetric markets" is a clause; "learning rate" and "machine learning" are names.
            longest = 2 if lower[start].endswith("ing") else self.config.max_words
            for end in range(start + 1, min(start + longest, last) + 1):
                final = lower[end - 1]
                if final not in EDGE and not final.endswith("ed") and self._stands(lower[start:end]):
                    whole = start == first and end == last
                    yield " ".join(words[start:end]), whole
                if verb[end - 1]:
                    break

    @staticmethod
    def _adverb(word: str) -> bool:
        return word.endswith("ly") and len(word) > 4 and word not in NOT_ADVERBS

    @staticmethod
    def _stands(words: list[str]) -> bool:
        """Could these words name something? Single words must be specific and longer than two letters."""
        if len(words) == 1:
            word = words[0]
            return word not in ALONE and len(word) >= (3 if word.isascii() else 2)
        return True

    def select(self, mentions: MentionTable) -> np.ndarray:
        """Mask [rows]: the best terms of each section, by counts over the corpus alone.

        score(t, s) = (1 + ln tf) log2(1 + words) ln(1 + N / df) i(t) h(t), with i(t) the share of t's
        occurrences that are not inside a longer term (smoothed) and h(t) = 1/2 for a term of one section alone.
        """
        if not len(mentions.section):
            return np.zeros(0, dtype=bool)
        size = len(mentions.names)
        count = mentions.count.astype(np.float64)
        total = np.bincount(mentions.name, weights=count, minlength=size)
        alone = np.bincount(mentions.name, weights=mentions.independent.astype(np.float64), minlength=size)
        # Spellings of one name within a section are one (section, name) pair.
        row = mentions.section.astype(np.int64) * size + mentions.name
        pair, row_pair = np.unique(row, return_inverse=True)
        section_of, name_of = pair // size, pair % size
        holding = np.bincount(name_of, minlength=size).astype(np.float64)
        independence = (alone + 0.5) / (total + 1.0)
        shared = np.where(holding > 1, 1.0, 0.5)
        term = np.log2(1.0 + mentions.name_words) * np.log1p(mentions.n_sections / holding) * independence * shared
        score = (1.0 + np.log(np.bincount(row_pair, weights=count))) * term[name_of]
        order = np.lexsort((name_of, -score, section_of))
        starts = np.searchsorted(section_of[order], np.arange(mentions.n_sections))
        rank = np.arange(len(order)) - starts[section_of[order]]
        budget = np.clip(
            np.ceil(mentions.section_words / self.config.words_per_term), self.config.min_terms, self.config.max_terms
        )
        kept = np.zeros(len(pair), dtype=bool)
        first = rank < budget[section_of[order]]
        # A term that other sections chose stays a mention where it is not among the best: it is what links papers.
        chosen = np.bincount(name_of[order][first], minlength=size)
        second = (rank < 2 * budget[section_of[order]]) & (chosen[name_of[order]] >= 2)
        kept[order] = first | second
        return kept[row_pair]
