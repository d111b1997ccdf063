"""Formulas in running text: TeX between ``$``, ``$$``, ``\\(`` and ``\\[`` as MathML (Core, W3C 2025).

Conservative: what may be money, a shell variable or an escaped bracket stays text, and so does every formula that is
not converted whole. The MathML is rebuilt from the converter's tree, element by element from a list of those allowed,
so that no text of a document becomes markup; the source stands in it (``title``, and an annotation as MathML has it).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_TEX = 2000
"""Characters of TeX; a longer formula stays text."""
MAX_DEPTH = 60
"""Elements within elements; HTML parsers give up at 512."""
_DELIMITED = re.compile(
    r"""
      (?<![\\$])\$\$(?P<block>[^$]{1,2000})\$\$(?!\$)
    | (?<![\\$])\$(?P<inline>(?=[^\s$])(?:[^$\\\n]|\\.|\n(?!\s*\n)){1,2000})(?<!\s)\$(?!\$)
    | (?<!\\)\\\((?P<round>(?:(?!\\[()\[\]]).){1,2000})\\\)
    | (?<!\\)\\\[(?P<square>(?:(?!\\[()\[\]]).){1,2000})\\\]
    """,
    re.VERBOSE | re.DOTALL,
)
_PROSE = re.compile(r"\\(?:text|math|operator|mbox|hbox|begin|end)[a-z]*\*?\s*\{[^{}]*\}|\\[A-Za-z]+")
_WORDS = re.compile(r"[^\W\d_]{2,}[\s,;]+[^\W\d_]{2,}")
_CERTAIN = re.compile(r"\\[A-Za-z]|[\^_]|^[<>=≤≥±×]+$")
_LIKELY = re.compile(
    r"[A-Za-zΑ-ω]'*"  # a variable
    r"|(?=.*[<>=≤≥±×]).+"
    # Variables, digits and operators, but neither "5k" nor words.
    r"|(?!.*[A-Za-z]{3})(?=.*[A-Za-z])(?!\d+[.,]?\d*\s?[kKmMbB]\b)[\w()\[\]|+\-*/.,:;!'\s]+",
    re.DOTALL,
)
_LETTER_OR_DIGIT = re.compile("[A-Za-z0-9]")
_NAMES = frozenset(
    "math mrow mi mo mn mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover "
    "munderover mtable mtr mtd".split()
)
_CHILDREN = {"msubsup": 3, "munderover": 3} | dict.fromkeys("mfrac mroot msub msup munder mover".split(), 2)
_VALUES = {
    "display": re.compile("inline|block"),
    "mathvariant": re.compile("normal|bold|italic|bold-italic|monospace|sans-serif"),
    "form": re.compile("prefix|infix|postfix"),
    "columnalign": re.compile("left|right|center"),
    "linebreak": re.compile("newline"),
    "scriptlevel": re.compile("[0-2]"),
} | {
    name: re.compile("true|false")
    for name in "stretchy fence accent accentunder movablelimits largeop displaystyle".split()
}
_ONE_LENGTH = r"[+-]?(?:\d{1,2}(?:\.\d+)?|\.\d+)(?:em|ex|px|pt)?"
_LENGTH = re.compile(rf"{_ONE_LENGTH}(?: {_ONE_LENGTH}){{0,40}}|negativethinmathspace")
_LENGTHS = frozenset(
    "width height depth voffset lspace rspace minsize maxsize linethickness rowspacing columnspacing".split()
)


class _NotPlainError(Exception):
    """The converter made something that is not on the list, or left a command as it was."""


@dataclass(frozen=True, slots=True)
class Formula:
    """Characters [start, end) of a text, delimiters included, and the MathML to stand for them."""

    start: int
    end: int
    mathml: str


def find_formulas(text: str) -> tuple[Formula, ...]:
    """The formulas of ``text`` in order; takes time linear in its length."""
    return tuple(_formulas(text))


def _formulas(text: str) -> Iterator[Formula]:
    position = 0
    while match := _DELIMITED.search(text, position):
        kind = match.lastgroup or ""
        tex, source = match[kind], match[0]
        mathml = None
        if _is_formula(tex, text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1], kind):
            mathml = to_mathml(tex, source, block=kind in ("block", "square"))
        if mathml is None:
            # Where one does not open a formula the next may; "$$" is one.
            position = match.start() + (1 if kind == "inline" else 2)
        else:
            yield Formula(match.start(), match.end(), mathml)
            position = match.end()


def to_mathml(tex: str, source: str, block: bool = False) -> str | None:
    """A ``math`` element for ``tex`` that keeps ``source``; None if it cannot be converted whole."""
    if len(tex) > MAX_TEX or "&#" in tex:  # the converter writes characters as "&#x..."
        return None
    from latex2mathml.converter import convert_to_element

    try:
        unnumbered = tex.strip().replace("{align}", "{align*}")  # the numbers would not be the document's
        root = convert_to_element(unnumbered, display="block" if block else "inline")
        body = "".join(_markup(child, 1) for child in root)
    except Exception:  # it raises whatever its parser runs into
        return None
    display = ' display="block"' if block else ""
    return (
        f'<math title="{html.escape(source)}"{display}><semantics>{body}'
        f'<annotation encoding="application/x-tex">{html.escape(tex.strip())}</annotation></semantics></math>'
    )


def _markup(element: Element, depth: int) -> str:
    """Raises ``_NotPlainError`` for an element, an attribute or a text that may not stand in a page."""
    name = element.tag
    if name not in _NAMES or depth > MAX_DEPTH or len(element) != _CHILDREN.get(name, len(element)):
        raise _NotPlainError(name)
    text = _text(element.text or "")
    if name == "mo" and not text:
        raise _NotPlainError(name)
    if name == "mi" and text == "~":  # \sim
        name, text = "mo", "∼"
    attributes = "".join(f' {key}="{value}"' for key, value in element.attrib.items() if _is_kept(key, value))
    children = "".join(_markup(child, depth + 1) for child in element)
    return f"<{name}{attributes}>{html.escape(text, quote=False)}{children}</{name}>"


def _text(written: str) -> str:
    if "\\" in written:  # a command that the converter does not know
        raise _NotPlainError(written)
    text = html.unescape(written)
    if (
        bool(text) != bool(written)
        or "&#" in text
        or any(unicodedata.category(ch) in ("Cc", "Cs", "Cn") for ch in text)
    ):
        raise _NotPlainError(written)
    return text


def _is_kept(name: str, value: str) -> bool:
    if name in ("rowlines", "columnlines"):  # rules of a table, which MathML Core does not draw
        return False
    allowed = _LENGTH if name in _LENGTHS else _VALUES.get(name)
    if allowed is None or not allowed.fullmatch(value):
        raise _NotPlainError(f"{name}={value}")
    return True


def _is_formula(tex: str, before: str, after: str, kind: str) -> bool:
    """Whether ``tex`` reads like one, given the characters on either side of its delimiters."""
    if not tex.strip() or _WORDS.search(_PROSE.sub(" ", tex)):
        return False
    if _CERTAIN.search(tex):
        return not (kind == "inline" and tex[0].isdigit() and before.isalpha())  # US$5_000
    if kind == "inline" and (_LETTER_OR_DIGIT.match(before) or after.isdigit()):
        return False
    return _LIKELY.fullmatch(tex.strip()) is not None
