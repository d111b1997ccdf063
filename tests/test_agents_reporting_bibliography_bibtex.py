"""BibTeX: read back by two readers, an installed one and one that counts braces as BibTeX does; nothing is lost."""

from __future__ import annotations

import re
import time

import bibtexparser
import pytest
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names
from hypothesis import given, settings
from hypothesis import strategies as st
from pylatexenc.latex2text import LatexNodes2Text

from agents.reporting.bibliography.bibtex import bibtex_name, render_bibtex
from agents.reporting.bibliography.citekeys import citation_keys
from agents.reporting.bibliography.entries import title_of
from agents.reporting.bibliography.latex import is_balanced, latex_text, latex_title
from agents.reporting.bibliography.names import parse_authors, parse_name
from agents.reporting.escape import one_line
from agents.reporting.model import Reference, is_blank

LEMONS = Reference(
    1,
    "10.2307/1879431",
    'The Market for "Lemons": Quality Uncertainty and the Market Mechanism',
    ("Akerlof, George A.",),
    1970,
    "The Quarterly Journal of Economics",
    "10.2307/1879431",
    (("issue", "3"), ("kind", "summary"), ("pages", "488-500"), ("volume", "84")),
)


def ref(title: str = "On Things", authors: tuple[str, ...] = (), year: int | None = None, **more) -> Reference:
    return Reference(1, "d", title, authors, year, **more)


def fields_of(*references: Reference) -> list[dict[str, str]]:
    """Fields as bibtexparser reads them; the strict reader below must agree."""
    text = render_bibtex(references)
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    found = [{field.key: field.value for field in entry.fields} for entry in library.entries]
    assert found == [fields for _, _, fields in read_strictly(text)]
    assert [entry.key for entry in library.entries] == citation_keys(references)
    return found


def read_strictly(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """(type, key, fields) by BibTeX's own rules: braces count wherever they stand, a backslash protects none."""
    entries, position = [], 0
    while match := re.compile(r"\s*@([a-z]+)\{([^\s,{}\"#%'()=~\\]+)").match(text, position):
        position = match.end()
        fields: dict[str, str] = {}
        while field := re.compile(r",\s*([a-z][a-z0-9-]*)\s*=\s*\{").match(text, position):
            start = position = field.end()
            depth = 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[position], 0)
                position += 1
            assert field[1] not in fields
            fields[field[1]] = text[start : position - 1]
        closing = re.compile(r",?\s*\}").match(text, position)
        assert closing, text[position:]
        position = closing.end()
        entries.append((match[1], match[2], fields))
    assert not text[position:].strip()
    return entries


COMMANDS = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textbraceleft{}": "{",
            r"\textbraceright{}": "}", **{f"\\{ch}": ch for ch in "%&#_${}"}, "{": "", "}": ""}  # fmt: skip
TOKENS = re.compile(r"\$(?:[^$\\]|\\.)*\$|" + "|".join(map(re.escape, COMMANDS)) + r"|[^\\$]", re.DOTALL)


def typeset(latex: str) -> str:
    """What LaTeX sets; fails on anything that would act. Formulas stay as they are."""
    tokens = TOKENS.findall(latex)
    assert "".join(tokens) == latex
    assert not any(token in "%&#_^~" for token in tokens)
    return "".join(token if token[0] == "$" else COMMANDS.get(token, token) for token in tokens)


def test_an_entry() -> None:
    assert render_bibtex([LEMONS]) == (
        "@article{akerlof1970market,\n"
        "  author = {Akerlof, George A.},\n"
        '  title = {The Market for "Lemons": Quality Uncertainty and the Market Mechanism},\n'
        "  journal = {The Quarterly Journal of Economics},\n"
        "  year = {1970},\n"
        "  volume = {84},\n"
        "  number = {3},\n"
        "  pages = {488--500},\n"
        "  doi = {10.2307/1879431}\n"
        "}\n"
    )


