"""An extractor that looks triples up instead of finding them: what ``kg.openie`` has read, section by section.

A section takes the rows of the passage that has its words. Where no passage has its title with its text, it takes the
rows of all passages that have its text; where there is none, nothing is ready, which ``ReadyTriples.is_ready`` tells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

import numpy as np
import regex

from kg.acronyms import find_definitions
from kg.errors import GraphError
from kg.mentions import MentionTable, encode_extraction, surface_form
from kg.openie import OpenIE, Passage, words_of
from kg.records import Extraction, Mention, Section, Triple, content_hash
from kg.sectioning import sentence_spans

NAME = "openie"
RULES = "openie-1"
"""Version of what is made of a passage's rows; the end of every fingerprint."""

_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
_WORD = regex.compile(r"[\p{L}\p{N}]")
_SHOWN = 60


class StoredTriples:
    """``kg.protocols.Extractor`` of a graph from ready triples whose file is not at hand: what its cache holds.

    That is enough to take papers out; a section that the cache has not is refused.
    """

    name = NAME
    cooccurrence = False

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint

    @property
    def fingerprint(self) -> str:
        """Of the rows of all passages and of the rules, whatever the order of the file; its end says which rules."""
        return self._fingerprint

    def extract(self, section: Section) -> Extraction:
        """Raise ``GraphError``: what is not in the cache is known from the file alone."""
        raise GraphError(
            f"The cache of the graph no longer holds the triples of {section.section_id}; "
            "build the graph again with `evigraph build --triples FILE --overwrite`."
        )

    def select(self, mentions: MentionTable) -> np.ndarray:
        """Mask, bool [rows]: all of them, since a model has chosen already."""
        return np.ones(len(mentions.section), dtype=bool)


class ReadyTriples(StoredTriples):
    """``kg.protocols.Extractor`` that looks up what is ready for a section.

    Every name of the passage becomes a mention, also one that the text does not hold word for word: the model says that
    the passage speaks of it, and no relation could end there otherwise. Such a mention counts once and stands in no
    sentence. Others count as often as title, heading and text hold the name, in whatever spelling has its normal form.
    The evidence of a relation is the first sentence that holds both its names, else title and heading if they do, else
    the shortest run of sentences that does, else the whole text, which is what the model was given. Runs stand among
    the extraction's sentences, after the sentences themselves.
    """

    def __init__(self, openie: OpenIE) -> None:
        passages = [(key, passage.names, passage.rows) for key, passage in openie.passages.items()]
        digest = content_hash(sorted(passages), sorted(openie.with_text.items()))
        super().__init__(f"{digest}/{RULES}")
        self._openie = openie

    @staticmethod
    def has_rules_of(fingerprint: str) -> bool:
        """Whether the rules are those of an extractor with ``fingerprint``, whatever its passages."""
        return fingerprint.endswith(f"/{RULES}")

    def differing(self, sections: Iterable[Section], known: Mapping[str, bytes]) -> list[str]:
        """Ids of the sections of which ``known`` (encoded, by content hash) holds no extraction, or another one."""
        return [s.section_id for s in sections if known.get(s.content_hash) != encode_extraction(self.extract(s))]

    def is_ready(self, section: Section) -> bool:
        """Whether the file has a name for this section."""
        return bool(self._passage(section).names)

    def unused(self, sections: Iterable[Section]) -> list[str]:
        """The passages, by their first words, that none of ``sections`` takes rows from."""
        used = {key for section in sections for key in self._keys(section)}
        return [
            key if len(key) <= _SHOWN else f"{key[:_SHOWN]}…" for key in sorted(self._openie.passages.keys() - used)
        ]

    def _keys(self, section: Section) -> tuple[str, ...]:
        passages = self._openie.passages
        for pieces in ((section.lead, section.heading, section.text), (section.lead, section.text), (section.text,)):
            key = words_of("\n".join(pieces))
            if key in passages:
                return (key,)
        return self._openie.with_text.get(words_of(section.text), ())

    def _passage(self, section: Section) -> Passage:
        passage = Passage()
        for key in self._keys(section):
            passage |= self._openie.passages[key]
        return passage

    def extract(self, section: Section) -> Extraction:
        """The mentions and triples that are ready for the section; none where nothing is."""
        passage = self._passage(section)
        spans = sentence_spans(section.text)
        if not passage.names:
            return Extraction(sentences=tuple(spans))
        places = NamePlaces(section, spans)
        triples = tuple(Triple(s, relation, o, places.evidence(s, o)) for s, relation, o in passage.rows)
        definitions = tuple(find_definitions(section.text))
        return Extraction(places.mentions(passage.names), triples, definitions, places.spans)


