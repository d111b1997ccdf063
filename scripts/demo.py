"""`make demo`: from the sample papers to three cited briefs and two pictures, and where to look at them.

Builds the graph of scripts/sample_corpus, asks it one question on each of three fields, prints what each brief begins
with, and draws what the first question leads to and the whole graph.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from scripts.cli import main as evigraph

SAMPLE = Path(__file__).parent / "sample_corpus"
QUESTIONS = {
    "supply_chain": "How does information distort orders along a supply chain?",
    "stock_returns": "Which risk factors explain expected stock returns?",
    "causal_effects": "How can causal effects be estimated from observational studies?",
}


def main() -> int:
    """Run the three steps with the same command line that a user has; the exit code is the worst of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo_out"), help="directory for the graph and the briefs")
    out = parser.parse_args().out
    start = time.perf_counter()
    graph = out / "graph"
    worst = run("build", str(graph), str(SAMPLE), "--overwrite")
    for name, question in QUESTIONS.items():
        print(f"\n{question}")
        worst = max(worst, run("brief", str(graph), question, "--out", str(out / name)))
        print(opening(out / name / "brief.md"))
    print()
    first = next(iter(QUESTIONS.values()))
    worst = max(worst, run("picture", str(graph), first, "--out", str(out / "picture.html")))
    worst = max(worst, run("overview", str(graph), "--out", str(out / "overview.html")))
    command = Path(sys.executable).with_name("evigraph")
    shown = command.relative_to(Path.cwd()) if command.is_relative_to(Path.cwd()) else command
    print(f"\n{time.perf_counter() - start:.0f} s. Ask your own: {shown} search {graph} 'loss aversion'")
    return worst


def run(*arguments: str) -> int:
    """One command, in this process, so that libraries are loaded once."""
    code = evigraph(arguments)
    if code:
        print(f"evigraph {arguments[0]} ended with exit code {code}", file=sys.stderr)
    return code


def opening(brief: Path) -> str:
    """The first quoted passage of a brief."""
    lines = brief.read_text(encoding="utf-8").splitlines() if brief.exists() else []
    return next((f"  {line.removeprefix('> ')}" for line in lines if line.startswith("> ")), "")


if __name__ == "__main__":
    sys.exit(main())
