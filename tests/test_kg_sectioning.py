"""Sections and sentences: nothing lost, bounds kept, references dropped, full stops understood."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from kg.records import Document, Part
from kg.sectioning import SectioningConfig, count_words, sentence_spans, split_sections, split_spans

DATA = Path(os.environ.get("EVIGRAPH_DATA", "../shared/data"))

# Fragments that meet every rule: stops, abbreviations, numbers, quotes, scripts without spaces, blank lines, marks.
FRAGMENTS = (
    "The model fits. We|e.g. |i.e., |et al. |Fig. 3|J. M. Keynes|3.14|0. 05|No. 5| p53 |?!|...|. . .|。|！|？」|；|;"
    "|量子|\n\n|\n|\n \t\n| |  |\t|.|!|)|\"|'|[1]|a|B|7|é|e\u0301|ภาษาไทย|مرحبا؟ |नमस्ते। |\u2028|\x1c|\u3000|😀|# x"
).split("|")
texts = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))


def squeeze(text):
    return "".join(text.split())


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


def document(*parts, title="A title"):
    return Document("d", title, tuple(Part(*part) for part in parts))


# Sentences.


@given(texts)
@example(". . . a.")
@example('He said "Yes." Then')
def test_spans_cover_all_but_white_space_in_order(text):
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end]
        at = end
    assert squeeze("".join(text[start:end] for start, end in spans)) == squeeze(text)


@given(st.text(max_size=30), st.text(max_size=30))
def test_blank_line_always_ends_a_sentence(left, right):
    assert sentences(f"{left}\n \n{right}") == sentences(left) + sentences(right)


@given(
    st.text("ABCXYZÄЖ", min_size=1, max_size=1),
    st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True),
    st.decimals(0, 999, places=2),
    st.sampled_from([" ", "  ", "\n"]),
)
def test_no_break_after_an_initial_or_within_a_number(initial, surname, number, space):
    parts = sentences(f"We follow {initial}.{space}{surname} here. It is {number} and 0.{space}5 high. 量{number}。")
    assert any(f"{initial}.{space}{surname}" in part for part in parts)
    assert sum(str(number) in part for part in parts) == 2
    assert any(f"0.{space}5" in part for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "Prices rose.",
        "It holds (see Fig. 3 and Eq. (4)).| We use it, e.g. Monday, i.e. J. M. Keynes vs. Dr. No.",
        "Smith et al. (2010) and Smith et al. Nature 3 agree.| So do Jones et al.| The rest differ.",
        "The effect was 0.5 (p < .05).| In 1994.| Then 3 of 4 left.",
        "Really?!| Yes!| He said “no.”| She left (quickly).| Done",
        "Rats, mice, etc.| The others died.| In the U.S. Congress and the U.S.| The law passed.",
        "1. The first point.| 2.) The second.| See No. 5 and no. 6, but say no.| We do.",
        "It was shown.[1, 2] | However, not here.",
        "Cells grew.| p53 was lost.| mRNA rose.| gamma-Tocopherol fell. and so on.",
        "量子计算很重要。|它很快！|真的吗？|是的。",
        "他说：“好。”|然后走了。",
        "यह सच है।| वह गया।",
        "هل هذا صحيح؟| نعم",
        "Contents . . . . . .| Data begin.|\n\n|Chapter e.g.|\n\n|one",
        "A line that wraps\nbefore its end.| Next e.g.\nthis one.",
    ],
)  # fmt: skip
def test_sentences(text):
    """Expected borders are marked by bars, which white space may follow or precede."""
    assert sentences(text.replace("|", "")) == [piece.strip() for piece in text.split("|") if piece.strip()]


def test_long_runs_take_linear_time():
    for run in ("." * 200_000, ". " * 100_000, '."' * 100_000, "\n " * 100_000, "1. " * 60_000, "x" * 200_000):
        begin = time.perf_counter()
        sentence_spans(run + "end")
        assert time.perf_counter() - begin < 3


# Sections.


@settings(max_examples=200)
@given(texts, st.integers(1, 12), st.integers(0, 12))
@example("0\u30000", 2, 0)
def test_no_text_is_lost_and_no_section_is_too_long(text, longest, shortest):
    spans = split_spans(text, SectioningConfig(longest, min(shortest, longest)))
    assert squeeze("".join(text[start:end] for start, end in spans)) == squeeze(text)
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""
        assert count_words(text[start:end]) <= longest


@given(
    st.lists(st.tuples(st.sampled_from(["", "Data", "References", "Data > X"]), texts), max_size=4), st.text(max_size=5)
)
def test_sections_keep_the_text_of_all_parts_but_references(parts, title):
    sections = split_sections(document(*parts, title=title), SectioningConfig(8, 2))
    kept = "".join(text for heading, text in parts if heading != "References")
    if kept.strip():
        assert squeeze("".join(section.text for section in sections)) == squeeze(kept)
        assert [section.lead for section in sections] == [title] + [""] * (len(sections) - 1)
    else:
        assert [(s.text, s.lead) for s in sections] == ([(title, "")] if title.strip() else [])
    assert [section.section_id for section in sections] == [f"d#{n}" for n in range(len(sections))]


def test_sections_follow_headings():
    sections = split_sections(
        document(("", "Lead-in."), ("Method", ""), ("Method > Data", " We ask. \n"), ("Empty", " \n"))
    )
    assert [(s.section_id, s.heading, s.text, s.lead) for s in sections] == [
        ("d#0", "", "Lead-in.", "A title"),
        ("d#1", "Method > Data", "We ask.", ""),
    ]


def test_title_alone_is_a_section_and_nothing_is_none():
    (section,) = split_sections(document(("Results", " ")))
    assert (section.section_id, section.heading, section.text, section.lead) == ("d#0", "", "A title", "")
    assert split_sections(Document("d", "")) == []


@pytest.mark.parametrize(
    "heading",
    [
        "References", "REFERENCES:", "7 References", "7. references", "VII. References", "References and Notes",
        "Reference list", "Bibliography", "Works Cited", "Literature cited", "Literatur", "Literaturverzeichnis",
        "Références", "Re\u0301fe\u0301rences", "Referencias", "Bibliografía", "Список литературы", "参考文献",
        "六、参考文献", "**References**", "References > Books", "Appendix > References", "ＲＥＦＥＲＥＮＣＥＳ",
    ],
)  # fmt: skip
def test_reference_lists_are_dropped(heading):
    parts = (("Results", "They hold."), (heading, "[1] Smith, J. (1990)."), ("Appendix", "More."))
    assert [s.heading for s in split_sections(document(*parts))] == ["Results", "Appendix"]


@pytest.mark.parametrize(
    "heading",
    ["Frame of references", "Reference groups", "Literature review", "Literature", "Preferences", "References to law"],
)
def test_headings_that_only_sound_like_references_stay(heading):
    assert [s.heading for s in split_sections(document((heading, "Text.")))] == [heading]


def words(number, stop="."):
    return " ".join(["word"] * number) + stop


def test_parts_split_at_paragraphs_into_even_pieces():
    paragraphs = [words(100) for _ in range(10)]
    sections = split_sections(document(("H", "\n\n".join(paragraphs))), SectioningConfig(700))
    assert [s.text for s in sections] == ["\n\n".join(paragraphs[:5]), "\n\n".join(paragraphs[5:])]
    assert [s.heading for s in sections] == ["H", "H"]


def test_split_uses_as_few_pieces_as_will_do():
    text = "\n\n".join(words(n) for n in (400, 400, 50))
    assert [count_words(s.text) for s in split_sections(document(("", text)))] == [400, 450]


def test_long_paragraph_splits_at_sentence_ends():
    text = " ".join(f"Word{'' if n % 2 else ' J. Word'} {words(18)}" for n in range(60))
    sections = split_sections(document(("", text)), SectioningConfig(320))
    assert len(sections) == 4
    assert all(s.text.endswith("word.") and s.text.startswith("Word") for s in sections)


def test_short_rest_is_evened_out_at_sentence_ends():
    long = " ".join(["Six words are in this one."] * 115)
    text = f"{long}\n\nA rest of few words.\n\n{long}"
    sizes = [count_words(s.text) for s in split_sections(document(("", text)), SectioningConfig(690, 40))]
    assert len(sizes) == 3
    assert min(sizes) > 400
    assert 5 in [count_words(s.text) for s in split_sections(document(("", text)), SectioningConfig(690, 0))]


def test_long_sentence_splits_at_white_space():
    sizes = [count_words(s.text) for s in split_sections(document(("", words(1500, ""))), SectioningConfig(700))]
    assert sizes == [500, 500, 500]


def test_chinese_is_counted_and_split_by_characters():
    assert count_words("量子计算 is fast") == 4
    clause = "量子计算" * 10
    sections = split_sections(document(("", f"{clause}；{clause}；{clause}；{clause}")), SectioningConfig(50, 10))
    assert [s.text for s in sections] == [f"{clause}；{clause}；", f"{clause}；{clause}"]
    sizes = [count_words(s.text) for s in split_sections(document(("", "量" * 300)), SectioningConfig(60))]
    assert sizes == [50, 50, 50]


def test_marks_stay_with_their_letters():
    for section in split_sections(document(("", "กำ" * 200 + "ก่" * 200)), SectioningConfig(7, 0)):
        assert section.text[0] == "ก"


def test_endless_token_is_split():
    sections = split_sections(document(("", "x" * 100_000)), SectioningConfig(700))
    assert len(sections) == 4
    assert sum(len(s.text) for s in sections) == 100_000


def test_configuration_is_checked():
    with pytest.raises(InputError, match="max_words 10 and min_words 20"):
        SectioningConfig(10, 20)


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "scifact/corpus.jsonl").exists(), reason="needs the SciFact abstracts (EVIGRAPH_DATA)")
def test_real_abstracts_give_plausible_sentences():
    from kg.ingest import ReadReport, read_documents

    documents = list(read_documents(DATA / "scifact", ReadReport()))[:1000]
    sections = [section for document in documents for section in split_sections(document)]
    begin = time.perf_counter()
    found = [sentence for section in sections for sentence in sentences(section.text)]
    assert len(sections) / (time.perf_counter() - begin) > 1000
    assert 20 < sum(map(count_words, found)) / len(found) < 27
    assert sum(len(sentence) < 20 for sentence in found) / len(found) < 0.01
