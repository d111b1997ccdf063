"""The table of journals against what the appendix says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.venues import FIELDS, Journal, field_of_venue, find_journal, journals, venue_key

STATED = {
    "economics": (22, 56_213),
    "finance": (29, 40_466),
    "operations management": (13, 8_094),
    "statistics": (9, 29_461),
}
"""Journals and papers by field, as the text of Appendix A gives them beside its tables."""


def test_journals_and_papers_add_up_to_what_the_text_states() -> None:
    counts, papers = Counter[str](), Counter[str]()
    for journal in journals():
        counts[journal.field] += 1
        papers[journal.field] += journal.papers
    assert {field: (counts[field], papers[field]) for field in FIELDS} == STATED
    assert (counts.total(), papers.total()) == (73, 134_234)


def test_every_row_is_whole() -> None:
    for journal in journals():
        assert journal.name
        assert journal.publisher
        assert 1920 <= journal.first_year < journal.last_year <= 2025
        assert all(alias == alias.strip() and alias for alias in journal.aliases)
    for field in FIELDS:
        sizes = [journal.papers for journal in journals() if journal.field == field]
        assert sizes == sorted(sizes, reverse=True)


def test_every_journal_is_found_under_all_its_names_and_no_name_leads_to_two() -> None:
    owner: dict[str, str] = {}
    for journal in journals():
        for name in (journal.name, *journal.aliases):
            assert find_journal(name) == journal
            assert field_of_venue(name) == journal.field
            assert owner.setdefault(venue_key(name), journal.name) == journal.name
    assert len(owner) > 2 * 73 - 10


def test_no_journal_lists_a_name_twice() -> None:
    for journal in journals():
        keys = [venue_key(name) for name in (journal.name, *journal.aliases)]
        assert len(set(keys)) == len(keys), journal.name


@pytest.mark.parametrize(
    ("venue", "journal"),
    [
        ("THE AMERICAN ECONOMIC REVIEW", "American Economic Review"),
        ("Am Econ Rev", "American Economic Review"),
        ("Economic Journal", "The Economic Journal"),
        ("Journal of Finance (The)", "Journal of Finance"),
        ("Ｊｏｕｒｎａｌ  of\nFinance", "Journal of Finance"),
        ("J. Finance", "Journal of Finance"),
        ("Review of Economics & Statistics", "Review of Economics and Statistics"),
        ("Computational Statistics &amp; Data Analysis", "Computational Statistics & Data Analysis"),
        ("Computational Statistics and Data Analysis", "Computational Statistics & Data Analysis"),
        ("Insurance, Mathematics & Economics", "Insurance: Mathematics and Economics"),
        ("The Bell Journal of Economics", "RAND Journal of Economics"),
        ("IIE Transactions", "IISE Transactions"),
        ("Interfaces", "INFORMS Journal on Applied Analytics"),
        ("Manage. Sci.", "Management Science"),
        ("Applied Statistics", "JRSS Series C (Applied Statistics)"),
        (
            "Journal of the Royal Statistical Society. Series B (Methodological)",
            "JRSS Series B (Statistical Methodology)",
        ),
        (
            "Journal of the Royal Statistical Society Series B: Statistical Methodology",
            "JRSS Series B (Statistical Methodology)",
        ),
        ("Real-Estate Economics", "Real Estate Economics"),
    ],
)
def test_spellings_of_a_journal(venue: str, journal: str) -> None:
    found = find_journal(venue)
    assert found is not None
    assert found.name == journal


@pytest.mark.parametrize(
    "venue",
    [
        "", " ", "The", "&", "Nature", "Journal of Finance and Data Science", "International Journal of Finance",
        "Economic Theory", "Econom. J.", "Corporate Governance", "Annals of Applied Statistics", "Finance", "JF",
        "Journal of the Royal Statistical Society: Series A", "Operations Research Letters Online", "运筹学",
    ],
)  # fmt: skip
def test_a_venue_outside_the_tables_has_no_field(venue: str) -> None:
    assert find_journal(venue) is None
    assert field_of_venue(venue) is None


@given(
    st.sampled_from(journals()),
    st.sampled_from([str.upper, str.lower, str.title, str]),
    st.sampled_from([" ", "  ", "-", ". ", ": ", "\u00a0", " \u2013 "]),
    st.sampled_from(["{}", "The {}", "{}, The", "({})", "\u201c{}\u201d", " {}."]),
)
def test_case_spacing_and_punctuation_make_no_difference(
    journal: Journal, case: Callable[[str], str], between: str, around: str
) -> None:
    spelt = around.format(between.join(case(journal.name.removeprefix("The ")).replace("&", "and").split()))
    assert find_journal(spelt) == journal
    assert find_journal(f"{spelt} Letters Abroad") is None
