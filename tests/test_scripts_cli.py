"""The commands as a user meets them: exit codes, one sentence per error, output that scripts can read."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

import kg.build
import kg.storage
import scripts.commands.search
import scripts.tools
from agents.reporting.model import walk
from agents.reporting.store import read_report
from kg.build import Tools, build_graph, open_graph
from kg.errors import BudgetError, GraphError, InputError, ModelError
from kg.export import FORMATS
from kg.ingest import read_all
from kg.records import Document
from kg.storage import open_generation, writer_lock
from retrieval.encoder import EncoderSource, SentenceEncoder
from scripts.cli import COMMANDS, main
from tests.conftest import ROOT, SAMPLE, HashEncoder
from tests.test_scripts_chaos import Workshop

METHODS = ("ppr", "dense", "bm25", "hybrid")
HOSTILE = "[bold]x[/bold] :smile: \x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J {0} %s"


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """What stands on stdout, which must be one JSON value."""
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """One command in this process, with an encoder that needs no model."""
    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())

    def run_command(*arguments: object) -> Result:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Two papers: JSON lines."""
    records = [
        {
            "id": "one",
            "title": "Bullwhip effects",
            "authors": ["Lee, Hau L."],
            "year": 1997,
            "abstract": "Orders vary more than sales along a supply chain. Sharing data dampens the bullwhip effect.",
        },
        {
            "id": "two",
            "title": "Prospect theory",
            "abstract": "Losses loom larger than gains. Loss aversion shapes decisions under risk in a supply chain.",
        },
    ]
    return write_jsonl(tmp_path / "papers.jsonl", records)


@pytest.fixture
def graph(tmp_path: Path, papers: Path, run: Run) -> Path:
    """A graph of the two papers that a test may change."""
    path = tmp_path / "graph"
    assert run("build", path, papers).code == 0
    return path


def write_jsonl(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def ids(graph: Path) -> list[str]:
    return open_graph(graph).documents["doc_id"].to_pylist()


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def assert_refused(result: Result, *named: object, code: int = 2) -> None:
    """One sentence on stderr that names ``named``; nothing on stdout, no traceback."""
    assert result.code == code
    assert result.out == ""
    assert re.fullmatch(r"evigraph: [^\n]{20,}\n", result.err), result.err
    assert "Traceback" not in result.err
    assert "internal error" not in result.err
    for name in named:
        assert str(name) in result.err


# What evigraph says of itself


def test_without_a_command_the_usage_is_printed_and_the_exit_code_is_2(run: Run) -> None:
    result = run()
    assert result.code == 2
    assert all(f"  {name} " in result.out for name in COMMANDS)


@pytest.mark.parametrize("flag", ["--help", "-h", "help"])
def test_help_is_no_failure(run: Run, flag: str) -> None:
    assert run(flag) == Result(0, run().out, "")


def test_every_command_has_a_module_and_the_other_way_round() -> None:
    modules = {path.stem for path in (ROOT / "scripts" / "commands").glob("*.py")} - {"__init__"}
    assert modules == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_snake_case_flags(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert f"evigraph {command}" in result.out
    flags = set(re.findall(r"--[a-z][\w-]*", result.out))
    assert {"--help", "--json"} <= flags
    assert not [flag for flag in flags if "-" in flag[2:]]


def test_the_version_is_printed(run: Run) -> None:
    assert re.fullmatch(r"evigraph \d+\.\d+\S*\n", run("--version").out)


@pytest.mark.parametrize(
    ("given", "hint"), [("serach", "evigraph search"), ("Build", "evigraph build"), ("xyzzy", "evigraph --help")]
)
def test_an_unknown_command_is_answered_with_a_near_one(run: Run, given: str, hint: str) -> None:
    assert_refused(run(given, "G"), given, hint)


@pytest.mark.parametrize("arguments", [["search"], ["search", "G"], ["brief", "G", "why?"], ["search", "G", "q", "r"]])
def test_arguments_that_do_not_fit_end_with_2_and_the_way_to_help(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert f"evigraph {arguments[0]} --help" in result.err
    assert "Traceback" not in result.err


def test_a_mistyped_flag_is_answered_with_the_right_one(run: Run) -> None:
    result = run("search", "G", "q", "--topn", "3")
    assert result.code == 2
    assert "--top_n" in result.err


OPTIONAL = [("info", "by"), ("export", "format"), ("build", "limit"), ("add", "limit")]


@pytest.mark.parametrize(("command", "option"), OPTIONAL)
def test_no_option_takes_none_for_an_answer(run: Run, command: str, option: str) -> None:
    more = {"info": [], "export": ["--out", "x"], "build": ["papers"], "add": ["papers"]}[command]
    result = run(command, "G", *more, f"--{option}", "None")
    assert result.code == 2
    assert f"--{option}" in result.err
    assert "'None'" in result.err


@pytest.mark.parametrize("command", COMMANDS)
def test_none_is_no_choice_of_any_option(run: Run, command: str) -> None:
    text = run(command, "--help").out
    assert not re.search(r"[{|,]None|None[|}]", text)


def test_none_is_a_word_like_any_other_where_words_are_asked_for(run: Run, graph: Path) -> None:
    assert_refused(run("info", graph, "--concept", "None"), "no concept 'None'")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["render", "R", "--formats", "md", "--formats", "html"], "--formats is given 2 times"),
        (["search", "G", "q", "--top_n", "3", "--top-n=4", "--top_n", "5"], "--top_n is given 3 times"),
        (["info", "G", "--json", "--json"], "--json is given 2 times"),
    ],
)
def test_an_option_given_twice_is_refused_as_one_would_be_lost(run: Run, arguments: list[str], option: str) -> None:
    assert_refused(run(*arguments), option)


def test_words_after_the_options_are_no_options(run: Run, tmp_path: Path) -> None:
    assert_refused(run("build", tmp_path / "g", "--", "--json", "--json"), "--json does not exist")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["picture", "G", "q", "--out", ""], "--out is empty"),
        (["overview", "G", "--out="], "--out is empty"),
        (["export", "G", "--out", ""], "--out is empty"),
        (["brief", "G", "q", "--out", ""], "--out is empty"),
        (["render", "R", "--out", ""], "--out is empty"),
        (["render", ""], "A path is empty"),
        (["info", ""], "A path is empty"),
        (["build", "", "papers"], "A path is empty"),
        (["add", "G", ""], "A path is empty"),
    ],
)
def test_an_empty_path_is_not_the_directory_one_is_in(run: Run, arguments: list[str], named: str) -> None:
    assert_refused(run(*arguments), named)


