"""Build, add to, and remove from a graph directory: papers through the caches into a new generation.

Add and remove assemble anew from the caches, which is what makes them exact (DESIGN 3): the graph of a set of papers is
the same however one came to it. What costs, extraction and encoding, is done once per text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kg.assemble import assemble
from kg.build_report import BuildReport
from kg.cache import Cache
from kg.configuration import BuildConfig, Tools, difference
from kg.embedding import CachedEmbedder
from kg.errors import GraphError, InputError
from kg.lateral import LateralGraph
from kg.link_explanation import unheeded
from kg.mentions import encode_extraction
from kg.names import name_key
from kg.overrules import Overrules
from kg.papers import Paper, sorted_papers
from kg.ready_triples import NAME, ReadyTriples, StoredTriples
from kg.records import Document, Section, normalise_doi
from kg.storage import FORMAT, graph_exists, open_generation, prepare_directory, write_generation, writer_lock

__all__ = ["KIND", "BuildConfig", "BuildReport", "Tools", "add_documents", "build_graph", "check_target"]
__all__ += ["extract_sections", "open_graph", "overrule_names", "remove_documents"]

KIND = "lateral knowledge graph"
_CHUNK = 512
"""Sections between two writes of the extraction cache."""


def build_graph(
    directory: Path, documents: Iterable[Document], tools: Tools, *, overwrite: bool = False
) -> BuildReport:
    """Make the graph of ``documents`` in ``directory``. Raises ``GraphError`` if one is there, unless ``overwrite``."""
    check_target(directory, overwrite)
    prepare_directory(directory)
    with writer_lock(directory):
        check_target(directory, overwrite)
        return _replace_papers(directory, [], documents, tools)


def check_target(directory: Path, overwrite: bool) -> None:
    """Raise ``GraphError`` if a build would replace a graph that nobody said may be replaced."""
    if overwrite:
        return
    # A first build that was killed leaves generation 0001 at most; later ones were a graph that has lost its CURRENT.
    later = [p for p in directory.glob("generations/*/manifest.json") if p.parent.name > "0001"]
    if later and not graph_exists(directory):
        raise GraphError(
            f"{directory} holds {later[0].parent} but no file CURRENT; restore that file, "
            "or replace the graph with `evigraph build --overwrite`."
        )
    if graph_exists(directory):
        raise GraphError(
            f"{directory} already holds a graph; add papers to it with `evigraph add`, "
            "or replace it with `evigraph build --overwrite`."
        )


def add_documents(
    directory: Path, documents: Iterable[Document], tools: Tools, overrules: Overrules | None = None
) -> BuildReport:
    """Add papers; one whose id is there already is recognised if it is the same, and replaced if it has changed.

    ``overrules`` take the place of the graph's own, which else stay; tools that hold some must hold the same.
    """
    with writer_lock(directory):
        return _change(directory, open_graph(directory), documents, tools, overrules)


def overrule_names(directory: Path, overrules: Overrules, tools: Tools) -> BuildReport:
    """Put ``overrules`` in the place of the graph's own and assemble it anew from its caches, with the same papers."""
    with writer_lock(directory):
        graph = open_graph(directory)
        return _change(directory, graph, (), _without_file(graph, tools), overrules)


def remove_documents(directory: Path, doc_ids: Sequence[str], tools: Tools) -> BuildReport:
    """Remove papers; what others support stays. Raises ``InputError`` for an unknown id and then removes nothing.

    A graph of ready triples needs no file of them for this: its cache holds what stays.
    """
    with writer_lock(directory):
        graph = open_graph(directory)
        tools = _with_overrules(graph, _without_file(graph, tools))
        papers = _open_for_change(directory, graph, tools)
        known = [paper.document.doc_id for paper in papers]
        held = set(known)
        for doc_id in doc_ids:
            if doc_id not in held:
                close = get_close_matches(doc_id, known, n=3)
                hint = f"did you mean {' or '.join(close)}?" if close else "`evigraph info --documents` lists the ids"
                raise InputError(f"{directory} holds no document {doc_id!r}; nothing was removed: {hint}")
        gone = set(doc_ids)
        report = BuildReport(removed=sorted(gone))
        _write(directory, [paper for paper in papers if paper.document.doc_id not in gone], tools, report)
        return report


