"""Citation styles: labels as the APA's manual has them, no two alike, and entries that begin with what labels say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agents.reporting.bibliography.citing import (
    AUTHOR_YEAR,
    NUMBERED,
    Bibliography,
    CitationStyle,
    doi_url,
    reference_pieces,
)
from agents.reporting.bibliography.labels import author_year_labels, short_title
from agents.reporting.bibliography.names import parse_authors
from agents.reporting.markdown import render_markdown
from agents.reporting.model import (
    Citation,
    Paragraph,
    QuoteBlock,
    Reference,
    Report,
    ReportSection,
    Sentence,
    is_blank,
    number_references,
)
from kg.errors import InputError
from kg.records import Document, Section, clean_text


def doc(authors: str | Sequence[str], year: int | None, title: str = "On Things", **more) -> dict:
    names = [name.strip() for name in authors.split(";")] if isinstance(authors, str) else list(authors)
    return {"authors": tuple(names), "year": year, "title": title} | more


def report_of(*fields: dict) -> Report:
    """One sentence per paper cites it, and a last one cites all, in reverse."""
    documents = [Document(**{"doc_id": f"d{number}"} | own) for number, own in enumerate(fields)]
    citations = []
    for document in documents:
        section = Section(f"{document.doc_id}#0", document.doc_id, "", "a passage of it")
        citations.append(Citation(section.section_id, section.sha256, "passage", 2, 9))
    sentences = [Sentence(f"s{n}", "claim", f"Claim {n}.", (citation,)) for n, citation in enumerate(citations)]
    last = Sentence("all", "claim", "Together.", tuple(reversed(citations)))
    sections = (ReportSection("Findings", (Paragraph((*sentences, last)),)),)
    return Report("T", "Q?", "en", sections, number_references(sections, {d.doc_id: d for d in documents}))


def sentences(report: Report) -> Sequence[Sentence]:
    return report.sections[0].blocks[0].sentences


def labels(*fields: dict) -> list[str]:
    """What each paper's own sentence says, in author-year style."""
    report = report_of(*fields)
    bibliography = Bibliography(report, AUTHOR_YEAR)
    return [mark.label for sentence in sentences(report)[:-1] for mark in bibliography.marks(sentence)]


def entries(*fields: dict, style: CitationStyle = AUTHOR_YEAR) -> list[str]:
    found = Bibliography(report_of(*fields), style).entries
    return ["".join(piece.text for piece in entry.pieces) for entry in found]


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        (doc("Akerlof, George A.", 1970), "Akerlof, 1970"),
        (doc("Fama, Eugene F.; French, Kenneth R.", 1993), "Fama & French, 1993"),
        (doc("Lee, Hau L.; Padmanabhan, V.; Whang, Seungjin", 1997), "Lee et al., 1997"),
        (doc([f"Name{chr(97 + i)}, X." for i in range(26)] * 2 + [""] * 8, 2020), "Namea et al., 2020"),
        (doc("van der Berg, Jan", 2001), "van der Berg, 2001"),
        (doc("Jan van der Berg", 2001), "van der Berg, 2001"),
        (doc("Humboldt, Alexander von", 1814), "Humboldt, 1814"),
        (doc("King, Martin Luther, Jr.", 1963), "King, 1963"),
        (doc("World Health Organization", 2023), "World Health Organization, 2023"),
        (doc("Fama, Eugene F.; et al.", 1993), "Fama et al., 1993"),
        (doc("", 2001, "The Market for Lemons"), "“The Market for Lemons”, 2001"),
        (doc("", None, "One two three four five six seven"), "“One two three four five six…”, n.d."),
        (doc("", None, " "), "“d0”, n.d."),
        (doc("Smith, J.", None), "Smith, n.d."),
        (doc("Smith, J.", None, details=(("year", "in press"),)), "Smith, in press"),
        (doc("محمد بن سلمان", 2001), "بن سلمان, 2001"),
        (doc("王小明", 2001), "王小明, 2001"),
        (doc("<script>alert(1)</script>", 2001), "<script>alert(1)</script>, 2001"),
    ],
)
def test_a_paper_is_cited_by_author_and_year(fields: dict, label: str) -> None:
    assert labels(fields) == [label]