def test_a_flag_of_the_wrong_type_ends_with_2(run: Run) -> None:
    result = run("search", "G", "q", "--top_n", "many")
    assert result.code == 2
    assert "many" in result.err
    assert "Traceback" not in result.err


# build


def test_build_tells_what_it_made(run: Run, papers: Path, tmp_path: Path) -> None:
    result = run("build", tmp_path / "g", papers)
    assert (result.code, result.err) == (0, "")
    counts = open_graph(tmp_path / "g").manifest["counts"]
    assert f"{tmp_path / 'g'}: 2 added" in result.out
    assert f"2 documents, 2 sections, {counts['concepts']:,} concepts, {counts['edges']:,} edges" in result.out
    assert all(f"{stage} " in result.out for stage in ("reading", "extraction", "encoding", "assembly", "storage"))
    assert re.search(r"peak memory [\d,]+ MB", result.out)


def test_build_as_json_holds_what_the_text_says(run: Run, papers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    shutil.copy(papers, folder / "a.jsonl")
    shutil.copy(papers, folder / "b.jsonl")
    (folder / "figure.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (folder / "README.md").write_text("About these papers.")
    write_jsonl(folder / "c.jsonl", [{"id": "bare", "title": "A bare title"}])
    text, value = run("build", tmp_path / "g", folder), run("build", tmp_path / "h", folder, "--json")
    assert (text.code, value.code, value.err) == (1, 1, "")
    report = value.value
    assert report["added"] == ["one", "two", "bare"]
    assert report["counts"] == open_graph(tmp_path / "h").manifest["counts"]
    assert report["title_only"] == ["bare"]
    assert report["peak_mb"] > 0
    assert {"reading", "extraction", "encoding", "assembly", "storage"} <= report["seconds"].keys()
    [rejected] = report["rejected"]
    assert rejected["place"] == str(folder / "figure.png")
    assert f"{rejected['place']}: {rejected['reason']}" in text.out
    assert len(report["duplicates"]) == 2
    assert all(line in text.out for line in [*report["duplicates"], *report["skipped"], "bare", "3 added"])


def test_a_build_that_leaves_something_out_ends_with_1_and_has_the_rest(run: Run, papers: Path, tmp_path: Path) -> None:
    papers.write_bytes(papers.read_bytes() + b"{broken\n")
    result = run("build", tmp_path / "g", papers)
    assert result.code == 1
    assert "line 3" in result.out
    assert ids(tmp_path / "g") == ["one", "two"]


def test_limit_takes_the_first_papers(run: Run, papers: Path, tmp_path: Path) -> None:
    assert run("build", tmp_path / "g", papers, "--limit", 1).code == 0
    assert ids(tmp_path / "g") == ["one"]


@pytest.mark.parametrize("command", ["build", "add"])
@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_1_is_refused(run: Run, graph: Path, papers: Path, command: str, limit: int) -> None:
    target = graph.with_name("new") if command == "build" else graph
    assert_refused(run(command, target, papers, "--limit", limit), f"--limit is {limit}")


@pytest.mark.parametrize("command", ["build", "add"])
def test_sources_that_hold_no_paper_are_refused_by_name(run: Run, graph: Path, tmp_path: Path, command: str) -> None:
    target = tmp_path / "new" if command == "build" else graph
    before = content(graph)
    empty = tmp_path / "empty"
    empty.mkdir()
    binary = tmp_path / "paper.pdf"
    binary.write_bytes(b"%PDF-1.7\n\x00\xff")
    noise = tmp_path / "noise.bin"
    noise.write_bytes(bytes(range(256)) * 8)
    blank = tmp_path / "blank.txt"
    blank.write_text(" \n")
    assert_refused(run(command, target, tmp_path / "nowhere"), tmp_path / "nowhere", "does not exist")
    assert_refused(run(command, target, empty), empty)
    assert_refused(run(command, target, binary), binary, "PDF", "pdftotext")
    assert_refused(run(command, target, noise), noise)
    assert_refused(run(command, target, blank), blank, "is empty")
    assert_refused(run(command, target), "No source was named")
    assert content(graph) == before
    assert not (tmp_path / "new" / "CURRENT").exists()


def test_a_failed_build_can_be_repeated_in_the_same_place(run: Run, papers: Path, tmp_path: Path) -> None:
    assert_refused(run("build", tmp_path / "g", tmp_path / "nowhere"))
    assert run("build", tmp_path / "g", papers).code == 0


def test_a_graph_is_replaced_only_when_asked(run: Run, graph: Path, tmp_path: Path) -> None:
    other = write_jsonl(
        tmp_path / "o.jsonl", [{"id": "three", "title": "Queues", "abstract": "Queues grow long here."}]
    )
    before = content(graph)
    assert_refused(run("build", graph, other), graph, "evigraph add", "--overwrite")
    assert content(graph) == before
    assert run("build", graph, other, "--overwrite").code == 0
    assert ids(graph) == ["three"]


def test_a_refused_build_reads_nothing(
    run: Run, graph: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scripts.tools, "load_encoder", fail)
    monkeypatch.setattr("kg.ingest.read_all", fail)
    file = tmp_path / "file"
    file.write_text("x")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("x")
    assert_refused(run("build", graph, papers), graph)
    assert_refused(run("build", file, papers), file, "file")
    assert_refused(run("build", file / "below", papers), file, "file")
    assert_refused(run("build", foreign, papers), foreign, "not a graph directory")
    assert content(foreign) == {"thesis.tex": b"x"}


def fail(*arguments: object, **named: object) -> NoReturn:
    raise AssertionError("this should not have been called")


# Graphs that are none


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "build"])
def test_a_path_that_is_no_graph_is_refused(run: Run, papers: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("x")
    more = {"add": [papers], "remove": ["one"], "search": ["why"], "brief": ["why", "--out", tmp_path / "out"]}
    more |= {"export": ["--out", tmp_path / "out"], "overview": ["--out", tmp_path / "out.html"]}
    more |= {"picture": ["why", "--out", tmp_path / "out.html"]}
    for path in (tmp_path / "missing", file, folder):
        assert_refused(run(command, path, *more.get(command, [])), path)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.html").exists()
    assert not (tmp_path / "missing").exists()
    assert content(folder) == {"notes.txt": b"x"}


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in {"build", "check", "render"}])
def test_a_damaged_graph_is_refused_naming_the_file(run: Run, graph: Path, papers: Path, command: str) -> None:
    damaged = graph / "generations" / "0001" / "concepts.arrow"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    more = {"add": [papers], "remove": ["one"], "search": ["why"], "brief": ["why", "--out", graph.with_name("out")]}
    more |= {"export": ["--out", graph.with_name("out")], "overview": ["--out", graph.with_name("out.html")]}
    more |= {"picture": ["why", "--out", graph.with_name("out.html")]}
    assert_refused(run(command, graph, *more.get(command, [])), damaged, "evigraph build")


