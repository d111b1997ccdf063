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
from kg.wordlists import ALONE, BEFORE_VERBS, BETWEEN_VERBS, BREAKS, EDGE, NOT_ADVERBS, PLURAL_MODIFIERS, SYMBOLS

_WORD = regex.compile(
    r"(?P<cjk>[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]+)"
    r"|(?P<word>[\p{L}\p{N}\p{M}]+(?:(?:[-‐‑.+&/](?=[\p{L}\p{N}])|['’](?=\p{L}))[\p{L}\p{N}\p{M}]+)*(?:[+#]+(?![\p{L}\p{N}]))?)"
    r"|(?P<gap>\s+)|(?P<mark>.)",
    regex.DOTALL,
)
_NUMERIC = regex.compile(r"^[\d.,/+\-‐‑xX%]+$")
_MODIFIED = regex.compile(r"\s+(\p{Ll}+ed)\s+([\p{L}\p{N}]+)")
_YEAR_OR_VERSION = regex.compile(r"^\d{1,4}(?:\.\d)?$")
_CJK_PARTICLE = regex.compile(r"[的了和与與在是对對及等并並或而之为為被把从從以の、はがをにでと]")
_LONGEST_CAPITALS = 8
"""Letters of a word in capitals that may be a coined name; a longer one stands in a heading in capitals."""


@dataclass(frozen=True)
class KeyphraseConfig:
    """``max_words``: longest term. A section keeps one term per ``words_per_term`` words, within the two bounds.

    ``rarity``, ``single``, ``coined`` and ``elsewhere`` weigh a term's score (``KeyphraseExtractor.scores``);
    docs/extraction.md says how they were chosen.
    """

    max_words: int = 5
    words_per_term: float = 12.0
    min_terms: int = 6
    max_terms: int = 40
    cjk_max_characters: int = 8
    rarity: float = 0.25
    single: float = 0.7
    coined: float = 1.25
    elsewhere: float = 0.2


