"""Reading papers: every record is a document or a line of the report, whatever the file holds."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kg.errors import InputError
from kg.ingest import ReadReport, read_all, read_documents
from kg.ingest.headings import bare_heading, markdown_blocks
from kg.ingest.text import text_blocks
from kg.records import clean_text, document_id

DATA = Path(os.environ.get("EVIGRAPH_DATA", "../shared/data"))


@pytest.fixture
def give(tmp_path):
    """Write a file into the test's folder; text as UTF-8."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


def read(path):
    report = ReadReport()
    return list(read_documents(path, report)), report


def one(path):
    documents, report = read(path)
    assert (len(documents), report.rejected) == (1, [])
    return documents[0]


def parts(document):
    return [(part.heading, part.text) for part in document.parts]


def reasons(report, folder):
    return [str(item).replace(f"{folder}{os.sep}", "") for item in report.rejected]


def lines(*records):
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)


# JSON.


def test_record_with_all_fields(give):
    record = {
        "id": " A 1 ", "title": " The\n title ", "year": "1994-05-01", "venue": "QJE", "pmid": 123,
        "authors": ["J. M. Keynes ", {"given": "Joan", "family": "Robinson"}, {"name": "IMF"}],
        "doi": "https://doi.org/10.1/AbC", "arxiv": "arXiv:2101.00010",
        "field": "economics", "abstract": "We ask.", "text": "Lead.\n# Method\n## Data\nRows.\n# Results\nYes.",
        "volume": 7, "open": True, "ratio": 0.5, "keywords": ["a", "b"], "nested": {"x": 1}, "none": None, "Issue": "3",
    }  # fmt: skip
    document = one(give("a.json", lines(record)))
    assert document.doc_id == "A%201"
    assert document.title == "The title"
    assert document.authors == ("J. M. Keynes", "Joan Robinson", "IMF")
    assert (document.year, document.venue, document.doi, document.field) == (1994, "QJE", "10.1/abc", "economics")
    assert parts(document) == [("Abstract", "We ask."), ("", "Lead."), ("Method > Data", "Rows."), ("Results", "Yes.")]
    assert document.details == (
        ("Issue", "3"), ("arxiv", "arXiv:2101.00010"), ("keywords", "a; b"), ("open", "true"), ("pmid", "123"),
        ("ratio", "0.5"), ("volume", "7"),
    )  # fmt: skip
    assert document.origin.endswith("a.json, line 1")


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        (
            [{"heading": "A", "text": "x"}, {"title": "B", "text": "y"}, {"text": "z"}],
            [("A", "x"), ("B", "y"), ("", "z")],
        ),
        (["x", "y", ""], [("", "x"), ("", "y")]),
        ({"A": "x", "B": "y"}, [("A", "x"), ("B", "y")]),
        ([{"heading": "A", "text": None}, {}], [("A", "")]),
    ],
)
def test_forms_of_sections(give, sections, expected):
    assert parts(one(give("a", lines({"title": "T", "sections": sections})))) == expected


@pytest.mark.parametrize(
    ("year", "parsed", "kept"),
    [
        (1994, 1994, None), (1994.0, 1994, None), ("1994", 1994, None), ("2100/1", 2100, None),
        (999, None, "999"), (2101, None, "2101"),
        ("in press", None, "in press"), ("19941", None, "19941"), (True, None, "true"), (1994.5, None, "1994.5"),
        (float("nan"), None, None), (float("inf"), None, "Infinity"), (None, None, None),
    ],
)  # fmt: skip
def test_years(give, year, parsed, kept):
    document = one(give("a", lines({"title": "T", "year": year})))
    assert (document.year, dict(document.details).get("year")) == (parsed, kept)