def open_graph(directory: Path) -> LateralGraph:
    """Open a graph directory, checked (``storage.open_generation``); raises ``GraphError``, for an older format too."""
    generation = open_generation(directory)
    if generation.manifest.get("kind") != KIND:
        raise GraphError(
            f"{directory} holds no {KIND} but {generation.manifest.get('kind')!r}; open it with its own command."
        )
    if (version := generation.manifest["format"]) < FORMAT:
        raise GraphError(
            f"{directory} was built by an older version (format {version}; this one reads {FORMAT}); "
            f"build it again: evigraph build {directory} SOURCE... --overwrite"
        )
    graph = LateralGraph.of(generation.tables, generation.tensors, generation.manifest)
    graph.directory = str(Path(directory).absolute())
    return graph


def _without_file(graph: LateralGraph, tools: Tools) -> Tools:
    """For a graph of ready triples whose file is not at hand: what its cache holds is enough for the papers there."""
    built_with = graph.manifest["configuration"]["extractor"]
    if built_with["name"] == NAME and tools.extractor.name != NAME:
        return replace(tools, extractor=StoredTriples(built_with["fingerprint"]))
    return tools


def _with_overrules(graph: LateralGraph, tools: Tools) -> Tools:
    """With the graph's own, unless the tools hold some."""
    own = Overrules.stored(graph.manifest["configuration"]["merge"]["overrules"])
    return tools if tools.config.merge.overrules else tools.under(own)


def _change(
    directory: Path, graph: LateralGraph, documents: Iterable[Document], tools: Tools, overrules: Overrules | None
) -> BuildReport:
    before = _with_overrules(graph, tools if overrules is None else tools.under(Overrules()))
    papers = _open_for_change(directory, graph, before)
    after = before if overrules is None else before.under(overrules)
    return _replace_papers(directory, papers, documents, after, overruled=after.config != before.config)


def _open_for_change(directory: Path, graph: LateralGraph, tools: Tools) -> list[Paper]:
    built_with, given = dict(graph.manifest["configuration"]), tools.configuration()
    fingerprint = built_with["extractor"]["fingerprint"]
    if fingerprint != tools.extractor.fingerprint and _finds_the_same(directory, graph, tools, fingerprint):
        built_with["extractor"] = given["extractor"]
    if differing := difference(built_with, given):
        raise GraphError(
            f"{directory} was built with {differing}; "
            "use the same, or build the graph again with `evigraph build --overwrite`."
        )
    return graph.papers()


def _finds_the_same(directory: Path, graph: LateralGraph, tools: Tools, fingerprint: str) -> bool:
    """Whether another file of ready triples has the graph's own for all of its sections, as a longer one may: then
    adding under it is the same as building under it. Raises ``GraphError`` naming a section that differs."""
    if not (isinstance(tools.extractor, ReadyTriples) and tools.extractor.has_rules_of(fingerprint)):
        return False
    sections = [section for paper in graph.papers() for section in paper.sections]
    with Cache(directory / "cache" / "extraction.sqlite", fingerprint) as extractions:
        known = extractions.get_many([section.content_hash for section in sections])
    if other := tools.extractor.differing(sections, known):
        raise GraphError(
            f"{directory} was built with other triples for {len(other):,} of its sections, {other[0]} first; "
            "use a file that has the same, or build the graph again with `evigraph build --overwrite`."
        )
    return True


