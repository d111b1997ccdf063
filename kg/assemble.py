"""Sections and what was extracted from them -> the graph: a pure function (DESIGN 3).

Nothing here depends on the order of the papers, on which were added when, or on the clock: build(A + B),
build(A) + add(B) and build(A + B + C) + remove(C) give the same rows and the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import pyarrow as pa
import torch
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

from kg.cooccurrence import Relations, cooccurrences
from kg.graph_tables import concept_table, link_table, mention_table, relation_table
from kg.homonyms import Parted, part_homonyms
from kg.mentions import Assertions, MentionTable, read_mentions
from kg.merge import MergeConfig, Merged, Names, merge_names, presence
from kg.names import form_key, name_key
from kg.papers import Paper, paper_tables
from kg.protocols import Extractor
from kg.senses import Senses

Embed = Callable[[Sequence[str]], Tensor]
"""[n] texts -> float32 [n, d] unit rows, each a function of its own text alone."""


@dataclass(frozen=True)
class Assembled:
    """What ``storage.write_generation`` takes: Arrow tables, tensors, and counts for the manifest."""

    tables: dict[str, pa.Table]
    tensors: dict[str, Tensor]
    counts: dict[str, int]


@dataclass(frozen=True)
class Concepts:
    """Merged names: ``of_name`` int64 [names] gives each name's concept, in the order of the concepts table.

    ``written``: how each name is written; ``merged``: what the names' pairs were judged.
    """

    of_name: np.ndarray
    ids: list[str]
    types: list[str]
    forms: list[str]
    vectors: Tensor
    written: list[str]
    merged: Merged

    def ordered(self, order: np.ndarray) -> Concepts:
        """The same with concept ``order[i]`` (int64 [concepts]) as concept i."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return replace(
            self,
            of_name=place[self.of_name],
            ids=[self.ids[i] for i in order],
            types=[self.types[i] for i in order],
            forms=[self.forms[i] for i in order],
            vectors=self.vectors[torch.from_numpy(order)],
        )


def assemble(
    papers: Sequence[Paper], blobs: Sequence[bytes], extractor: Extractor, embed: Embed, merge: MergeConfig
) -> Assembled:
    """Assemble papers (sorted by id) and their sections' extractions (encoded, in order) into a graph."""
    documents, sections = paper_tables(papers)
    texts = [section for paper in papers for section in paper.sections]
    vectors = embed([section.full_text() for section in texts])
    mentions, assertions = read_mentions(
        blobs, sections["document"].to_numpy(), [word_count(section.text) for section in texts], vectors, merge.homonyms
    )
    mentions = mentions.keep(extractor.select(mentions))
    whole = {form_key(form) for pair in merge.overrules.same for form in pair}
    ids = [paper.document.doc_id for paper in papers]
    parted = part_homonyms(mentions, vectors, ids, merge.homonyms, whole)
    mentions = parted.mentions
    concepts = merge_concepts(parted, embed, merge, vectors, assertions.senses)
    relations = find_relations(mentions, concepts, assertions, extractor.cooccurrence)
    weights = edge_weights(relations, len(concepts.ids))
    order = _node_order(weights)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    concepts = concepts.ordered(order)
    incidence = _incidence(mentions, concepts, len(texts))
    tables = {
        "documents": documents,
        "sections": sections,
        "concepts": concept_table(mentions, concepts, incidence),
        "relations": relation_table(relations, place, assertions),
        "mentions": mention_table(mentions, concepts),
        "links": link_table(concepts),
    }
    tensors = {
        "section_x": vectors,
        "concept_x": concepts.vectors,
        **_csr_tensors("adjacency", weights[order][:, order]),
        **_csr_tensors("incidence", incidence),
        **_csr_tensors("holders", incidence.T.tocsr()),
        **_csr_tensors("same_as", _same_as(concepts, merge.same_as)),
    }
    counts = {name: table.num_rows for name, table in tables.items()} | {
        "edges": int(weights.nnz) // 2,
        "same_as": len(tensors["same_as_values"]) // 2,
        "parted_names": int((np.bincount(parted.spellings()) > 1).sum()),
    }
    return Assembled(tables, tensors, counts)