def test_ids_in_order_of_authority(give):
    fields = {
        "title": "A  Title!",
        "year": 1994,
        "authors": "Doe, J.; Roe, R. ; ",
        "arxiv": "2101.00010",
        "pmid": "PMID: 12",
        "doi": "10.1/X",
    }
    ids = []
    for field in ("", "doi", "pmid", "arxiv"):
        fields.pop(field, None)
        document = one(give("a", lines(fields)))
        assert document.authors == ("Doe, J.", "Roe, R.")
        ids.append(document.doc_id)
    assert ids == [
        "10.1/x",
        "pmid:12",
        "arxiv:2101.00010",
        document_id(title="a title", year=1994, authors=["Doe, J."]),
    ]
    given = [
        one(give("a", lines({"text": "x", **record})))
        for record in ({"_id": 7.0}, {"ID": 8}, {"doc_id": "9"}, {"_id": "b", "id": "a"})
    ]
    assert [document.doc_id for document in given] == ["7", "8", "9", "a"]
    assert given[-1].details == (("_id", "b"),)


def test_untitled_texts_have_ids_of_their_own(give):
    documents, report = read_all(
        [give("a", lines({"text": "One."}, {"text": "Two."}, {"title": "?!", "text": "Three."}))]
    )
    assert len({document.doc_id for document in documents}) == 3
    assert report.rejected == []