def _replace_papers(
    directory: Path, papers: Sequence[Paper], documents: Iterable[Document], tools: Tools, *, overruled: bool = False
) -> BuildReport:
    report = BuildReport(overruled=overruled)
    by_id = {paper.document.doc_id: paper for paper in papers}
    with report.stage("sections"):
        for document in documents:
            paper = Paper.of(document, tools.config.sectioning)
            doc_id = paper.document.doc_id
            before = by_id.get(doc_id)
            if before is not None and before.content_hash == paper.content_hash:
                report.unchanged.append(doc_id)
                continue
            (report.added if before is None else report.replaced).append(doc_id)
            if before is not None and name_key(before.document.title) != name_key(paper.document.title):
                report.retitled.append(f"{doc_id}: {before.document.title!r} gave way to {paper.document.title!r}")
            by_id[doc_id] = paper
    changed = {*report.added, *report.replaced}
    report.empty = sorted(i for i in changed if not by_id[i].sections)
    report.title_only = sorted(i for i in changed if by_id[i].title_only)
    report.same_doi = _shared_dois(by_id.values(), changed)
    if isinstance(tools.extractor, ReadyTriples):
        new = [section for doc_id in sorted(changed) for section in by_id[doc_id].sections]
        report.without_triples = [s.section_id for s in new if not tools.extractor.is_ready(s)]
        report.unused_passages = tools.extractor.unused(s for paper in by_id.values() for s in paper.sections)
    if changed or overruled or not graph_exists(directory):
        _write(directory, list(by_id.values()), tools, report)
    return report


def _shared_dois(papers: Iterable[Paper], changed: set[str]) -> list[str]:
    """Papers with different ids but one DOI, where one of them is new: perhaps one paper, given twice."""
    holders: dict[str, list[str]] = {}
    for paper in papers:
        if doi := normalise_doi(paper.document.doi):
            holders.setdefault(doi, []).append(paper.document.doc_id)
    return [
        f"{' and '.join(sorted(ids))} have the DOI {doi}"
        for doi, ids in sorted(holders.items())
        if len(ids) > 1 and changed & set(ids)
    ]


def _write(directory: Path, papers: Sequence[Paper], tools: Tools, report: BuildReport) -> None:
    ordered = sorted_papers(papers)
    cache = directory / "cache"
    try:
        cache.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise GraphError(f"{cache} is a file, where the caches of the graph belong; remove it.") from error
    with (
        Cache(cache / "extraction.sqlite", tools.extractor.fingerprint) as extractions,
        Cache(cache / "embedding.sqlite", tools.encoder.fingerprint) as embeddings,
    ):
        with report.stage("extraction"):
            blobs = extract_sections([s for paper in ordered for s in paper.sections], tools, extractions)
        embedder = CachedEmbedder(tools.encoder, embeddings, tools.track)

        def embed(texts: Sequence[str]) -> Any:
            with report.stage("encoding"):
                return embedder(texts)

        with report.stage("assembly"):
            assembled = assemble(ordered, blobs, tools.extractor, embed, tools.config.merge)
        report.seconds["assembly"] -= report.seconds.get("encoding", 0.0)
    report.counts = assembled.counts
    report.unknown_names, report.unheeded = unheeded(tools.config.merge.overrules, assembled.tables["concepts"])
    manifest = {"kind": KIND, "configuration": tools.configuration(), "counts": assembled.counts}
    with report.stage("storage"):
        report.generation = write_generation(directory, assembled.tables, assembled.tensors, manifest)


def extract_sections(sections: Sequence[Section], tools: Tools, cache: Cache) -> list[bytes]:
    """Encoded extractions in the order of ``sections``, each from the cache or made and stored."""
    keys = [section.content_hash for section in sections]
    known: dict[str, bytes] = {}
    for start in range(0, len(keys), _CHUNK):
        known |= cache.get_many(keys[start : start + _CHUNK])
    missing = {key: section for key, section in zip(keys, sections, strict=True) if key not in known}
    fresh: dict[str, bytes] = {}
    try:
        for key, section in tools.track(missing.items(), len(missing), "extracting"):
            try:
                fresh[key] = known[key] = encode_extraction(tools.extractor.extract(section))
            except Exception as error:
                error.add_note(f"while extracting section {section.section_id}")
                raise
            if len(fresh) == _CHUNK:
                cache.put_many(fresh)
                fresh = {}
    finally:  # what was done is kept, whatever ended the loop
        cache.put_many(fresh)
    return [known[key] for key in keys]