def _same_as(concepts: Concepts, least: float) -> sparse.csr_matrix:
    """Probability that two concepts are one, where it is uncertain: the greatest of any two of their names, float32."""
    n = len(concepts.ids)
    merged = concepts.merged
    ends = concepts.of_name[merged.pairs]
    uncertain = (ends[:, 0] != ends[:, 1]) & (merged.probability >= least)
    low, high = ends[uncertain].min(axis=1, initial=n), ends[uncertain].max(axis=1, initial=0)
    edges, edge_of = np.unique(low * max(n, 1) + high, return_inverse=True)
    greatest = np.zeros(len(edges))
    np.maximum.at(greatest, edge_of, merged.probability[uncertain])
    u, v = np.divmod(edges, max(n, 1))
    both = (np.concatenate([u, v]), np.concatenate([v, u]))
    return sparse.coo_matrix((np.concatenate([greatest, greatest]).astype(np.float32), both), shape=(n, n)).tocsr()


def word_count(text: str) -> float:
    """Words of a text, about: characters by six, so that scripts without spaces count too."""
    return len(text) / 6.0


def merge_concepts(parted: Parted, embed: Embed, config: MergeConfig, sections: Tensor, senses: Senses) -> Concepts:
    """Join the names of all papers: the id is the hash of type and least key, the vector the members' mean.

    Of a name with several senses the id of all but the first holds the least paper too. ``sections`` float32
    [sections, d]: what surrounds the names.
    """
    mentions = parted.mentions
    vectors = embed(mentions.forms)
    held = mentions.sections_of_names()
    written = mentions.written()
    types = [kind for kind, _ in mentions.names]
    around = context_vectors(held, sections)
    explained = frozenset(senses.known)
    names = Names(types, written, vectors, around, held, senses.expansions(), explained, parted.spellings())
    merged = merge_names(names, config)
    leaders, of_name = np.unique(merged.group, return_inverse=True)
    keys = [mentions.names[int(leader)] for leader in leaders]  # a group is numbered by its least name
    papers = [parted.first_paper[int(leader)] for leader in leaders]
    parts = [(*key, paper) if paper else key for key, paper in zip(keys, papers, strict=True)]
    ids = [sha256("\0".join(part).encode()).hexdigest()[:16] for part in parts]
    sums = torch.zeros(len(leaders), vectors.shape[1], dtype=torch.float64)
    sums.index_add_(0, torch.from_numpy(of_name), vectors.double())
    means = torch.nn.functional.normalize(sums, dim=1).float()
    forms = [mentions.forms[int(leader)] for leader in leaders]
    concepts = Concepts(of_name, ids, [kind for kind, _ in keys], forms, means, written, merged)
    return concepts.ordered(np.asarray(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64))


def context_vectors(held: sparse.csr_matrix, sections: Tensor) -> Tensor:
    """Mean direction of the sections that hold each name, float32 [names, d]."""
    means = torch.from_numpy(presence(held) @ sections.double().numpy())
    return torch.nn.functional.normalize(means, dim=1).float()


