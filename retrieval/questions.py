"""What a question must be before anything is searched."""

from __future__ import annotations

from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.records import clean_text


class NoMatchError(InputError):
    """Nothing in the graph bears on the question."""

    def __init__(self, question: str) -> None:
        shown = question if len(question) <= 80 else question[:77] + "..."
        super().__init__(f"Nothing in the graph matches {shown!r}; ask in other words, or add papers on it.")


def checked_question(graph: LateralGraph, question: str, top_n: int) -> str:
    """The question with clean text and single spaces.

    Raises:
        InputError: no section to search, nothing asked, or ``top_n`` below 1.
    """
    if graph.n_sections == 0:
        raise InputError("The graph holds no section; add papers with `evigraph add`.")
    asked = " ".join(clean_text(question).split())
    if not any(ch.isalnum() for ch in asked):
        raise InputError("The question is empty; ask with at least one word.")
    if top_n < 1:
        raise InputError(f"--top_n is {top_n}; ask for 1 section or more.")
    return asked
