"""What became of papers, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class BuildReport:
    """What happened, by ``doc_id``; seconds by stage. ``empty`` papers are kept without a section.

    With ready triples, ``without_triples`` are the new sections for which there are none (they hold no concept), and
    ``unused_passages`` those of the file that no section of the graph takes triples from. ``overruled`` says whether
    what people say of names has changed; ``unknown_names`` are those of it that no paper holds, ``unheeded`` what of it
    has no effect, and why.
    """

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    title_only: list[str] = field(default_factory=list)
    same_doi: list[str] = field(default_factory=list)
    retitled: list[str] = field(default_factory=list)
    without_triples: list[str] = field(default_factory=list)
    unused_passages: list[str] = field(default_factory=list)
    overruled: bool = False
    unknown_names: list[str] = field(default_factory=list)
    unheeded: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    generation: int = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the stage's."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