# add, remove


def test_add_recognises_replaces_and_adds(run: Run, graph: Path, papers: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in papers.read_text().splitlines()]
    records[1]["abstract"] += " Framing matters as well."
    records.append({"id": "three", "title": "Queues", "abstract": "Queues grow long here."})
    more = write_jsonl(tmp_path / "more.jsonl", records)
    text = run("add", graph, more)
    assert (text.code, text.err) == (0, "")
    assert "1 added, 1 replaced, 1 unchanged" in text.out
    assert ids(graph) == ["one", "three", "two"]
    again = run("add", graph, more, "--json")
    assert again.code == 0
    assert again.value["unchanged"] == ["one", "two", "three"]
    assert again.value["added"] == again.value["replaced"] == []


def test_adding_nothing_new_says_so_and_writes_nothing(run: Run, graph: Path, papers: Path) -> None:
    before = content(graph / "generations")
    assert "2 unchanged" in run("add", graph, papers).out
    assert content(graph / "generations") == before


def test_remove_takes_papers_out(run: Run, graph: Path) -> None:
    result = run("remove", graph, "one", "--json")
    assert result.code == 0
    assert result.value["removed"] == ["one"]
    assert result.value["counts"]["documents"] == 1
    assert ids(graph) == ["two"]


def test_an_unknown_id_is_answered_with_a_near_one_and_nothing_is_removed(run: Run, graph: Path) -> None:
    before = content(graph / "generations")
    assert_refused(run("remove", graph, "two", "onne"), "'onne'", "nothing was removed", "did you mean one")
    assert_refused(run("remove", graph, "xyzzy"), "'xyzzy'", "evigraph info")
    assert_refused(run("remove", graph), "No document id", "evigraph info")
    assert content(graph / "generations") == before


@pytest.mark.parametrize("command", ["add", "remove", "build"])
def test_a_second_writer_is_refused(run: Run, graph: Path, papers: Path, tmp_path: Path, command: str) -> None:
    write_jsonl(papers, [{"id": "three", "title": "Queues", "abstract": "Queues grow long here."}])
    arguments = {"add": [papers], "remove": ["one"], "build": [papers, "--overwrite"]}[command]
    with writer_lock(graph):
        assert_refused(run(command, graph, *arguments), f"process {os.getpid()}", graph, "wait")
        assert run("search", graph, "supply chain").code == 0, "readers are let in"
    assert run(command, graph, *arguments).code == 0


def test_a_graph_of_another_configuration_is_not_added_to(
    run: Run, graph: Path, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(HashEncoder):
        name, fingerprint = "other", "other-1"

    monkeypatch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: Other())
    assert_refused(run("add", graph, papers), graph, "hash", "other", "--overwrite")


# info, check


def test_info_tells_what_a_graph_holds(run: Run, sample_directory: Path) -> None:
    text, value = run("info", sample_directory), run("info", sample_directory, "--json").value
    assert (text.code, text.err) == (0, "")
    counts = value["counts"]
    assert counts["documents"] == len(value["documents"]) == 40
    for name in ("documents", "sections", "concepts", "edges", "relations"):
        assert f"{counts[name]:,} {name}" in text.out
    assert f"more than one paper: {value['lateral_concepts']:,}" in text.out
    assert f"kernel of diffusion: {value['diffusion_kernel']}" in text.out
    assert "encoder: hash (hash-1)" in text.out
    assert len(value["concepts"]) == 15
    for concept in value["concepts"]:
        assert re.search(rf"^ +{concept['n_sections']}  {re.escape(concept['label'])}$", text.out, re.MULTILINE)
    listed = run("info", sample_directory, "--documents").out.splitlines()
    assert len(listed) == 40
    for line, document in zip(listed, value["documents"], strict=True):
        assert line.startswith(f"{document['doc_id']}  ")
        assert f"({document['year']}). {document['title']} [" in line


def test_info_shows_one_concept_under_any_of_its_names(run: Run, sample_directory: Path) -> None:
    value = run("info", sample_directory, "--concept", "Supply-Chains", "--json").value
    text = run("info", sample_directory, "--concept", value["concept_id"], "--top_n", 2)
    assert value["label"].casefold() == "supply chain"
    assert text.out.startswith(f"{value['label']} ({value['concept_id']}), in {value['n_sections']} sections\n")
    for neighbour in value["neighbours"][:2]:
        assert f"{neighbour['weight']:.2f}  {neighbour['label']}\n" in text.out
    assert [section["section_id"] in text.out for section in value["sections"][:3]] == [True, True, False]


def test_info_refuses_what_is_not_there(run: Run, sample_directory: Path) -> None:
    assert_refused(run("info", sample_directory, "--concept", "suply chane"), "'suply chane'", "supply chain")
    assert_refused(run("info", sample_directory, "--concept", "zzqx"), "'zzqx'")
    assert_refused(run("info", sample_directory, "--concept", ""), "''")
    assert_refused(run("info", sample_directory, "--top_n", -1), "--top_n is -1")


