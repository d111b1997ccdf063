"""Formulas in text: what is one, what is money; MathML that an XML parser accepts and no text can break out of."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.reporting.formulas import MAX_TEX, find_formulas, to_mathml

ALLOWED = set(
    "math semantics annotation mrow mi mo mn mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup "
    "munder mover munderover mtable mtr mtd".split()
)
ATTRIBUTES = set(
    "title display encoding mathvariant form columnalign linebreak scriptlevel stretchy fence accent accentunder "
    "movablelimits largeop displaystyle width height depth voffset lspace rspace minsize maxsize linethickness "
    "rowspacing columnspacing".split()
)


def found(text: str) -> list[str]:
    return [text[formula.start : formula.end] for formula in find_formulas(text)]


def parsed(mathml: str | None) -> ET.Element:
    assert mathml is not None
    return ET.fromstring(mathml)


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("where $x$ and $y_i$ are", ["$x$", "$y_i$"]),
        ("$$\\sum_i x_i$$ is", ["$$\\sum_i x_i$$"]),
        ("so \\(a\\) and \\[b^2\\]", ["\\(a\\)", "\\[b^2\\]"]),
        ("the $n$th of $k$-means", ["$n$", "$k$"]),
        ("p$<$0.05, 2$\\times$2", ["$<$", "$\\times$"]),
        ("$f(x)$, $x+y$, $2n$, $(x, y)$", ["$f(x)$", "$x+y$", "$2n$", "$(x, y)$"]),
        ("其中$x$表示$\\alpha$", ["$x$", "$\\alpha$"]),
        ("$5 million, then $x$", ["$x$"]),
        ("$p = 0.05$ for $R^2=.3$", ["$p = 0.05$", "$R^2=.3$"]),
        ("over\n$a\n+ b$ lines", ["$a\n+ b$"]),
    ],
)
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    assert found(text) == formulas


@pytest.mark.parametrize(
    "text",
    [
        "costs $5 to $10 a day",
        "US$5 against US$6",
        "between $1,000 and 2,000$ a month",
        "$5-$10",
        "$100$ and $5k$ and $3M$",
        "US$5_000 and then$",
        "$HOME and $PATH",
        "$AAPL_1 and $MSFT_1",
        "see \\[1\\] and \\(see text\\)",
        "either $$ or more $$ there",
        "\\$5 and \\$6$ or $\\$6$ ",
        "$ x $",
        "$x\n\ny$",
        "a $ b, $$$, $$$$",
        "$unknown words = other words$",
    ],
)
def test_money_variables_and_brackets_stay_text(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "tex",
    [
        r"\unknown x",
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{theme}{x}",
        r"\color{red}x",
        r"\hspace{999em}x",
        r"\rule{9em}{9em}",
        r"\cancel{x}",
        r"\mathscr{F}",
        r"\left( x",
        r"x^",
        r"\frac{1}",
        "{" * 40,
        "{" * 500 + "}" * 500,
        r"\sqrt" * 300 + "x",
        r"\text{&#x3c;script&#x3e;}",
        "x" * (MAX_TEX + 1),
        r"\unicode{x1}",
    ],
)
def test_what_cannot_be_converted_whole_stays_text(tex: str) -> None:
    assert to_mathml(tex, tex) is None


def test_a_formula_keeps_its_source_and_says_what_it_means() -> None:
    source = r"$\frac{a}{b} < \mathbf{\beta}^2$"
    root = parsed(to_mathml(source[1:-1], source))
    assert root.get("title") == source
    [semantics] = root
    row, annotation = semantics
    assert (annotation.get("encoding"), annotation.text) == ("application/x-tex", source[1:-1])
    assert [element.tag for element in row] == ["mfrac", "mo", "msup"]
    assert "".join(row.itertext()) == "ab<β2"
    assert row.find(".//mi[@mathvariant='bold']").text == "β"  # type: ignore[union-attr]


def test_displayed_formulas_are_blocks_and_gain_no_numbers() -> None:
    text = r"$$\begin{align}a&=b\\c&=d\end{align}$$"
    [formula] = find_formulas(text)
    root = parsed(formula.mathml)
    assert root.get("display") == "block"
    assert "".join(root[0][0].itertext()) == "a=bc=d"
    assert parsed(find_formulas("$x$")[0].mathml).get("display") is None


def test_text_in_a_formula_is_text() -> None:
    tex = r'\text{<script>alert("1")</script> & <b onclick=x>}'
    root = parsed(to_mathml(tex, f"${tex}$"))
    assert root.find(".//mtext").text.replace("\xa0", " ") == tex[6:-1]  # type: ignore[union-attr]
    assert {element.tag for element in root.iter()} <= ALLOWED


COMMANDS = r"\alpha \frac{a}{b} \text{<b>} \left( \right) \begin{matrix} \end{matrix} \sqrt \hspace{1em} \( \)".split()
PIECES = st.sampled_from([*"$$$$\\()[]{}<>&\"'^_=+x5 a\n", "]]>", "<!--", "&lt;", "and so on", *COMMANDS])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_gives_disjoint_spans_of_safe_mathml(text: str) -> None:
    end = 0
    for formula in find_formulas(text):
        assert end <= formula.start < formula.end <= len(text)
        end = formula.end
        root = parsed(formula.mathml)
        assert root.get("title") == text[formula.start : formula.end]
        assert root.find("semantics/annotation").text in root.get("title")  # type: ignore[operator, union-attr]
        for element in root.iter():
            assert element.tag in ALLOWED
            assert set(element.attrib) <= ATTRIBUTES


@pytest.mark.parametrize("piece", ["$", "\\(", "\\[", "$a", "$\\$", "$(", "$x\n", "$$a", "$ab cd", "${", "$5+", "\\(x"])
def test_time_is_linear_in_the_text(piece: str) -> None:
    def seconds(repeats: int) -> float:
        text = piece * repeats
        start = time.perf_counter()
        find_formulas(text)
        return time.perf_counter() - start

    seconds(100)
    small = min(seconds(2_000) for _ in range(3))
    # Eight times the text: eight times the time if linear, sixty-four if quadratic.
    assert min(seconds(16_000) for _ in range(3)) < 30 * small + 0.02