# Publication Manual of the APA (7th ed., 2020): 9.47 and 8.19, the example of letters.
def test_letters_as_in_the_manual() -> None:
    aiming = doc(
        "Judge, Timothy A.; Kammeyer-Mueller, John D.",
        2012,
        "On the value of aiming high: The causes and consequences of ambition",
        venue="Journal of Applied Psychology",
        doi="10.1037/a0028084",
        details=(("issue", "4"), ("pages", "758-775"), ("volume", "97")),
    )
    measures = aiming | {
        "title": "General and specific measures in organizational behavior research: Considerations, examples, and "
        "recommendations for researchers",
        "venue": "Journal of Organizational Behavior",
        "doi": "10.1002/job.764",
        "details": (("issue", "2"), ("pages", "161-174"), ("volume", "33")),
    }
    assert labels(aiming, measures) == ["Judge & Kammeyer-Mueller, 2012b", "Judge & Kammeyer-Mueller, 2012a"]
    assert entries(aiming, measures) == [
        "Judge, Timothy A.; Kammeyer-Mueller, John D. (2012a). General and specific measures in organizational "
        "behavior research: Considerations, examples, and recommendations for researchers. Journal of Organizational "
        "Behavior, 33(2), 161–174. https://doi.org/10.1002/job.764",
        "Judge, Timothy A.; Kammeyer-Mueller, John D. (2012b). On the value of aiming high: The causes and "
        "consequences of ambition. Journal of Applied Psychology, 97(4), 758–775. https://doi.org/10.1037/a0028084",
    ]


# The manual, 8.20, and "When to Use Author Initials for Text Citations", APA Style Blog, 23 January 2014.
def test_initials_tell_first_authors_of_one_family_name_apart_as_in_the_manual() -> None:
    assert labels(doc("Taylor, J. M.; Neimeyer, G. J.", 2015), doc("Taylor, T.", 2014)) == [
        "J. M. Taylor & Neimeyer, 2015",
        "T. Taylor, 2014",
    ]
    assert labels(
        doc("Campbell, A.; Muncer, M.; Gorman, B.", 1993), doc("Campbell, W. K.; Bush, C. P.; Brunell, A. B.", 2005)
    ) == ["A. Campbell et al., 1993", "W. K. Campbell et al., 2005"]


# "Order of reference list entries", APA guide of Tilburg University Library; "The order of the reference list
# entries", that of Jönköping University Library; both after 9.44 to 9.49 of the manual.
@pytest.mark.parametrize(
    "authors",
    [
        ["Brown, J. R.", "Browning, A. R."],
        ["MacArthur, D.", "McAllister, T."],
        ["MacNeil, E.", "M'Carthy, L."],
        ["Anderson, D.", "Phillips, H.", "World Health Organization"],
        ["The Center for Autism", "Dahl, R."],
        ["Darwin, C.", "de Beauvoir, Simone", "Drake, F."],
        ["Ring, A. A.", "Ring, J.", "Ringing, A. B."],
        ["De Vries, A.", "Duncan, D."],
        ["Åkerlund, A.", "Allen, B."],
    ],
)
def test_the_list_is_ordered_as_library_guides_show(authors: list[str]) -> None:
    found = entries(*[doc([author], 2000, f"Z{i}") for i, author in enumerate(reversed(authors))])
    assert [entry.split(" (")[0] for entry in found] == authors


def test_one_author_in_the_order_of_years_without_date_first_and_to_appear_last() -> None:
    press = doc("Anderson, T.", None, details=(("year", "in press"),))
    papers = [press, doc("Anderson, T.", 2020), doc("Anderson, T.", None), doc("Anderson, T.", 2010)]
    assert [entry.split(".")[1] for entry in entries(*papers)][1:] == [" (2010)", " (2020)", " (in press)"]
    assert entries(*papers)[0] == "Anderson, T. (n.d.). On Things."


def test_titles_give_the_letters_without_their_articles() -> None:
    toward, approach = "Media images and social roles: Toward a media theory", "A sociological approach to self"
    green = "Hayward, K. H.; Green, L."
    assert labels(doc(green, 2021, approach), doc(green, 2021, toward)) == [
        "Hayward & Green, 2021b", "Hayward & Green, 2021a"
    ]  # fmt: skip
    assert labels(doc("A, B.", None, "B"), doc("A, B.", None, "A")) == ["A, n.d.-b", "A, n.d.-a"]
    assert entries(doc("A, B.", None, "B"), doc("A, B.", None, "A")) == ["A, B. (n.d.-a). A.", "A, B. (n.d.-b). B."]
    many = labels(*[doc("A, B.", 2000, f"T{i:02}") for i in range(28)])
    assert (many[0], many[25:]) == ("A, 2000a", ["A, 2000z", "A, 2000aa", "A, 2000ab"])


def test_one_author_written_in_two_ways_needs_no_initials() -> None:
    assert labels(doc("Fama, Eugene", 1970), doc("Fama, E. F.", 1991)) == ["Fama, 1970", "Fama, 1991"]
    assert labels(doc("Fama, E.", 1970), doc("Fama, E. F.", 1970, "X")) == ["Fama, 1970a", "Fama, 1970b"]
    assert labels(doc("Wang, 小明", 2000), doc("Wang, 小红", 2000)) == ["小明 Wang, 2000", "小红 Wang, 2000"]