@pytest.mark.parametrize("by", ["venue", "field", "year"])
def test_info_counts_papers_by_group(run: Run, sample_directory: Path, by: str) -> None:
    value = run("info", sample_directory, "--by", by, "--json").value
    groups = value["groups"]
    assert value["by"] == by
    assert sum(group["papers"] for group in groups) == open_graph(sample_directory).n_documents
    whole = run("info", sample_directory, "--by", by, "--top_n", len(groups))
    assert (whole.code, whole.err) == (0, "")
    head, *lines = whole.out.splitlines()
    assert head.split() == ["papers", "sections", "concepts", "years", by]
    for line, group in zip(lines, groups, strict=True):
        counts = [f"{group[name]:,}" for name in ("papers", "sections", "concepts")]
        assert line.split()[:3] == counts
        assert line.endswith(f"  {group['name']}")
    cut = run("info", sample_directory, "--by", by, "--top_n", 1).out.splitlines()
    rest = sum(group["papers"] for group in groups[1:])
    assert cut[:2] == [head, lines[0]]
    assert cut[2].startswith(f"and {len(groups) - 1} more with {rest} papers")


def test_info_lists_papers_without_a_group(run: Run, graph: Path) -> None:
    concepts = str(open_graph(graph).n_concepts)
    assert run("info", graph, "--by", "venue").out.splitlines()[1].split() == ["2", "2", concepts, "1997", "(none)"]
    assert [g["name"] for g in run("info", graph, "--by", "year", "--json").value["groups"]] == ["1997", None]


def test_info_refuses_to_group_and_list_at_once(run: Run, graph: Path) -> None:
    for other in (("--documents",), ("--concept", "supply chain")):
        assert_refused(run("info", graph, "--by", "year", *other), "--by", "--concept and --documents")
    assert run("info", graph, "--by", "author").code == 2


def test_info_prints_no_heading_over_nothing(run: Run, sample_directory: Path) -> None:
    for arguments in (["--by", "year"], ["--concept", "supply chain"], []):
        for line in run("info", sample_directory, *arguments, "--top_n", 0).out.splitlines():
            assert not line.endswith(":")
            assert not line.lstrip().startswith("papers ")
    [groups] = run("info", sample_directory, "--by", "year", "--top_n", 0).out.splitlines()
    assert re.fullmatch(r"\d+ groups with 40 papers \(--top_n N shows more, --json all\)", groups)


def test_info_counts_what_it_does_not_list(run: Run, sample_directory: Path) -> None:
    opened = open_graph(sample_directory)
    value = run("info", sample_directory, "--concept", "supply chain", "--top_n", opened.n_concepts, "--json").value
    text = run("info", sample_directory, "--concept", "supply chain", "--top_n", 2).out
    assert f"  related to (2 of {len(value['neighbours'])}; --top_n N shows more):\n" in text
    assert f"  sections (2 of {len(value['sections'])}; --top_n N shows more):\n" in text
    assert f"share (15 of {opened.n_concepts:,}; --top_n N shows more):\n" in run("info", sample_directory).out
    whole = run("info", sample_directory, "--concept", "supply chain", "--top_n", opened.n_concepts).out
    assert "  sections:\n" in whole
    assert " of " not in whole.partition("sections:")[0].partition("\n")[2]


@pytest.mark.parametrize(
    ("authors", "named"),
    [
        ([], "no author"),
        (["Solo, Han"], "Solo"),
        (["A, B.", "C, D."], "A and C"),
        (["A, B.", "C, D.", "E, F."], "A et al."),
        (["Fama, Eugene F.", "others"], "Fama et al."),
    ],
)
def test_info_names_authors_as_texts_do(run: Run, tmp_path: Path, authors: list[str], named: str) -> None:
    record = {"id": "x", "title": "On Things", "abstract": "Things are many.", "authors": authors}
    assert run("build", tmp_path / "g", write_jsonl(tmp_path / "p.jsonl", [record])).code == 0
    assert run("info", tmp_path / "g", "--documents").out == f"x  {named} (n.d.). On Things [1 section]\n"


def test_info_says_how_many_papers_without_text_it_leaves_out(run: Run, tools: Tools, tmp_path: Path) -> None:
    for number, more in ((10, ""), (12, " and 2 more (--documents lists all)")):
        build_graph(tmp_path / f"{number}", [Document(f"e{n:02}", "") for n in range(number)], tools)
        assert f"documents without text: e00, e01, e02, e03, e04, e05, e06, e07, e08, e09{more}\n" in (
            run("info", tmp_path / f"{number}").out
        )


# Where results go