class KeyphraseExtractor:
    """``kg.protocols.Extractor`` by counting; its speed stands in docs/performance.md."""

    def __init__(self, config: KeyphraseConfig = KeyphraseConfig()) -> None:
        self.config = config

    name = "keyphrase"
    cooccurrence = True

    @property
    def fingerprint(self) -> str:
        """Version of the rules and the settings that decide what is a candidate."""
        return f"keyphrase-4/{self.config}"

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
        """Runs of words between stop words, verbs, punctuation and numbers; CJK text is cut at its particles."""
        words: list[str] = []
        verb_next = False
        for match in _WORD.finditer(text):
            kind = match.lastgroup
            if kind == "gap":
                continue
            if kind == "word":
                word = match["word"]
                if not verb_next and self._continues(words, word, text, match.end(), stop):
                    words.append(word)
                    continue
                lower = word.lower()
                verb_next = word in BEFORE_VERBS or (verb_next and (lower in BETWEEN_VERBS or self._adverb(lower)))
            else:
                verb_next = False
            if words:
                yield words
                words = []
            if kind == "cjk":
                for piece in _CJK_PARTICLE.split(match["cjk"]):
                    if 2 <= len(piece) <= self.config.cjk_max_characters:
                        yield [piece]
        if words:
            yield words

    def _continues(self, words: list[str], word: str, text: str, end: int, stop: frozenset[str]) -> bool:
        """Does ``word``, which ends at ``end`` of ``text``, belong to a phrase, after the ``words`` of it so far?"""
        lower = word.lower()
        if lower in stop:
            return False
        if _NUMERIC.match(word):  # "PASCAL VOC 2012", but not "in 2012" or "HR 0.8"
            after = words[-1] if words else ""
            return sum(map(str.isupper, after)) >= 2 and after not in SYMBOLS and bool(_YEAR_OR_VERSION.match(word))
        if self._adverb(lower):  # "fully connected layer", "locally advanced cancer"
            modified = _MODIFIED.match(text, end)
            return modified is not None and not {modified[1], modified[2].lower()} & stop
        return True

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
            if lower[start] in EDGE or _NUMERIC.match(lower[start]):
                continue
            # "shaping asymmetric markets" is a clause; "learning rate" and "machine learning" are names.
            longest = 2 if lower[start].endswith("ing") else self.config.max_words
            for end in range(start + 1, min(start + longest, last) + 1):
                final = lower[end - 1]
                named = final not in EDGE and not final.endswith("ed") and not self._adverb(final)
                if named and self._stands(words[start:end]):
                    whole = start == first and end == last
                    yield " ".join(words[start:end]), whole
                if verb[end - 1]:
                    break

    @staticmethod
    def _adverb(word: str) -> bool:
        return word.endswith("ly") and len(word) > 4 and word not in NOT_ADVERBS

    @staticmethod
    def _stands(words: list[str]) -> bool:
        """Could these words name something? A single word must be specific, longer than two letters or an acronym."""
        if len(words) > 1:
            return True
        word = words[0]
        if len(word) == 2 and word.isascii():
            return word.isalpha() and word.isupper() and word not in SYMBOLS
        return word.lower() not in ALONE and len(word) >= 2

    def select(self, mentions: MentionTable) -> np.ndarray:
        """Mask [rows]: the terms of each section that score best, one per ``words_per_term`` words.

        A term that two other sections chose is kept down to twice that rank: it is what links papers.
        """
        if not len(mentions.section):
            return np.zeros(0, dtype=bool)
        section_of, name_of, row_pair, score = self.scores(mentions)
        order = np.lexsort((name_of, -score, section_of))
        starts = np.searchsorted(section_of[order], np.arange(mentions.n_sections))
        rank = np.arange(len(order)) - starts[section_of[order]]
        budget = np.clip(
            np.ceil(mentions.section_words / self.config.words_per_term), self.config.min_terms, self.config.max_terms
        )
        kept = np.zeros(len(score), dtype=bool)
        first = rank < budget[section_of[order]]
        chosen = np.bincount(name_of[order][first], minlength=len(mentions.names))
        second = (rank < 2 * budget[section_of[order]]) & (chosen[name_of[order]] >= 2)
        kept[order] = first | second
        return kept[row_pair]

    def scores(self, mentions: MentionTable) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """How well each name stands for each section that holds it, from counts over the corpus (docs/extraction.md).

        score(t, s) = (1 + ln tf) log2(1 + words) ln(1 + N / df)^rarity i(t, s) h(t) c(t, s), with tf how often s holds
        t, and ``elsewhere`` times how often the rest of its paper does; i the share of t's occurrences that are not
        inside a longer term (smoothed), in the section or in the corpus, whichever is more; h = ``single`` for a term
        of one section alone, c = ``coined`` for one written as coined names are (ImageNet, GPT-2, BLEU), each 1 for
        others.

        Returns: section int64 [pairs], name int64 [pairs], pair of each row int64 [rows], score float64 [pairs]; the
        spellings of one name within a section are one pair.
        """
        size = len(mentions.names)
        count, independent = mentions.count.astype(np.float64), mentions.independent.astype(np.float64)
        pair, row_pair = np.unique(mentions.section.astype(np.int64) * size + mentions.name, return_inverse=True)
        section_of, name_of = pair // size, pair % size
        holding = np.bincount(name_of, minlength=size).astype(np.float64)
        here = np.bincount(row_pair, weights=count)
        in_section = (np.bincount(row_pair, weights=independent) + 0.5) / (here + 1.0)
        in_corpus = (np.bincount(mentions.name, weights=independent, minlength=size) + 0.5) / (
            np.bincount(mentions.name, weights=count, minlength=size) + 1.0
        )
        coined = np.fromiter(map(_coined, mentions.surfaces), dtype=bool, count=len(mentions.surfaces))
        spelled = np.bincount(row_pair, weights=coined[mentions.surface]) > 0
        shared = np.where(holding > 1, 1.0, self.config.single)
        _, of_paper = np.unique(mentions.section_document[section_of] * size + name_of, return_inverse=True)
        elsewhere = np.bincount(of_paper, weights=here)[of_paper] - here
        term = (
            np.log2(1.0 + mentions.name_words) * np.log1p(mentions.n_sections / holding) ** self.config.rarity * shared
        )
        independence = np.maximum(in_section, in_corpus[name_of])
        score = (
            (1.0 + np.log(here + self.config.elsewhere * elsewhere))
            * term[name_of]
            * independence
            * np.where(spelled, self.config.coined, 1.0)
        )
        return section_of, name_of, row_pair, score


def _coined(surface: str) -> bool:
    """Whether a word of the name has two capitals, or one and a digit, and is not a heading in capitals."""
    return any(
        sum(ch.isupper() or ch.isdigit() for ch in word) >= 2
        and any(map(str.isupper, word))
        and not (len(word) > _LONGEST_CAPITALS and word.isupper())
        for word in surface.split()
    )
