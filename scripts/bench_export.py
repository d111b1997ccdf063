"""How long exports and the overview take, what they weigh, and how communities compare with other libraries'.

    python scripts/bench_export.py [GRAPH] [--runs N] [--concepts N]

GRAPH is a directory that `evigraph build` made; without one, the SciFact abstracts in EVIGRAPH_DATA are built first
(minutes). Every export is a whole command in a process of its own, so that its peak memory is its own. Beside ours
networkx writes the concepts and their edges alone as GraphML, rdflib as N-Triples: less than we write, and the same
format. ``--concepts``: size of a synthetic graph for the overview, papers included.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ("graph.graphml", "graph.zip", "graph.jsonld", "graph.nt", "graph.pt")
PEAK = """
import json, resource, runpy, sys
sys.argv = ["evigraph", *sys.argv[1:]]
try:
    runpy.run_module("scripts.cli", run_name="__main__")
finally:
    print(json.dumps({"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def main() -> int:
    """Print a table of exports, one of communities, and the overview's times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--concepts", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        graph = arguments.graph or _built(Path(temporary) / "graph")
        show_exports(graph, Path(temporary), arguments.runs)
        show_communities(graph, arguments.runs)
        show_overview(str(graph), graph, Path(temporary), arguments.runs)
        if arguments.concepts:
            from scripts.synthetic_graph import make_synthetic

            synthetic = Path(temporary) / "synthetic"
            make_synthetic(synthetic, arguments.concepts)
            show_overview(f"{arguments.concepts:,} synthetic concepts", synthetic, Path(temporary), arguments.runs)
    return 0


def show_exports(graph: Path, folder: Path, runs: int) -> None:
    """Seconds of the whole command, size, peak memory; then the same of networkx and rdflib, in this process."""
    print(f"{'export':<34}{'seconds':>9}{'MB':>8}{'peak MB':>9}")
    for name in TARGETS:
        made = [command("export", str(graph), "--out", str(folder / name)) for _ in range(runs)]
        _row(name, [run["seconds"] for run in made], (folder / name).stat().st_size, made[-1]["peak_mb"])
    for name, write in (("networkx, concepts only", write_networkx), ("rdflib, concepts only", write_rdflib)):
        seconds, path = [], folder / "peer"
        for _ in range(runs):
            start = time.perf_counter()
            write(graph, path)
            seconds.append(time.perf_counter() - start)
        _row(name, seconds, path.stat().st_size, None)


def show_communities(graph: Path, runs: int) -> None:
    """Modularity and seconds of ours, of scikit-network and of igraph on the same weights."""
    from kg.build import open_graph
    from kg.communities import concept_weights, partition

    opened = open_graph(graph)
    weights, ids = concept_weights(opened), opened.concepts["concept_id"].to_pylist()
    print(f"communities of {weights.shape[0]:,} concepts, {weights.nnz // 2:,} edges")
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: partition(weights, ids).of,
        "scikit-network Louvain": lambda: _sknetwork("Louvain", weights),
        "scikit-network Leiden": lambda: _sknetwork("Leiden", weights),
        "igraph Leiden, to convergence": lambda: _igraph(weights),
    }
    for name, find in ways.items():
        seconds, found = [], None
        for _ in range(runs):
            start = time.perf_counter()
            found = find()
            seconds.append(time.perf_counter() - start)
        print(f"  {name:<32}{modularity(weights, found):7.3f}{statistics.median(seconds):9.2f} s")


def show_overview(name: str, graph: Path, folder: Path, runs: int) -> None:
    """Seconds of the whole command and weight of the page."""
    page = folder / "overview.html"
    made = [command("overview", str(graph), "--out", str(page)) for _ in range(runs)]
    _row(f"overview of {name}"[-34:], [run["seconds"] for run in made], page.stat().st_size, made[-1]["peak_mb"])


def command(*arguments: str) -> dict[str, float]:
    """One command in a process of its own: wall-clock seconds, peak MB."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"evigraph {' '.join(arguments)} ended with exit code {done.returncode}")
    return {"seconds": time.perf_counter() - start, "peak_mb": json.loads(done.stdout.splitlines()[-1])["peak_mb"]}


def write_networkx(graph: Path, path: Path) -> None:
    """Concepts with their labels, and edges with their weights."""
    import networkx as nx

    from kg.build import open_graph

    opened = open_graph(graph)
    made = nx.Graph()
    made.add_nodes_from((i, {"label": label}) for i, label in enumerate(opened.concepts["label"].to_pylist()))
    made.add_weighted_edges_from(_edges(opened))
    nx.write_graphml_lxml(made, path)


def write_rdflib(graph: Path, path: Path) -> None:
    """The same as triples; weights stand in none, as a triple has no room for them."""
    from rdflib import Graph, Literal, Namespace
    from rdflib.namespace import RDFS, SKOS

    from kg.build import open_graph

    opened, made, own = open_graph(graph), Graph(), Namespace("urn:concept:")
    for i, label in enumerate(opened.concepts["label"].to_pylist()):
        made.add((own[str(i)], RDFS.label, Literal(label)))
    for u, v, _ in _edges(opened):
        made.add((own[str(u)], SKOS.related, own[str(v)]))
    made.serialize(path, format="nt", encoding="utf-8")


def _edges(opened: Any) -> list[tuple[int, int, float]]:
    from scipy.sparse import triu

    from kg.communities import concept_weights

    upper = triu(concept_weights(opened)).tocoo()
    return list(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True))


def _sknetwork(name: str, weights: Any) -> Any:
    import sknetwork.clustering

    return getattr(sknetwork.clustering, name)(random_state=718).fit_predict(weights)


def _igraph(weights: Any) -> Any:
    import random

    import igraph
    from scipy.sparse import triu

    random.seed(718)
    upper = triu(weights).tocoo()
    made = igraph.Graph(n=weights.shape[0], edges=list(zip(upper.row.tolist(), upper.col.tolist(), strict=True)))
    made.es["weight"] = upper.data.tolist()
    return made.community_leiden(objective_function="modularity", weights="weight", n_iterations=-1).membership


def modularity(weights: Any, of: Any) -> float:
    """Newman's Q, by scikit-network; concepts without edges count for nothing."""
    import numpy as np
    from sknetwork.clustering import get_modularity

    labels = np.asarray(of)
    return float(get_modularity(weights, np.where(labels < 0, labels.max() + 1, labels)))


def _row(name: str, seconds: list[float], size: int, peak: float | None) -> None:
    memory = "" if peak is None else f"{peak:,.0f}"
    print(f"{name:<34}{statistics.median(seconds):>9.1f}{size / 1e6:>8.1f}{memory:>9}")


def _built(graph: Path) -> Path:
    source = Path(os.environ.get("EVIGRAPH_DATA", ROOT.parent / "shared" / "data")) / "scifact"
    subprocess.run([sys.executable, "-m", "scripts.cli", "build", str(graph), str(source)], cwd=ROOT, check=True)
    return graph


if __name__ == "__main__":
    sys.exit(main())