BAD = {
    "{oops": "is not JSON",
    '{"title": "cut': "is not JSON: Unterminated string starting at at column 11",
    "[1]": "holds no JSON object",
    '"text"': "holds no JSON object",
    '{"title": 5}': "title is a number; give it as text",
    '{"title": "T", "text": ["x"]}': "text is a list",
    '{"title": "T", "abstract": {"x": 1}}': "abstract is an object",
    '{"title": "T", "authors": 5}': "authors is a number; give a list of names",
    '{"title": "T", "authors": ["A", 5]}': "authors[1] is a number",
    '{"title": "T", "authors": [{"orcid": "1"}]}': "authors[0] is an object without a name",
    '{"title": "T", "sections": 5}': "sections is a number",
    '{"title": "T", "sections": [{"text": "x"}, {"heading": "B", "text": 5}]}': "sections[1].text is a number",
    '{"title": "T", "sections": {"A": []}}': "sections['A'] is a list",
    '{"title": "T", "doi": 10.10}': "doi is a number",
    '{"title": "T", "id": true}': "id is true or false",
    '{"title": "T", "year": [1994]}': "year is a list",
    '{"id": "7", "title": " ", "text": ""}': "record has neither title nor text",
    "{}": "record has neither title nor text",
    '{"title": ' + "[" * 100_000 + "}": "is nested too deeply",
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_line_rejects_that_line_alone(give, tmp_path, bad):
    path = give("a.jsonl", lines('{"title": "First"}', "", bad, '{"title": "Last"}'))
    documents, report = read(path)
    assert [document.title for document in documents] == ["First", "Last"]
    assert len(report.rejected) == 1
    assert report.rejected[0].place == f"{path}, line 3"
    assert BAD[bad] in report.rejected[0].reason
    assert ";" in report.rejected[0].reason


def test_damaged_first_line_does_not_change_the_format(give):
    documents, report = read(give("a", lines('{"title": "cut', {"title": "Second"}, {"title": "Third"})))
    assert [document.title for document in documents] == ["Second", "Third"]
    assert [item.place[-6:] for item in report.rejected] == ["line 1"]
    documents, report = read(give("a", lines("# a comment", {"title": "Second"}, {"title": "Third"})))
    assert [document.title for document in documents] == ["Second", "Third"]


@pytest.mark.parametrize("indent", [None, 2])
def test_arrays_and_single_objects(give, indent):
    records = [{"title": "A", "authors": [{"name": "X"}]}, {"title": "B", "sections": {"H": "t"}}]
    documents, report = read(give("a.json", "\n" + json.dumps(records, indent=indent)))
    assert [document.title for document in documents] == ["A", "B"]
    assert [document.origin.split(", ", 1)[1] for document in documents] == (
        ["line 2, record 1", "line 2, record 2"] if indent is None else ["line 3, record 1", "line 11, record 2"]
    )
    assert [d.title for d in read(give("a", "\n\n".join(json.dumps(r, indent=2) for r in records)))[0]] == ["A", "B"]
    assert one(give("a", json.dumps(records[1], indent=indent))).title == "B"
    assert report.rejected == []


def test_faulty_element_of_an_array_is_left_out_alone(give):
    text = json.dumps([{"title": title, "authors": [{"name": "X"}]} for title in "ABC"], indent=1)
    documents, report = read(give("a", text.replace('"title": "B"', '"title": B')))
    assert [document.title for document in documents] == ["A", "C"]
    assert "line 11, column 12; only this record was left out" in report.rejected[0].reason
    documents, report = read(give("a", '[{"title": "A"}, {"title": B}, {"title": "C"}]'))
    assert [document.title for document in documents] == ["A"]
    assert "the file was read up to here" in report.rejected[0].reason
    documents, report = read(give("a", '[{"title": "A"}]\n[{"title": "B"}]'))
    assert [document.title for document in documents] == ["A"]
    assert report.rejected[0].place.endswith("line 1")
    assert "more follows" in report.rejected[0].reason


def test_empty_array_is_reported(give):
    documents, report = read(give("a.json", "[ ]\n"))
    assert documents == []
    assert "is empty" in report.rejected[0].reason


def test_hostile_values_pass_unharmed(give):
    text = (
        r'{"title": "\\frac{a}{b} {{x}} \\u", "text": "lone \ud800 and مرحبا \u202b \u0000 \\", "n": '
        + "9" * 5000
        + ', "x": NaN}'
    )
    document = one(give("a", text))
    assert document.title == r"\frac{a}{b} {{x}} \u"
    assert document.parts[0].text == "lone \ufffd and مرحبا \u202b \ufffd \\"
    assert document.details == (("n", "9" * 5000),)
    assert one(give("a", '{"title": "T", "text": "raw\ttab"}')).parts[0].text == "raw\ttab"


def test_very_long_line(give):
    text = "word {\\x} " * 1_000_000
    documents, _ = read(give("a", lines({"title": "A", "text": text}, {"title": "B"})))
    assert documents[0].parts[0].text == text.strip()
    assert len(documents) == 2


def test_abstract_is_not_repeated(give):
    record = {"title": "T", "abstract": "Same.", "sections": [{"heading": "Abstract", "text": "Same."}]}
    assert parts(one(give("a", lines(record)))) == [("Abstract", "Same.")]


def test_text_of_nothing_but_headings_is_text(give):
    assert parts(one(give("a", lines({"title": "T", "text": "# of patients: 12"})))) == [("", "# of patients: 12")]


keys = st.sampled_from(["name", "given", "heading", "title", "text", "x"]) | st.text(max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    ["id", "title", "authors", "year", "doi", "pmid", "abstract", "text", "sections", "metadata", "x"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(fields, json_values, max_size=6), min_size=1, max_size=3))
@example([{"metadata": {"title": 5}}])
def test_any_json_gives_a_document_or_a_rejection(give, records):
    documents, report = read(give("a.jsonl", lines(*records)))
    assert len(documents) + len(report.rejected) == len(records)
    for document in documents:
        assert document.doc_id
        assert clean_text(document.title) == document.title
        document.content_hash.encode()


# BEIR.


def test_beir_folder(give, tmp_path):
    metadata = {"year": 1994, "authors": ["X"], "url": "u", "deep": {"y": 1}}
    give("a/corpus.jsonl", lines(
        {"_id": "a 1", "title": "A", "text": "One.", "metadata": metadata},
        {"_id": "2", "title": "", "text": "Two.", "metadata": {}},
        {"_id": "3", "title": "C", "text": 3},
    ))  # fmt: skip
    give("a/queries.jsonl", lines({"_id": "q", "text": "A query?"}))
    give("a/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\t2\t1\n")
    documents, report = read(tmp_path / "a")
    assert [(d.doc_id, d.title, d.year, d.authors, d.details) for d in documents] == [
        ("a%201", "A", 1994, ("X",), (("url", "u"),)),
        ("2", "", None, (), ()),
    ]
    assert reasons(report, tmp_path) == [f"a{os.sep}corpus.jsonl, line 3: text is a number; give it as text"]
    give("b.md", "# A paper beside it")
    assert read(tmp_path)[0][:-1] == documents


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"", "is empty"), (b"\x1f\x8b\x08", "is a gzip archive"), ('{"title": "T"}'.encode("utf-32"), "is UTF-32 text")],
)
def test_beir_folder_with_unusable_corpus(give, tmp_path, content, fault):
    give("corpus.jsonl", content)
    with pytest.raises(InputError, match=rf"holds nothing that can be read; 1 rejected, .*: its corpus\.jsonl {fault}"):
        read(tmp_path)