def test_a_letter_that_another_source_already_has_is_left_out() -> None:
    taken = doc("A, B.", None, "T0", details=(("year", "1993a"),))
    assert labels(taken, doc("A, B.", 1993, "T1"), doc("A, B.", 1993, "T2")) == ["A, 1993a", "A, 1993b", "A, 1993c"]


def test_numbers_are_the_default_and_go_by_first_citation() -> None:
    report = report_of(doc("Zeta, A.", 2000), doc("Alpha, B.", 2000))
    bibliography = Bibliography(report)
    assert bibliography.style == NUMBERED
    assert [(entry.label, entry.reference.authors[0]) for entry in bibliography.entries] == [
        ("1", "Zeta, A."), ("2", "Alpha, B.")
    ]  # fmt: skip
    assert [mark.label for mark in bibliography.marks(sentences(report)[-1])] == ["1", "2"]
    assert (bibliography.opening, bibliography.separator, bibliography.closing) == ("[", ", ", "]")


def test_marks_hold_the_passages_of_their_paper() -> None:
    report = report_of(doc("Zeta, A.", 2000), doc("Alpha, B.", 2000))
    bibliography = Bibliography(report, AUTHOR_YEAR)
    marks = bibliography.marks(sentences(report)[-1])
    assert [mark.label for mark in marks] == ["Alpha, 2000", "Zeta, 2000"]
    assert [[c.doc_id for c in mark.citations] for mark in marks] == [["d1"], ["d0"]]
    assert bibliography.marks(Sentence("x", "connective", "So.")) == ()
    assert (bibliography.opening, bibliography.separator, bibliography.closing) == ("(", "; ", ")")
    assert [entry.label for entry in bibliography.entries] == ["", ""]


def test_the_list_says_that_authors_are_left_out() -> None:
    sixty = doc([f"Name{chr(97 + i % 26)}{chr(97 + i // 26)}, X." for i in range(60)], 2020)
    for form in ("numbered", "author_year"):
        [shown] = entries(sixty, style=CitationStyle(form, max_authors=10, shown=2))
        assert shown == "Nameaa, X.; Nameba, X. et al. (2020). On Things."
        [whole] = entries(sixty, style=CitationStyle(form, max_authors=60))
        assert whole.count(";") == 59


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "footnotes"}, "no citation style 'footnotes'; use numbered or author_year"),
        ({"shown": 0}, "show at least one"),
        ({"max_authors": 2, "shown": 3}, "no more than stand there unshortened"),
    ],
)
def test_a_style_that_cannot_be_is_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CitationStyle(**options)


def test_pieces_set_the_venue_in_italics_and_link_the_doi() -> None:
    reference = Reference(1, "d", "Why?", ("A, B.",), 2000, "Mind", "10.1000/X", (("volume", "3"),))
    pieces = reference_pieces(reference)
    assert [piece.text for piece in pieces if piece.italic] == ["Mind"]
    assert [piece.url for piece in pieces if piece.url] == ["https://doi.org/10.1000/x"] == [doi_url("10.1000/X")]
    assert "".join(piece.text for piece in pieces) == "A, B. (2000). Why? Mind, 3. https://doi.org/10.1000/x"
    assert reference_pieces(reference, AUTHOR_YEAR) == pieces


def test_short_titles_say_that_they_are_short() -> None:
    assert short_title("a b c d e f") == "a b c d e f"
    assert short_title("a b c d e f g") == "a b c d e f…"
    assert short_title("量" * 100) == "量" * 60 + "…"


NAMES = st.one_of(
    st.sampled_from(
        ["Smith, J.", "Smith, K.", "John Smith", "Smith, John", "smith, j.", "van der Berg, J.", "Berg, J. van der",
         "World Bank", "王小明", "محمد بن سلمان", "Åkerlund, A.", "et al.", "", "A; B", "**x**", "Ｓmith, J."]
    ),
    st.text(max_size=8),
)  # fmt: skip
TITLES = st.one_of(st.sampled_from(["A", "a", "The A", "B", "B ", "", "[x](y)", "One two three four five six seven"]),
                   st.text(max_size=8))  # fmt: skip
PAPERS = st.fixed_dictionaries(
    {
        "authors": st.lists(NAMES, max_size=3).map(tuple),
        "year": st.sampled_from([None, None, 1993, 2000]),
        "title": TITLES,
        "details": st.sampled_from([(), (), (("year", "1993a"),), (("year", "n.d.-a"),), (("year", "In press"),)]),
    }
)


