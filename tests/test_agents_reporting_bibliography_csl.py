"""CSL-JSON: within the data schema of CSL 1.0.2, with the specification's own names, and nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.reporting.bibliography.citekeys import citation_keys
from agents.reporting.bibliography.csl import csl_name, render_csl_json
from agents.reporting.bibliography.names import parse_authors, parse_name
from agents.reporting.bibliography.page_numbers import join_pages
from agents.reporting.escape import one_line
from agents.reporting.model import Reference, is_blank

# csl-data.json of CSL 1.0.2: types, and variables by the kind of their value, as far as references can have them.
TYPES = {"article", "article-journal", "document"}
TEXTS = {"title", "container-title", "collection-title", "DOI", "PMID", "PMCID", "ISSN", "ISBN", "URL", "publisher",
         "language", "abstract", "note", "keyword"}  # fmt: skip
TEXTS_OR_NUMBERS = {"id", "volume", "issue", "page", "edition", "number"}
NAME_PARTS = {"family", "given", "dropping-particle", "non-dropping-particle", "suffix", "literal"}


def check(item: dict[str, Any]) -> None:
    """Whether the schema allows ``item``: no other variable, and each of its kind."""
    assert item["type"] in TYPES
    assert isinstance(item["id"], str)
    for variable, value in item.items():
        if variable in TEXTS | TEXTS_OR_NUMBERS:
            assert isinstance(value, str)
        elif variable == "author":
            assert all(set(name) <= NAME_PARTS and all(isinstance(p, str) for p in name.values()) for name in value)
            assert all(bool(name.get("family")) != bool(name.get("literal")) for name in value)
        elif variable == "issued":
            assert set(value) in ({"date-parts"}, {"literal"})
            for parts in value.get("date-parts", []):
                assert 1 <= len(parts) <= 3
                assert all(type(part) is int for part in parts)
        elif variable == "custom":
            assert isinstance(value, dict)
        else:
            assert variable == "type"


def items(*references: Reference) -> list[dict[str, Any]]:
    found = json.loads(render_csl_json(references))
    for item in found:
        check(item)
    return found


def ref(title: str = "On Things", authors: tuple[str, ...] = (), year: int | None = None, **more) -> Reference:
    return Reference(1, "d", title, authors, year, **more)


def test_an_article() -> None:
    details = (("issue", "3"), ("kind", "summary"), ("pages", "488-500"), ("pmid", "123"), ("volume", "84"))
    reference = ref("The Market for “Lemons”", ("Akerlof, George A.",), 1970, venue="QJE",
                    doi="https://doi.org/10.2307/1879431", details=details)  # fmt: skip
    assert items(reference) == [
        {
            "id": "akerlof1970market",
            "type": "article-journal",
            "title": "The Market for “Lemons”",
            "author": [{"family": "Akerlof", "given": "George A."}],
            "container-title": "QJE",
            "issued": {"date-parts": [[1970]]},
            "DOI": "10.2307/1879431",
            "issue": "3",
            "page": "488-500",
            "PMID": "123",
            "volume": "84",
        }
    ]
    assert "“Lemons”" in render_csl_json([reference])


# CSL 1.0.2 specification, "Name Particles"
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Vincent van Gogh", {"given": "Vincent", "non-dropping-particle": "van", "family": "Gogh"}),
        ("Humboldt, Alexander von", {"given": "Alexander", "dropping-particle": "von", "family": "Humboldt"}),
        ("La Fontaine, Jean de", {"given": "Jean", "dropping-particle": "de", "family": "La Fontaine"}),
        ("{de Gaulle}, Charles", {"given": "Charles", "family": "de Gaulle"}),
        ("Doe, John, III", {"given": "John", "family": "Doe", "suffix": "III"}),
        ("World Health Organization", {"literal": "World Health Organization"}),
        ("Aristotle", {"family": "Aristotle"}),
        ("", {}),
    ],
)
def test_names(text: str, name: dict[str, str]) -> None:
    assert csl_name(parse_name(text)) == name


def test_others_are_kept_as_pandoc_keeps_them() -> None:
    [item] = items(ref(authors=("Smith, J.", "et al.")))
    assert item["author"] == [{"family": "Smith", "given": "J."}, {"literal": "others"}]


def test_a_preprint_and_a_paper_of_which_little_is_known() -> None:
    preprint, unknown = items(ref(details=(("arxiv", "arXiv:2101.00001"),)), ref(" "))
    assert (preprint["type"], preprint["number"]) == ("article", "arXiv:2101.00001")
    assert preprint["URL"] == "https://arxiv.org/abs/2101.00001"
    assert unknown == {"id": "ref", "type": "document", "title": "d"}
    [item] = items(ref(venue="Mind", details=(("arxiv", "2101.00001"), ("url", "https://e.example/a"))))
    assert (item["type"], item["URL"], item["number"]) == ("article-journal", "https://e.example/a", "arXiv:2101.00001")
    assert json.loads(render_csl_json([])) == []


def test_a_range_of_pages_has_one_hyphen() -> None:
    for pages in ("488--500", "488–500", "488-500"):
        assert items(ref(details=(("pages", pages),)))[0]["page"] == "488-500"


def test_what_has_no_variable_is_kept_under_custom() -> None:
    details = (("arxiv", "no id"), ("issue", "3"), ("number", "4"), ("url", "javascript:a"), ("year", "in press"))
    [item] = items(ref(doi="javascript:b", details=details))
    assert item["issued"] == {"literal": "in press"}
    assert item["custom"] == {"arxiv": "no id", "number": "4", "url": "javascript:a", "doi": "javascript:b"}
    [item] = items(ref(year=1970, details=(("Volume", "1"), ("volume", "2"), ("part", "1"), ("part", "2"),
                                           ("checked", "x"), ("year", "1969"))))  # fmt: skip
    assert item["volume"] == "1"
    assert item["custom"] == {"volume": "2", "part": "1", "part (2)": "2", "year": "1969"}


ANY = st.text(max_size=12)
NAMES = st.sampled_from(["year", "Volume", "issue", "number", "pages", "arxiv", "doi", "url", "booktitle", "note"])
REFERENCES = st.builds(
    ref,
    ANY,
    st.lists(ANY, max_size=3).map(tuple),
    st.sampled_from([None, 1970]),
    venue=ANY,
    doi=st.one_of(ANY, st.just("10.1000/x")),
    details=st.lists(st.tuples(NAMES, ANY), max_size=6).map(tuple),
)


@settings(max_examples=200)
@given(st.lists(REFERENCES, max_size=4))
def test_any_reference_is_valid_and_whole(references: list[Reference]) -> None:
    found = items(*references)
    assert [item["id"] for item in found] == citation_keys(references)
    for item, reference in zip(found, references, strict=True):
        values = [*item.values(), *item.get("custom", {}).values(), item.get("issued", {}).get("literal")]
        for value in (reference.title, reference.venue, *(value for _, value in reference.details)):
            kept = (one_line(value), join_pages(one_line(value), "-"))
            assert is_blank(value) or any(form in values for form in kept)
        names, more = parse_authors(reference.authors)
        assert len(item.get("author", [])) == (len(names) + more if names else 0)
