"""Text as HTML: escaped, formulas as MathML, quotes marked where they stand, however they overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from agents.reporting.formulas import find_formulas
from agents.reporting.pages import trusted


def rich(text: str) -> Any:
    """``text`` as markup: escaped, its formulas as MathML."""
    return marked(text, [])


def marked(text: str, spans: Sequence[tuple[int, int, int]]) -> Any:
    """``text`` as markup, with characters [start, end) of each span (start, end, number) in ``mark`` elements.

    Where spans overlap a stretch carries several numbers (``data-q="3 7"``), so that marks never cross: the stretches
    of one number are its quote. The first of them holds its anchor, ``passage-3``. A formula that a span cuts stays
    text.
    """
    from markupsafe import Markup, escape

    cuts = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    formulas = [f for f in find_formulas(text) if bisect_right(cuts, f.start) == bisect_left(cuts, f.end)]
    waiting = formulas[::-1]
    pieces: list[Markup] = []
    for start, end in pairwise(cuts):
        numbers = [number for first, last, number in spans if first <= start and end <= last]
        if numbers:
            pieces.append(Markup('<mark data-q="%s">') % " ".join(map(str, numbers)))
            pieces += [Markup('<span id="passage-%d"></span>') % number for first, _, number in spans if first == start]
        position = start
        while waiting and waiting[-1].end <= end:
            formula = waiting.pop()
            pieces += [escape(text[position : formula.start]), trusted(formula.mathml)]
            position = formula.end
        pieces += [escape(text[position:end]), Markup("</mark>" if numbers else "")]
    return Markup("").join(pieces)
