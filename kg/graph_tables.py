"""The tables of a graph, as they are stored: one row per concept, mention, relation, and pair of names (DESIGN 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from scipy import sparse

from kg.cooccurrence import Relations
from kg.mentions import Assertions, MentionTable, surface_form
from kg.merge import EVIDENCE
from kg.names import form_key

if TYPE_CHECKING:
    from kg.assemble import Concepts


def concept_table(mentions: MentionTable, concepts: Concepts, incidence: sparse.csr_matrix) -> pa.Table:
    """id, label (most frequent surface, ties by code point), type, form, aliases by frequency, their keys, counts."""
    concept = concepts.of_name[mentions.name]
    n_surfaces = max(len(mentions.surfaces), 1)
    pair, of_pair = np.unique(concept * n_surfaces + mentions.surface, return_inverse=True)
    count = np.bincount(of_pair, weights=mentions.count).astype(np.int64)
    aliases: list[list[tuple[int, str]]] = [[] for _ in concepts.ids]
    for p, c in zip(pair, count, strict=True):
        aliases[p // n_surfaces].append((-int(c), mentions.surfaces[p % n_surfaces]))
    named = [[surface for _, surface in sorted(own)] for own in aliases]
    keys = [
        sorted({form_key(form), *(form_key(surface_form(surface)) for surface in own)})
        for form, own in zip(concepts.forms, named, strict=True)
    ]
    holders = np.bincount(incidence.indices, minlength=len(concepts.ids))
    total = np.bincount(concept, weights=mentions.count, minlength=len(concepts.ids))
    return pa.table(
        {
            "concept_id": pa.array(concepts.ids, pa.string()),
            "label": pa.array([own[0] for own in named], pa.string()),
            "type": pa.array(concepts.types, pa.string()),
            "form": pa.array(concepts.forms, pa.string()),
            "aliases": pa.array(named, pa.list_(pa.string())),
            "keys": pa.array(keys, pa.list_(pa.string())),
            "n_sections": pa.array(holders.astype(np.int32)),
            "n_mentions": pa.array(total.astype(np.int32)),
        }
    )


def mention_table(mentions: MentionTable, concepts: Concepts) -> pa.Table:
    """One row per (section, concept, surface), sorted."""
    words = np.asarray(mentions.surfaces, dtype=object)
    rank = np.empty(len(words), dtype=np.int32)
    order = np.asarray(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
    rank[order] = np.arange(len(words), dtype=np.int32)
    surface = rank[mentions.surface]
    concept = concepts.of_name[mentions.name]
    rows = np.lexsort((surface, concept, mentions.section))
    dictionary = pa.array([str(words[i]) for i in order], pa.string())
    return pa.table(
        {
            "section": pa.array(mentions.section[rows]),
            "concept": pa.array(concept[rows].astype(np.int32)),
            "surface": pa.DictionaryArray.from_arrays(pa.array(surface[rows]), dictionary),
            "count": pa.array(mentions.count[rows]),
        }
    )


def relation_table(relations: Relations, place: np.ndarray, assertions: Assertions) -> pa.Table:
    """Directed relations with label and evidence: [start, end) of a sentence in the text, -1 for the title."""
    subject, object_ = place[relations.subject], place[relations.object]
    rows = np.lexsort((relations.sentence, relations.label, object_, subject, relations.section))
    section, sentence = relations.section[rows], relations.sentence[rows]
    spans = [
        assertions.sentences[s][n] if n >= 0 else (-1, -1)
        for s, n in zip(section.tolist(), sentence.tolist(), strict=True)
    ]
    start, end = np.asarray(spans, dtype=np.int32).reshape(-1, 2).T
    return pa.table(
        {
            "section": pa.array(section.astype(np.int32)),
            "subject": pa.array(subject[rows].astype(np.int32)),
            "object": pa.array(object_[rows].astype(np.int32)),
            "label": pa.DictionaryArray.from_arrays(
                pa.array(relations.label[rows].astype(np.int32)), pa.array(list(relations.labels), pa.string())
            ),
            "start": pa.array(start),
            "end": pa.array(end),
            "weight": pa.array(relations.weight[rows].astype(np.float32)),
        }
    )


def link_table(concepts: Concepts) -> pa.Table:
    """Pairs of names that are one or nearly so: their concepts, how they are written, how likely, and why."""
    merged = concepts.merged
    ends = concepts.of_name[merged.pairs].astype(np.int32)
    words = pa.array(concepts.written, pa.string())
    left, right = (words.take(pa.array(merged.pairs[:, side])) for side in (0, 1))
    return pa.table(
        {
            "left": pa.array(ends[:, 0]),
            "right": pa.array(ends[:, 1]),
            "left_name": left,
            "right_name": right,
            "probability": pa.array(merged.probability.astype(np.float32)),
            "evidence": pa.DictionaryArray.from_arrays(pa.array(merged.evidence), pa.array(EVIDENCE, pa.string())),
        }
    )
