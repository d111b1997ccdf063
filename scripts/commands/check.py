"""`evigraph check`: is every byte of the graph what was written?"""

from __future__ import annotations

from dataclasses import dataclass

from scripts.arguments import Graph
from scripts.console import out, print_json


@dataclass(frozen=True)
class Arguments:
    """Hash every file of the current generation against the manifest, however large."""

    graph: Graph
    json: bool = False
    """Print the problems as JSON."""


def run(arguments: Arguments) -> int:
    """Exit 2 when something is damaged."""
    from kg.storage import check_generation

    problems = check_generation(arguments.graph)
    if arguments.json:
        print_json({"graph": str(arguments.graph), "sound": not problems, "problems": problems})
    else:
        console = out()
        for problem in problems:
            console.print(problem)
        if not problems:
            console.print(f"{arguments.graph}: every file is as it was written")
    return 2 if problems else 0
