"""Build, add, remove: what is refused and how, what is reported, and that nothing is paid for twice."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

import kg.build
from kg.build import (
    BuildConfig,
    Tools,
    add_documents,
    build_graph,
    open_graph,
    overrule_names,
    remove_documents,
)
from kg.errors import GraphError, InputError
from kg.ingest import read_all
from kg.keyphrase import KeyphraseConfig, KeyphraseExtractor
from kg.merge import MergeConfig
from kg.overrules import Overrules, Said
from kg.pair_scorer import WEIGHTS
from kg.protocols import Track
from kg.records import Document, Extraction, Section
from kg.sectioning import SectioningConfig
from kg.storage import write_generation, writer_lock
from tests.conftest import HashEncoder, paper


class CountingExtractor(KeyphraseExtractor):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def extract(self, section: Section) -> Extraction:
        self.seen.append(section.content_hash)
        return super().extract(section)


class CountingEncoder(HashEncoder):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_documents(self, texts: Sequence[str], track: Track | None = None) -> torch.Tensor:
        self.seen += texts
        return super().encode_documents(texts)


class OtherEncoder(HashEncoder):
    name = "other"
    fingerprint = "other-fingerprint-1"


ONE = paper("a1", "Loss aversion shapes portfolio choice.", "One")
TWO = paper("a2", "Mental accounting explains the equity premium.", "Two")
THREE = paper("b3", "Loss aversion and mental accounting are related.", "Three")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "graph"


def current(directory: Path) -> bytes:
    return (directory / "CURRENT").read_bytes()


def test_a_report_says_what_happened(tools: Tools, directory: Path) -> None:
    built = build_graph(directory, [TWO, ONE, ONE], tools)
    assert (built.added, built.replaced, built.unchanged, built.removed) == (["a2", "a1"], [], ["a1"], [])
    changed = dataclasses.replace(TWO, title="Two again")
    added = add_documents(directory, [ONE, changed, THREE], tools)
    assert (added.added, added.replaced, added.unchanged) == (["b3"], ["a2"], ["a1"])
    removed = remove_documents(directory, ["b3", "a1", "a1"], tools)
    assert removed.removed == ["a1", "b3"]
    assert [r.generation for r in (built, added, removed)] == [1, 2, 3]
    assert added.counts == {"documents": 3, "sections": 3} | added.counts
    assert added.seconds.keys() == {"sections", "extraction", "encoding", "assembly", "storage"}
    assert all(value >= 0 for value in added.seconds.values())
    graph = open_graph(directory)
    assert graph.documents["title"].to_pylist() == ["Two again"]


def test_a_graph_is_not_replaced_unasked(tools: Tools, directory: Path) -> None:
    build_graph(directory, [ONE], tools)
    before = current(directory)
    with pytest.raises(GraphError, match=r"already holds a graph; .*add.*--overwrite"):
        build_graph(directory, [TWO], tools)
    assert current(directory) == before
    build_graph(directory, [TWO], tools, overwrite=True)
    assert open_graph(directory).documents["doc_id"].to_pylist() == ["a2"]


def test_a_refused_build_reads_no_document(tools: Tools, directory: Path) -> None:
    build_graph(directory, [ONE], tools)

    def documents():
        pytest.fail("read although the graph may not be replaced")
        yield TWO

    with pytest.raises(GraphError):
        build_graph(directory, documents(), tools)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"encoder": OtherEncoder()}, r"was built with encoder hash \(hash-1\), not other \(other-finger\)"),
        ({"extractor": KeyphraseExtractor(KeyphraseConfig(max_words=3))}, "was built with extractor keyphrase"),
        (
            {"config": BuildConfig(sectioning=SectioningConfig(max_words=50))},
            "was built with sectioning.max_words 700, not 50; use the same",
        ),
        ({"config": BuildConfig(merge=MergeConfig(tolerated=0.3))}, "was built with merge.tolerated 0.2, not 0.3; use"),
        (
            {"config": BuildConfig(merge=MergeConfig(rungs="rules"))},
            "was built with merge.rungs scorer, not rules .and 1",
        ),
        (
            {"config": BuildConfig(merge=MergeConfig(overrules=Overrules.of([Said("same", "a", "b")])))},
            r"was built with another merge.overrules.same, \['a', 'b'\] lacking there; use",
        ),
    ],
)
def test_another_configuration_is_refused_in_a_sentence(tools: Tools, directory: Path, other: dict, words: str) -> None:
    build_graph(directory, [ONE], tools)
    before = current(directory)
    different = dataclasses.replace(tools, **other)
    for change in (
        lambda: add_documents(directory, [TWO], different),
        lambda: remove_documents(directory, ["a1"], different),
    ):
        with pytest.raises(GraphError, match=words) as caught:
            change()
        assert "evigraph build --overwrite" in str(caught.value)
    assert current(directory) == before


def test_an_encoder_elsewhere_with_the_same_fingerprint_is_the_same(tools: Tools, directory: Path) -> None:
    build_graph(directory, [ONE], tools)
    moved = HashEncoder()
    moved.name = "/elsewhere/hash"
    assert add_documents(directory, [TWO], dataclasses.replace(tools, encoder=moved)).added == ["a2"]


def test_an_unknown_id_names_near_ones_and_removes_nothing(tools: Tools, directory: Path) -> None:
    build_graph(directory, [dataclasses.replace(ONE, doc_id=i) for i in ("smith2001", "smith2002", "other")], tools)
    before = current(directory)
    with pytest.raises(
        InputError, match="no document 'smith2003'; nothing was removed: did you mean smith200"
    ) as caught:
        remove_documents(directory, ["smith2001", "smith2003"], tools)
    assert "smith2001" in str(caught.value)
    assert "other" not in str(caught.value)
    assert caught.value.exit_code == 2
    with pytest.raises(InputError, match="'zzzzzz'; nothing was removed: `evigraph info --documents` lists the ids"):
        remove_documents(directory, ["zzzzzz"], tools)
    assert current(directory) == before


def test_changing_what_is_no_graph_is_refused(tools: Tools, tmp_path: Path) -> None:
    for change in (
        lambda: add_documents(tmp_path / "none", [ONE], tools),
        lambda: remove_documents(tmp_path / "none", ["a"], tools),
    ):
        with pytest.raises(GraphError, match="evigraph build"):
            change()


def test_a_graph_of_another_kind_is_refused(directory: Path) -> None:
    directory.mkdir()
    with writer_lock(directory):
        write_generation(directory, {}, {}, {"kind": "experience graph"})
    with pytest.raises(GraphError, match="holds no lateral knowledge graph but 'experience graph'"):
        open_graph(directory)


def test_nothing_is_extracted_or_encoded_twice(directory: Path) -> None:
    extractor, encoder = CountingExtractor(), CountingEncoder()
    tools = Tools(extractor, encoder)
    build_graph(directory, [ONE, TWO], tools)
    assert len(extractor.seen) == 2
    add_documents(directory, [THREE, TWO], tools)
    assert len(extractor.seen) == 3
    remove_documents(directory, ["a1", "b3"], tools)
    again = [ONE, dataclasses.replace(THREE, doc_id="another"), dataclasses.replace(TWO, authors=("Nobody",))]
    add_documents(directory, again, tools)
    assert len(extractor.seen) == len(set(extractor.seen)) == 3
    assert len(encoder.seen) == len(set(encoder.seen))
    seen = len(encoder.seen)
    build_graph(directory, [ONE, THREE], tools, overwrite=True)
    assert (len(extractor.seen), len(encoder.seen)) == (3, seen)


def test_sections_with_equal_content_are_extracted_once(directory: Path) -> None:
    extractor = CountingExtractor()
    twins = [dataclasses.replace(ONE, doc_id=f"twin{n}") for n in range(5)]
    build_graph(directory, twins, Tools(extractor, HashEncoder()))
    assert len(extractor.seen) == 1
    assert open_graph(directory).concepts["n_sections"].to_pylist() == [5] * open_graph(directory).n_concepts


def test_an_interrupted_extraction_keeps_what_it_paid_for(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kg.build, "_CHUNK", 2)

    class Breaking(CountingExtractor):
        def extract(self, section: Section) -> Extraction:
            if len(self.seen) == 5:
                raise KeyboardInterrupt
            return super().extract(section)

    papers = [paper(f"p{n}", f"Loss aversion of kind {chr(97 + n)}.") for n in range(8)]
    with pytest.raises(KeyboardInterrupt):
        build_graph(directory, papers, Tools(Breaking(), HashEncoder()))
    extractor = CountingExtractor()
    build_graph(directory, papers, Tools(extractor, HashEncoder()))
    assert len(extractor.seen) == 3  # the five that were done are kept, whole chunk or not
    assert open_graph(directory).n_documents == 8


def test_the_cache_belongs_to_its_extractor(directory: Path) -> None:
    build_graph(directory, [ONE], Tools(KeyphraseExtractor(), HashEncoder()))
    short = Tools(KeyphraseExtractor(KeyphraseConfig(max_words=1)), HashEncoder())
    build_graph(directory, [ONE], short, overwrite=True)
    assert max(len(form.split()) for form in open_graph(directory).concepts["form"].to_pylist()) == 1


def test_papers_without_text_are_kept_and_reported(tools: Tools, directory: Path) -> None:
    papers = [ONE, paper("e1", ""), paper("t1", " ", "Prospect theory and loss aversion")]
    report = build_graph(directory, papers, tools)
    assert (report.empty, report.title_only) == (["e1"], ["t1"])
    graph = open_graph(directory)
    assert graph.documents["doc_id"].to_pylist() == ["a1", "e1", "t1"]
    assert graph.documents["n_sections"].to_pylist() == [1, 0, 1]
    aliases = graph.concepts["aliases"].to_pylist()
    held = graph.incidence.to_dense()[graph.sections["section_id"].to_pylist().index("t1#0")].nonzero().flatten()
    assert {"Prospect theory", "loss aversion"} <= {alias for i in held.tolist() for alias in aliases[i]}
    assert remove_documents(directory, ["e1"], tools).removed == ["e1"]
    later = add_documents(directory, [paper("e2", "")], tools)
    assert (later.added, later.empty, later.title_only) == (["e2"], ["e2"], [])


def test_a_paper_whose_text_is_its_title_is_the_same_after_an_addition(
    tools: Tools, directory: Path, tmp_path: Path
) -> None:
    echo = paper("e", "Loss aversion and mental accounting", "Loss aversion and mental accounting")
    build_graph(directory, [echo], tools)
    add_documents(directory, [ONE], tools)
    build_graph(tmp_path / "once", [ONE, echo], tools)
    added, once = open_graph(directory), open_graph(tmp_path / "once")
    assert added.mentions.equals(once.mentions)
    assert added.relations.equals(once.relations)
    assert torch.equal(added["section"].x, once["section"].x)


def test_a_lone_surrogate_harms_no_other_paper(tools: Tools, directory: Path, tmp_path: Path) -> None:
    source = tmp_path / "papers.jsonl"
    source.write_text(
        '{"id": "bad", "title": "A \\ud800 title", "abstract": "Loss aversion \\udfff is found."}\n'
        '{"id": "good", "title": "Good", "abstract": "Mental accounting is found."}\n'
    )
    build_graph(directory, read_all([source])[0], tools)
    direct = Document("worse\udc00", "T", THREE.parts, ("A\ud800",))
    report = add_documents(directory, [direct, TWO], tools)
    assert report.added == ["worse\ufffd", "a2"]
    graph = open_graph(directory)
    assert graph.documents["doc_id"].to_pylist() == ["a2", "bad", "good", "worse\ufffd"]
    assert {"Loss aversion", "Mental accounting"} <= {a for own in graph.concepts["aliases"].to_pylist() for a in own}
    assert add_documents(directory, [direct], tools).unchanged == ["worse\ufffd"]
    remove_documents(directory, ["bad"], tools)
    build_graph(tmp_path / "without", [read_all([source])[0][1], direct, TWO], tools)
    assert open_graph(directory).concepts.equals(open_graph(tmp_path / "without").concepts)


def test_adding_nothing_new_writes_nothing(tools: Tools, directory: Path) -> None:
    build_graph(directory, [ONE, TWO], tools)
    before = current(directory)
    for documents in ([], [ONE], [TWO, ONE]):
        report = add_documents(directory, documents, tools)
        assert (report.added, report.replaced, report.generation) == ([], [], 0)
    assert current(directory) == before


def test_many_removals_write_one_generation(tools: Tools, directory: Path) -> None:
    papers = [paper(f"p{n:02d}", f"Loss aversion of kind {chr(97 + n % 26)}.") for n in range(40)]
    build_graph(directory, papers, tools)
    assert remove_documents(directory, [p.doc_id for p in papers[1:]], tools).generation == 2
    assert open_graph(directory).documents["doc_id"].to_pylist() == ["p00"]


def test_papers_that_share_a_doi_and_ids_that_change_their_paper_are_told(tools: Tools, tmp_path: Path) -> None:
    one = paper("a", "Loss aversion matters.", "Losses", doi="10.1/X")
    build_graph(tmp_path / "g", [one], tools)
    again = paper("b", "Loss aversion matters.", "Losses", doi="https://doi.org/10.1/x")
    twin = add_documents(tmp_path / "g", [again], tools)
    assert twin.same_doi == ["a and b have the DOI 10.1/x"]
    other = add_documents(tmp_path / "g", [paper("a", "Minimum wages matter.", "Wages")], tools)
    assert other.replaced == ["a"]
    assert other.retitled == ["a: 'Losses' gave way to 'Wages'"]


def test_a_document_without_an_id_is_refused(tools: Tools, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'Losses' has no id"):
        build_graph(tmp_path / "g", [paper("", "Loss aversion matters.", "Losses")], tools)


def test_extraction_that_fails_names_its_section_and_keeps_the_others(tools: Tools, tmp_path: Path) -> None:
    class Broken(KeyphraseExtractor):
        seen = 0

        def extract(self, section: Section) -> Extraction:
            if section.doc_id == "c":
                raise RuntimeError("no")
            Broken.seen += 1
            return super().extract(section)

    papers = [paper(name, f"Text {name} on loss aversion.") for name in "abc"]
    with pytest.raises(RuntimeError) as caught:
        build_graph(tmp_path / "g", papers, dataclasses.replace(tools, extractor=Broken()))
    assert caught.value.__notes__ == ["while extracting section c#0"]
    build_graph(tmp_path / "g", papers[:2], dataclasses.replace(tools, extractor=Broken()))
    assert Broken.seen == 2


def test_settings_of_the_selection_are_part_of_the_configuration(tools: Tools, tmp_path: Path) -> None:
    other = dataclasses.replace(tools, extractor=KeyphraseExtractor(KeyphraseConfig(max_terms=9)))
    build_graph(tmp_path / "g", [paper("a", "Loss aversion.")], other)
    with pytest.raises(GraphError, match="extractor"):
        add_documents(tmp_path / "g", [paper("b", "Risk premium.")], tools)


def test_a_graph_knows_its_directory_from_anywhere(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build_graph(Path("g"), [paper("a", "Loss aversion.")], tools)
    assert open_graph(Path("g")).directory == str(tmp_path / "g")


def test_a_graph_that_lost_its_current_is_not_built_over(tools: Tools, tmp_path: Path) -> None:
    directory = tmp_path / "g"
    build_graph(directory, [paper("a", "Loss aversion.")], tools)
    (directory / "CURRENT").unlink()
    build_graph(directory, [paper("a", "Loss aversion.")], tools)  # as after a first build that was killed
    add_documents(directory, [paper("b", "Risk premium.")], tools)
    (directory / "CURRENT").unlink()
    with pytest.raises(GraphError, match="no file CURRENT; restore"):
        build_graph(directory, [paper("c", "Minimum wages.")], tools)
    build_graph(directory, [paper("c", "Minimum wages.")], tools, overwrite=True)
    assert open_graph(directory).documents["doc_id"].to_pylist() == ["c"]


def test_a_file_where_the_caches_belong_is_named(tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "g", [paper("a", "Loss aversion.")], tools)
    shutil.rmtree(tmp_path / "g" / "cache")
    (tmp_path / "g" / "cache").touch()
    with pytest.raises(GraphError, match="cache is a file"):
        add_documents(tmp_path / "g", [paper("b", "Risk premium.")], tools)


def test_other_weights_of_the_scorer_are_refused_and_the_same_ones_elsewhere_taken(
    tools: Tools, directory: Path, tmp_path: Path
) -> None:
    build_graph(directory, [ONE], tools)
    same, other = tmp_path / "same.json", tmp_path / "other.json"
    same.write_bytes(WEIGHTS.read_bytes())
    other.write_text(json.dumps(json.loads(WEIGHTS.read_text()) | {"slope": 0.5}))

    def scored(path: Path) -> Tools:
        return dataclasses.replace(tools, config=BuildConfig(merge=MergeConfig(scorer=str(path))))

    assert add_documents(directory, [TWO], scored(same)).added == ["a2"]
    with pytest.raises(GraphError, match=r"was built with pair_scorer .*same.json \(\w{12}\), not .*other.json \("):
        add_documents(directory, [THREE], scored(other))


def test_a_graph_of_an_older_format_is_to_be_built_again(
    tools: Tools, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("kg.storage.FORMAT", 1)
        build_graph(directory, [ONE], tools)
    for change in (
        lambda: open_graph(directory),
        lambda: add_documents(directory, [TWO], tools),
        lambda: remove_documents(directory, ["a1"], tools),
    ):
        with pytest.raises(
            GraphError, match=r"older version \(format 1; .*evigraph build .*graph SOURCE... --overwrite$"
        ):
            change()
    build_graph(directory, [ONE], tools, overwrite=True)
    assert open_graph(directory).n_documents == 1


# What people say of names

SAID = Overrules.of(
    [
        Said("same", "portfolio choice", "equity premium"),
        Said("different", "mental accounting", "loss aversion"),
        Said("same", "accounting of the mind", "mental accounting"),
    ]
)
PAPERS = [ONE, TWO, THREE]


def generation(directory: Path) -> dict[str, bytes]:
    number = current(directory).decode().split()[0]
    return {path.name: path.read_bytes() for path in (directory / "generations" / number).iterdir()}


def test_any_way_to_papers_and_to_what_is_said_gives_the_same_bytes(tools: Tools, tmp_path: Path) -> None:
    ruled = tools.under(SAID)
    build_graph(tmp_path / "whole", PAPERS, ruled)
    whole = generation(tmp_path / "whole")
    [one] = [own for own in open_graph(tmp_path / "whole").concepts["keys"].to_pylist() if "equitypremium" in own]
    assert "portfoliochoice" in one
    build_graph(tmp_path / "grown", PAPERS[2:], ruled)
    for added in (PAPERS[:1], PAPERS[1:2]):
        add_documents(tmp_path / "grown", added, tools)  # the graph's own stay
    assert generation(tmp_path / "grown") == whole
    add_documents(tmp_path / "grown", [paper("x", "Equity premium of the mind.")], ruled)
    remove_documents(tmp_path / "grown", ["x"], tools)
    assert generation(tmp_path / "grown") == whole
    build_graph(tmp_path / "late", PAPERS[:2], tools)
    assert add_documents(tmp_path / "late", PAPERS[2:], tools, SAID).overruled
    assert generation(tmp_path / "late") == whole


def test_what_is_said_is_replaced_without_paying_again(directory: Path, tmp_path: Path) -> None:
    extractor, encoder = CountingExtractor(), CountingEncoder()
    tools = Tools(extractor, encoder)
    build_graph(directory, PAPERS, tools)
    plain = generation(directory)
    paid = len(extractor.seen), len(encoder.seen)
    told = overrule_names(directory, SAID, tools)
    assert (told.overruled, told.added, told.unknown_names) == (True, [], ["accounting of the mind"])
    assert (len(extractor.seen), len(encoder.seen)) == paid
    build_graph(tmp_path / "anew", PAPERS, tools.under(SAID))
    assert generation(directory) == generation(tmp_path / "anew")
    again = overrule_names(directory, SAID, tools.under(Overrules.of([Said("same", "a", "b")])))
    assert (again.overruled, again.generation) == (False, 0)
    assert overrule_names(directory, Overrules(), tools).overruled
    assert generation(directory) == plain


def test_tools_that_hold_other_things_said_than_the_graph_are_refused(tools: Tools, directory: Path) -> None:
    build_graph(directory, [ONE], tools.under(SAID))
    other = tools.under(Overrules.of([Said("same", "portfolio choice", "equity premium")]))
    with pytest.raises(GraphError, match=r"another merge.overrules.different, \['loss aversion', .*\] only there"):
        add_documents(directory, [TWO], other)
    assert add_documents(directory, [TWO], other, SAID).added == ["a2"]


def test_what_has_no_effect_is_told(tools: Tools, directory: Path) -> None:
    defined = paper("c", "The capital asset pricing model (CAPM) prices beta risk. The CAPM holds.")
    said = Overrules.of([Said("same", "CAPM", "loss aversion"), Said("same", "nothing", "nowhere")])
    report = build_graph(directory, [ONE, defined], tools.under(said))
    assert report.unknown_names == ["nothing", "nowhere"]
    [told] = report.unheeded
    assert told.startswith("'capm' and 'loss aversion' are not one, though said to be the same: one is an acronym")