# Markdown.


def test_markdown_with_front_matter(give):
    document = one(give("a.md", """---
title: "Prices: a study"
author:
  - John Hicks
  - {given: Joan, family: Robinson}
year: 1994
journal: QJE
doi: 10.10/0010
volume: 007
pages: 1:30
checked: No
abstract: null
tags: [a, b]
---
# Prices: A Study

Lead-in.

## Method ##
We ask.

### Data {#data}
Rows.

```python
# not a heading
```

Results
-------
They **hold**.

Table
a | b
--- | ---

# **Appendix**
More.
"""))  # fmt: skip
    assert document.title == "Prices: a study"
    assert document.authors == ("John Hicks", "Joan Robinson")
    assert (document.year, document.venue, document.doi, document.doc_id) == (1994, "QJE", "10.10/0010", "10.10/0010")
    assert document.details == (("checked", "No"), ("pages", "1:30"), ("tags", "a; b"), ("volume", "007"))
    assert parts(document) == [
        ("", "Lead-in."),
        ("Method", "We ask."),
        ("Method > Data", "Rows.\n\n```python\n# not a heading\n```"),
        ("Results", "They hold.\n\nTable\na | b\n--- | ---"),
        ("Appendix", "More."),
    ]


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("# My title\nLead.\n## A\nx", "My title", [("", "Lead."), ("A", "x")]),
        ("My title\n========\n\nA\n---\nx", "My title", [("A", "x")]),
        ("## My title\nLead.\n### A\nx", "My title", [("", "Lead."), ("A", "x")]),
        ("## First\nx\n## Second\ny", "First", [("First", "x"), ("Second", "y")]),
        ("# Introduction\nx\n# Methods\ny", "stem", [("Introduction", "x"), ("Methods", "y")]),
        ("Before.\n# My title\n## A\nx\n# B\ny", "My title", [("", "Before."), ("A", "x"), ("B", "y")]),
        ("---\ntitle: Given\n---\n# Other\nx\n## Deep\ny", "Given", [("Other", "x"), ("Other > Deep", "y")]),
        ("---\n---\n# My title\nx", "My title", [("", "x")]),
        ("---\nProse.\n---\n# A title\nx\n## B\ny", "A title", [("", "---\nProse.\n---"), ("", "x"), ("B", "y")]),
        ("# T\n~~~~\n# x\n~~~\n# y\n~~~~\n# S\nz", "T", [("", "~~~~\n# x\n~~~\n# y\n~~~~"), ("S", "z")]),
        ("# T\n#no heading\n\n    # code\n#\n", "T", [("", "#no heading\n\n    # code\n#")]),
        ("# T\n\na\nb\n---\n- c\n---\n", "T", [("", "a\nb\n---\n- c\n---")]),
        ("\ufeff# T\r\nx\r\n", "T", [("", "x")]),
    ],
)
def test_markdown_headings(give, text, title, expected):
    document = one(give("stem.md", text))
    assert (document.title, parts(document)) == (title, expected)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("---\nyear: 1994\ntitle: Prices: a study\n---\nx", 3, "mapping values are not allowed here; put values"),
        ("---\ntitle: [a\n---\nx", 2, "is no YAML front matter"),
        ("---\ntitle: T\nbell: \x07\n---\nx", 3, "U+0007 is not allowed"),
        ("---\ntitle: T\n\nText.", 1, "never closed"),
        ("---\nx: 1\ntitle: [a, b]\n---\nx", 3, "title is a list; give it as text"),
        ("---\ntitle: T\nauthors:\n- {orcid: 1}\n---\nx", 3, "authors[0] is an object without a name"),
        ("---\na: !!timestamp x\n---\nx", 1, "a tag does not fit its value"),
        ("---\na: &a [*a]\nauthors: *a\n---\nx", 3, "authors[0] is a list"),
        ("---\na: !!python/object/apply:os.getcwd []\n---\nx", 2, "could not determine a constructor"),
        ("---\nyear: 1994\n---\n", 1, "neither title nor text"),
    ],
)
def test_bad_front_matter_names_the_line(give, text, line, reason):
    path = give("a.md", text)
    documents, report = read(path)
    assert documents == []
    assert [item.place for item in report.rejected] == [f"{path}, line {line}"]
    assert reason in report.rejected[0].reason


