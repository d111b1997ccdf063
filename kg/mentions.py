"""Mentions as columns: what all extractors found in all sections, ready for counting with numpy.

An extraction is cached as compact JSON, its mentions column by column, so that a corpus of a million sections
is read into flat arrays without an object per mention.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
from scipy import sparse
from torch import Tensor

from kg.homonyms import HomonymConfig, carried_too_far
from kg.names import form_key, name_form, word_forms
from kg.records import Extraction, Mention, Triple
from kg.senses import Senses

IntArray = np.ndarray


def encode_extraction(extraction: Extraction) -> bytes:
    """Bytes for the cache; ``decode_extraction`` gives back an equal record."""
    columns = {
        "name": [m.name for m in extraction.mentions],
        "type": [m.type for m in extraction.mentions],
        "count": [m.count for m in extraction.mentions],
        "independent": [m.independent for m in extraction.mentions],
        "in": [list(m.sentences) for m in extraction.mentions],
        "triples": [[t.subject, t.relation, t.object, t.sentence, t.weight] for t in extraction.triples],
        "definitions": extraction.definitions,
        "sentences": extraction.sentences,
    }
    if all(m.type == "term" for m in extraction.mentions):
        columns["type"] = []
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def decode_extraction(blob: bytes) -> Extraction:
    """Inverse of ``encode_extraction``."""
    c = json.loads(blob)
    types = c["type"] or ["term"] * len(c["name"])
    return Extraction(
        tuple(
            Mention(name, kind, count, tuple(where), independent)
            for name, kind, count, where, independent in zip(
                c["name"], types, c["count"], c["in"], c["independent"], strict=True
            )
        ),
        tuple(Triple(*row) for row in c["triples"]),
        tuple((short, expansion) for short, expansion in c["definitions"]),
        tuple((start, end) for start, end in c["sentences"]),
    )


@lru_cache(maxsize=1 << 19)
def _word_forms(word: str) -> str:
    return word_forms(word)


def surface_form(surface: str) -> str:
    """``name_form`` of a name, word by word from a memo: the words of a corpus are far fewer than its names."""
    return " ".join(filter(None, map(_word_forms, surface.split()))) or name_form(surface)


@dataclass(frozen=True)
class MentionTable:
    """Rows (section, surface) in section order; a *name* is a (type, key), numbered in code-point order.

    Shapes: section, surface, name, count, independent int32 [rows]; sentence_offsets int64 [rows + 1] into
    sentences int32; name_words int32 [names]; section_words float64, section_document int64 [sections].
    """

    section: IntArray
    surface: IntArray
    name: IntArray
    count: IntArray
    independent: IntArray
    sentence_offsets: IntArray
    sentences: IntArray
    surfaces: list[str]
    names: list[tuple[str, str]]
    forms: list[str]
    section_words: IntArray
    section_document: IntArray

    @property
    def n_sections(self) -> int:
        """Sections, those without a mention included."""
        return len(self.section_words)

    @property
    def name_words(self) -> IntArray:
        """Words of each name's form."""
        return np.fromiter((form.count(" ") + 1 for form in self.forms), dtype=np.int32, count=len(self.forms))

    def written(self) -> list[str]:
        """How each name is written: its most frequent spelling, ties by code point; its form where it is only meant."""
        pair, inverse = np.unique(
            self.name.astype(np.int64) * max(len(self.surfaces), 1) + self.surface, return_inverse=True
        )
        count = np.bincount(inverse, weights=self.count)
        best: dict[int, tuple[float, str]] = {}
        for key, times in zip(pair.tolist(), count.tolist(), strict=True):
            name, surface = divmod(key, len(self.surfaces))
            spelled = self.surfaces[surface]
            if form_key(surface_form(spelled)) == self.names[name][1]:  # else an acronym that stands for the name
                best[name] = min(best.get(name, (0.0, "")), (-times, spelled))
        return [best[name][1] if name in best else form for name, form in enumerate(self.forms)]

    def sections_of_names(self) -> sparse.csr_matrix:
        """Times each section mentions each name, float64 [names, sections]."""
        shape = (len(self.names), self.n_sections)
        matrix = sparse.coo_matrix((self.count.astype(np.float64), (self.name, self.section)), shape=shape).tocsr()
        matrix.sort_indices()
        return matrix

    def keep(self, mask: IntArray) -> MentionTable:
        """The rows of ``mask`` (bool [rows]), with names and surfaces that no row holds left out."""
        lengths = np.diff(self.sentence_offsets)
        used_names, name = np.unique(self.name[mask], return_inverse=True)
        used_surfaces, surface = np.unique(self.surface[mask], return_inverse=True)
        return replace(
            self,
            section=self.section[mask],
            surface=surface.astype(np.int32),
            name=name.astype(np.int32),
            count=self.count[mask],
            independent=self.independent[mask],
            sentence_offsets=np.concatenate([[0], np.cumsum(lengths[mask])]).astype(np.int64),
            sentences=self.sentences[np.repeat(mask, lengths)],
            surfaces=[self.surfaces[i] for i in used_surfaces],
            names=[self.names[i] for i in used_names],
            forms=[self.forms[i] for i in used_names],
        )


@dataclass(frozen=True)
class Assertions:
    """What is asserted section by section: ``triples`` (section, triple) and ``definitions`` (section, short, long),
    the ``senses`` that these give acronyms, and the spans of ``sentences``."""

    triples: list[tuple[int, Triple]]
    definitions: list[tuple[int, str, str]]
    sentences: list[list[list[int]]]
    senses: Senses = Senses({}, {}, {}, {})