class NamePlaces:
    """Where a section holds names, by their normal forms."""

    def __init__(self, section: Section, spans: list[tuple[int, int]]) -> None:
        pieces = [(-1, section.lead), (-1, section.heading)]
        pieces += [(number, section.text[start:end]) for number, (start, end) in enumerate(spans)]
        self._numbers = [number for number, _ in pieces]
        self._texts = [text for _, text in pieces]
        self._forms = _Joined([_padded(text) for text in self._texts])
        self._folded = _Joined([text.casefold() for text in self._texts])
        self._found: dict[str, Counter[int]] = {}
        self._sentences = spans or [(0, len(section.text))]
        self._number = {span: number for number, span in enumerate(self._sentences)}

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """[start, end) of the sentences, then of the runs of them that ``evidence`` has named."""
        return tuple(self._number)

    def find(self, name: str) -> Counter[int]:
        """Sentence (-1 for title and heading) -> times it holds the name."""
        if name not in self._found:
            pieces = self._forms.find(_padded(name))
            if not pieces and (_UNSPACED.search(name) or not _WORD.search(name)):
                pieces = self._folded.find(name.casefold())
            self._found[name] = Counter(self._numbers[piece] for piece in pieces)
        return self._found[name]

    def evidence(self, subject: str, object_: str) -> int:
        """Number, in ``spans``, of what holds both names (see ``ReadyTriples``); -1 stands for title and heading."""
        one, other = self.find(subject).keys(), self.find(object_).keys()
        if both := one & other:
            return min((number for number in both if number >= 0), default=-1)
        pairs = [sorted((a, b)) for a in one for b in other if min(a, b) >= 0]
        _, first, last = min(((b - a, a, b) for a, b in pairs), default=(0, 0, len(self._sentences) - 1))
        return self._number.setdefault((self._sentences[first][0], self._sentences[last][1]), len(self._number))

    def mentions(self, names: Iterable[str]) -> tuple[Mention, ...]:
        """One per spelling, sorted; spellings of one form share its occurrences instead of counting them each."""
        spellings: dict[str, list[str]] = {}
        for name in sorted(names):
            spellings.setdefault(surface_form(name), []).append(name)
        counts: dict[str, int] = {}
        for own in spellings.values():
            exact = {name: self._exact(name) if len(own) > 1 else 0 for name in own}
            rest = sum(self.find(own[0]).values()) - sum(exact.values())
            counts |= {name: max(1, times + (rest if name == own[0] else 0)) for name, times in exact.items()}
        return tuple(
            Mention(name, "term", count, tuple(sorted(self.find(name))), count)
            for name, count in sorted(counts.items())
        )

    def _exact(self, name: str) -> int:
        pattern = regex.compile(rf"(?<![\p{{L}}\p{{N}}\p{{M}}]){regex.escape(name)}(?![\p{{L}}\p{{N}}\p{{M}}])")
        return sum(len(pattern.findall(text)) for text in self._texts)


class _Joined:
    """Texts as one, so that a search does not begin anew for each."""

    def __init__(self, texts: list[str]) -> None:
        self._text = "\0".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts[:-1]), initial=0))

    def find(self, words: str) -> list[int]:
        """The number of the text of each occurrence; they do not overlap."""
        pieces, at = [], self._text.find(words) if words else -1
        while at >= 0:
            pieces.append(bisect_right(self._starts, at) - 1)
            at = self._text.find(words, at + len(words))
        return pieces


def _padded(text: str) -> str:
    """Forms of the words, each between spaces of its own, so that a name is found as a run of whole words."""
    return "".join(f" {word} " for word in surface_form(text).split())
