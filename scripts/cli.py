"""`evigraph`: finds the command, runs it, turns errors into one sentence and an exit code.

Commands are imported when called, so that `evigraph --help` answers at once.
"""

from __future__ import annotations

import errno
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import version

COMMANDS = {
    "build": "make a graph from papers:              build GRAPH SOURCE...",
    "add": "add papers, or their new versions:     add GRAPH SOURCE...",
    "remove": "remove papers by id:                   remove GRAPH DOC_ID...",
    "info": "what a graph holds:                    info GRAPH",
    "check": "verify every file of a graph:          check GRAPH",
    "search": "find sections for a question:          search GRAPH QUERY",
    "brief": "write a cited brief on a question:     brief GRAPH QUESTION --out DIR",
    "render": "a report in other formats or styles:   render REPORT",
    "picture": "draw what a question leads to:         picture GRAPH QUERY --out FILE",
    "overview": "draw the communities of a graph:       overview GRAPH --out FILE",
    "export": "a graph for other programs:            export GRAPH --out FILE",
}
EXIT_INTERRUPTED = 130
INTERRUPTED = "interrupted; no graph and no file is half-written, and what was paid for is in the caches"


def usage() -> str:
    """The text of `evigraph --help`."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "evigraph: evidence graphs for research",
            "",
            "usage: evigraph COMMAND [--debug] ...",
            "",
            *lines,
            "",
            "`evigraph COMMAND --help` explains a command and its options; --debug shows the traceback of an error.",
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (0 done, 1 partly, 2 input, 3 budget, 4 model, 130 interrupted)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    if not arguments or arguments[0] in {"-h", "--help", "help"}:
        print(usage())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(f"evigraph {version('evigraph')}")
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        close = get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean `evigraph {close[0]}`?" if close else "`evigraph --help` lists them."
        print(f"evigraph: there is no command {name!r}; {hint}", file=sys.stderr)
        return 2
    configure_logging(logging.DEBUG if debug else logging.WARNING)
    try:
        code = _run(name, rest)
        sys.stdout.flush()  # while a reader that is gone can still be told from an error
        return code
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep the interpreter from complaining when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"evigraph: {INTERRUPTED}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:
        if debug:
            raise
        from scripts.console import say

        say(f"evigraph: {' '.join(sentence(error).splitlines())}")
        return int(getattr(error, "exit_code", 1))


def configure_logging(level: int) -> None:
    """Messages of this level and above go to stderr."""
    handler = logging.StreamHandler()
    handler.setLevel(level)  # at the handler too: some libraries set their own loggers to DEBUG
    logging.basicConfig(level=level, handlers=[handler], format="%(name)s: %(message)s")


def _run(name: str, rest: Sequence[str]) -> int:
    import tyro

    from scripts.arguments import named_paths, refuse_repeated

    module = importlib.import_module(f"scripts.commands.{name}")
    refuse_repeated(rest)
    try:
        arguments = tyro.cli(
            module.Arguments,
            args=rest,
            prog=f"evigraph {name}",
            config=(tyro.conf.FlagCreatePairsOff, tyro.conf.DisallowNone),
            use_underscores=True,
            registry=named_paths(rest),
        )
    except SystemExit as stop:  # --help, or arguments that do not fit
        return stop.code if isinstance(stop.code, int) else 2
    return int(module.run(arguments))


def sentence(error: Exception) -> str:
    """What the user is told of an error."""
    from kg.errors import EvigraphError

    if isinstance(error, EvigraphError):
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f"to write {error.filename}" if error.filename else "for the output"
        return f"No space is left on the disk {where}; free some, or choose another place, and run it again."
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if error.filename else ""
        return f"the system refused{where}: {error.strerror}."
    return f"internal error, {type(error).__name__}: {error}; run it again with --debug and report what it prints."


if __name__ == "__main__":
    sys.exit(main())
