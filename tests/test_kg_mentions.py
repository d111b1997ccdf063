"""Mentions as columns: nothing lost on the way, acronyms under their expansions, homonyms apart."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.mentions import MentionTable, decode_extraction, encode_extraction, read_mentions
from kg.names import form_key, name_key
from kg.records import Extraction, Mention, Triple

TEXT = st.text(max_size=12)
MENTIONS = st.builds(
    Mention,
    st.one_of(TEXT, st.sampled_from(["Supply chains", "supply-chain", "β-VAE", "量子计算", " ", "\u200b", "CAPM"])),
    st.sampled_from(["term", "person", "firm"]),
    st.integers(1, 9),
    st.lists(st.integers(-1, 5), unique=True, max_size=4).map(lambda s: tuple(sorted(s))),
    st.integers(0, 9),
)
EXTRACTIONS = st.builds(
    Extraction,
    st.lists(MENTIONS, max_size=6).map(tuple),
    st.lists(st.builds(Triple, TEXT, TEXT, TEXT, st.integers(-1, 5), st.floats(0.1, 1.0)), max_size=3).map(tuple),
    st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=4).map(tuple),
)


def mention(name: str, kind: str = "term", count: int = 1) -> Mention:
    return Mention(name, kind, count, (0,), count)


def read(*sections: Extraction, documents: list[int] | None = None) -> MentionTable:
    blobs = [encode_extraction(section) for section in sections]
    return read_mentions(blobs, documents or list(range(len(blobs))), [1.0] * len(blobs))[0]


def names_of(table: MentionTable) -> list[tuple[int, str, str]]:
    """(section, surface, key) of every row."""
    return [
        (int(s), table.surfaces[u], table.names[n][1])
        for s, u, n in zip(table.section, table.surface, table.name, strict=True)
    ]


@given(EXTRACTIONS)
def test_encoding_loses_nothing(extraction: Extraction) -> None:
    assert decode_extraction(encode_extraction(extraction)) == extraction


@settings(max_examples=50)
@given(st.lists(EXTRACTIONS, max_size=4))
def test_rows_are_the_mentions_with_a_visible_name(extractions: list[Extraction]) -> None:
    plain = [Extraction(e.mentions, e.triples, (), e.sentences) for e in extractions]
    blobs = [encode_extraction(e) for e in plain]
    table, assertions = read_mentions(blobs, list(range(len(blobs))), [1.0] * len(blobs))
    expected = [
        (number, m.name, (m.type, name_key(m.name)), m.count, m.independent, m.sentences)
        for number, e in enumerate(plain)
        for m in e.mentions
        if name_key(m.name)
    ]
    bounds = list(zip(table.sentence_offsets[:-1], table.sentence_offsets[1:], strict=True))
    rows = [
        (
            int(table.section[r]), table.surfaces[table.surface[r]], table.names[table.name[r]], int(table.count[r]),
            int(table.independent[r]), tuple(table.sentences[bounds[r][0] : bounds[r][1]].tolist()),
        )
        for r in range(len(table.section))
    ]  # fmt: skip
    assert rows == expected
    assert table.names == sorted({row[2] for row in expected})
    assert [form_key(form) for form in table.forms] == [key for _, key in table.names]
    assert table.n_sections == len(plain)
    assert [t for _, t in assertions.triples] == [t for e in plain for t in e.triples]


@settings(max_examples=30)
@given(st.lists(EXTRACTIONS, max_size=4), st.data())
def test_keep_leaves_the_chosen_rows_and_no_unused_name(extractions: list[Extraction], data: st.DataObject) -> None:
    table = read(*extractions)
    n = len(table.section)
    mask = np.asarray(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    kept = table.keep(mask)
    assert names_of(kept) == [row for row, keep in zip(names_of(table), mask, strict=True) if keep]
    assert set(range(len(kept.names))) == set(kept.name.tolist())
    assert set(range(len(kept.surfaces))) == set(kept.surface.tolist())
    assert kept.sentence_offsets[-1] == len(kept.sentences)
    assert kept.n_sections == table.n_sections


def test_no_sections_make_an_empty_table() -> None:
    for table in (read(), read(Extraction(), Extraction()), read(Extraction((mention(" "), mention("\u200b"))))):
        assert (len(table.section), table.names, table.surfaces) == (0, [], [])


def test_types_keep_names_apart() -> None:
    table = read(Extraction((mention("Ford", "person"), mention("Ford", "company"), mention("Fords", "company"))))
    assert table.names == [("company", "ford"), ("person", "ford")]


def test_the_form_of_a_name_is_the_least_spelling_whatever_the_order() -> None:
    spellings = [Extraction((mention(s),)) for s in ("dataset", "data set", "data-sets")]
    assert read(*spellings).forms == read(*spellings[::-1]).forms == ["data set"]


CAPM = ("CAPM", "capital asset pricing model")


def test_an_acronym_stands_for_its_expansion_where_it_is_defined_and_where_it_is_not() -> None:
    table = read(
        Extraction((mention("CAPM"), mention("capital asset pricing models")), (), (CAPM,)),
        Extraction((mention("CAPM"), mention("CAPMs"), mention("capm test"))),
    )
    keys = Counter(key for _, _, key in names_of(table))
    assert keys == {"capitalassetpricingmodel": 4, "capmtest": 1}


def test_an_acronym_of_two_senses_is_resolved_only_where_it_is_defined() -> None:
    field, form = ("CRF", "conditional random field"), ("CRF", "case report form")
    table = read(
        Extraction((mention("CRF"),), (), (field,)),
        Extraction((mention("CRF"),), (), (form,)),
        Extraction((mention("CRF"),)),
    )
    assert [key for _, _, key in names_of(table)] == ["conditionalrandomfield", "casereportform", "crf"]


def test_a_definition_holds_in_all_sections_of_its_paper() -> None:
    table = read(
        Extraction((mention("MC"),)),
        Extraction((), (), (("MC", "Monte Carlo"),)),
        Extraction((mention("MC"),)),
        documents=[0, 0, 1],
    )
    # Two letters are too few to carry a meaning beyond the paper that gives it.
    assert [key for _, _, key in names_of(table)] == ["montecarlo", "mc"]


def test_a_word_that_only_looks_like_an_acronym_is_left_alone() -> None:
    table = read(
        Extraction((mention("AIDS"), mention("aids"), mention("hearing aids")), (), (("AIDS", "acquired syndrome"),))
    )
    assert {surface: key for _, surface, key in names_of(table)} == {
        "AIDS": "acquiredsyndrome",
        "aids": "aid",
        "hearing aids": "hearingaid",
    }


@settings(max_examples=20)
@given(st.permutations(range(5)))
def test_resolution_does_not_depend_on_the_order_of_papers(order: list[int]) -> None:
    sections = [
        Extraction((mention("CAPM"), mention("CRF")), (), (CAPM, ("CRF", "conditional random field"))),
        Extraction((mention("CAPM"),), (), (("CAPM", "Capital Asset Pricing Models"),)),
        Extraction((mention("CRF"),), (), (("CRF", "case report form"),)),
        Extraction((mention("CAPM"), mention("CRF"))),
        Extraction((mention("capital asset pricing model"),)),
    ]
    plain, moved = read(*sections), read(*[sections[i] for i in order])
    assert plain.names == moved.names
    assert plain.forms == moved.forms
    assert sorted(names_of(plain)) == sorted((order[s], surface, key) for s, surface, key in names_of(moved))


def test_an_acronym_of_two_senses_means_that_of_the_nearest_papers() -> None:
    field, form = "conditional random field", "case report form"
    crf = (mention("CRF"),)
    sections = [
        Extraction(crf, definitions=(("CRF", field),)), Extraction(crf, definitions=(("CRF", form),)),
        Extraction(crf), Extraction(crf), Extraction(crf),
    ]  # fmt: skip
    blobs = [encode_extraction(section) for section in sections]
    angles = torch.tensor([0.0, torch.pi / 2, 0.1, torch.pi / 2 - 0.1, torch.pi / 4])
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    table, assertions = read_mentions(blobs, range(5), [1.0] * 5, vectors)
    keys = [key for _, _, key in names_of(table)]
    assert keys == [form_key(field), form_key(form), form_key(field), form_key(form), "crf"]
    assert assertions.senses.known["crf"] == (form, field)
    assert read_mentions(blobs, range(5), [1.0] * 5)[0].names[-1][1] == "crf"  # undecided without vectors