def find_relations(mentions: MentionTable, concepts: Concepts, assertions: Assertions, cooccurrence: bool) -> Relations:
    """What the sections assert between two different concepts, by triples or, where asked for, by co-occurrence."""
    concept = concepts.of_name[mentions.name]
    if cooccurrence:
        repeats = np.diff(mentions.sentence_offsets)
        return cooccurrences(
            np.repeat(mentions.section, repeats), mentions.sentences, np.repeat(concept, repeats), mentions.n_sections
        )
    here: dict[tuple[int, str], int] = {}
    spelled = [name_key(surface) for surface in mentions.surfaces]
    for section, surface, name, of in zip(mentions.section, mentions.surface, mentions.name, concept, strict=True):
        for key in (mentions.names[int(name)][1], spelled[int(surface)]):  # an end may be an acronym, or its expansion
            here.setdefault((int(section), key), int(of))
    labels = sorted({triple.relation for _, triple in assertions.triples})
    number = {label: n for n, label in enumerate(labels)}
    rows = [
        (
            section,
            subject,
            object_,
            number[triple.relation],
            _sentence(triple.sentence, assertions, section),
            triple.weight,
        )
        for section, triple in assertions.triples
        if (subject := here.get((section, name_key(triple.subject)), -1)) >= 0
        and (object_ := here.get((section, name_key(triple.object)), -1)) >= 0
        and subject != object_
    ]
    columns = np.asarray(rows, dtype=np.float64).reshape(-1, 6).T
    whole = columns[:5].astype(np.int64)
    return Relations(whole[0], whole[1], whole[2], whole[3], whole[4], columns[5], tuple(labels))


def _sentence(number: int, assertions: Assertions, section: int) -> int:
    """A sentence that the section has, else -1, which stands for title and heading."""
    return number if 0 <= number < len(assertions.sentences[section]) else -1


def edge_weights(relations: Relations, n_concepts: int) -> sparse.csr_matrix:
    """The diffusion graph: w(u, v) = log(1 + sum over sections of the strongest assertion of u-v), float32, symmetric.

    With asserted relations (weight 1) the sum is the number of sections that assert u-v.
    """
    low = np.minimum(relations.subject, relations.object)
    high = np.maximum(relations.subject, relations.object)
    order = np.lexsort((-relations.weight, high, low, relations.section))
    rows = np.stack([relations.section, low, high])[:, order]
    strongest = np.ones(rows.shape[1], dtype=bool)
    strongest[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    edge = rows[1, strongest] * max(n_concepts, 1) + rows[2, strongest]
    edges, edge_of = np.unique(edge, return_inverse=True)
    # Sorted before summing: float addition must not depend on the order of sections.
    by_edge = np.lexsort((relations.weight[order][strongest], edge_of))
    total = np.bincount(edge_of[by_edge], weights=relations.weight[order][strongest][by_edge], minlength=len(edges))
    u, v = edges // max(n_concepts, 1), edges % max(n_concepts, 1)
    weight = np.log1p(total)
    matrix = sparse.coo_matrix(
        (np.concatenate([weight, weight]), (np.concatenate([u, v]), np.concatenate([v, u]))),
        shape=(n_concepts, n_concepts),
    ).tocsr()
    matrix.sort_indices()
    return matrix.astype(np.float32)


def _node_order(weights: sparse.csr_matrix) -> np.ndarray:
    """Reverse Cuthill-McKee: neighbours get near numbers, which keeps diffusion in the processor's caches."""
    if not weights.nnz:  # scipy does not order an empty graph
        return np.arange(weights.shape[0], dtype=np.int64)
    return np.asarray(reverse_cuthill_mckee(weights, symmetric_mode=True), dtype=np.int64)


def _incidence(mentions: MentionTable, concepts: Concepts, n_sections: int) -> sparse.csr_matrix:
    """Times each section mentions each concept, float32 [sections, concepts]."""
    matrix = sparse.coo_matrix(
        (mentions.count.astype(np.float32), (mentions.section, concepts.of_name[mentions.name])),
        shape=(n_sections, len(concepts.ids)),
    ).tocsr()
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def _csr_tensors(name: str, matrix: sparse.csr_matrix) -> dict[str, Tensor]:
    """Row pointers, columns (int32 while they fit, to halve the traffic of diffusion) and values of one CSR matrix."""
    matrix.sort_indices()
    index = np.int32 if matrix.nnz < 2**31 else np.int64
    return {
        f"{name}_rows": torch.from_numpy(matrix.indptr.astype(index)),
        f"{name}_columns": torch.from_numpy(matrix.indices.astype(index)),
        f"{name}_values": torch.from_numpy(matrix.data.astype(np.float32)),
    }