def read_mentions(
    blobs: Iterable[bytes],
    documents: Sequence[int],
    section_words: Sequence[float],
    vectors: Tensor | None = None,
    homonyms: HomonymConfig | None = None,
) -> tuple[MentionTable, Assertions]:
    """Columns of all extractions, acronyms put under the expansion that their papers give them (``kg.senses``).

    ``documents`` [sections] numbers the paper of each section; ``vectors`` float32 [sections, d]: unit rows;
    ``homonyms``: how far from the papers that explain an acronym their explanation holds, everywhere where not given.
    """
    section: list[int] = []
    surface: list[str] = []
    kind: list[str] = []
    count: list[int] = []
    independent: list[int] = []
    lengths: list[int] = []
    sentences: list[int] = []
    assertions = Assertions([], [], [])
    for number, blob in enumerate(blobs):
        c = json.loads(blob)
        names = c["name"]
        section += [number] * len(names)
        surface += names
        kind += c["type"] or ["term"] * len(names)
        count += c["count"]
        independent += c["independent"]
        lengths += map(len, c["in"])
        for where in c["in"]:
            sentences += where
        assertions.triples.extend((number, Triple(*row)) for row in c["triples"])
        assertions.definitions.extend((number, short, expansion) for short, expansion in c["definitions"])
        assertions.sentences.append(c["sentences"])

    surface_ids, surfaces = _encode(surface)
    kind_ids, kinds = _encode(kind)
    columns = MentionTable(
        section=np.asarray(section, np.int32),
        surface=surface_ids,
        name=np.zeros(len(section), np.int32),
        count=np.asarray(count, np.int32),
        independent=np.asarray(independent, np.int32),
        sentence_offsets=np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64),
        sentences=np.asarray(sentences, np.int32),
        surfaces=surfaces,
        names=[],
        forms=[],
        section_words=np.asarray(section_words, np.float64),
        section_document=np.asarray(documents, np.int64),
    )
    forms = [surface_form(s) for s in surfaces]
    assertions = replace(assertions, senses=Senses.of(assertions.definitions, columns.section_document))
    resolved = resolve_acronyms(columns, forms, assertions.senses, _paper_vectors(documents, vectors), homonyms)
    return _name_rows(columns, forms, resolved, kind_ids, kinds), assertions


def _encode(values: list[str]) -> tuple[IntArray, list[str]]:
    """Ids int32 [rows] and the distinct values in order of first appearance."""
    encoded = pa.array(values, pa.string()).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32), encoded.dictionary.to_pylist()


def resolve_acronyms(
    table: MentionTable,
    forms: list[str],
    senses: Senses,
    papers: np.ndarray | None = None,
    homonyms: HomonymConfig | None = None,
) -> dict[int, str]:
    """Row -> form of the expansion, for rows whose surface is an acronym that its paper, or the corpus, explains.

    ``papers`` float64 [papers, d]: unit rows, what each paper speaks of. With ``homonyms`` an explanation is not
    carried to papers that nothing bridges with those that give it.
    """
    documents = table.section_document
    keys = {
        number: key
        for number, (surface, form) in enumerate(zip(table.surfaces, forms, strict=True))
        if (key := form_key(form)) in senses.known and sum(ch.isupper() for ch in surface) >= 2
    }
    rows = np.flatnonzero(np.isin(table.surface, np.fromiter(keys, np.int32, len(keys))))
    uses = [(keys[int(table.surface[row])], int(documents[table.section[row]])) for row in rows]
    meant = {use: form for use in uses if (form := senses.meant(*use, papers)) is not None}
    if papers is not None and homonyms is not None:
        for use in carried_too_far(meant, senses.papers, papers, homonyms):
            del meant[use]
    return {int(row): meant[use] for row, use in zip(rows, uses, strict=True) if use in meant}


def _paper_vectors(documents: Sequence[int], vectors: Tensor | None) -> np.ndarray | None:
    """float64 [papers, d]: the mean direction of each paper's sections."""
    if vectors is None or not len(vectors):
        return None
    sums = np.zeros((int(max(documents)) + 1, vectors.shape[1]))
    np.add.at(sums, np.asarray(documents, np.int64), vectors.double().numpy())
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12))


def _name_rows(
    table: MentionTable, forms: list[str], resolved: dict[int, str], kind_ids: IntArray, kinds: list[str]
) -> MentionTable:
    """Number the names, and leave out rows whose name has no visible character."""
    all_forms = [*forms, *sorted(set(resolved.values()))]
    number_of = {form: number for number, form in enumerate(all_forms)} if resolved else {}
    row_form = table.surface.astype(np.int64)
    for row, form in resolved.items():
        row_form[row] = number_of[form]
    keys = [form_key(form) for form in all_forms]
    key_ids, distinct = _encode(keys)
    pair = kind_ids.astype(np.int64) * max(len(distinct), 1) + key_ids[row_form]
    used, name = np.unique(pair, return_inverse=True)
    names = [(kinds[int(p) // len(distinct)], distinct[int(p) % len(distinct)]) for p in used]
    # Least form of each name, whatever order the sections came in.
    least: dict[int, str] = {}
    for number, form_number in np.unique(np.stack([name, row_form]), axis=1).T if len(name) else []:
        form = all_forms[int(form_number)]
        if int(number) not in least or form < least[int(number)]:
            least[int(number)] = form
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    named = replace(
        table,
        name=rank[name] if len(name) else table.name,
        names=[names[i] for i in order],
        forms=[least[i] for i in order],
    )
    visible = np.asarray([bool(key) for _, key in named.names], dtype=bool)
    return named if visible.all() else named.keep(visible[named.name])