@given(st.text("#=-` \nab~", max_size=60))
def test_markdown_blocks_keep_all_text(text):
    blocks = markdown_blocks(text)
    written = "".join(ch for ch in text if ch in "ab")
    assert "".join(ch for block in blocks for ch in block.heading + block.text if ch in "ab") == written


# Plain text.


def test_plain_text(give):
    document = one(give("a.txt", """A study of prices

by J. M. Keynes

Abstract

We ask.
Introduction

1 Introduction

Not a heading: 2 Data
1. First we count the rows of all the tables that there are.

2 Data and sources

Rows.

2.1 Sample

9 of them.

12 Angry men

RESULTS OF TESTS

USA

They hold.

3. Discussion

So.

\fReferences

1 Smith J A theory of prices

KEYNES J M

4 Roe R Other prices

Appendix A

More.
"""))  # fmt: skip
    assert document.title == "A study of prices"
    assert parts(document) == [
        ("", "by J. M. Keynes"),
        ("Abstract", "We ask.\nIntroduction"),
        (
            "1 Introduction",
            "Not a heading: 2 Data\n1. First we count the rows of all the tables that there are.",
        ),
        ("2 Data and sources", "Rows."),
        ("2 Data and sources > 2.1 Sample", "9 of them.\n\n12 Angry men"),
        ("RESULTS OF TESTS", "USA\n\nThey hold."),
        ("3. Discussion", "So."),
        ("References", "1 Smith J A theory of prices\n\nKEYNES J M\n\n4 Roe R Other prices"),
        ("Appendix A", "More."),
    ]


def test_entries_of_a_reference_list_are_no_headings():
    text = "5 Ends\n\nx\n\nReferences\n\n6 Smith J A theory\n\nKEYNES GENERAL\n\nAppendix A\n\nMore"
    blocks = text_blocks(text.split("\n"))
    assert [(block.heading, block.text) for block in blocks[1:]] == [
        ("References", "6 Smith J A theory\n\nKEYNES GENERAL"),
        ("Appendix A", "More"),
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("A title\n\nText.", "A title"),
        ("\n\nOnly a title\n", "Only a title"),
        ("Two lines\nof text.\n\nMore.", "stem"),
        ("x" * 201 + "\n\nText.", "stem"),
        ("Abstract\n\nText.", "stem"),
        ("1 Introduction\n\nText.", "stem"),
        ("{\\it A LaTeX} title \\% {{x}}\n\nText.", "{\\it A LaTeX} title \\% {{x}}"),
        ("[1] A note\n\nText.", "[1] A note"),
        ("עברית\n\nטקסט.", "עברית"),
    ],
)
def test_title_of_plain_text(give, text, title):
    assert one(give("stem.txt", text)).title == title


