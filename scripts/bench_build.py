"""How long a build takes, stage by stage, how much memory it needs, and how soon the graph answers.

    python scripts/bench_build.py [SOURCE] [--limit N] [--keep DIR]

SOURCE defaults to the SciFact abstracts in EVIGRAPH_DATA. The build runs in a process of its own, so that its peak
memory is its own; then another process opens the graph and asks one question, timed apart from loading the libraries.
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
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Does vitamin D reduce the risk of fractures?"
SEARCH = """
import json, sys, time
from pathlib import Path
start = time.perf_counter()
from kg.build import open_graph
from retrieval.methods import Methods
from scripts.tools import load_encoder
libraries = time.perf_counter()
graph = open_graph(Path(sys.argv[1]))
opened = time.perf_counter()
encoder = load_encoder(None, graph.manifest)
loaded = time.perf_counter()
retriever = Methods(graph, encoder).retriever("ppr")
retriever.rank(sys.argv[2], 10)
first = time.perf_counter()
for _ in range(9):
    retriever.rank(sys.argv[2], 10)
again = (time.perf_counter() - first) / 9
print(json.dumps({"libraries": libraries - start, "open": opened - libraries, "encoder": loaded - opened,
                  "first search": first - loaded, "next searches": again}))
"""


def main() -> int:
    """Build once, search in three fresh processes, print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("EVIGRAPH_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("source", nargs="?", type=Path, default=data / "scifact")
    parser.add_argument("--limit", type=int, help="papers to read")
    parser.add_argument("--keep", type=Path, help="build in this directory and keep it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        graph = arguments.keep or Path(temporary) / "graph"
        limit = ["--limit", str(arguments.limit)] if arguments.limit else []
        report = run("-m", "scripts.cli", "build", str(graph), str(arguments.source), "--overwrite", "--json", *limit)
        show_build(report)
        show_searches([run("-c", SEARCH, str(graph), QUESTION) for _ in range(3)])
    return 0


def run(*arguments: str) -> dict[str, Any]:
    """One Python process of this environment; its JSON output."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments[:4])} ended with exit code {done.returncode}")
    value: dict[str, Any] = json.loads(done.stdout)
    return value | {"process": time.perf_counter() - start}


def show_build(report: dict[str, Any]) -> None:
    """Stages of the build."""
    counts, seconds = report["counts"], report["seconds"]
    print(", ".join(f"{n:,} {name}" for name, n in counts.items()))
    for stage, value in seconds.items():
        print(f"  {stage:<12} {value:8.1f} s   {counts['sections'] / max(value, 1e-9):10,.0f} sections/s")
    beside = sum(seconds.values()) - seconds["encoding"]
    print(f"  beside encoding {beside:.1f} s; peak memory {report['peak_mb']:,.0f} MB")


def show_searches(runs: list[dict[str, Any]]) -> None:
    """Medians of three processes."""
    print(f"one question, medians of {len(runs)} processes:")
    for name in runs[0]:
        print(f"  {name:<14} {statistics.median(run[name] for run in runs):7.3f} s")
    both = statistics.median(r["open"] + r["first search"] for r in runs)
    print(f"  opening and first search {both:.3f} s, beside libraries and encoder")


if __name__ == "__main__":
    sys.exit(main())
