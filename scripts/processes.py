"""The processes that `accelerate launch` starts, or the one there is without it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType

from retrieval.batch import Share

_PATIENCE = timedelta(days=30)
"""How long one waits for the others; they may be building a graph."""


class Processes(AbstractContextManager["Processes"]):
    """Which process this is, and how it waits for the others. They must see the same files."""

    def __init__(self) -> None:
        self.share = Share()
        self._wait: Callable[[], None] = lambda: None
        self._leave: Callable[[], None] = lambda: None
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            from accelerate import PartialState

            state = PartialState(timeout=_PATIENCE)
            self.share = Share(state.process_index, state.num_processes)
            self._wait, self._leave = state.wait_for_everyone, state.destroy_process_group

    @property
    def is_first(self) -> bool:
        """Whether this is the process that speaks and writes results."""
        return self.share.index == 0

    def wait(self) -> None:
        """Go on when all processes are here."""
        self._wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error the others may still wait for this process; the launcher ends them when it is gone.
        if error is None:
            self._leave()
