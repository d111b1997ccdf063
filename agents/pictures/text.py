"""Text in pictures: what may stand in an SVG, how wide it is at most, and how it is wrapped and shortened.

The reader's font is unknown, so widths are those of DejaVu Sans, the widest of the usual ones, by class of character;
scripts beyond are reckoned with room to spare.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import regex

from agents.reporting.escape import is_right_to_left, one_line

ELLIPSIS = "…"
_CLUSTER = regex.compile(r"\X")
# Not allowed in XML, or commands to the bidirectional algorithm that would reorder what stands beside.
_UNSAFE = regex.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_BOLD = (1.06, 0.05)
"""DejaVu Sans Bold against the regular face: a factor, and em per character."""
_ASCII = {
    0.28: "'ijl", 0.30: "IJ", 0.32: " ,.", 0.36: "/:;\\|f-", 0.40: "()[]t!", 0.42: "r", 0.46: '"',
    0.50: "*_`", 0.53: "sz?", 0.56: "cL", 0.60: "FkvxyP", 0.62: "TYaoe", 0.64: "ESbdghnpqu$0123456789{}",
    0.66: "K", 0.69: "AVBRXZ", 0.71: "C", 0.74: "U", 0.78: "HNDG&", 0.80: "OQ", 0.84: "w#+<=>^~", 0.87: "M",
    0.98: "%m", 1.00: "W@",
}  # fmt: skip
_BLOCKS = (
    ("\u0590", "\u05ff", 0.75), ("\u0600", "\u06ff", 0.85), ("\u0900", "\u0dff", 1.0), ("\u0e00", "\u0eff", 0.85),
)  # fmt: skip
"""(first, last, width in em): Hebrew; Arabic, whose letters join; the scripts of India; Thai and Lao."""
_WIDTHS = {character: width for width, characters in _ASCII.items() for character in characters}


def clean_label(text: str) -> str:
    """``text`` on one line, without what an SVG may not hold or what would turn the text beside it around."""
    return one_line(_UNSAFE.sub("", text))


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Upper estimate of the width of ``text`` at font size ``size``, in the unit of ``size``."""
    widths = list(map(_cluster_width, _CLUSTER.findall(text)))
    return size * (sum(widths) * _BOLD[0] + len(widths) * _BOLD[1] if bold else sum(widths))


def shorten(text: str, width: float, size: float, bold: bool = False) -> str:
    """``text``, or its beginning with an ellipsis, at most ``width`` wide; never cut within a character."""
    if text_width(text, size, bold) <= width:
        return text
    room = width - text_width(ELLIPSIS, size, bold)
    kept = ""
    for cluster in _CLUSTER.findall(text):
        room -= text_width(cluster, size, bold)
        if room < 0:
            break
        kept += cluster
    # In a line that runs from the left, what stands before letters that run from the right is where they go on.
    return ELLIPSIS + kept.rstrip() if is_right_to_left(text) else kept.rstrip() + ELLIPSIS


def wrap(text: str, width: float, size: float, most: int, bold: bool = False) -> list[str]:
    """``text`` in at most ``most`` lines of at most ``width``, the last one shortened where there is more."""
    lines: list[str] = []
    rest = text
    while rest and len(lines) < most - 1:
        line, rest = _first_line(rest, width, size, bold)
        lines.append(line)
    return [*lines, shorten(rest, width, size, bold)] if rest else lines


def word_width(text: str, size: float, bold: bool = False) -> float:
    """Width of the widest piece that ``wrap`` does not have to cut: a word, or a part of one up to a hyphen."""
    pieces = [piece for word in text.split() for piece in regex.findall(r"[^-–/]*[-–/]+|[^-–/]+", word)]
    return max((text_width(piece, size, bold) for piece in pieces), default=0.0)


def wrap_evenly(text: str, width: float, size: float, most: int, bold: bool = False) -> list[str]:
    """As ``wrap``, in lines of about the same length: as narrow as the same number of lines allows."""
    lines = wrap(text, width, size, most, bold)
    for share in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65):
        tried = wrap(text, width * share, size, most, bold)
        if len(tried) != len(lines) or sum(map(len, tried)) < sum(map(len, lines)) or _broken(text, tried):
            break
        lines = tried
    return lines


def _broken(text: str, lines: list[str]) -> bool:
    """Whether a word of ``text`` is cut in two, or anything of it is missing."""
    return "".join(" ".join(lines).split()) != "".join(text.split()) or not set(" ".join(lines).split()) <= _pieces(
        text
    )


def _pieces(text: str) -> set[str]:
    words = text.split()
    return {*words, *(piece for word in words for piece in regex.findall(r"[^-–/]*[-–/]+|[^-–/]+", word))}


def _first_line(text: str, width: float, size: float, bold: bool) -> tuple[str, str]:
    """What fits of ``text``, cut at white space, else after a hyphen or dash, else between characters; and the rest."""
    clusters = _CLUSTER.findall(text)
    used, taken = 0.0, 0
    for cluster in clusters:
        used += text_width(cluster, size, bold)
        if used > width:
            break
        taken += 1
    if taken == len(clusters):
        return text, ""
    taken = max(taken, 1)
    head = "".join(clusters[:taken])
    if not clusters[taken].isspace():
        cut = max(head.rfind(" "), head.rfind("-") + 1, head.rfind("–") + 1, head.rfind("/") + 1)
        head = head[:cut] if cut > 0 else head
    return head.rstrip(), text[len(head) :].lstrip()


@lru_cache(maxsize=4096)
def _cluster_width(cluster: str) -> float:
    """Width in em of what is read as one character: its marks take no room, its parts at most what they take alone."""
    if len(cluster) == 1 and cluster in _WIDTHS:
        return _WIDTHS[cluster]
    if any(ord(c) >= 0x1F000 or c == "\ufe0f" for c in cluster):  # emoji, whatever they are joined of
        return 1.4
    return sum(map(_character_width, cluster))


def _character_width(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    kind = unicodedata.category(character)
    if kind in {"Mn", "Me", "Cf", "Cc"}:
        return 0.0
    if unicodedata.east_asian_width(character) in {"W", "F"}:
        return 1.05
    base = unicodedata.normalize("NFD", character)[0]
    if base in _WIDTHS:
        return _WIDTHS[base] + 0.05
    for first, last, width in _BLOCKS:
        if first <= character <= last:
            return width
    if "\u0370" <= character < "\u0530":  # Greek, Cyrillic
        return 0.95 if kind == "Lu" else 0.8
    if "\u2010" <= character <= "\u2027":
        return 1.0 if character in "―—…‥" else 0.6
    return 1.25