def test_without_a_venue_it_is_misc_and_of_no_reference_there_is_nothing() -> None:
    text = render_bibtex([ref("A"), ref("B", venue="Mind")])
    assert [kind for kind, _, _ in read_strictly(text)] == ["misc", "article"]
    assert fields_of(ref(" ")) == [{"title": "d"}]
    assert render_bibtex([]) == ""


@pytest.mark.parametrize(
    ("authors", "field"),
    [
        (("Akerlof, George A.", "Michael Spence"), "Akerlof, George A. and Spence, Michael"),
        (("Jan van der Berg",), "van der Berg, Jan"),
        (("Berg, Jan van der",), "Berg, Jan van der"),
        (("King, Martin Luther, Jr.",), "King, Jr., Martin Luther"),
        (("Smith, John, Jr., PhD",), "Smith, {Jr., PhD}, John"),
        (("King, Jr.",), "{King, Jr.}"),
        (("World Health Organization",), "{World Health Organization}"),
        (("Johnson & Johnson",), "{Johnson \\& Johnson}"),
        (("Simon and Schuster",), "{Simon and Schuster}"),
        (("José Ortega y Gasset",), "{Ortega y Gasset}, José"),
        (("De la Cruz, María",), "{De la Cruz}, María"),
        (("Dick Van Dyke",), "Van Dyke, Dick"),
        (("van Gogh",), "{van Gogh}"),
        (("Aristotle",), "Aristotle"),
        (("王小明",), "{王小明}"),
        (("{Others}",), "{Others}"),
        (("And, A.",), "{And}, A."),
        (("Smith, J.", "et al."), "Smith, J. and others"),
        (("Garcia Lopez, A.",), "Garcia Lopez, A."),
        (("Alexandre d'Aspremont",), "d'Aspremont, Alexandre"),
    ],
)
def test_names_in_the_form_of_bibtex(authors: tuple[str, ...], field: str) -> None:
    assert fields_of(ref(authors=authors))[0]["author"] == field


def test_all_sixty_authors_are_named() -> None:
    authors = tuple(f"Author{chr(97 + i % 26)}{chr(97 + i // 26)}, X." for i in range(60))
    assert fields_of(ref(authors=authors))[0]["author"].split(" and ") == list(authors)


@pytest.mark.parametrize(
    ("title", "field"),
    [
        ("100% of R&D #1 a_b $5 {x} ~ ^ \\", "100\\% of R\\&D \\#1 a\\_b \\$5 \\{x\\} \\textasciitilde{} "
         "\\textasciicircum{} \\textbackslash{}"),
        ("a } b { c", "a \\textbraceright{} b \\textbraceleft{} c"),
        ("The bound $\\alpha_{i} \\leq L^2$ holds", "The bound {$\\alpha_{i} \\leq L^2$} holds"),
        ("from $5 to $10 and $20", "from \\$5 to \\$10 and \\$20"),
        ("not $a { b$ this", "not \\$a \\textbraceleft{} b\\$ this"),
        ("not $a % b$ this", "not \\$a \\% b\\$ this"),
        ("A test of the CAPM", "A test of the {CAPM}"),
        ("A Proof for the Queuing Formula: L = λW", "A Proof for the Queuing Formula: {L} = {λW}"),
        ("McDonald’s and the iPhone: DNA-binding in 3D", "{McDonald}’s and the {iPhone}: {DNA}-binding in {3D}"),
        ("Minimum wages in New Jersey: Evidence from Ohio", "Minimum wages in {New} {Jersey}: Evidence from {Ohio}"),
        ("Minimum Wages in New Jersey", "Minimum Wages in New Jersey"),
        ("量子计算", "量子计算"),
        ("two\n lines", "two lines"),
    ],
)  # fmt: skip
def test_titles(title: str, field: str) -> None:
    field = field.replace("R\\&D", "{R}\\&{D}")
    assert latex_title(title) == fields_of(ref(title))[0]["title"] == field
    assert typeset(field) == one_line(title)


