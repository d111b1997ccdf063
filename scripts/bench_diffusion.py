"""How long a diffusion takes, beside other libraries and a float64 solve, in one process.

    python scripts/bench_diffusion.py [GRAPH] [--nodes N --edges N --seed N] [--operators ppr katz heat_kernel]

Without GRAPH, a graph directory, the graph is generated. Every implementation answers in every round, in an order drawn
anew; medians are printed, with the L1 error and the precision of the first 100 nodes against the float64 solve of the
first queries, ratios to igraph and to scipy, and the share of the copy bandwidth of the same run that the bytes of the
model come to. Times are without what is done once per graph.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from scripts.console import say
from scripts.entry import run_script

if TYPE_CHECKING:
    import numpy as np
    from scipy import sparse
    from torch import Tensor

    from retrieval.diffusion import Diffusion
    from scripts.diffusion_peers import Answer

NAME = "bench_diffusion.py"
PARAMETERS: dict[str, tuple[float, ...]] = {"ppr": (0.5, 0.15, 0.05), "katz": (0.5,), "heat_kernel": (1.0, 5.0)}
CHECKED = 3
"""Queries whose answers are compared with the float64 solve."""


@dataclass(frozen=True)
class Arguments:
    """Time diffusion."""

    graph: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH")] = None
    nodes: int = 200_000
    edges: int = 500_000
    seed: int = 718
    operators: tuple[Literal["ppr", "katz", "heat_kernel"], ...] = ("ppr",)
    batches: tuple[int, ...] = (1, 16, 64)
    kernels: tuple[str, ...] = ("native", "torch")
    alone: bool = False
    """Leave out igraph, scipy and scikit-network."""
    repeats: int = 5
    tolerance: float = 1e-6
    panel_bytes: int = 4 << 30
    """Memory for panels."""
    copy_mb: int = 512
    """What is copied to measure the bandwidth."""
    device: str = "cpu"
    json: bool = False


@dataclass
class Row:
    """One implementation at one setting; ``alpha`` is the damping of Katz, the time of the heat kernel."""

    operator: str
    alpha: float
    batch: int
    implementation: str
    seconds_per_query: float = 0.0
    l1: float = 0.0
    precision_at_100: float = 0.0
    ratio_to_igraph: float | None = None
    ratio_to_scipy: float | None = None
    iterations: int | None = None
    share_of_copy_bandwidth: float | None = None
    peak_mb: float | None = None
    seconds: list[float] = field(default_factory=list)
    bytes_moved: int = 0


Task = tuple[Row, Callable[[], "np.ndarray"]]


def main(arguments: Arguments) -> int:
    """Time everything, print a table or JSON."""
    import torch

    adjacency = _graph(arguments)
    say(f"{adjacency.shape[0]:,} nodes, {adjacency.nnz // 2:,} edges, {torch.get_num_threads()} threads")
    rows: list[Row] = []
    for operator in arguments.operators:
        for parameter in PARAMETERS[operator]:
            tasks, exact = _tasks(adjacency, operator, parameter, arguments)
            order = random.Random(arguments.seed)
            for _ in range(arguments.repeats):
                for row, work in order.sample(tasks, len(tasks)):
                    _time(row, work, exact)
            rows += [row for row, _ in tasks]
            _finish([row for row, _ in tasks], copy_bandwidth(arguments.device, arguments.copy_mb))
            if not arguments.json:
                _print([row for row, _ in tasks])
    if arguments.json:
        shown = [{k: v for k, v in asdict(row).items() if k not in ("seconds", "bytes_moved")} for row in rows]
        sys.stdout.write(json.dumps({"rows": shown}, indent=1) + "\n")
    return 0


def _graph(arguments: Arguments) -> sparse.csr_matrix:
    from scripts.power_law_graph import power_law_graph

    if arguments.graph is None:
        return power_law_graph(arguments.nodes, arguments.edges, arguments.seed)
    from scipy import sparse as scipy_sparse

    from kg.build import open_graph

    found = open_graph(arguments.graph).adjacency
    parts = (found.values(), found.col_indices(), found.crow_indices())
    return scipy_sparse.csr_matrix(tuple(part.numpy() for part in parts), found.shape)


def _tasks(
    adjacency: sparse.csr_matrix, operator: str, parameter: float, arguments: Arguments
) -> tuple[list[Task], np.ndarray]:
    """What is timed, and the exact scores [n, CHECKED] of the first queries."""
    import numpy as np

    from retrieval.diffusion import KatzOperator
    from scripts.diffusion_peers import EXACT, igraph_pagerank, scikit_network_pagerank, series, transition
    from scripts.power_law_graph import as_tensor, seeds_at_random

    seeds = seeds_at_random(adjacency.shape[0], max(*arguments.batches, CHECKED), arguments.seed)
    bound = KatzOperator.of(as_tensor(adjacency), kernel="torch").bound if operator == "katz" else 1.0
    matrix = transition(adjacency, operator, bound)
    columns = [seeds[:, [b]].toarray().ravel().astype(np.float64) for b in range(CHECKED)]
    columns = [column / column.sum() for column in columns]
    exact = np.stack([series(matrix, operator, parameter, EXACT)(column) for column in columns], axis=1)
    tasks = list(_ours(adjacency, seeds, operator, parameter, arguments))
    if not arguments.alone:
        peers = {"scipy": series(matrix, operator, parameter, arguments.tolerance)}
        if operator == "ppr":
            peers["igraph"] = igraph_pagerank(adjacency, parameter)
            peers["scikit-network"] = scikit_network_pagerank(adjacency, parameter)
        tasks += [(Row(operator, parameter, 1, name), _asked(answer, columns[0])) for name, answer in peers.items()]
    return tasks, exact


def _asked(answer: Answer, column: np.ndarray) -> Callable[[], np.ndarray]:
    return lambda: answer(column)[:, None]


def _ours(
    adjacency: sparse.csr_matrix, seeds: sparse.csc_matrix, operator: str, parameter: float, arguments: Arguments
) -> Iterator[Task]:
    from retrieval.diffusion import KatzOperator, Transition, heat_kernel, katz, personalized_pagerank
    from scripts.power_law_graph import as_coo, as_tensor

    tensor = as_tensor(adjacency).to(arguments.device)
    for kernel in arguments.kernels:
        spread: Callable[..., Diffusion]
        if operator == "katz":
            spread = partial(katz, KatzOperator.of(tensor, kernel=kernel), damping=parameter)
        elif operator == "ppr":
            spread = partial(personalized_pagerank, Transition.of(tensor, "column", kernel=kernel), alpha=parameter)
        else:
            spread = partial(heat_kernel, Transition.of(tensor, "symmetric", kernel=kernel), time=parameter)
        spread = partial(spread, tolerance=arguments.tolerance, panel_bytes=arguments.panel_bytes)
        for batch in arguments.batches:
            p = as_coo(seeds[:, :batch]).to(arguments.device)
            row = Row(operator, parameter, batch, kernel)
            yield row, _run(row, spread, p)


def _run(row: Row, spread: Callable[..., Diffusion], p: Tensor) -> Callable[[], np.ndarray]:
    def work() -> np.ndarray:
        found = spread(p)
        if found.scores.is_cuda:
            import torch

            torch.cuda.synchronize()
        row.iterations, row.bytes_moved = found.iterations, found.bytes_moved
        scores: np.ndarray = found.scores[:, :CHECKED].cpu().numpy()
        return scores

    return work


def _time(row: Row, work: Callable[[], np.ndarray], exact: np.ndarray) -> None:
    import numpy as np

    reset_peak()
    start = time.perf_counter()
    found = work()
    row.seconds.append(time.perf_counter() - start)
    row.peak_mb = peak_mb()
    wanted = exact[:, : found.shape[1]]
    row.l1 = float(np.abs(found - wanted).sum(axis=0).max())
    first, best = (np.argsort(-scores, axis=0, kind="stable")[:100] for scores in (found, wanted))
    row.precision_at_100 = float(np.mean([np.isin(a, b).mean() for a, b in zip(first.T, best.T, strict=True)]))


def _finish(rows: list[Row], bandwidth: float) -> None:
    for row in rows:
        row.seconds_per_query = statistics.median(row.seconds) / row.batch
        if row.bytes_moved:
            row.share_of_copy_bandwidth = row.bytes_moved / (row.seconds_per_query * row.batch) / bandwidth
    medians = {row.implementation: row.seconds_per_query for row in rows}
    for row in rows:
        row.ratio_to_igraph = medians["igraph"] / row.seconds_per_query if "igraph" in medians else None
        row.ratio_to_scipy = medians["scipy"] / row.seconds_per_query if "scipy" in medians else None


def copy_bandwidth(device: str, megabytes: int) -> float:
    """Bytes per second, read and written, of copying so much; the best of five."""
    import torch

    source = torch.ones(megabytes << 17, device=device, dtype=torch.float64)
    target, best = torch.empty_like(source), float("inf")
    for _ in range(5):
        start = time.perf_counter()
        target.copy_(source)
        if target.is_cuda:
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return 2.0 * source.nbytes / best


def reset_peak() -> None:
    """Forget the process's peak memory, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_mb() -> float | None:
    """The process's peak memory since then, in MB."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _print(rows: list[Row]) -> None:
    sys.stdout.write(
        f"{'':<11} {'':>5} batch  {'':<14}  ms/query       L1  P@100  x igraph  x scipy  steps  of copy  peak MB\n"
    )
    for row in sorted(rows, key=lambda row: (row.batch, row.implementation)):
        ratios = "".join(f"{'' if x is None else f'{x:.1f}':>{w}}" for x, w in _ratios(row))
        share = "" if row.share_of_copy_bandwidth is None else f"{row.share_of_copy_bandwidth:.0%}"
        sys.stdout.write(
            f"{row.operator:<11} {row.alpha:>5g} {row.batch:>5}  {row.implementation:<14} "
            f"{1e3 * row.seconds_per_query:>9.2f} {row.l1:>8.1e} {row.precision_at_100:>6.2f}{ratios} "
            f"{row.iterations or '':>6} {share:>8} {row.peak_mb or 0:>8,.0f}\n"
        )


def _ratios(row: Row) -> tuple[tuple[float | None, int], tuple[float | None, int]]:
    return (row.ratio_to_igraph, 10), (row.ratio_to_scipy, 9)


if __name__ == "__main__":
    sys.exit(run_script(Arguments, main, NAME, "nothing was written"))
