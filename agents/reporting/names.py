"""Lists of authors as a reference shows them."""

from __future__ import annotations

from collections.abc import Sequence

from agents.reporting.escape import one_line


def format_authors(authors: Sequence[str], limit: int = 6, shown: int = 3) -> str:
    """Names as the source gives them; of more than ``limit`` the first ``shown`` and "et al."; "" of none.

    Names that hold a comma ("Family, Given") are set apart by semicolons, others by commas.
    """
    names = [name for name in map(one_line, authors) if name]
    separator = "; " if any("," in name for name in names) else ", "
    if len(names) <= limit:
        return separator.join(names)
    return separator.join(names[:shown]) + " et al."
