"""Errors that a user can act on: one sentence that names the thing and the way out.

Commands print the sentence and leave with ``exit_code`` (DESIGN: 0 done, 1 partly, 2 input,
3 budget, 4 model); anything else that escapes is a fault of ours and keeps its traceback.
"""

from __future__ import annotations


class EvigraphError(Exception):
    """Base of all errors whose text is meant for the user."""

    exit_code = 1


class InputError(EvigraphError):
    """Something the user handed in cannot be used: a path, an id, a question, an option."""

    exit_code = 2


class GraphError(InputError):
    """A graph directory that is missing, damaged, locked, or of another format."""


class BudgetError(EvigraphError):
    """A token or time budget is used up."""

    exit_code = 3


class ModelError(EvigraphError):
    """A language model or encoder could not be loaded or did not give a usable reply."""

    exit_code = 4