def test_the_braces_of_a_title_keep_its_capitals_where_a_style_lowers_them() -> None:
    """BibTeX's change.case$ with "t": all but the first letter and that after a colon, outside braces."""
    titles = ["Why the CAPM fails in New York: Evidence", "The $L_2$ norm of a β-VAE", "L = λW: A Proof"]
    lowered = []
    for title in titles:
        latex, depth, made = latex_title(title), 0, []
        for position, ch in enumerate(latex):
            depth += (ch == "{") - (ch == "}")
            free = depth == 0 and position > 0 and latex[position - 2 : position] != ": "
            made.append(ch.lower() if free else ch)
        lowered.append(typeset("".join(made)))
    assert lowered == [titles[0], "The $L_2$ norm of a β-VAE", "L = λW: A proof"]


PLAIN = st.text(st.sampled_from("abcXYZéø \\%&#_$~{}.,:;()+=*/0123"), max_size=30)


@settings(max_examples=200)
@given(PLAIN)
def test_an_installed_latex_reader_reads_the_same(text: str) -> None:
    """pylatexenc knows no \\textbraceleft, so braces without partner are left to the reader above."""
    if not is_balanced(one_line(text)):
        text = text.replace("{", "(").replace("}", ")")
    reader = LatexNodes2Text(math_mode="verbatim", strict_latex_spaces=True)
    assert reader.latex_to_text(latex_text(text)) == one_line(text)


def test_addresses_and_ids() -> None:
    details = (("arxiv", "arXiv:2101.00001v2"), ("pmid", "123"), ("url", "https://e.example/{a}?b=1&c=%20#d"))
    [fields] = fields_of(ref(doi="https://doi.org/10.1000/A_B", details=details))
    assert fields == {
        "title": "On Things",
        "doi": "10.1000/a_b",
        "eprint": "2101.00001v2",
        "archiveprefix": "arXiv",
        "pmid": "123",
        "url": "https://e.example/%7Ba%7D?b=1&c=%20#d",
    }


def test_a_range_of_pages_has_two_hyphens_and_the_number_of_an_article_those_that_it_has() -> None:
    pages = {"488-500": "488--500", "e12–e19": "e12--e19", "1-9, 15 - 20": "1--9, 15--20", "L12-4a": "L12-4a"}
    for given_, written in pages.items():
        assert fields_of(ref(details=(("pages", given_),)))[0]["pages"] == written


def test_what_has_no_field_is_kept_and_cannot_act() -> None:
    details = (
        ("Conference", "ICML"), ("abstract", "50% of it."), ("arxiv", "no id"), ("author", "Someone Else"),
        ("checked", "by hand"), ("crossref", "other"), ("issue", "3"), ("issue ", "4"), ("number", "3"),
        ("number ", "5"),
        ("url", "javascript:a"), ("year", "1969"), ("质量", "高"), ("", "nameless"), ("empty", " "),
    )  # fmt: skip
    [fields] = fields_of(ref(year=1970, doi="10.1000/{", details=details))
    assert fields == {
        "title": "On Things", "year": "1970", "number": "3", "abstract": "50\\% of it.", "x-conference": "ICML",
        "x-arxiv": "no id", "x-author": "Someone Else", "x-issue": "4", "x-number": "5",
        "x-url": "javascript:a", "x-year": "1969",
        "x-doi": "10.1000/\\textbraceleft{}",
    }  # fmt: skip
    assert fields_of(ref(details=(("year", "in press"),)))[0]["year"] == "in press"