@settings(max_examples=150)
@given(st.lists(PAPERS, min_size=1, max_size=8))
def test_labels_are_unique_and_lead_to_their_entry(papers: list[dict]) -> None:
    papers = [{key: clean(value) for key, value in paper.items()} for paper in papers]
    report = report_of(*papers)
    bibliography = Bibliography(report, AUTHOR_YEAR)
    own = {m.reference.doc_id: m.label for s in sentences(report)[:-1] for m in bibliography.marks(s)}
    assert len({label.casefold() for label in own.values()}) == len(papers)
    assert sorted(entry.reference.number for entry in bibliography.entries) == list(range(1, len(papers) + 1))
    assert [m.reference for m in bibliography.marks(sentences(report)[-1])] == [
        e.reference for e in bibliography.entries
    ]
    given = dict(zip(report.references, author_year_labels(report.references), strict=True))
    for entry in bibliography.entries:
        label = given[entry.reference]
        assert own[entry.reference.doc_id] == f"{label.names}, {label.year}"
        text = "".join(piece.text for piece in entry.pieces)
        assert f"({label.year})" in text
        authors, _ = parse_authors(entry.reference.authors)
        begins = authors[0].short if authors else label.names[1:-1].removesuffix("…")
        assert begins in label.names
        assert " ".join(text.split()).startswith(" ".join(begins.split()))


def clean(value: object) -> object:
    if isinstance(value, str):
        return clean_text(value)
    return tuple(map(clean, value)) if isinstance(value, tuple) else value


@settings(max_examples=60)
@given(st.lists(PAPERS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_labels_do_not_depend_on_the_order_of_citation(papers: list[dict], random) -> None:
    cited = [Reference(1, f"d{i}", **{k: clean(v) for k, v in paper.items()}) for i, paper in enumerate(papers)]
    shuffled = random.sample(cited, len(cited))
    first = dict(zip([r.doc_id for r in cited], author_year_labels(cited), strict=True))
    assert {r.doc_id: label for r, label in zip(shuffled, author_year_labels(shuffled), strict=True)} == first


# --- Markdown in author-year style

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def inline_texts(markdown: str) -> list[str]:
    """What a reader sees of each inline token, in order."""
    return [
        "".join(child.content for child in token.children or ()) for token in PARSER.parse(markdown) if token.children
    ]


def test_markdown_in_author_year_style() -> None:
    papers = [
        doc("Michael Spence", 1973, "Job Market Signaling"),
        doc("Akerlof, George A.", 1970, "The Market for Lemons", venue="QJE", details=(("volume", "84"),)),
    ]
    assert render_markdown(report_of(*papers), AUTHOR_YEAR).split("\n\n")[3:] == [
        "Claim 0. (Spence, 1973) Claim 1. (Akerlof, 1970) Together. (Akerlof, 1970; Spence, 1973)",
        "## References",
        "- Akerlof, George A. (1970). The Market for Lemons. *QJE*, 84.\n"
        "- Spence, Michael (1973). Job Market Signaling.\n",
    ]


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "*A* _B_", "[x](http://e.example)", "1. Division", "# Team", "`code`", "a_b_ & co",
     "محمد بن سلمان", "量子 计算", "- item", "\\"],
)  # fmt: skip
def test_markdown_shows_labels_as_they_are(name: str) -> None:
    papers = [doc([name], 2001, f"T {name}"), doc([], 2001, f"{name} alone"), doc("Plain, P.", 2002)]
    report = report_of(*papers)
    bibliography = Bibliography(report, AUTHOR_YEAR)
    texts = inline_texts(render_markdown(report, AUTHOR_YEAR))
    cited = "; ".join(mark.label for mark in bibliography.marks(sentences(report)[-1]))
    assert texts[3].endswith(f"Together. ({cited})")
    shown = ["".join(piece.text for piece in entry.pieces) for entry in bibliography.entries]
    assert texts[5:] == shown
    assert sum(text.count(name) for text in shown) >= 2


def test_markdown_of_a_quotation_in_author_year_style() -> None:
    report = report_of(doc("Akerlof, G.", 1970))
    quoted = QuoteBlock(sentences(report)[0], "Akerlof (1970)")
    section = ReportSection("Q", (quoted,))
    report = Report("T", "Q?", "en", (section,), report.references)
    assert "> “Claim 0.” (Akerlof, 1970)\n>\n> — Akerlof (1970)" in render_markdown(report, AUTHOR_YEAR)


def test_no_label_is_blank() -> None:
    assert not any(is_blank(label) for label in labels(doc(["\u200b"], None, "\u200b"), doc([" "], None, "")))


def test_a_source_without_other_ids_is_found_by_its_address() -> None:
    page = "https://www.who.int/publications/i/item/1"
    report = report_of(
        doc("WHO", 2012, details=(("url", page),)), doc("Roe", 2013, details=(("url", "javascript:x()"),))
    )
    entries = Bibliography(report).entries
    assert [piece.url for piece in entries[0].pieces if piece.url] == [page]
    assert not [piece.url for piece in entries[1].pieces if piece.url]
    assert "javascript" not in "".join(piece.text for piece in entries[1].pieces)
