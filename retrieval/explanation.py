"""Why methods differ on a collection: their order, their gains and what unrelated documents they show, beside one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from kg.errors import InputError
from retrieval.collection import Collection
from retrieval.comparison import SHARED
from retrieval.contrast import Gain, Order, gains, order
from retrieval.measures import WSS, Qrels, evaluate, parse_measure
from retrieval.significance import clusters
from retrieval.trec import Run
from retrieval.unrelated import QuestionWords, Unrelated, count_unrelated


@dataclass(frozen=True)
class ExplanationConfig:
    """``reference``: the method that others are held against. ``measure``: what gains are of. ``depth``: how many
    documents are the first of a ranking.

    Raises:
        InputError: a depth below 1, an unknown measure, or work saved over sampling, which needs the graph.
    """

    reference: str = "dense"
    measure: str = "nDCG@10"
    depth: int = 20

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError(f"The depth is {self.depth} documents; take 1 or more.")
        if isinstance(parse_measure(self.measure), WSS):
            raise InputError(f"{self.measure} needs the graph, which is not looked at here; take one such as nDCG@10.")


@dataclass(frozen=True)
class Profile:
    """What one method's run shows. ``values``: query -> measure. ``n_short``: rankings that end before the depth."""

    order: Order
    values: Mapping[str, float]
    unrelated: Unrelated
    n_short: int


@dataclass(frozen=True)
class Explanation:
    """Methods on one set of judgements: ``profiles`` by method, the reference first; ``gains`` by bucket, of those
    that occur, and method. ``n_clusters`` of queries that are drawn together, by what ``clustered_by`` says.
    ``all_judged``: no run ranks a document without a judgement for its query, though the corpus has such and nothing
    forbids them.
    """

    name: str
    config: ExplanationConfig
    profiles: Mapping[str, Profile]
    gains: Mapping[str, Mapping[str, Gain]]
    n_queries: int
    n_clusters: int
    clustered_by: str
    all_judged: bool

    @property
    def others(self) -> tuple[str, ...]:
        """The methods but for the reference, in the order they were given."""
        return tuple(method for method in self.profiles if method != self.config.reference)


def explain(
    collection: Collection,
    reference: Run,
    others: Iterable[tuple[str, Run]],
    words: QuestionWords,
    config: ExplanationConfig = ExplanationConfig(),
) -> list[Explanation]:
    """An explanation per set of judgements. ``others``: (method, run), of which one at a time is in memory.

    Raises:
        InputError: as ``measures.evaluate``; judgements of which the measure counts none as relevant.
    """
    made = []
    groups = {name: collection.groups or clusters(qrels) for name, qrels in collection.qrels.items()}
    profiles: dict[str, dict[str, Profile]] = {name: {} for name in collection.qrels}
    for method, run in chain([(config.reference, reference)], others):
        for name, qrels in collection.qrels.items():
            profiles[name][method] = _profile(run, reference, qrels, groups[name], words, config)
    how = SHARED if collection.groups is None else f"equal {collection.cluster_by}"
    free = all(query.candidates is None for query in collection.queries)
    for name, qrels in collection.qrels.items():
        values = {method: profile.values for method, profile in profiles[name].items()}
        base = values.pop(config.reference)
        if not base:
            raise InputError(f"{config.measure} counts no document of {name} as relevant; take another measure.")
        found = gains(values, base, qrels, groups[name])
        n_clusters = len({groups[name][query] for query in qrels})
        unjudged = any(words.held.keys() - judged.keys() for judged in qrels.values())
        all_judged = free and unjudged and not any(own.unrelated.n_unjudged for own in profiles[name].values())
        made.append(Explanation(name, config, profiles[name], found, len(qrels), n_clusters, how, all_judged))
    return made


def _profile(
    run: Run,
    reference: Run,
    qrels: Qrels,
    clusters: Mapping[str, int],
    words: QuestionWords,
    config: ExplanationConfig,
) -> Profile:
    return Profile(
        order(run, reference, qrels, clusters, config.depth),
        evaluate(run, qrels, [config.measure])[config.measure],
        count_unrelated(run, qrels, clusters, words, config.depth),
        sum(query not in run or len(run[query]) < config.depth for query in qrels),
    )