def test_keys_are_readable_and_unique() -> None:
    references = [
        LEMONS,
        ref("The Market for Lemons", ("Akerlof, George A.",), 1970),
        ref("market", ("AKERLOF, G.",), 1970),
        ref("A β-VAE", ("van der Berg, Jan",), 2001),
        ref("Estimates 2023", ("World Health Organization",), 2023),
        ref("Ærø", ("Åkerlund, Å.",), None),
        ref("量子计算", ("王小明",), 2020),
        ref("2020", (), 2020),
        ref("Sur la théorie", ("Le Quéré C",), 1999),
    ]
    assert citation_keys(references) == [
        "akerlof1970market", "akerlof1970market-a", "akerlof1970market-b", "vanderberg2001vae",
        "worldhealthorganization2023estimates", "akerlundaero", "ref2020", "ref2020-a", "lequere1999theorie",
    ]  # fmt: skip
    assert citation_keys([ref("x")] * 30)[26:] == ["x-z", "x-aa", "x-ab", "x-ac"]


HOSTILE = ["@article{x, a = {", "}", "{", "\\", "$", "$$", "$x$", "\\{", "\\}", "%", "and", " and ", ",", '"', "#",
           "\n", "~", "\u00a0", "CAPM", "量", "שלום", "\\input{x}", "--", "van ", "A. ", "Jr.", "et al."]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=20), st.lists(st.sampled_from(HOSTILE), max_size=8).map("".join))


@settings(max_examples=250)
@given(TEXTS, TEXTS, TEXTS)
def test_any_text_is_read_back_as_it_was(title: str, venue: str, value: str) -> None:
    reference = ref(title, venue=venue, details=(("booktitle", value), ("pages", value), ("volume", value)))
    [fields] = fields_of(reference)
    assert typeset(fields["title"]) == title_of(reference)
    assert typeset(fields.get("journal", "")) == ("" if is_blank(reference.venue) else one_line(reference.venue))
    kept = dict(reference.details)["booktitle"]
    assert typeset(fields.get("x-booktitle", "")) == typeset(fields.get("volume", "")) == (
        "" if is_blank(kept) else one_line(kept)
    )  # fmt: skip


@settings(max_examples=250)
@given(st.lists(TEXTS, max_size=4))
def test_any_authors_are_read_back_as_they_were(authors: list[str]) -> None:
    reference = ref(authors=tuple(authors))
    names, more = parse_authors(reference.authors)
    [fields] = fields_of(reference)
    found = split_multiple_persons_names(fields.get("author", ""))
    assert (found.pop() == "others") if names and more else True
    assert len(found) == len(names)
    for written, name in zip(found, names, strict=True):
        parts = parse_single_name_into_parts(written, strict=True)
        last, first, jr = (typeset(" ".join(words)) for words in (parts.von + parts.last, parts.first, parts.jr))
        given_name = " ".join(filter(None, (name.given, name.dropping_particle)))
        if name.literal or not name.given:
            assert (last, first, jr) == (typeset(bibtex_name(name)), "", "")
            assert last in (name.inverted, name.short)
        else:
            assert (last, first, jr) == (name.short, given_name, name.suffix)


@settings(max_examples=100)
@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=2).map(tuple), st.sampled_from([None, 1990])), max_size=6))
def test_keys_of_any_references_are_unique_ascii(rows: list[tuple[str, tuple[str, ...], int | None]]) -> None:
    references = [ref(*row) for row in rows]
    keys = citation_keys(references)
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]{0,70}", key) for key in keys)
    assert fields_of(*references) == [fields for row in rows for fields in fields_of(ref(*row))]


def test_a_particle_without_case_is_not_taken_for_a_given_name() -> None:
    assert bibtex_name(parse_name("محمد بن سلمان")) == "{بن سلمان}, محمد"


def test_long_texts_take_linear_time() -> None:
    started = time.perf_counter()
    for piece in ("$", "$a", "{", "\\", "Aa ", "A: ", "$a$ ", "CAPM "):
        render_bibtex([ref(piece * 20_000, (piece * 20_000,))])
    assert time.perf_counter() - started < 10
