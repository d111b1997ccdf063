"""Text of documents made safe to stand in Markdown: what is read is what the document says, character by character.

Follows CommonMark 0.31.2 (2.4 backslash escapes, 6.2 emphasis: flanking rules) and the tables, strikethrough and
autolinks of GitHub Flavored Markdown 0.29. Only what could act as markup is escaped, so that the source stays
readable and formulas survive: ``$\\alpha_{i}$`` needs no escape at all.
"""

from __future__ import annotations

import re
import unicodedata

_PUNCTUATION = r"!-/:-@\[-`{-~"  # ASCII punctuation, which a backslash escapes
# No-break and typographic spaces stay: they are part of the text ("« mot »", "5 %").
_SPACE = re.compile(r"[ \x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKUP = re.compile(
    rf"""
      \\(?=[{_PUNCTUATION}]|$)      # would escape what follows, or our own mark after the text
    | [*`\[~]                       # emphasis, code, links and images, strikethrough
    | <(?!\s)                       # HTML, autolinks
    | &(?=\#?\w+;)                  # entities
    | _+                            # emphasis; see _escape
    | :(?=//) | (?<=www)\.          # bare addresses, which some readers turn into links
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BLOCK_START = re.compile(r"[#>]|[-+](?=[-+\s]|$)|[0-9]{1,9}(?=[.)](?:\s|$))")
_CLOSING_HASHES = re.compile(r"(?:^|(?<=\s))(?=#+$)")


def one_line(text: str) -> str:
    """``text`` on one line: line breaks, tabs and control characters are white space; its ends are stripped."""
    return _SPACE.sub(" ", text).strip()


def is_right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction is written from right to left (UAX 9, rule P2)."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in {"L", "R", "AL"}:
            return direction != "L"
    return False


def inline(text: str) -> str:
    """``text`` as inline Markdown on one line; may stand beside, or within, ``*``, quotation marks and brackets."""
    return _MARKUP.sub(_escape, one_line(text))


def cell(text: str) -> str:
    """``text`` as a table cell."""
    return inline(text).replace("|", "\\|")


def heading(text: str) -> str:
    """``text`` after the ``#`` of a heading, whose trailing ``#`` would else be dropped."""
    return _CLOSING_HASHES.sub(r"\\", inline(text))


def block_start(line: str) -> str:
    """An inline ``line`` that begins a paragraph or list item, kept from being a heading, quote, list or rule."""
    match = _BLOCK_START.match(line)
    if match is None:
        return line
    return f"{match[0]}\\{line[match.end() :]}" if match[0].isdigit() else f"\\{line}"


def _escape(match: re.Match[str]) -> str:
    mark, start = match[0], match.start()
    # After a letter or digit an underscore can close emphasis but not open it, and no other opens any.
    if mark[0] == "_" and start > 0 and match.string[start - 1].isalnum():
        return mark
    return "".join(f"\\{ch}" for ch in mark)
