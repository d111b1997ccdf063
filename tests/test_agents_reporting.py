"""Reports: the data model's promises, the report directory, and Markdown as a CommonMark parser reads it."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agents.reporting.bibliography.names import format_authors
from agents.reporting.markdown import render_markdown
from agents.reporting.model import (
    BulletList,
    Citation,
    Note,
    Paragraph,
    Passage,
    QuoteBlock,
    Reference,
    Report,
    ReportSection,
    Sentence,
    Table,
    is_blank,
    number_references,
    walk,
)
from agents.reporting.store import read_report, write_atomically, write_report
from kg.errors import InputError
from kg.records import Document, Section, clean_text

LEMONS = Document(
    "10.2307/1879431",
    'The Market for "Lemons": Quality Uncertainty and the Market Mechanism',
    authors=("Akerlof, George A.",),
    year=1970,
    venue="The Quarterly Journal of Economics",
    doi="10.2307/1879431",
    details=(("issue", "3"), ("pages", "488-500"), ("volume", "84")),
)
SIGNALS = Document("spence#73", "Job Market Signaling", authors=("Michael Spence",), year=1973)
DOCUMENTS = {d.doc_id: d for d in (LEMONS, SIGNALS)}
TEXT = "Buyers cannot tell good cars from bad. Hence bad cars drive out good ones."


def cite(doc_id: str = LEMONS.doc_id, quote: str = "bad cars drive out good ones", text: str = TEXT) -> Citation:
    section = Section(f"{doc_id}#0", doc_id, "Introduction", text)
    start = section.text.index(quote)
    return Citation(section.section_id, section.sha256, quote, start, start + len(quote))


def make_report(sections: Sequence[ReportSection], documents: dict[str, Document] = DOCUMENTS, **fields) -> Report:
    fields = {"title": "Markets", "question": "Why do markets fail?", "language": "en"} | fields
    return Report(sections=tuple(sections), references=number_references(sections, documents), **fields)


def full_report() -> Report:
    claim = Sentence(
        "s1", "claim", "Bad quality drives out good.", (cite(SIGNALS.doc_id), cite()), "supported", 0.9, "x"
    )
    doubtful = Sentence("s2", "claim", "Signals help.", (cite(),), "partial", 0.5, "x")
    quote = Sentence("s3", "claim", cite().quote, (cite(),), "supported", 1.0, "verbatim")
    plan = Sentence("s4", "proposal", "Measure both.")
    nested = ReportSection("Plan", (BulletList((Paragraph((plan,)), Paragraph((doubtful,)))),))
    table = Table(("Study", "n"), (("A|B", "12"), ("C", "")), "Sizes")
    section = ReportSection(
        "Findings",
        (Paragraph((claim,)), QuoteBlock(quote, "Akerlof (1970)"), Note("Found by its title."), table),
        (nested,),
    )
    passage = Passage(cite().section_id, "Introduction", TEXT, 0.25, "market -> lemons", 3)
    return make_report(
        [section], notes=("One part was left out.",), passages=(passage,), cautions=("Little bears on it.",)
    )


# --- the data model


def test_references_count_from_one_in_order_of_first_citation() -> None:
    report = full_report()
    assert [(r.number, r.doc_id) for r in report.references] == [(1, "spence#73"), (2, "10.2307/1879431")]
    assert report.references[1] == Reference(2, *dataclasses.astuple(LEMONS)[:2], LEMONS.authors, 1970,
                                             LEMONS.venue, LEMONS.doi, LEMONS.details)  # fmt: skip


def test_walk_gives_every_sentence_in_reading_order_with_its_headings() -> None:
    seen = [(path, s.sentence_id) for path, s in walk(full_report().sections)]
    findings, plan = ("Findings",), ("Findings", "Plan")
    assert seen == [(findings, "s1"), (findings, "s3"), (plan, "s4"), (plan, "s2")]


def test_a_cited_paper_that_the_graph_lacks_is_refused() -> None:
    section = ReportSection("A", (Paragraph((Sentence("s", "claim", "t", (cite("ghost"),)),)),))
    with pytest.raises(InputError, match="cites ghost, which is not in the graph"):
        number_references([section], DOCUMENTS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: {"references": r.references[:1]}, "without a reference"),
        (lambda r: {"references": r.references[::-1]}, "order of first citation"),
        (lambda r: {"references": (*r.references, Reference(3, "other", "Other"))}, "other is cited nowhere"),
        (lambda r: {"references": tuple(dataclasses.replace(x, number=x.number - 1) for x in r.references)}, "1..n"),
        (lambda r: {"sections": r.sections * 2}, "two sentences have the id s1, one under 'Findings'"),
        (lambda r: {"passages": r.passages * 2}, "section id"),
        (lambda r: {"passages": (dataclasses.replace(r.passages[0], text=TEXT + " "),)}, "s1 cites another text"),
        (lambda r: {"title": " \u200b"}, "no title"),
    ],
)
def test_a_report_that_does_not_hold_together_cannot_be_built(change, message: str) -> None:
    report = full_report()
    with pytest.raises(InputError, match=message):
        dataclasses.replace(report, **change(report))


def test_a_quote_must_stand_in_its_passage() -> None:
    wrong = dataclasses.replace(cite(), start=0, end=len(cite().quote))
    section = ReportSection("A", (Paragraph((Sentence("s", "claim", "t", (wrong,)),)),))
    with pytest.raises(InputError, match="the quote of sentence s is not in"):
        make_report([section], passages=(Passage(wrong.section_id, "", TEXT),))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: dataclasses.replace(cite(), section_id="nowhere"), "'nowhere' is not a section id"),
        (lambda: dataclasses.replace(cite(), sha256="abc"), "64 hex digits"),
        (lambda: dataclasses.replace(cite(), end=9), "28 characters"),
        (lambda: dataclasses.replace(cite(), quote="\n \n", start=0, end=3), "passage as it stands"),
        (lambda: Sentence("s", "guess", "t"), "use claim, proposal, connective"),  # type: ignore[arg-type]
        (lambda: Sentence("s", "claim", "t", verdict="maybe"), "use supported, partial"),  # type: ignore[arg-type]
        (lambda: Sentence("s", "claim", "t", confidence=float("nan")), "in \\[0, 1\\]"),
        (lambda: Sentence("s", "claim", "\u200b\n"), "leave empty sentences out"),
        (lambda: ReportSection(" "), "no heading"),
        (lambda: Table((), ()), "no column"),
        (lambda: Table(("a", "b"), (("1", "2"), ("3",))), "2 columns, but a row with 1 cells"),
        (lambda: Passage("a#0", "", "t", float("inf")), "finite"),
        (lambda: Passage("a#0", "", "t", rank=0), "the first has rank 1"),
    ],
)
def test_records_refuse_what_no_report_can_use(build, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize(
    ("score", "found", "rank", "how"),
    [
        (0.0163934, "By its wording.", 2, "Rank 2, score 0.0164. By its wording."),
        (0.5, "", None, "Score 0.5."),
        (None, "", 1, "Rank 1."),
        (None, "By hand.", None, "By hand."),
        (None, "", None, ""),
    ],
)
def test_how_a_passage_was_found_is_said_in_one_line(
    score: float | None, found: str, rank: int | None, how: str
) -> None:
    assert Passage("a#0", "", "t", score, found, rank).how == how


def test_texts_are_cleaned_on_entry() -> None:
    assert Sentence("s", "claim", "cafe\u0301 \ud800\r\n").text == "café \ufffd\n"
    assert Table(("a\x00",), (("e\u0301",),)).rows == (("é",),)


# --- the report directory


def test_reading_back_gives_an_equal_report_and_the_same_bytes(tmp_path: Path) -> None:
    report = full_report()
    write_report(report, tmp_path / "new" / "a")
    assert read_report(tmp_path / "new" / "a") == read_report(tmp_path / "new" / "a" / "report.json") == report
    write_report(read_report(tmp_path / "new" / "a"), tmp_path / "b")
    for name in ("report.json", "claims.jsonl"):
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "new" / "a" / name).read_bytes()
    assert sorted(p.name for p in (tmp_path / "b").iterdir()) == ["claims.jsonl", "report.json"]


def test_claims_have_the_documented_fields_and_texts_stand_once(tmp_path: Path) -> None:
    write_report(full_report(), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "claims.jsonl").read_text("utf-8").splitlines()]
    assert lines[0] == {
        "sentence_id": "s1",
        "kind": "claim",
        "section_path": ["Findings"],
        "text": "Bad quality drives out good.",
        "citations": [
            {"section_id": section_id, "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
             "quote": "bad cars drive out good ones", "start": 45, "end": 73}
            for section_id in ("spence#73#0", "10.2307/1879431#0")
        ],
        "verdict": "supported",
        "confidence": 0.9,
        "checker": "x",
    }  # fmt: skip
    assert [(line["sentence_id"], line["section_path"]) for line in lines[1:]] == [
        ("s3", ["Findings"]), ("s4", ["Findings", "Plan"]), ("s2", ["Findings", "Plan"])
    ]  # fmt: skip
    stored = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert {"title", "question", "language", "sections", "references", "notes"} <= stored.keys()
    assert "Measure both." not in (tmp_path / "report.json").read_text("utf-8")
    assert stored["sections"][0]["blocks"][0] == {"type": "paragraph", "sentences": ["s1"]}


def test_a_report_that_says_nothing_is_stored_too(tmp_path: Path) -> None:
    report = make_report([], notes=("No evidence was found.",))
    write_report(report, tmp_path)
    assert read_report(tmp_path) == report


def test_each_sentence_is_one_line_whatever_a_tool_takes_for_a_line_end(tmp_path: Path) -> None:
    sentence = Sentence("s", "connective", "a\x85b\u2028c\u2029d\x0be\nf", confidence=1)
    report = make_report([ReportSection("A", (Paragraph((sentence,)),))])
    write_report(report, tmp_path)
    assert len((tmp_path / "claims.jsonl").read_text("utf-8").splitlines()) == 1
    assert read_report(tmp_path) == report


def test_numbers_of_any_kind_are_stored_as_one(tmp_path: Path) -> None:
    report = full_report()
    whole = dataclasses.replace(report, passages=(dataclasses.replace(report.passages[0], score=np.float32(2)),))
    write_report(whole, tmp_path)
    stored = (tmp_path / "report.json").read_bytes()
    write_report(read_report(tmp_path), tmp_path)
    assert (tmp_path / "report.json").read_bytes() == stored
    assert read_report(tmp_path).passages[0].score == 2.0


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("claims.jsonl", '"kind": "proposal"', '"kind": "guess"', "claims.jsonl line 3 is damaged \\(kind"),
        ("claims.jsonl", '"confidence": 1.0', '"confidence": 7', "claims.jsonl line 2 cannot be used: .* confidence 7"),
        ("claims.jsonl", '"start": 45', '"start": "45"', "claims.jsonl line 1 is damaged \\(citations.0.start"),
        ("claims.jsonl", '"start": 45', '"start": 44', "claims.jsonl line 1 cannot be used: the citation of spence"),
        ("claims.jsonl", "Measure both.", "Measure none.", "not the one that .*report.json was written with"),
        ("claims.jsonl", '"sentence_id": "s3"', '"sentence_id": "s1"', "line 2 repeats the sentence id s1"),
        ("claims.jsonl", '"text": "Signals', '"tex', "claims.jsonl line 4 is damaged"),
        ("report.json", '"title": "Markets",', "", "report.json is damaged \\(title: Field required"),
        ("report.json", '"format": 2', '"format": 3', "report.json has format 3, this version reads 1 to 2"),
        ("report.json", '"format": 2', '"form": 1', "report.json is damaged \\(format"),
        ("report.json", '"type": "note"', '"type": "film"', "report.json is damaged \\(sections.0.blocks.2"),
        ("report.json", '"number": 2', '"number": 3', "report.json cannot be used: references are not numbered"),
        ("report.json", '"s4"', '"s9"', "claims.jsonl lacks sentence s9 of .*report.json"),
        ("report.json", '"Plan"', '"Plot"', "claims.jsonl line 3 puts sentence s4 where report.json does not"),
        ("report.json", '"year": 1970', '"year": NaN', "report.json is damaged"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    write_report(full_report(), tmp_path)
    edit(tmp_path / name, old, new)
    with pytest.raises(InputError, match=message):
        read_report(tmp_path)


@pytest.mark.parametrize("name", ["report.json", "claims.jsonl"])
def test_a_file_missing_or_cut_off_anywhere_is_refused(tmp_path: Path, name: str) -> None:
    write_report(full_report(), tmp_path)
    content = (tmp_path / name).read_bytes()
    for size in range(0, len(content) - 1, 97):
        (tmp_path / name).write_bytes(content[:size])
        with pytest.raises(InputError, match=re.escape(name)):
            read_report(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=f"{name} cannot be read"):
        read_report(tmp_path)


def test_a_claim_that_the_report_does_not_hold_is_refused(tmp_path: Path) -> None:
    write_report(full_report(), tmp_path)
    stored = json.loads((tmp_path / "report.json").read_text("utf-8"))
    stored["sections"][0]["sections"][0]["blocks"][0]["items"] = [["s2"]]
    (tmp_path / "report.json").write_text(json.dumps(stored), "utf-8")
    with pytest.raises(InputError, match=r"claims.jsonl line 3 puts sentence s4"):
        read_report(tmp_path)


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically(tmp_path / "a", b"old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="cannot be written \\(No space left on device\\)"):
        write_atomically(tmp_path / "a", b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"old")]


def test_a_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_report(full_report(), tmp_path / "file")


# --- names


@pytest.mark.parametrize(
    ("authors", "shown"),
    [
        ((), ""),
        (("Akerlof, George A.",), "Akerlof, George A."),
        (("Akerlof, G.", "Spence, M."), "Akerlof, G.; Spence, M."),
        (("George Akerlof", "", " Michael\nSpence "), "Akerlof, George; Spence, Michael"),
        (("World Health Organization", "van der Berg, J."), "World Health Organization; van der Berg, J."),
        (tuple("ABCDEF"), "A; B; C; D; E; F"),
        (tuple("ABCDEFG"), "A; B; C et al."),
        (tuple(f"N{i}, X." for i in range(40)), "N0, X.; N1, X.; N2, X. et al."),
    ],
)
def test_author_lists(authors: tuple[str, ...], shown: str) -> None:
    assert format_authors(authors) == shown


# --- Markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def flat(tokens: Sequence[Token]) -> list[Token]:
    return [t for token in tokens for t in (token, *flat(token.children or ()))]


def content(token: Token) -> str:
    """The text that a reader sees of an inline token."""
    return "".join(t.content for t in token.children or () if t.type != "softbreak")


def after(tokens: Sequence[Token], opening: str) -> list[str]:
    """Texts of the inline tokens that directly follow a token of type ``opening``."""
    return [content(b) for a, b in itertools.pairwise(tokens) if a.type == opening and b.type == "inline"]


def squeeze(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split())


def test_what_a_report_looks_like() -> None:
    assert render_markdown(full_report()) == (
        "# Markets\n\n*Why do markets fail?*\n\n> **Caution.** Little bears on it.\n\n*One part was left out.*\n\n"
        "## Findings\n\n"
        "Bad quality drives out good. [1, 2]\n\n"
        "> “bad cars drive out good ones” [2]\n>\n> — Akerlof (1970)\n\n*Found by its title.*\n\n"
        "*Sizes*\n\n| Study | n |\n| --- | --- |\n| A\\|B | 12 |\n| C |  |\n\n"
        "### Plan\n\n- Measure both.\n- Signals help. [2] *(partly supported)*\n\n## References\n\n"
        "1. Spence, Michael (1973). Job Market Signaling.\n"
        '2. Akerlof, George A. (1970). The Market for "Lemons": Quality Uncertainty and the Market Mechanism. '
        "*The Quarterly Journal of Economics*, 84(3), 488–500. <https://doi.org/10.2307/1879431>\n"
    )


def reference_text(**fields) -> str:
    """The one reference of a report that cites a document of these fields, as Markdown."""
    document = Document(**{"doc_id": "d", "title": "On Things"} | fields)
    section = ReportSection("A", (Paragraph((Sentence("s", "claim", "t", (cite("d"),)),)),))
    return render_markdown(make_report([section], {"d": document})).split("## References\n\n")[1].strip()


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "1. On Things (n.d.)."),
        ({"year": 2001, "venue": "Mind"}, "1. On Things (2001). *Mind*."),
        ({"title": " ", "year": 2001}, "1. d (2001)."),
        ({"authors": ("A B",), "title": "Why?", "details": (("volume", "3"),)}, "1. B, A (n.d.). Why? 3."),
        ({"authors": ("3. Division",)}, "1. 3\\. Division (n.d.). On Things."),
        ({"doi": "https://doi.org/10.1000/ABC"}, "1. On Things (n.d.). <https://doi.org/10.1000/abc>"),
        (
            {"doi": "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"},
            "1. On Things (n.d.). "
            "<https://doi.org/10.1002/(sici)1097-0258(19980815/30)17:15/16%3C1661::aid-sim968%3E3.0.co;2-2>",
        ),
        ({"doi": "javascript:alert(1)"}, "1. On Things (n.d.). DOI: javascript:alert(1)"),
        ({"details": (("year", "in press"),)}, "1. On Things (in press)."),
        ({"doi": "10.1000/a b"}, "1. On Things (n.d.). DOI: 10.1000/a b"),
        (
            {"venue": "Mind", "details": (("Volume", "84"), ("number", "3"), ("pages", "1-9"))},
            "1. On Things (n.d.). *Mind*, 84(3), 1–9.",
        ),
        ({"venue": "Mind", "details": (("pages", "L12-4a"),)}, "1. On Things (n.d.). *Mind*, L12-4a."),
        ({"venue": "Mind", "details": (("Page", "7"),)}, "1. On Things (n.d.). *Mind*, 7."),
        ({"details": (("kind", "summary"),)}, "1. On Things (n.d.). *Read as a summary.*"),
        (
            {"doi": "10.1000/x", "details": (("kind", "Summary"),)},
            "1. On Things (n.d.). <https://doi.org/10.1000/x> *Read as a summary.*",
        ),
        ({"details": (("pmid", "123"),)}, "1. On Things (n.d.). PMID: 123"),
    ],
)
def test_references_show_what_the_source_says(fields, shown: str) -> None:
    assert reference_text(**fields) == shown


HOSTILE = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "![x](http://evil.example/p.png)",
    "# Heading",
    "Title\n\n# Heading\n\n- item",
    "a | b\n--- | ---\n1 | 2",
    "`code` and ``more``",
    "*bold* _it_ __x__ snake_case_name **",
    "ends in a backslash \\",
    "ends in \\\\",
    "\\*not escaped\\*",
    "&lt;b&gt; R&D &copy &amp",
    "1. first",
    "1) first",
    "123456789. first",
    "1234567890. first",
    "- - -",
    "-5 degrees",
    "- item",
    "+ item",
    "> quote",
    "---",
    "***",
    "===",
    "~~~",
    "~~gone~~",
    "```\ncode",
    "[x]: http://evil.example 'title'",
    "[^1]: note",
    "<http://evil.example> <a@evil.example>",
    "<!-- comment",
    "<?php ?>",
    "title with hashes ##",
    "C#",
    "#",
    "    indented",
    "\tindented",
    "price $5 and the bound $\\alpha_{i} \\leq x^2_j$",
    "量子计算 (β-VAE)",
    "שלום *עולם*",
    "p < .05 and <b",
    "two  \nlines\\\nthree",
    "*",
    "_",
    "“quoted”",
]


def report_of(text: str) -> Report:
    """``text`` (nothing blank) at every place where text of a document can stand."""
    document = Document(
        "d",
        text,
        authors=(text, "Second, A."),
        venue=text,
        doi="10.1000/x",
        details=(("issue", text), ("kind", "summary"), ("volume", text)),
    )
    source = Section("d#0", "d", text, f"before {text} after")
    citation = Citation("d#0", source.sha256, text, 7, 7 + len(text))
    first = Sentence("s1", "claim", text, (citation,))
    second = Sentence("s2", "connective", text)
    blocks = (
        Paragraph((first, second)),
        BulletList((Paragraph((dataclasses.replace(first, sentence_id="s3"),)),)),
        QuoteBlock(dataclasses.replace(first, sentence_id="s4"), text),
        Note(text),
        Table((text, "n"), ((text, text),), text),
        Paragraph((dataclasses.replace(second, sentence_id="s5"),)),
        BulletList((Paragraph((dataclasses.replace(second, sentence_id="s6"),)),)),
    )
    section = ReportSection(text, blocks, (ReportSection(text),))
    passages = (Passage("d#0", text, source.text),)
    return make_report([section], {"d": document}, title=text, question=text, notes=(text,), passages=passages,
                       cautions=(text, " ", text))  # fmt: skip


def check_markdown(text: str) -> None:
    tokens = PARSER.parse(render_markdown(report_of(text)))
    kinds = {token.type for token in flat(tokens)}
    assert not kinds & {"html_inline", "html_block", "image", "code_inline", "code_block", "fence", "hr", "s_open"}
    assert [t.attrs["href"] for t in flat(tokens) if t.type == "link_open"] == ["https://doi.org/10.1000/x"]
    quote = squeeze(text)
    assert [(t.tag, squeeze(s)) for t, s in zip(
        [t for t in tokens if t.type == "heading_open"], after(tokens, "heading_open"), strict=True
    )] == [("h1", quote), ("h2", quote), ("h3", quote), ("h2", "References")]  # fmt: skip
    assert [squeeze(s) for s in after(tokens, "paragraph_open")] == [
        quote,  # question
        f"Caution. {quote}",
        f"Caution. {quote}",
        quote,  # note on the whole
        f"{quote} [1] {quote}",
        f"{quote} [1]",
        f"“{quote}” [1]",
        f"— {quote}",
        quote,
        quote,  # caption
        quote,
        quote,
        after_reference(tokens),
    ]
    cells = after(tokens, "th_open") + after(tokens, "td_open")
    assert [squeeze(cell) for cell in cells] == [quote, "n", quote, quote]
    reference = after_reference(tokens)
    names = squeeze(format_authors((text, "Second, A.")))
    assert reference.startswith(f"{names} (n.d.). {quote}")
    assert reference.endswith(f"{quote}, {quote}({quote}). https://doi.org/10.1000/x Read as a summary.")
    # Our own emphasis holds: question, notes, caption, venue, summary, and nothing of the text's.
    assert sum(t.type == "em_open" for t in flat(tokens)) == 6
    bold = [b.content for a, b in itertools.pairwise(flat(tokens)) if a.type == "strong_open"]
    assert bold == ["Caution.", "Caution."]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    set_apart = [token.type for token in tokens[6:14]]  # after title and question
    assert set_apart == ["blockquote_open", *paragraph, *paragraph, "blockquote_close"]


def after_reference(tokens: Sequence[Token]) -> str:
    return squeeze(after(tokens, "paragraph_open")[-1])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_read_back_as_it_is(text: str) -> None:
    check_markdown(text)


MARKUP = st.text(
    st.sampled_from("\\`*_[]()<>!#|-+=.~&;:$\"'/@^{}? \n\t1ax“”é量\u00a0\u200b\u2028\x85\x0b\x1f"), min_size=1
)
# Clean, as every text in a graph is.
TEXTS = (
    st.one_of(MARKUP, st.text(min_size=1), st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map("".join))
    .map(clean_text)
    .filter(lambda text: not is_blank(text))
)


@settings(max_examples=250, deadline=None)
@given(TEXTS)
def test_any_text_is_read_back_as_it_is(text: str) -> None:
    check_markdown(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.text())
def test_any_report_survives_its_files(tmp_path: Path, text: str, doi: str) -> None:
    report = report_of(text)
    report = dataclasses.replace(report, references=(dataclasses.replace(report.references[0], doi=doi),))
    write_report(report, tmp_path)
    assert read_report(tmp_path) == report
    assert len((tmp_path / "claims.jsonl").read_text("utf-8").splitlines()) == 6


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), MARKUP, MARKUP.map(lambda tail: "10.1000/" + tail)))
def test_any_doi_gives_a_doi_link_or_none(doi: str) -> None:
    tokens = flat(PARSER.parse(reference_text(doi=doi, year=2000)))
    links = [t.attrs["href"] for t in tokens if t.type == "link_open"]
    assert all(re.fullmatch(r"https://doi\.org/10\.[0-9]{4,9}/[!-~]+", str(link)) for link in links)
    assert not {t.type for t in tokens} & {"html_inline", "html_block", "image", "code_inline"}


def test_formulas_stay_as_they_are_in_the_source() -> None:
    formula = "the bound $\\alpha_{i} \\leq \\frac{x}{y_j}$ holds"
    section = ReportSection("A", (QuoteBlock(Sentence("s", "connective", formula)),))
    assert f"“{formula}”" in render_markdown(make_report([section]))


def test_bare_addresses_are_no_links_where_readers_make_them() -> None:
    text = "see https://evil.example and www.evil.example"
    section = ReportSection("A", (Paragraph((Sentence("s", "connective", text),)),))
    assert "see https\\://evil.example and www\\.evil.example" in render_markdown(make_report([section]))


def test_deep_trees_end_at_the_sixth_level() -> None:
    tree = ReportSection("h9")
    for level in range(8, 1, -1):
        tree = ReportSection(f"h{level}", (), (tree,))
    tags = [t.tag for t in PARSER.parse(render_markdown(make_report([tree]))) if t.type == "heading_open"]
    assert tags == ["h1", "h2", "h3", "h4", "h5", "h6", "h6", "h6", "h6"]


def test_rendering_takes_linear_time() -> None:
    """Long runs of what is looked ahead or behind for: quadratic work would take minutes."""
    started = time.perf_counter()
    for piece in ("&" + "a" * 9, "&#", "_", "# ", "#", "[", "\\", "<", "www.", " "):
        text = "x" + piece * (50_000 // len(piece)) + "x"
        section = ReportSection("A", (Paragraph((Sentence("s", "connective", text),)),))
        render_markdown(make_report([section], title=text))
    for text in ("&" + "a" * 50_000, "#" * 50_000):
        render_markdown(make_report([], title=text))
    assert time.perf_counter() - started < 15


def test_a_quotation_is_one_of_its_quotes_and_a_language_is_a_tag() -> None:
    altered = Sentence("s1", "claim", "Good cars drive out bad ones.", (cite(),), "supported", 1.0, "verbatim")
    with pytest.raises(InputError, match="said to be quoted word for word and is none of its quotes"):
        make_report([ReportSection("A", (Paragraph((altered,)),))])
    for language in ("", "e", "<script>", 'en" onload="x', "x" * 100_000, "en-" + "a" * 9):
        with pytest.raises(InputError, match="language is"):
            make_report([], language=language)
    assert make_report([], language="pt-BR").language == "pt-BR"


def nested(depth: int) -> ReportSection:
    section = ReportSection("deepest")
    for level in range(depth - 1):
        section = ReportSection(f"s{level}", sections=(section,))
    return section


def test_sections_nest_as_deep_as_can_be_read_again(tmp_path: Path) -> None:
    deepest = make_report([nested(50)])
    write_report(deepest, tmp_path)
    assert read_report(tmp_path) == deepest
    with pytest.raises(InputError, match="deeper than 50 levels; nest fewer"):
        make_report([nested(51)])
    stored = json.loads((tmp_path / "report.json").read_text())
    for _ in range(300):
        stored["sections"] = [{"heading": "x", "blocks": [], "sections": stored["sections"]}]
    (tmp_path / "report.json").write_text(json.dumps(stored))
    with pytest.raises(InputError, match="nest fewer"):
        read_report(tmp_path)