def test_files_titled_by_their_stem_do_not_collide(give, tmp_path):
    give("a/notes.txt", "One line\nand more of it.")
    give("b/notes.txt", "Another line\nand more of it.")
    give("c/notes.txt", "One line\nand more of it.")
    documents, report = read_all([tmp_path])
    assert [document.title for document in documents] == ["notes", "notes"]
    assert documents[0].doc_id != documents[1].doc_id
    assert len(report.duplicates) == 1


@given(st.text("AB1. \n", max_size=60))
def test_text_blocks_keep_all_text(text):
    blocks = text_blocks(text.split("\n"))
    assert "".join("".join((block.heading + block.text).split()) for block in blocks) == "".join(text.split())


@pytest.mark.parametrize(
    ("heading", "bare"),
    [
        ("2. Methods:", "methods"),
        ("IV Data", "data"),
        ("3.1 A b", "a b"),
        ("A) X", "x"),
        ("Civil law", "civil law"),
        ("I", "i"),
    ],
)
def test_bare_heading(heading, bare):
    assert bare_heading(heading) == bare


# Recognition and encodings.


def test_formats_are_recognised_by_content(give):
    assert one(give("a.txt", '{"title": "J"}')).title == "J"
    assert one(give("a.jsonl", "# M\n\nx")).title == "M"
    assert one(give("a.md", "Plain\n\nNUMBER ONE HERE\n\nx")).parts[0].heading == "NUMBER ONE HERE"
    assert one(give("a", "A paper\n\nIt counts\n# of rows\n\nMore.")).title == "A paper"


