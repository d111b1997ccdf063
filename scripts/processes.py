"""The processes that `accelerate launch`, `torchrun` or MPI start, or the one there is without them."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType

from retrieval.batch import Share

_SIZES = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
"""Where launchers say how many processes there are: torch's and accelerate's, those of MPI."""
_PATIENCE = timedelta(days=30)
"""How long one waits for the others; they may be building a graph."""


class Processes(AbstractContextManager["Processes"]):
    """Which process this is, and how it waits for the others. They must see the same files."""

    def __init__(self) -> None:
        self.share = Share()
        self._wait: Callable[[], None] = lambda: None
        self._leave: Callable[[], None] = lambda: None
        if any(int(os.environ.get(name, "1")) > 1 for name in _SIZES):
            import torch
            from accelerate import PartialState

            # Told so, as it takes a machine without GPUs for one with a single process otherwise.
            state = PartialState(cpu=not torch.cuda.is_available(), timeout=_PATIENCE)
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
