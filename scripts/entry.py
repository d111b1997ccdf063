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

    Options given twice and empty paths are refused, as ``evigraph`` does. ``interrupted``: what is said after Ctrl-C of
    the state that it leaves. ``--debug`` shows the traceback of an error.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in given
    configure_logging(logging.INFO if debug else logging.WARNING)
    try:
        try:
            parsed = _parsed(arguments, [argument for argument in given if argument != "--debug"], name)
        except SystemExit as stop:  # --help, or arguments that do not fit
            return stop.code if isinstance(stop.code, int) else 2
        return run(parsed)
    except KeyboardInterrupt:
        say(f"{name}: interrupted; {interrupted}")
        return EXIT_INTERRUPTED
    except Exception as error:
        if debug:
            raise
        say(f"{name}: {' '.join(sentence(error).splitlines())}")
        return int(getattr(error, "exit_code", 1))


def _parsed(arguments: type[T], given: Sequence[str], name: str) -> T:
    import tyro

    from scripts.arguments import named_paths, refuse_repeated

    refuse_repeated(given)
    return tyro.cli(
        arguments,
        args=given,
        prog=name,
        config=(tyro.conf.FlagCreatePairsOff,),
        use_underscores=True,
        registry=named_paths(given),
    )