@pytest.mark.parametrize("content", ['{"title": "Müller 量"}\n{"title": "B"}', "# Müller 量\n\nx", "Müller 量\n\nx"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(give, content, encoding):
    documents, report = read(give("a", content.encode(encoding)))
    assert documents[0].title == "Müller 量"
    assert report.rejected == []


@pytest.mark.parametrize("content", ["# Prices\n\nM\xfcller", "Prices by\nM\xfcller"])
def test_other_encoding_is_named_with_its_byte(give, content):
    raw = content.encode("latin-1")
    path = give("a b.md", raw)
    documents, report = read(path)
    assert documents == []
    (rejected,) = report.rejected
    assert rejected.place == str(path)
    assert f"is not UTF-8: byte 0xFC at offset {raw.index(0xFC)};" in rejected.reason
    assert "iconv -f WINDOWS-1252 -t UTF-8 'a b.md'" in rejected.reason


def test_other_encoding_in_one_line_rejects_that_line(give):
    raw = '{"title": "A"}\n{"title": "M\xfcller"}\n{"title": oops}\n{"title": "D"}\n'.encode("latin-1")
    documents, report = read(give("a.jsonl", raw))
    assert [document.title for document in documents] == ["A", "D"]
    assert [item.place[-6:] for item in report.rejected] == ["line 2", "line 3"]
    assert f"byte 0xFC at offset {raw.index(0xFC)};" in report.rejected[0].reason
    assert "is not JSON" in report.rejected[1].reason
    assert "UTF-8" not in report.rejected[1].reason


def test_damaged_utf16(give):
    _, report = read(give("a", "# Title of it".encode("utf-16")[:-1]))
    assert "damaged at byte offset 26" in report.rejected[0].reason


@pytest.mark.parametrize(
    ("content", "kind", "remedy"),
    [
        (b"%PDF-1.7\n\xe2\xe3", "a PDF", "pdftotext"),
        (b"PK\x03\x04...word/document.xml", "a DOCX", "pandoc"),
        (b"PK\x03\x04...", "a ZIP", "unzip"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image", "text of the paper"),
        (b"\xff\xd8\xff\xe0", "a JPEG image", "text of the paper"),
        (b"\x1f\x8b\x08", "a gzip archive", "gunzip"),
        (b"abc\x00\x01\x02def", "NUL bytes", "text of the paper"),
        (b"x" * 70_000 + b"\x00", "NUL byte at offset 70,000", "text of the paper"),
        ("Plain words".encode("utf-16-le"), "UTF-16LE without a byte order mark", "iconv -f UTF-16LE"),
        ("Plain words".encode("utf-32"), "UTF-32", "iconv -f UTF-32"),
        (b"{\\rtf1 x}", "an RTF", "plain text"),
        (b"\n<!DOCTYPE html><html>", "an HTML page", "pandoc"),
        (b"<?xml version='1.0'?>", "an XML file", "JSON lines"),
        (b"TY  - JOUR\nTI  - x", "a RIS file", "JSON lines"),
        (b"@article{key,\n title={x}}", "a BibTeX file", "JSON lines"),
        (b"id,title,abstract\n1,a,b", "a table", "JSON lines"),
        (b"", "is empty", "remove it"),
        (b"\xef\xbb\xbf \n", "is empty", "remove it"),
    ],
)
def test_what_is_no_paper_is_named(give, content, kind, remedy):
    path = give("a.txt", content)
    documents, report = read(path)
    assert documents == []
    assert [item.place for item in report.rejected] == [str(path)]
    assert kind in report.rejected[0].reason
    assert remedy in report.rejected[0].reason


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_file_gives_a_document_or_a_rejection(give, content):
    documents, report = read(give("a", content))
    assert len(documents) + len(report.rejected) >= 1


# Folders and many paths.


def test_folder_is_read_in_order(give, tmp_path):
    for name in (
        "b.md",
        "a/z.md",
        "a/README.md",
        "License.txt",
        "CHANGELOG",
        "readme-first.txt",
        ".hidden.md",
        ".git/x.md",
    ):
        give(name, f"# Title of {name}\n\nx")
    give("Readmission.md", "# Readmission")
    give("c.pdf", b"%PDF-1.4")
    documents, report = read(tmp_path)
    assert [document.title for document in documents] == ["Readmission", "Title of a/z.md", "Title of b.md"]
    assert [Path(place).name for place in report.skipped] == [
        "CHANGELOG",
        "License.txt",
        "README.md",
        "readme-first.txt",
    ]
    assert reasons(report, tmp_path) == ["c.pdf: is a PDF; convert it with: pdftotext FILE.pdf FILE.txt"]
    assert report.summary().startswith("3 documents read, 1 rejected, 4 skipped; first rejected: ")
    assert one(tmp_path / "a/README.md").title == "Title of a/README.md"


def test_link_loops_and_dead_links(give, tmp_path):
    give("a/x.md", "# X")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/self").symlink_to("self")
    (tmp_path / "dead.md").symlink_to("nowhere")
    documents, report = read(tmp_path)
    assert [document.title for document in documents] == ["X"]
    assert [Path(item.place).name for item in report.rejected] == ["self", "dead.md"]
    assert "is a link to nothing" in report.rejected[1].reason


def test_pipe_in_a_folder_does_not_block(give, tmp_path):
    give("x.md", "# X")
    os.mkfifo(tmp_path / "pipe")
    _, report = read(tmp_path)
    assert "is no regular file" in report.rejected[0].reason
    with pytest.raises(InputError, match="neither a file nor a folder"):
        read_documents(tmp_path / "pipe", report)


def test_unreadable_file_in_a_folder_is_rejected_alone(give, tmp_path, monkeypatch):
    give("a.md", "# A")
    locked = give("b.md", "# B")
    opened = Path.open

    def refuse(path, *args, **kwargs):
        if path == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    documents, report = read(tmp_path)
    assert [document.title for document in documents] == ["A"]
    assert reasons(report, tmp_path) == ["b.md: cannot be read (Permission denied); check its permissions"]
    with pytest.raises(InputError, match=r"b\.md cannot be opened \(Permission denied\)"):
        read_documents(locked, report)


@pytest.mark.parametrize("name", ["missing", "nul\x00byte", "x" * 5000])
def test_missing_path(tmp_path, name):
    with pytest.raises(InputError, match=r"does not exist|cannot be opened"):
        read_documents(tmp_path / name, ReadReport())
    with pytest.raises(InputError):
        read_all([tmp_path / name])


def test_folder_without_papers(give, tmp_path):
    (tmp_path / "empty").mkdir()
    give("only/README.md", "# Read me")
    give("pdfs/a.pdf", b"%PDF-")
    for name, reason in (
        ("empty", "give one that holds papers"),
        ("only", "give one that holds papers"),
        ("pdfs", r"1 rejected, the first is .*a\.pdf: is a PDF"),
    ):
        with pytest.raises(InputError, match=f"{name} holds nothing that can be read; {reason}"):
            read(tmp_path / name)


def test_same_document_again_is_a_duplicate(give, tmp_path):
    first = give("a.jsonl", lines({"id": "1", "title": "A"}, {"id": "2", "title": "B"}))
    again = give("b.jsonl", lines({"id": "1", "title": "A"}))
    documents, report = read_all([first, str(again), first])
    assert [document.doc_id for document in documents] == ["1", "2"]
    assert [(item.doc_id, item.place) for item in report.duplicates] == [
        ("1", f"{again}, line 1"),
        ("1", f"{first}, line 1"),
        ("2", f"{first}, line 2"),
    ]
    assert report.duplicates[0].first == f"{first}, line 1"
    assert report.summary() == "2 documents read, 3 given twice"


def test_different_document_with_a_taken_id_is_rejected(give):
    first = give("a.jsonl", lines({"id": "1", "title": "A"}))
    other = give("b.jsonl", lines({"id": "1", "title": "B"}, {"id": "2", "title": "C"}))
    documents, report = read_all([first, other])
    assert [document.title for document in documents] == ["A", "C"]
    (rejected,) = report.rejected
    assert rejected.place == f"{other}, line 1"
    assert f"the id 1 of a different document in {first}, line 1; give one of them an id" in rejected.reason
    assert [document.title for document in read_all([other, first])[0]] == ["B", "C"]
    assert report.documents == 2


def test_content_does_not_depend_on_where_a_file_lies(give):
    one_place, other_place = give("a/x.md", "# T\n\nx"), give("b/y.md", "# T\n\nx")
    assert one(one_place).content_hash == one(other_place).content_hash
    assert one(one_place).origin == str(one_place)


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "scifact/corpus.jsonl").exists(), reason="needs the SciFact abstracts (EVIGRAPH_DATA)")
def test_real_beir_folder():
    documents, report = read_all([DATA / "scifact"])
    assert len(documents) == report.documents == 5183
    assert (report.rejected, report.duplicates) == ([], [])
    assert documents[0].doc_id == "4983"
    assert all(document.title and document.parts for document in documents)


@pytest.mark.parametrize("year", ["1" + "0" * 400, "1e400", "-3", "true", "1994.5"])
def test_a_year_that_is_none_costs_no_record(year: str, tmp_path: Path) -> None:
    path = tmp_path / "papers.jsonl"
    one = f'{{"id": "a", "title": "T", "text": "x", "year": {year}}}'
    path.write_text(one + '\n{"id": "b", "title": "U", "text": "y"}\n')
    documents, _ = read_all([path])
    assert [(d.doc_id, d.year) for d in documents] == [("a", None), ("b", None)]


def test_a_paper_on_readme_files_is_a_paper(tmp_path: Path) -> None:
    for name in ("README.md", "README.de.md", "LICENSE-MIT", "README_effects_of_tax.md"):
        (tmp_path / name).write_text(f"# {name}\n\nText on taxes.\n")
    documents, report = read_all([tmp_path])
    assert [d.title for d in documents] == ["README_effects_of_tax.md"]
    assert len(report.skipped) == 3


def test_files_beside_a_corpus_are_named(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "1", "title": "T", "text": "x"}\n')
    (tmp_path / "extra.jsonl").write_text('{"_id": "2", "title": "U", "text": "y"}\n')
    documents, report = read_all([tmp_path])
    assert len(documents) == 1
    assert [Path(place).name for place in report.skipped] == ["extra.jsonl"]