@pytest.fixture(scope="module")
def stored(sample_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a report with a figure."""
    folder = tmp_path_factory.mktemp("stored") / "report"
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
        assert main(["brief", str(sample_directory), "bullwhip effect", "--out", str(folder), "--formats", "md"]) == 0
    return folder


WRITING = {
    "picture": (".html", ["GRAPH", "bullwhip effect"]),
    "overview": (".html", ["GRAPH"]),
    "export": (".graphml", ["GRAPH"]),
    "brief": ("", ["GRAPH", "bullwhip effect"]),
    "render": ("", ["STORED"]),
}
Write = Callable[[str, Path], Result]


@pytest.fixture
def write(run: Run, sample_directory: Path, stored: Path) -> Write:
    """A command that writes to a path of its own suffix."""

    def write_with(command: str, path: Path) -> Result:
        suffix, arguments = WRITING[command]
        known = {"GRAPH": sample_directory, "STORED": stored}
        return run(command, *[known.get(word, word) for word in arguments], "--out", f"{path}{suffix}")

    return write_with


@pytest.mark.parametrize("command", WRITING)
def test_no_command_writes_into_a_graph(
    write: Write, command: str, graph: Path, sample_directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(graph)
    before = content(graph)
    for path in (graph / "r", graph / "generations" / "new" / "r", tmp_path / "link" / "r"):
        assert_refused(write(command, path), f"is inside the graph {graph}")
    assert_refused(write(command, sample_directory / "r"), "is inside the graph")  # the one that is read
    assert content(graph) == before


@pytest.mark.parametrize("command", WRITING)
def test_every_command_makes_the_directories_of_its_target(write: Write, command: str, tmp_path: Path) -> None:
    assert write(command, tmp_path / "new" / "er" / "r").code == 0
    assert len(list((tmp_path / "new" / "er").iterdir())) == 1


@pytest.mark.parametrize("command", WRITING)
def test_every_command_tells_where_it_cannot_write(write: Write, command: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert_refused(write(command, tmp_path / "file" / "r"), "file", "cannot be written")
    if os.path.isdir("/proc"):
        result = write(command, Path("/proc/r"))
        assert_refused(result, "/proc", "choose another")
        assert "No such file" not in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("command", ["picture", "overview", "export"])
def test_a_directory_or_a_device_is_no_file_to_write(write: Write, command: str, tmp_path: Path) -> None:
    suffix = WRITING[command][0]
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"device{suffix}").symlink_to(os.devnull)
    assert_refused(write(command, tmp_path / "folder"), f"folder{suffix}", "is a directory")
    assert_refused(write(command, tmp_path / "device"), f"device{suffix}", "is there and is no file")
    assert (tmp_path / f"device{suffix}").is_char_device()


@pytest.mark.parametrize("command", ["picture", "overview", "export"])
def test_links_are_followed_by_every_command(write: Write, command: str, tmp_path: Path) -> None:
    suffix = WRITING[command][0]
    (tmp_path / f"link{suffix}").symlink_to(Path("away", "real"))
    for _ in range(2):  # to nothing yet, then to a file
        assert write(command, tmp_path / "link").code == 0
        assert (tmp_path / f"link{suffix}").is_symlink()
        assert (tmp_path / "away" / "real").stat().st_size > 1000
        assert len(list(tmp_path.rglob("*"))) == 3


@pytest.mark.parametrize("command", WRITING)
def test_an_interrupted_writer_leaves_nothing(
    write: Write, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        assert_refused(write(command, tmp_path / "r"), "interrupted", "no file is half-written", code=130)
    assert list(tmp_path.iterdir()) == []


# render


def test_render_refuses_what_it_cannot_do_before_it_writes(run: Run, stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for arguments, named in (
        (["--formats"], "--formats names no format"),
        (["--max_authors", 0], "--max_authors is 0"),
        (["--name", ""], "''"),
        (["--name", ".."], "'..'"),
        (["--name", "../r"], "'../r'"),
        (["--name", "x" * 300], "has 300 bytes"),
    ):
        assert_refused(run("render", stored, "--out", out, *arguments), named)
    assert not out.exists()


def test_render_writes_a_format_named_twice_once(run: Run, stored: Path, tmp_path: Path) -> None:
    result = run("render", stored, "--out", tmp_path, "--formats", "html", "md", "html", "--json")
    assert result.value == {"html": str(tmp_path / "report.html"), "md": str(tmp_path / "report.md")}


# export


@pytest.mark.parametrize("name", ["g.graphml", "g.jsonld", "g.nt", "g.ttl", "g.pt", "g.zip", "folder"])
def test_export_tells_path_counts_and_size(run: Run, graph: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / name
    text = run("export", graph, "--out", path)
    value = run("export", graph, "--out", path, "--json").value
    assert (text.code, text.err) == (0, "")
    files = list(path.iterdir()) if path.is_dir() else [path]
    assert value["bytes"] == sum(file.stat().st_size for file in files)
    assert value["path"] == str(path)
    assert text.out.startswith(f"{path}: {value['format']}, ")
    opened = open_graph(graph)
    expected = {"documents": 2, "sections": 2, "concepts": opened.n_concepts, "related": opened.n_edges}
    expected["same_as"] = opened.same_as.values().numel() // 2
    assert expected.items() <= value["counts"].items()
    for kind, number in value["counts"].items():
        assert f"{number} {kind}" in text.out
    assert os.listdir(path.parent) == [name]


def test_export_takes_the_format_it_is_told(run: Run, graph: Path, tmp_path: Path) -> None:
    for name in FORMATS:
        value = run("export", graph, "--out", tmp_path / f"{name}.xml", "--format", name, "--json").value
        assert value["format"] == name
    assert (tmp_path / "graphml.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert run("export", graph, "--out", tmp_path / "g.xml", "--format", "gexf").code == 2


def test_export_says_what_a_format_cannot_hold(run: Run, tmp_path: Path) -> None:
    papers = write_jsonl(tmp_path / "p.jsonl", [{"id": "x", "title": "Bell \x07 rings", "abstract": "A bell rings."}])
    assert run("build", tmp_path / "graph", papers).code == 0
    result = run("export", tmp_path / "graph", "--out", tmp_path / "g.graphml")
    value = run("export", tmp_path / "graph", "--out", tmp_path / "g.graphml", "--json").value
    assert value["replaced"] > 0
    assert f"{value['replaced']} characters that the format cannot hold were replaced" in result.out
    assert "replaced" not in run("export", tmp_path / "graph", "--out", tmp_path / "g.nt").out


def test_export_refuses_what_it_cannot_write(run: Run, graph: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine")
    assert_refused(
        run("export", graph, "--out", tmp_path / "g.gexf"), "g.gexf", "graphml", ".jsonld", ".pt", "--format"
    )
    assert_refused(run("export", graph, "--out", tmp_path / "mine"), tmp_path / "mine", "no earlier export")
    assert_refused(run("export", graph, "--out", graph / "g.graphml"), "inside the graph")
    assert_refused(run("export", tmp_path / "nowhere", "--out", tmp_path / "g.pt"), "nowhere")
    assert os.listdir(tmp_path / "mine") == ["thesis.tex"]
    assert not list(tmp_path.glob("g.*"))


def test_export_of_an_empty_graph(run: Run, graph: Path, tmp_path: Path) -> None:
    assert run("remove", graph, "one", "two").code == 0
    assert "0 documents, 0 sections" in run("export", graph, "--out", tmp_path / "g.graphml").out


def test_check_passes_a_sound_graph_and_names_a_damaged_file(run: Run, graph: Path) -> None:
    sound = run("check", graph)
    assert (sound.code, sound.err) == (0, "")
    assert str(graph) in sound.out
    assert run("check", graph, "--json").value == {"graph": str(graph), "sound": True, "problems": []}
    damaged = graph / "generations" / "0001" / "tensors.safetensors"
    raw = bytearray(damaged.read_bytes())
    raw[-1] ^= 1
    damaged.write_bytes(raw)
    text, value = run("check", graph), run("check", graph, "--json")
    assert (text.code, value.code) == (2, 2)
    [problem] = value.value["problems"]
    assert value.value["sound"] is False
    assert str(damaged) in problem
    assert text.out == problem + "\n"


# search


@pytest.mark.parametrize("method", METHODS)
def test_search_shows_what_its_json_holds(run: Run, sample_directory: Path, method: str) -> None:
    arguments = ["search", sample_directory, "  the bullwhip\neffect ", "--method", method, "--top_n", 3]
    text, value = run(*arguments), run(*arguments, "--json")
    assert (text.code, text.err, value.code, value.err) == (0, "", 0, "")
    assert value.value["question"] == "the bullwhip effect"
    assert value.value["method"] == method
    results = value.value["results"]
    assert [r["rank"] for r in results] == [1, 2, 3]
    assert [r["score"] for r in results] == sorted((r["score"] for r in results), reverse=True)
    if method != "dense":  # the encoder of the tests knows letters, not meanings
        assert results[0]["doc_id"] == "10.1287/mnsc.43.4.546"
    for result in results:
        assert f"{result['rank']}. {result['title']} ({result['year']}) > {result['heading']}\n" in text.out
        assert f"{result['section_id']}  score {result['score']:.4f}\n" in text.out
        assert " ".join(result["text"].split())[:200] in text.out


def test_search_takes_every_method_there_is(run: Run, sample_directory: Path) -> None:
    from retrieval.method_names import METHODS as ALL

    for method in ALL:
        found = run("search", sample_directory, "the bullwhip effect", "--method", method, "--top_n", 3, "--json")
        assert (found.code, len(found.value["results"])) == (0, 3), method


def test_bm25_needs_no_encoder(run: Run, sample_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts.tools, "load_encoder", fail)
    assert run("search", sample_directory, "bullwhip", "--method", "bm25").code == 0


@pytest.mark.parametrize("command", ["search", "brief"])
@pytest.mark.parametrize("question", ["", "   ", "?!", "...", "\n", "\u200b", "💡"])
def test_a_question_without_a_word_is_refused(
    run: Run, sample_directory: Path, tmp_path: Path, command: str, question: str
) -> None:
    more = ["--out", tmp_path / "out"] if command == "brief" else []
    assert_refused(run(command, sample_directory, question, *more), "question is empty")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["search", "brief"])
@pytest.mark.parametrize("top_n", [0, -1])
def test_a_top_n_below_1_is_refused(run: Run, sample_directory: Path, tmp_path: Path, command: str, top_n: int) -> None:
    more = ["--out", tmp_path / "out"] if command == "brief" else []
    assert_refused(run(command, sample_directory, "why?", "--top_n", top_n, *more), f"--top_n is {top_n}")


def test_an_empty_graph_can_be_opened_but_not_asked(run: Run, graph: Path, papers: Path, tmp_path: Path) -> None:
    assert run("remove", graph, "one", "two").code == 0
    assert "0 documents, 0 sections" in run("info", graph).out
    assert run("info", graph, "--json").value["documents"] == []
    assert run("info", graph, "--documents") == Result(0, "", "")
    assert run("check", graph).code == 0
    for method in METHODS:
        assert_refused(run("search", graph, "why?", "--method", method), "no section", "evigraph add")
    assert_refused(run("brief", graph, "why?", "--out", tmp_path / "out"), "no section", "evigraph add")
    assert not (tmp_path / "out").exists()
    assert run("add", graph, papers).code == 0
    assert ids(graph) == ["one", "two"]


def test_a_search_that_finds_nothing_says_so(run: Run, sample_directory: Path) -> None:
    assert_refused(run("search", sample_directory, "zzqx wvvk", "--method", "bm25"), "'zzqx wvvk'", "other words")


# brief


@pytest.mark.parametrize("question", ["zzqx wvvk qqqz", "量子计算机如何工作？", "как работает квантовый компьютер"])
@pytest.mark.parametrize("method", ["hybrid", "ppr"])
def test_a_brief_on_what_the_graph_does_not_hold_quotes_nothing_and_ends_with_1(
    run: Run, sample_directory: Path, tmp_path: Path, question: str, method: str
) -> None:
    out = tmp_path / "out"
    done = run("brief", sample_directory, question, "--out", out, "--method", method)
    assert done.code == 1
    assert "is near the question, so nothing is quoted" in done.err
    assert "0 quotations from 0 papers" in done.out
    assert (out / "claims.jsonl").read_bytes() == b""
    assert "nothing is quoted" in (out / "brief.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", METHODS)
def test_every_quote_of_a_brief_stands_where_it_says(
    run: Run, sample_directory: Path, tmp_path: Path, method: str
) -> None:
    question = "What causes the bullwhip effect in a supply chain?"
    out = tmp_path / "deep" / "out"
    text = run("brief", sample_directory, question, "--out", out, "--method", method)
    value = run("brief", sample_directory, question, "--out", out, "--method", method, "--json")
    assert (text.code, value.code) == (0, 0)
    files = {kind: f"brief.{kind}" for kind in ("html", "md", "docx")}
    files |= {"bib": "references.bib", "csl": "references.json"}
    data = {"report.json", "claims.jsonl", "figures"}
    assert {path.name for path in out.iterdir()} == {*data, *files.values()}
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    claims = [json.loads(line) for line in (out / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    assert value.value == {
        "files": {kind: str(out / name) for kind, name in files.items()},
        "claims": len(claims),
        "references": len(report["references"]),
        "cautions": report["cautions"],
    }
    assert text.err == value.err == "".join(f"Caution: {caution}\n" for caution in report["cautions"])
    papers = "1 paper" if len(report["references"]) == 1 else f"{len(report['references'])} papers"
    others = ", ".join([*files.values()][1:])
    quotations = "1 quotation" if len(claims) == 1 else f"{len(claims)} quotations"
    assert text.out == f"{out / 'brief.html'}: {quotations} from {papers} (and {others})\n"
    assert report["question"] == question

    graph = open_graph(sample_directory)
    sections = dict(zip(graph.sections["section_id"].to_pylist(), graph.sections.to_pylist(), strict=True))
    titles = dict(zip(graph.documents["doc_id"].to_pylist(), graph.documents["title"].to_pylist(), strict=True))
    cited = []
    for claim in claims:
        assert claim["kind"] == "claim"
        [citation] = claim["citations"]
        section = sections[citation["section_id"]]
        assert section["text"][citation["start"] : citation["end"]] == citation["quote"] == claim["text"]
        assert citation["sha256"] == section["sha256"]
        assert len(citation["quote"].split()) >= 5
        cited.append(citation["section_id"].rpartition("#")[0])
    assert claims
    references = {reference["number"]: reference for reference in report["references"]}
    assert [references[n]["doc_id"] for n in range(1, len(references) + 1)] == list(dict.fromkeys(cited))
    assert all(reference["title"] == titles[reference["doc_id"]] for reference in references.values())


def test_the_text_of_a_brief_holds_every_quote_and_its_numbers_resolve(
    run: Run, sample_directory: Path, tmp_path: Path
) -> None:
    assert run("brief", sample_directory, "Which risk factors explain stock returns?", "--out", tmp_path).code == 0
    report = read_report(tmp_path)
    markdown = (tmp_path / "brief.md").read_text(encoding="utf-8")
    plain = re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", markdown)
    for _, sentence in walk(report.sections):
        assert " ".join(sentence.text.split()) in plain
    numbers = {reference.number for reference in report.references}
    used = {int(number) for number in re.findall(r"\[(\d+)\]", plain)}
    assert used == numbers
    for reference in report.references:
        assert reference.title in plain


def test_a_brief_holds_no_more_sections_than_asked(run: Run, sample_directory: Path, tmp_path: Path) -> None:
    assert run("brief", sample_directory, "supply chain contracts", "--out", tmp_path, "--top_n", 1).code == 0
    assert len(read_report(tmp_path).passages) == 1


def test_a_brief_is_not_begun_where_it_cannot_be_written(
    run: Run, sample_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((kg.build, "open_graph"), (scripts.tools, "load_encoder")):
        monkeypatch.setattr(module, name, fail)
    file = tmp_path / "file"
    file.write_text("mine")
    assert_refused(run("brief", sample_directory, "why?", "--out", file), file, "choose another directory")
    assert_refused(run("brief", sample_directory, "why?", "--out", file / "below"), file, "choose another directory")
    assert file.read_text() == "mine"


# Texts that would do harm


def test_titles_come_out_as_they_are_and_no_terminal_obeys_them(run: Run, tmp_path: Path) -> None:
    record = {
        "id": "h[1]:smile:",
        "title": HOSTILE,
        "authors": ["[red]Mallory[/red]"],
        "sections": [
            {"heading": "[link=x]H[/link]\x1b[5m", "text": f"A hostile supply chain is described here. {HOSTILE}"}
        ],
    }
    source = write_jsonl(tmp_path / "h.jsonl", [record, record | {"id": "h2", "year": 2001}])
    graph, out = tmp_path / "g", tmp_path / "out"
    shown = {
        "build": run("build", graph, source),
        "info": run("info", graph, "--documents"),
        "concept": run("info", graph, "--concept", "supply chain"),
        "search": run("search", graph, "supply chain", "--method", "bm25"),
        "json": run("search", graph, "supply chain", "--json"),
        "information as json": run("info", graph, "--json"),
        "brief": run("brief", graph, "hostile supply chain", "--out", out),
    }
    for name, result in shown.items():
        assert (result.code, result.err) == (0, ""), name
        assert_harmless(result.out)
    for name in ("info", "concept", "search"):
        assert "[bold]x[/bold] :smile:" in shown[name].out
    assert "[red]Mallory[/red]" in shown["info"].out
    assert "h[1]:smile:" in shown["info"].out
    assert "[link=x]H[/link]" in shown["search"].out
    assert shown["json"].value["results"][0]["text"].endswith(HOSTILE)
    assert_harmless((out / "brief.md").read_text(encoding="utf-8"))


def assert_harmless(text: str) -> None:
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text) == []


def test_errors_spell_out_control_characters(run: Run, sample_directory: Path, tmp_path: Path) -> None:
    for result in (
        run("remove", sample_directory, "\x1b[31mx"),
        run("search", sample_directory, "\x1b[31mzzqx", "--method", "bm25"),
        run("build", tmp_path / "g", tmp_path / "a\x1b[31m\nb"),
        run("\x1b[31mx"),
    ):
        assert_refused(result)
        assert_harmless(result.err)


def test_sources_whose_names_are_no_unicode_are_read_and_shown(run: Run, papers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    shutil.copy(papers, folder / os.fsdecode(b"caf\xe9.jsonl"))
    (folder / os.fsdecode(b"\xff.pdf")).write_bytes(b"%PDF-")
    for arguments in ([], ["--json"]):
        result = run("build", tmp_path / "g", folder, "--overwrite", *arguments)
        assert (result.code, result.err) == (1, "")
        assert "PDF" in result.out
    assert_refused(run("add", tmp_path / "g", folder / os.fsdecode(b"\xe9")), "does not exist")
    assert_refused(run("info", tmp_path / os.fsdecode(b"\xe9")), r"\udce9")


# How a command ends


@pytest.mark.parametrize(("kind", "code"), [(GraphError, 2), (BudgetError, 3), (ModelError, 4)])
def test_errors_meant_for_the_user_have_their_exit_codes(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: type[Exception], code: int
) -> None:
    def stop(arguments: object) -> NoReturn:
        raise kind("The thing cannot be used; use another one.")

    monkeypatch.setattr(scripts.commands.search, "run", stop)
    assert run("search", "G", "q") == Result(code, "", "evigraph: The thing cannot be used; use another one.\n")
    with pytest.raises(kind):
        run("search", "G", "q", "--debug")


def test_a_fault_of_ours_is_one_sentence_and_with_debug_a_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(arguments: object) -> NoReturn:
        raise KeyError("first line\nsecond line")

    monkeypatch.setattr(scripts.commands.search, "run", broken)
    result = run("search", "G", "q")
    assert (result.code, result.out) == (1, "")
    assert re.fullmatch(r"evigraph: internal error, KeyError: [^\n]*--debug[^\n]*\n", result.err)
    for position in (["--debug", "search", "G", "q"], ["search", "G", "--debug", "q"]):
        with pytest.raises(KeyError):
            run(*position)


def test_what_the_system_refuses_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(arguments: object) -> NoReturn:
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr(scripts.commands.search, "run", refuse)
    assert_refused(run("search", "G", "q"), "/some/file", "Permission denied", code=1)


def test_an_interrupted_command_ends_with_130(
    run: Run, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: HashEncoder, *arguments: object, **named: object) -> NoReturn:
        raise KeyboardInterrupt

    more = write_jsonl(tmp_path / "m.jsonl", [{"id": "three", "title": "Queues", "abstract": "Long queues are slow."}])
    with monkeypatch.context() as patch:
        patch.setattr(HashEncoder, "encode_documents", interrupt)
        assert_refused(run("add", graph, more), "interrupted", code=130)
    assert ids(graph) == ["one", "two"]
    with writer_lock(graph):
        pass
    assert run("add", graph, more).code == 0


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    yield made
    made.close()


def test_a_traceback_is_shown_with_debug_only(workshop: Workshop, tmp_path: Path) -> None:
    assert workshop.run("info", tmp_path / "missing", finalise=True) == 2
    plain = workshop.err.read_text()
    assert plain.startswith("evigraph: ")
    assert len(plain.splitlines()) == 1
    assert workshop.run("info", tmp_path / "missing", "--debug", finalise=True) not in {0, 2}
    debug = workshop.err.read_text()
    assert "Traceback" in debug
    assert plain.strip().removeprefix("evigraph: ") in debug


def test_other_libraries_do_not_talk_on_stderr(workshop: Workshop, sample_directory: Path) -> None:
    for method in METHODS:
        assert workshop.run("search", sample_directory, "bullwhip", "--method", method, finalise=True) == 0
        assert workshop.err.read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "reads"),
    [
        (["--documents"], "head -1"),
        (["--json"], "head -1"),
        (["--documents"], "true"),
        (["--json"], "true"),
        (["--top_n", "1"], "true"),
    ],
)
def test_a_reader_that_has_seen_enough_is_no_error(
    workshop: Workshop, many: Path, tmp_path: Path, arguments: list[str], reads: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["sh", "-c", f"{reads} < '{pipe}'"], stdout=subprocess.PIPE)
    code = workshop.run("info", many, *arguments, out=str(pipe), finalise=True)
    assert reader.communicate()[0].count(b"\n") == (reads == "head -1")
    assert (code, workshop.err.read_text()) == (0, "")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of papers whose list is larger than a pipe holds."""
    folder = tmp_path_factory.mktemp("many")
    records = [{"id": f"p{n}", "title": f"Paper {n} " + "on long titles " * 12, "year": 2000} for n in range(600)]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.setattr(scripts.tools, "load_encoder", lambda given, manifest=None: HashEncoder())
        assert main(["build", str(folder / "g"), str(write_jsonl(folder / "p.jsonl", records))]) == 0
    return folder / "g"


def test_the_same_sources_give_the_same_graph_as_the_library(run: Run, sample_directory: Path, tmp_path: Path) -> None:
    assert run("build", tmp_path / "g", SAMPLE).code == 0
    ours, theirs = open_generation(tmp_path / "g"), open_generation(sample_directory)
    assert ours.manifest == theirs.manifest
    assert ids(tmp_path / "g") == sorted(document.doc_id for document in read_all([SAMPLE])[0])


# Which encoder


def encoder_asked_for(
    monkeypatch: pytest.MonkeyPatch, given: str | None, manifest: dict[str, Any] | None
) -> tuple[str | None, SentenceEncoder]:
    asked: list[str | None] = []

    def find(name: str | None) -> EncoderSource:
        asked.append(name)
        return EncoderSource(
            name or "default", Path("nowhere"), "" if name else "no model was named, so the default is used"
        )

    monkeypatch.setattr("retrieval.encoder.find_encoder", find)
    monkeypatch.setattr(SentenceEncoder, "load", lambda source: HashEncoder())
    encoder = scripts.tools.load_encoder(given, manifest)
    return asked[0], encoder


def test_an_empty_encoder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="--encoder is empty"):
        encoder_asked_for(monkeypatch, " ", None)


