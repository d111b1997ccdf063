"""Which names to join: the lateral merge that makes one node of the same concept in many papers (BizSage 3.1).

Every decision looks at one pair of names alone, and names are joined by complete linkage: two groups become one only
if every pair across them is itself accepted. So a chain A~B~C cannot glue A to C, and the result depends neither on
the order of the papers nor on which were added last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex
from torch import Tensor

from kg.candidates import CandidateConfig, Name, american, candidate_pairs, readable, signature, stem

_NUMBER = regex.compile(r"\d")
_ROMAN = frozenset("i ii iii iv v vi vii viii ix x xi xii".split())
_OPPOSED_PREFIXES = (
    ("", "un"), ("", "non"), ("", "in"), ("", "im"), ("", "ir"), ("", "il"), ("", "anti"), ("", "dis"), ("", "de"),
    ("", "a"), ("", "co"), ("", "sub"), ("", "super"), ("", "semi"), ("", "self"), ("", "re"),
    ("", "pre"), ("", "post"),
    ("hypo", "hyper"), ("micro", "macro"), ("intra", "inter"), ("pre", "post"), ("endo", "exo"), ("over", "under"),
    ("up", "down"), ("mono", "poly"), ("uni", "multi"), ("homo", "hetero"), ("in", "out"), ("in", "ex"),
    ("in", "de"), ("en", "de"), ("im", "ex"), ("ex", "im"),
    ("afferent", "efferent"), ("sym", "asym"), ("up", "un"), ("inner", "outer"), ("for", "back"),
)  # fmt: skip
_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "male/female man/woman men/women boy/girl mother/father maternal/paternal child/adult young/old left/right "
        "high/low upper/lower large/small big/small long/short early/late acute/chronic positive/negative good/bad "
        "primary/secondary direct/indirect first/second buyer/seller supplier/customer supply/demand import/export "
        "public/private domestic/foreign internal/external local/global linear/nonlinear parametric/nonparametric "
        "supervised/unsupervised convex/concave increase/decrease gain/loss win/loss profit/loss benefit/cost "
        "input/output forward/backward static/dynamic discrete/continuous active/passive systolic/diastolic "
        "arterial/venous dominant/recessive benign/malignant aerobic/anaerobic spring/autumn summer/winter north/south "
        "east/west true/false cause/effect null/alternative type/token mean/median strong/weak hot/cold fast/slow "
        "agonist/antagonist oxidation/reduction agonism/antagonism union/intersection minimum/maximum min/max "
        "short/long demand/offer wholesale/retail upstream/downstream ex/post bull/bear call/put debt/equity"
    ).split()
)


@dataclass(frozen=True)
class MergeConfig:
    """Least cosines for joining: with equal signatures, with words that are variants one by one, and otherwise."""

    stem_cosine: float = 0.85
    variant_cosine: float = 0.85
    embedding_cosine: float = 0.95
    candidates: CandidateConfig = CandidateConfig()


def merge_names(names: Sequence[Name], vectors: Tensor, config: MergeConfig = MergeConfig()) -> np.ndarray:
    """Group numbers int64 [n]: names with one number are one concept. ``vectors`` float32 [n, d], unit rows.

    ``names`` must be distinct and in code-point order; groups are numbered by their least member.
    """
    pairs = candidate_pairs(names, vectors, config.candidates)
    scores = score_pairs(names, vectors, pairs, config)
    accepted = scores > 0
    return complete_linkage(len(names), pairs[accepted], scores[accepted])


def score_pairs(names: Sequence[Name], vectors: Tensor, pairs: np.ndarray, config: MergeConfig) -> np.ndarray:
    """Scores float64 [m] in (0, 1] of the pairs to join, 0 for those refused."""
    cosines = pair_cosines(vectors, pairs)
    scores = np.zeros(len(pairs))
    for number, (i, j) in enumerate(pairs):
        (kind, left), (other_kind, right) = names[i], names[j]
        if kind == other_kind:
            scores[number] = pair_score(left, right, float(cosines[number]), config)
    return scores


def pair_cosines(vectors: Tensor, pairs: np.ndarray, block: int = 65536) -> np.ndarray:
    """Cosines float64 [m], rounded to 1e-6: summed pair by pair, they do not depend on what else is compared."""
    rows = vectors.numpy()
    parts = [
        np.einsum("ij,ij->i", rows[part[:, 0]].astype(np.float64), rows[part[:, 1]].astype(np.float64))
        for part in (pairs[start : start + block] for start in range(0, len(pairs), block))
    ]
    return np.round(np.concatenate(parts), 6) if parts else np.zeros(0)


def pair_score(left: str, right: str, cosine: float, config: MergeConfig = MergeConfig()) -> float:
    """Score in (0, 1] if two forms name one thing, else 0; symmetric."""
    if not compatible(left, right) or not (readable(left) and readable(right)):
        return 0.0
    if signature(left) == signature(right):
        return max(cosine, 0.95) if cosine >= config.stem_cosine else 0.0
    if cosine >= config.variant_cosine and _variants(left.split(), right.split()):
        return cosine
    return cosine if cosine >= config.embedding_cosine else 0.0


def compatible(left: str, right: str) -> bool:
    """False where the difference itself carries meaning: numbers, versions, single letters, opposites.

    >>> compatible("resnet 50", "resnet 101"), compatible("type i error", "type ii error")
    (False, False)
    >>> compatible("supervised learning", "unsupervised learning"), compatible("neural network", "neural net")
    (False, True)
    """
    a, b = Counter(left.split()), Counter(right.split())
    only_left, only_right = a - b, b - a
    # One name that only adds words to the other is narrower: a supply chain is not its management.
    if bool(only_left) != bool(only_right) and {stem(t) for t in a} != {stem(t) for t in b}:
        return False
    if any(_telling(token) for token in {*only_left, *only_right}):
        return False
    return not any(_opposed(x, y) for x in only_left for y in only_right)


def _telling(token: str) -> bool:
    """A token whose presence on one side alone tells two things apart."""
    return len(token) == 1 or token in _ROMAN or bool(_NUMBER.search(token)) or token in {"non", "not", "no", "without"}


def _role(token: str) -> str:
    """Suffix of a word for someone or something that acts: an employer is no employment, a classifier no class."""
    word = american(token)  # "centre" and "center", "behaviour" and "behavior" end alike
    return next((suffix for suffix in ("er", "or", "ee", "ist") if word.endswith(suffix) and len(word) > 5), "")


def _opposed(x: str, y: str) -> bool:
    if _role(x) != _role(y) and stem(x) == stem(y):
        return True
    if frozenset((x, y)) in _OPPOSITES or frozenset((stem(x), stem(y))) in _OPPOSITES:
        return True
    for one, other in _OPPOSED_PREFIXES:
        for p, q in ((one, other), (other, one)):
            if x.startswith(p) and y.startswith(q) and len(x) - len(p) >= 3 and x[len(p) :] == y[len(q) :]:
                return True
    return False


def _variants(left: list[str], right: list[str]) -> bool:
    """Same words in the same order, each pair equal or sharing its stem or a beginning of five letters and more."""
    if len(left) != len(right):
        return False
    for x, y in zip(left, right, strict=True):
        shared = next((i for i, (p, q) in enumerate(zip(x, y, strict=False)) if p != q), min(len(x), len(y)))
        if x != y and stem(x) != stem(y) and (shared < 5 or shared < 0.6 * max(len(x), len(y))):
            return False
    return True


def complete_linkage(n: int, pairs: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Groups int64 [n] from accepted ``pairs`` [m, 2], best first (ties by the numbers of the names).

    Two groups join only if every pair across them was accepted; so groups are cliques of the accepted pairs.
    """
    group = list(range(n))
    members: dict[int, list[int]] = {}
    links: dict[int, dict[int, int]] = defaultdict(dict)  # accepted pairs across two groups, counted
    for i, j in pairs.tolist():
        links[i][j] = links[j][i] = 1
    for i, j in pairs[np.lexsort((pairs[:, 1], pairs[:, 0], -scores))].tolist():
        a, b = sorted((group[i], group[j]))
        left, right = members.get(a, [a]), members.get(b, [b])
        if a == b or links[a][b] < len(left) * len(right):
            continue
        members[a] = left + right
        members.pop(b, None)
        for member in right:
            group[member] = a
        for c, count in links.pop(b).items():
            del links[c][b]
            if c != a:
                links[a][c] = links[c][a] = links[a].get(c, 0) + count
    return np.asarray(group, dtype=np.int64)
