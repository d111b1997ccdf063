"""Text of documents as LaTeX sets it, character by character, for the fields of BibTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from agents.reporting.escape import one_line

_SPECIAL = {
    ord("\\"): r"\textbackslash{}",
    ord("~"): r"\textasciitilde{}",
    ord("^"): r"\textasciicircum{}",
    **{ord(ch): f"\\{ch}" for ch in "%&#_$"},
}
_BRACES = {ord("{"): r"\{", ord("}"): r"\}"}
_BRACES_WITHOUT_PARTNER = {ord("{"): r"\textbraceleft{}", ord("}"): r"\textbraceright{}"}
# A dollar that opens is followed by no space, one that closes preceded by none, and no digit follows: "$5 and $10".
_FORMULA = regex.compile(r"(?<![\\$])\$(?![\s$])(?:[^$\\]|\\.)*+(?<!\s)\$(?![\d$])")
_SPOILS_FORMULA = regex.compile(r"(?<!\\)[%#&]")
_ESCAPED_BRACE = regex.compile(r"\\[{}]")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_COLON = regex.compile(r":\s")
_LONG_WORD = 4
_SMALL_WORDS = frozenset(
    """about after against among before between during from into onto over than that their this through toward towards
    under upon using versus when where which while with within without""".split()
)


def latex_text(text: str) -> str:
    """``text`` on one line with everything that LaTeX would act on escaped, but for formulas: ``$...$`` stays.

    Braces stay balanced, counted with escaped ones (as BibTeX does) or without. Other characters stand as UTF-8.
    """
    parts = _parts(one_line(text))
    special = _specials(parts)
    return "".join(part if formula else part.translate(special) for part, formula in parts)


def latex_title(title: str) -> str:
    """As ``latex_text``, with braces around what must keep its capitals where a style sets titles in lower case.

    That is formulas, words with capitals inside (CAPM, McDonald), single capitals (L = λW); and every capitalised
    word of a title that is else in lower case, for there it is a name.
    """
    parts = _parts(one_line(title))
    special = _specials(parts)
    words = list(_words(parts))
    names = _is_sentence_case([match[0] for _, match, begins in words if not begins])
    kept: dict[int, list[regex.Match[str]]] = {}
    for index, match, begins in words:
        if _has_capitals_inside(match[0]) or (names and not begins and match[0][0].isupper()):
            kept.setdefault(index, []).append(match)
    made = []
    for index, (part, formula) in enumerate(parts):
        start = 0
        for match in kept.get(index, ()):
            made += [part[start : match.start()].translate(special), f"{{{match[0]}}}"]
            start = match.end()
        made.append(f"{{{part}}}" if formula else part[start:].translate(special))
    return "".join(made)


def is_balanced(text: str) -> bool:
    """Whether every brace has its partner: counting all, as BibTeX does, and without escaped ones, as others do."""
    return _closes(text) and _closes(_ESCAPED_BRACE.sub("", text))


def _parts(text: str) -> list[tuple[str, bool]]:
    """``text`` cut into (stretch, whether it is a formula)."""
    parts, start = [], 0
    for match in _FORMULA.finditer(text):
        if is_balanced(match[0]) and not _SPOILS_FORMULA.search(match[0]):
            parts += [(text[start : match.start()], False), (match[0], True)]
            start = match.end()
    return [*parts, (text[start:], False)]


def _specials(parts: Sequence[tuple[str, bool]]) -> dict[int, str]:
    """What stands for each special character; braces without a partner are spelled out, so that all balance."""
    text = "".join(part for part, formula in parts if not formula)
    return _SPECIAL | (_BRACES if _closes(text) else _BRACES_WITHOUT_PARTNER)


def _closes(text: str) -> bool:
    depth = 0
    for ch in text:
        depth += (ch == "{") - (ch == "}")
        if depth < 0:
            return False
    return depth == 0


def _words(parts: Sequence[tuple[str, bool]]) -> Iterator[tuple[int, regex.Match[str], bool]]:
    """Every word: the part it is in, where, and whether it begins the title or follows a colon.

    Styles that lower capitals leave the first letter of such a word alone.
    """
    begins = True
    for index, (part, formula) in enumerate(parts):
        end = 0
        for match in () if formula else _WORD.finditer(part):
            yield index, match, begins or _COLON.search(part, end, match.start()) is not None
            begins, end = False, match.end()
        begins = not formula and (begins or _COLON.search(part, end) is not None)


def _is_sentence_case(words: Sequence[str]) -> bool:
    """Whether a third or more of the long words that titles in capitals would capitalise are in lower case.

    So a title with several names still counts; one taken for it wrongly only keeps its capitals.
    """
    telling = [
        word
        for word in words
        if len(word) >= _LONG_WORD
        and (word[0].isupper() or word[0].islower())
        and word.casefold() not in _SMALL_WORDS
        and not _has_capitals_inside(word)
    ]
    lower = sum(word[0].islower() for word in telling)
    return lower > 0 and lower * 3 >= len(telling)


def _has_capitals_inside(word: str) -> bool:
    letters = [ch for ch in word if ch.isalpha()]
    return any(ch.isupper() for ch in letters[1:]) or (len(letters) == 1 and letters[0].isupper() and word != "A")