def test_the_encoder_is_that_of_the_flag_else_the_environment_else_the_graph(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = {"configuration": {"encoder": {"name": "graph's", "fingerprint": "hash-1"}}}
    monkeypatch.setenv("EVIGRAPH_ENCODER", "environment's")
    assert encoder_asked_for(monkeypatch, "flag's", manifest)[0] == "flag's"
    assert encoder_asked_for(monkeypatch, None, manifest)[0] == "environment's"
    monkeypatch.delenv("EVIGRAPH_ENCODER")
    assert encoder_asked_for(monkeypatch, None, manifest)[0] == "graph's"
    assert capsys.readouterr().err == ""
    assert encoder_asked_for(monkeypatch, None, None)[0] is None
    assert capsys.readouterr().err == "no model was named, so the default is used.\n"


def test_an_encoder_other_than_the_graphs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = {"configuration": {"encoder": {"name": "graph's", "fingerprint": "f" * 32}}}
    with pytest.raises(GraphError, match=r"graph's \(ffffffffffff\), but hash \(hash-1\)") as caught:
        encoder_asked_for(monkeypatch, "other", manifest)
    assert "--encoder" in str(caught.value)


def test_an_encoder_that_is_no_model_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], papers: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "model"
    folder.mkdir()
    code = main(["build", str(tmp_path / "g"), str(papers), "--encoder", str(folder)])
    assert_refused(Result(code, *capsys.readouterr()), folder, "config.json", code=4)


def test_a_brief_in_no_format_is_refused(run: Run, sample_directory: Path, tmp_path: Path) -> None:
    done = run("brief", sample_directory, "risk", "--out", tmp_path / "x", "--formats")
    assert_refused(done, "--formats", "no format")


def test_triples_that_are_no_file_are_refused(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.md").write_text("# A\n\nText of a paper.\n")
    done = run("build", tmp_path / "g", tmp_path / "a.md", "--triples", tmp_path / "pipe")
    assert_refused(done, str(tmp_path / "pipe"), "no file")
