"""How a script starts and ends: flags as the commands have them, errors as one sentence, their exit codes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from scripts.cli import EXIT_INTERRUPTED, configure_logging, sentence
from scripts.console import say

T = TypeVar("T")


def run_script(
    arguments: type[T], run: Callable[[T], int], name: str, interrupted: str, argv: Sequence[str] | None = None
) -> int:
    """Parse ``argv`` into ``arguments``, a dataclass, and ``run`` them; returns the exit code.

    ``interrupted``: what is said after Ctrl-C of the state that it leaves. ``--debug`` shows the traceback of an error.
    """
    import tyro

    given = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in given
    configure_logging(logging.INFO if debug else logging.WARNING)
    try:
        parsed = tyro.cli(
            arguments,
            args=[argument for argument in given if argument != "--debug"],
            prog=name,
            config=(tyro.conf.FlagCreatePairsOff,),
            use_underscores=True,
        )
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        return run(parsed)
    except KeyboardInterrupt:
        say(f"{name}: interrupted; {interrupted}")
        return EXIT_INTERRUPTED
    except Exception as error:
        if debug:
            raise
        say(f"{name}: {' '.join(sentence(error).splitlines())}")
        return int(getattr(error, "exit_code", 1))
