"""The overview: summaries that add up, a map without overlaps, and a page that answers in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from agents.pictures.overview import colour, community_name, drawn_links, in_words, render_overview
from agents.pictures.overview_layout import place_circles
from agents.pictures.overview_papers import Papers, paper_mentions
from agents.pictures.overview_relations import telling_pairs
from agents.pictures.overview_summary import Overview, OverviewConfig, distinct, summarise, telling
from agents.pictures.overview_years import year_bins
from kg.build import Tools, build_graph, open_graph
from kg.communities import Communities, concept_weights, find_communities
from kg.errors import InputError
from kg.lateral import LateralGraph
from kg.records import Document
from scripts.commands.overview import Arguments, run
from tests.browser import open_file, overflow, watched_page
from tests.conftest import paper

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = (
    "<script>window.pwned = 1</script>",
    '"><img src=x onerror="window.pwned = 2">',
    "\u202eمحفظة الاستثمار\u202c",
    "x" * 300,
    "量子计算 & </script>",
)


@pytest.fixture(scope="module")
def communities(sample_graph: LateralGraph) -> Communities:
    return find_communities(sample_graph)


@pytest.fixture(scope="module")
def overview(sample_graph: LateralGraph, communities: Communities) -> Overview:
    return summarise(sample_graph, communities)


@pytest.fixture(scope="module")
def html(overview: Overview) -> str:
    return render_overview(overview, "sample")


@pytest.fixture(scope="module")
def file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("overview") / "page.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def built(tools: Tools, tmp_path: Path) -> Callable[..., LateralGraph]:
    def build(*papers: Document) -> LateralGraph:
        build_graph(tmp_path / "graph", papers, tools)
        return open_graph(tmp_path / "graph")

    return build


def embedded(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


class Tags(HTMLParser):
    """Elements with their attributes, as a parser other than a browser's reads them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


# Summaries


def test_what_is_drawn_and_what_is_left_out_make_up_the_graph(
    overview: Overview, communities: Communities, sample_graph: LateralGraph
) -> None:
    sizes = [community.size for community in overview.communities]
    assert sizes == sorted(sizes, reverse=True)
    assert 10 < len(sizes) <= 60
    assert sum(sizes) + overview.smaller_concepts + overview.isolated == sample_graph.n_concepts
    assert len(sizes) + overview.smaller == len(communities)
    assert overview.largest_left_out < sizes[0] / 40 <= sizes[-1]


def test_no_more_communities_are_drawn_than_asked_for(sample_graph: LateralGraph, communities: Communities) -> None:
    some = summarise(sample_graph, communities, OverviewConfig(drawn=4, concepts=3, papers=2, neighbours=1, searched=7))
    assert len(some.communities) == 4
    assert some.smaller_concepts == communities.sizes[4:].sum()
    assert some.largest_left_out == communities.sizes[4]
    for community in some.communities:
        assert (len(community.concepts), len(community.papers), len(community.names)) == (3, 2, 7)
        assert all(neighbour.number < 4 for neighbour in community.neighbours)


def test_fractional_papers_sum_to_the_papers(sample_graph: LateralGraph, communities: Communities) -> None:
    every = summarise(sample_graph, communities, OverviewConfig(drawn=10**6, least=0.0))
    assert every.smaller == 0
    profiles = [community.profile for community in every.communities]
    isolated = Papers(sample_graph, paper_mentions(sample_graph, communities, len(communities))).profile(
        len(communities)
    )
    whole = every.whole
    assert whole.papers == sample_graph.n_documents
    for sums, total in (
        (sum(p.papers for p in profiles) + isolated.papers, whole.papers),
        (np.sum([(*p.years, p.undated) for p in (*profiles, isolated)], axis=0), (*whole.years, whole.undated)),
        (np.sum([p.fields for p in (*profiles, isolated)], axis=0), whole.fields),
    ):
        np.testing.assert_allclose(sums, total, atol=1e-9)
    for profile in (*profiles, whole):
        assert sum(profile.years) + profile.undated == pytest.approx(profile.papers)
        assert sum(profile.fields) == pytest.approx(profile.papers)


def test_a_paper_counts_by_the_share_of_its_mentions(
    overview: Overview, sample_graph: LateralGraph, communities: Communities
) -> None:
    community = overview.communities[1]
    titles = {row["title"]: n for n, row in enumerate(sample_graph.documents.to_pylist())}
    owner = sample_graph.sections["document"].to_pylist()
    for top in community.papers:
        here = every = 0
        for row in sample_graph.mentions.select(["section", "concept", "count"]).to_pylist():
            if owner[row["section"]] == titles[top.title]:
                every += row["count"]
                here += row["count"] * int(communities.of[row["concept"]] == community.number)
        assert top.share == pytest.approx(here / every)
        assert re.fullmatch(r"https://doi\.org/10\.\S+|", top.url)
    assert overview.communities[0].papers[0].share > 0.5


def test_top_concepts_lie_in_the_community_and_differ(
    overview: Overview, sample_graph: LateralGraph, communities: Communities
) -> None:
    scores = telling(sample_graph, concept_weights(sample_graph), communities.of)
    assert (scores[communities.of < 0] == 0).all()
    assert (scores[communities.of >= 0] > 0).all()
    labels = sample_graph.concepts["label"].to_pylist()
    for community in overview.communities:
        rows = np.flatnonzero(communities.of == community.number)
        best = max(rows.tolist(), key=lambda row: (scores[row], -row))
        assert community.concepts[0].label == labels[best] == community.names[0]
        assert set(community.names) <= {labels[row] for row in rows.tolist()}
        assert {concept.label for concept in community.concepts} <= set(community.names)
        for one, other in combinations(community.concepts, 2):
            assert not set(one.label.casefold().split()) <= set(other.label.casefold().split())


def test_names_that_say_the_same_are_left_out(built: Callable[..., LateralGraph]) -> None:
    graph = built(
        paper("a", "The supply chain and supply chain management. The supply chains of retailers. Stock returns vary.")
    )
    labels = [label.casefold() for label in graph.concepts["label"].to_pylist()]
    rows = [i for i, label in enumerate(labels) if "supply" in label] + [
        i for i, label in enumerate(labels) if "supply" not in label
    ]
    assert sum("supply" in labels[row] for row in rows) > 1
    assert sum("supply" in labels[row] for row in distinct(graph, rows, 99)) == 1
    assert distinct(graph, rows, 1) == rows[:1]


def test_median_years_halve_the_dated_papers(sample_graph: LateralGraph, communities: Communities) -> None:
    mentions = paper_mentions(sample_graph, communities, 5)
    papers = Papers(sample_graph, mentions)
    years = np.array(sample_graph.documents["year"].to_pylist(), dtype=float)
    for number in range(5):
        shares = mentions[:, number].toarray().ravel() / np.asarray(mentions.sum(axis=1)).ravel()
        median = papers.median_year(number)
        assert median is not None
        assert shares[years < median].sum() <= shares.sum() / 2 + 1e-9
        assert shares[years <= median].sum() >= shares.sum() / 2 - 1e-9


def test_links_are_weights_between_communities(overview: Overview, communities: Communities) -> None:
    n = len(overview.communities)
    dense = communities.weights.toarray()
    np.testing.assert_allclose(overview.links, overview.links.T)
    assert (np.diag(overview.links) == 0).all()
    for a, b in ((0, 1), (2, 5), (n - 1, 0)):
        outward = [dense[c].sum() - dense[c, c] for c in (a, b)]
        assert overview.links[a, b] == pytest.approx(dense[a, b])
        if dense[a, b]:
            assert overview.cosines[a, b] == pytest.approx(dense[a, b] / np.sqrt(outward[0] * outward[1]))
    for community in overview.communities:
        assert community.inside == pytest.approx(
            dense[community.number, community.number] / dense[community.number].sum()
        )
        for neighbour in community.neighbours:
            share = dense[community.number, neighbour.number] / dense[community.number].sum()
            assert neighbour.share == pytest.approx(share)
            assert share > 0


def test_neighbours_come_with_a_sentence_of_a_paper(overview: Overview, sample_graph: LateralGraph) -> None:
    texts = " ".join(" ".join(sample_graph.sections["text"].to_pylist()).split())
    examples = [n.example for community in overview.communities for n in community.neighbours]
    assert len(examples) > 20
    assert all(examples)
    quoted = [example for example in examples if example and example.in_text]
    assert len(quoted) > 0.8 * len(examples)
    for example in quoted:
        assert example.sentence.removesuffix(" …") in texts
        assert re.search(r"\((\d{4}|n\.d\.)\)$", example.cited)


@given(st.integers(0, 2**32 - 1), st.integers(4, 14), st.integers(2, 4))
@settings(max_examples=25)
def test_the_most_telling_edge_joins_a_pair_of_communities(seed: int, n: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(0, 3, (n, n)) * (rng.random((n, n)) < 0.5), 1).astype(np.float64)
    of, scores = rng.integers(-1, groups, n), rng.integers(1, 5, n).astype(np.float64)
    of[upper.sum(axis=0) + upper.sum(axis=1) == 0] = -1
    upper[of < 0] = 0.0
    upper[:, of < 0] = 0.0
    if (of < 0).all():
        return
    wanted = set(combinations(range(groups), 2))
    found = telling_pairs(sparse.csr_matrix(upper + upper.T), of, wanted, scores)
    best = {g: scores[of == g].max() for g in set(of.tolist()) - {-1}}
    value = {
        (u, v): upper[u, v] * np.sqrt(scores[u] / best[of[u]] * scores[v] / best[of[v]])
        for u, v in zip(*map(np.ndarray.tolist, np.nonzero(upper)), strict=True)
        if of[u] != of[v]
    }
    for key in wanted:
        own = [pair for pair in value if tuple(sorted((int(of[pair[0]]), int(of[pair[1]])))) == key]
        assert (key in found) == bool(own)
        if own:
            assert value[found[key]] == pytest.approx(max(value[pair] for pair in own))


@given(st.lists(st.none() | st.integers(1500, 2100), max_size=60), st.integers(3, 20))
def test_periods_are_round_and_hold_every_year(years: list[int | None], most: int) -> None:
    bins, period = year_bins(years, most)
    dated = [year for year in years if year is not None]
    assert len(bins) <= most
    assert bool(len(bins)) == bool(dated)
    assert len(bins.labels()) == len(bins)
    for year, n in zip(years, period.tolist(), strict=True):
        assert (n == -1) == (year is None)
        if year is not None:
            assert bins.start + n * bins.width <= year < bins.start + (n + 1) * bins.width
    if dated:
        assert bins.start % bins.width == 0
        assert str(bins.width).strip("0") in {"1", "2", "5"}
        assert {0, len(bins) - 1} <= set(period.tolist())


def test_periods_are_named() -> None:
    assert year_bins([1991, 1993])[0].labels() == ["1991", "1992", "1993"]
    assert year_bins([1952, 1999, 2004, None])[0].labels()[0] == "1950–1954"
    assert year_bins([])[0].labels() == []


# The map


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_circles_never_overlap(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    radii = rng.uniform(3, 120, n)
    pull = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    at = place_circles(radii, pull + pull.T, gap=5.0)
    for i, j in combinations(range(n), 2):
        assert np.hypot(*(at[i] - at[j])) >= radii[i] + radii[j] + 5.0 - 1e-4
    if n:
        np.testing.assert_allclose((at - radii[:, None]).min(axis=0), -(at + radii[:, None]).max(axis=0), atol=1e-6)
    np.testing.assert_array_equal(at, place_circles(radii, pull + pull.T, gap=5.0))


def test_linked_circles_are_near() -> None:
    pull = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12)
    at = place_circles(np.full(12, 20.0), pull, gap=4.0)
    distance = np.linalg.norm(at[:, None] - at[None], axis=2)
    assert distance[pull > 0].mean() < 0.6 * distance[pull == 0][distance[pull == 0] > 0].mean()


def test_areas_are_concepts_and_links_the_closest(html: str, overview: Overview) -> None:
    data = embedded(html)
    per_concept = {round(c["r"] ** 2 / c["size"], 0) for c in data["communities"]}
    assert max(per_concept) / min(per_concept) < 1.05
    pairs = [(a, b) for a, b, _ in data["links"]]
    assert len(pairs) == len(set(pairs)) == len(drawn_links(overview))
    assert all(a < b and overview.links[a, b] > 0 for a, b in pairs)
    assert max(width for _, _, width in data["links"]) <= 1.0
    linked = {n for pair in pairs for n in pair}
    assert linked == {n for n in range(len(overview.communities)) if overview.links[n].any()}


def test_colours_are_fields(overview: Overview) -> None:
    colouring = colour(overview)
    assert colouring.what == "field"
    assert overview.fields == ("economics", "finance", "operations management", "statistics")
    for community, number in zip(overview.communities, colouring.of, strict=True):
        assert community.profile.fields[number - 1] == max(community.profile.fields)
    assert [name for _, name in colouring.legend] == list(overview.fields)


def test_without_fields_colours_are_groups(sample_directory: Path, communities: Communities) -> None:
    graph = open_graph(sample_directory)
    nothing = pa.array([""] * graph.n_documents, pa.string())
    for column in ("field", "venue"):
        graph.documents = graph.documents.set_column(graph.documents.schema.get_field_index(column), column, nothing)
    overview = summarise(graph, communities)
    colouring = colour(overview)
    assert (overview.fields, colouring.what, colouring.legend) == (("",), "group", ())
    assert colouring.groups == len(set(colouring.of) - {0}) > 1
    page = render_overview(overview, "sample")
    assert f"Colour: {colouring.groups} groups of communities" in page
    assert "Leading field" not in page


# The page as text


def test_the_page_says_what_it_shows_and_what_not(html: str, overview: Overview, sample_graph: LateralGraph) -> None:
    assert "<title>Overview of sample</title>" in html
    text = " ".join(re.sub(r"<[^>]+>", " ", html.split('<script type="application/json"')[0]).split())
    drawn = sum(community.size for community in overview.communities)
    assert f"{len(overview.communities)} communities with {drawn:,} concepts, and {overview.smaller:,} smaller" in text
    assert f"with {overview.smaller_concepts} concepts that are not drawn" in text
    assert f"{overview.isolated} concepts are related to no other" in text
    whole = f"{sample_graph.n_documents} papers of {{}} to {{}} and the {sample_graph.n_concepts:,} concepts"
    assert whole.format(*overview.years or ()) in text
    assert overview.years
    assert "–".join(map(str, overview.years)) in text
    assert f"knows the leading {drawn:,} concepts of {sample_graph.n_concepts:,}" in text


def test_the_page_needs_nothing_else(html: str, overview: Overview) -> None:
    tags = Tags(html).tags
    assert not [tag for tag, attributes in tags if "src" in attributes or tag in {"link", "iframe", "object"}]
    links = {attributes["href"] for tag, attributes in tags if tag == "a"}
    assert links == set()  # papers are linked by the script, to doi.org
    assert [tag for tag, _ in tags].count("tr") == 1 + len(overview.communities)
    urls = {paper[3] for community in embedded(html)["communities"] for paper in community["papers"]}
    assert len(urls) > 10
    assert all(url == "" or url.startswith("https://doi.org/10.") for url in urls)
    assert len(html) < 1_000_000


def test_the_same_graph_gives_the_same_page(html: str, sample_directory: Path) -> None:
    graph = open_graph(sample_directory)
    assert render_overview(summarise(graph, find_communities(graph)), "sample") == html


def test_the_search_is_bounded_and_says_so(sample_graph: LateralGraph, communities: Communities) -> None:
    overview = summarise(sample_graph, communities, OverviewConfig(characters=2000))
    names = [name for community in overview.communities for name in community.names]
    assert 1000 < sum(map(len, names)) <= 2000
    assert max(len(community.names) for community in overview.communities) == overview.depth < 20
    page = render_overview(overview, "sample")
    assert f"knows the leading {len(names):,} concepts" in page
    assert f"at most {overview.depth} of each community drawn" in page


@pytest.mark.parametrize(
    ("papers", "said"),
    [
        ((), "This graph holds no concepts"),
        ((paper("a", "", "The lasso"),), "No two concepts of this graph are related"),
        ((paper("a", "Trade credit finances the retailer. The lasso is a method.", year=1996),), "1 community with"),
    ],
)
def test_small_graphs_make_sense(papers: tuple[Document, ...], said: str, built: Callable[..., LateralGraph]) -> None:
    graph = built(*papers)
    overview = summarise(graph, find_communities(graph))
    html = render_overview(overview, "small")
    assert said in html
    assert ('id="map"' in html) == bool(overview.communities)
    assert embedded(html)["whole"]["papers"] == len(papers)
    assert in_words(overview) in html
    assert in_words(overview).startswith("1 paper" if papers else "0 papers")
    assert not re.search(r"\b1 (?:groups|papers|concepts|communities)\b", html)


# The command


def test_the_command_writes_the_page(
    sample_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "map.HTML"
    assert run(Arguments(sample_directory, out)) == 0
    assert re.search(r"map\.HTML: \d+ communities, \d+ of them drawn, in \d+\.\d s", capsys.readouterr().out)
    assert "<title>Overview of graph</title>" in out.read_text(encoding="utf-8")
    assert run(Arguments(sample_directory, out, json=True)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["overview"] == str(out)
    assert told["communities"] >= told["drawn"] > 10
    assert 0.5 < told["modularity"] < 1
    assert run(Arguments(sample_directory, out, title="Seminal papers <b>")) == 0
    page = out.read_text(encoding="utf-8")
    assert "<title>Seminal papers &lt;b&gt;</title>" in page
    assert '<h1 dir="auto">Seminal papers &lt;b&gt;</h1>' in page
    assert told["seconds"] > 0


@pytest.mark.parametrize("name", ["map.svg", "map", "folder.html"])
def test_other_files_are_refused_in_a_sentence(sample_directory: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match=r"an overview is a page.*\.html"):
        run(Arguments(sample_directory, tmp_path / name))


def test_an_empty_graph_is_said_with_the_way_out(tools: Tools, tmp_path: Path) -> None:
    build_graph(tmp_path / "g", [], tools)
    with pytest.raises(InputError, match="holds no papers; add some: evigraph add"):
        run(Arguments(tmp_path / "g", tmp_path / "o.html"))
    assert not (tmp_path / "o.html").exists()


# The page in a browser

VISIBLE_NAMES = """() => [...document.querySelectorAll("#map .name")].filter((n) => n.style.display !== "none")
  .map((n) => { const b = n.getBoundingClientRect(); return [n.textContent, b.left, b.top, b.right, b.bottom]; })"""
CIRCLES = """() => [...document.querySelectorAll("#map circle")].map((c) => c.getBoundingClientRect())
  .map((b) => [b.left + b.width / 2, b.top + b.height / 2, b.width / 2])"""


def assert_names_readable(page: Page, least: int) -> None:
    """No name on another, none over a circle it does not belong to, all within the picture."""
    names, circles = page.evaluate(VISIBLE_NAMES), page.evaluate(CIRCLES)
    frame = page.locator("#map").bounding_box()
    assert frame
    assert len(names) >= least
    for (_, *a), (_, *b) in combinations(names, 2):
        assert min(a[2], b[2]) - max(a[0], b[0]) < 1 or min(a[3], b[3]) - max(a[1], b[1]) < 3, (a, b)
    for text, left, top, right, bottom in names:
        middle = ((left + right) / 2, (top + bottom) / 2)
        for x, y, r in circles:
            nearest = (min(max(x, left), right), min(max(y, top + 2), bottom - 2))
            touches = np.hypot(nearest[0] - x, nearest[1] - y) < r - 1
            assert not touches or np.hypot(middle[0] - x, middle[1] - y) < r, text


@pytest.mark.browser
def test_a_click_opens_what_a_community_is_about(page: Page, file: Path, overview: Overview) -> None:
    open_file(page, file)
    assert page.locator("#panel-title").inner_text() == "The whole graph"
    assert page.locator(".community").count() == len(overview.communities)
    chosen = overview.communities[2]
    page.locator(".community").nth(2).click()
    assert page.locator("#panel-title").inner_text() == community_name(chosen)
    assert page.locator(".concepts li").count() == len(chosen.concepts)
    assert page.locator(".papers li").count() == len(chosen.papers)
    assert page.locator(".papers a").first.get_attribute("href") == next(p.url for p in chosen.papers if p.url)
    assert page.locator(".years rect").count() == len(overview.bins)
    assert page.locator(".fields li").count() == sum(count > 0 for count in chosen.profile.fields)
    assert page.locator(".community.selected").get_attribute("aria-pressed") == "true"
    assert page.locator("tr.selected").get_attribute("data-number") == "2"
    first = chosen.neighbours[0]
    assert first.example
    assert first.example.sentence in page.locator(".neighbours li").first.inner_text()
    page.locator(".neighbours button").first.click()
    assert page.locator("#panel-title").inner_text() == community_name(overview.communities[first.number])
    page.locator(".panel .close").click()
    assert page.locator("#panel-title").inner_text() == "The whole graph"


@pytest.mark.browser
def test_pointing_at_a_circle_shows_what_it_is_linked_to(page: Page, file: Path, overview: Overview) -> None:
    open_file(page, file)
    page.locator(".community").nth(1).hover()
    linked = {n for a, b, _ in drawn_links(overview) if 1 in (a, b) for n in (a, b)}
    near = page.evaluate(
        "[...document.querySelectorAll('.community')].flatMap((c, n) => c.matches('.near') ? [n] : [])"
    )
    assert set(near) == linked
    assert page.locator("#map.active").count() == 1
    page.mouse.move(2, 2)
    assert page.locator("#map.active").count() == 0


@pytest.mark.browser
def test_a_small_circle_says_its_name_when_pointed_at(page: Page, file: Path, overview: Overview) -> None:
    open_file(page, file)
    shown = page.evaluate("[...document.querySelectorAll('.name')].map((n) => n.style.display !== 'none')")
    silent = [n for n, own in enumerate(shown) if not own]
    for n in silent[:2]:
        page.locator(".community").nth(n).hover()
        name = page.locator(".name").nth(n)
        assert name.is_visible()
        assert (name.text_content() or "?")[:10].rstrip("…") in overview.communities[n].concepts[0].label


@pytest.mark.browser
def test_names_never_overlap(chromium: Browser, file: Path, overview: Overview) -> None:
    for width, least in ((1280, 0.6), (390, 0.45)):
        with watched_page(chromium, viewport={"width": width, "height": 844}, reduced_motion="reduce") as page:
            open_file(page, file)
            assert overflow(page) == 0
            assert_names_readable(page, round(least * len(overview.communities)))
            page.locator("[data-zoom=in]").click()
            page.locator("[data-zoom=in]").click()
            assert_names_readable(page, 1)
            page.locator("[data-zoom=all]").click()
            assert_names_readable(page, round(least * len(overview.communities)))


@pytest.mark.browser
def test_the_search_finds_the_community_of_a_concept(page: Page, file: Path, overview: Overview) -> None:
    open_file(page, file)
    community = overview.communities[3]
    name = community.names[-1]
    page.locator("#search").fill(name.upper())
    option = page.locator("#found li[aria-selected=true]")
    assert option.locator("span").inner_text() == name
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator("#panel-title").inner_text() == community_name(community)
    assert f"{name} is concept {community.size} of {community.size} here." in page.locator(".found").inner_text()
    page.locator("#search").fill("no such thing")
    assert "Not among the" in page.locator("#found").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#found").is_hidden()


@pytest.mark.browser
def test_the_keyboard_reaches_everything(page: Page, file: Path, overview: Overview) -> None:
    open_file(page, file)
    page.locator("#search").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
        community_name(overview.communities[0])
    )
    page.keyboard.press("ArrowLeft")
    moved = page.evaluate("[...document.querySelectorAll('.community')].indexOf(document.activeElement)")
    assert moved > 0
    page.keyboard.press("Enter")
    assert page.locator("#panel-title").inner_text() == community_name(overview.communities[moved])
    assert page.evaluate("document.activeElement.id") == "panel-title"
    page.keyboard.press("Escape")
    assert page.locator("#panel-title").inner_text() == "The whole graph"
    assert page.evaluate("[...document.querySelectorAll('.community')].indexOf(document.activeElement)") == moved
    page.keyboard.press("End")
    page.keyboard.press(" ")
    assert page.locator("#panel-title").inner_text() == community_name(overview.communities[-1])
    assert page.locator(".community[tabindex='0']").count() == 1


@pytest.mark.browser
def test_the_table_sorts_and_opens(page: Page, file: Path, overview: Overview) -> None:
    open_file(page, file)

    def column(n: int) -> list[str]:
        return [str(value) for value in page.locator(f"tbody tr > :nth-child({n})").evaluate_all(
            "(cells) => cells.map((cell) => cell.dataset.value)")]  # fmt: skip

    assert column(2) == [str(community.size) for community in overview.communities]
    page.get_by_role("button", name="Median year").click()
    years = [int(year) for year in column(4)]
    assert years == sorted(years, reverse=True)
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("Median year")
    page.get_by_role("button", name="Median year").click()
    assert [int(year) for year in column(4)] == sorted(years)
    page.get_by_role("button", name="Community", exact=True).click()
    assert column(1) == sorted(column(1), key=lambda name: name.casefold().replace("·", " "))
    row = page.locator("tbody tr").first
    row.locator("button").click()
    assert page.locator("#panel-title").inner_text() == row.locator("button").inner_text()


@pytest.mark.browser
def test_hostile_names_are_only_text(chromium: Browser, sample_directory: Path, tmp_path: Path) -> None:
    graph = open_graph(sample_directory)
    found = find_communities(graph)
    scores = telling(graph, concept_weights(graph), found.of)
    labels = graph.concepts["label"].to_pylist()
    for number, name in enumerate(HOSTILE):
        own = np.flatnonzero(found.of == number)
        labels[int(own[np.argmax(scores[own])])] = name
    graph.concepts = graph.concepts.set_column(1, "label", pa.array(labels, pa.string()))
    titles = pa.array([f"<b>{title}</b>" for title in graph.documents["title"].to_pylist()], pa.string())
    graph.documents = graph.documents.set_column(graph.documents.schema.get_field_index("title"), "title", titles)
    overview = summarise(graph, found)
    path = tmp_path / "hostile.html"
    path.write_text(render_overview(overview, "</title><script>window.pwned = 3</script>"), encoding="utf-8")
    for width in (1280, 390):
        with watched_page(chromium, viewport={"width": width, "height": 844}, reduced_motion="reduce") as page:
            open_file(page, path)
            assert "<script>" in page.locator("h1").inner_text()
            assert overflow(page) == 0
            assert_names_readable(page, 5)
            for number in range(len(HOSTILE)):
                page.locator("tbody tr").nth(number).locator("button").click()
                assert page.locator("#panel-title").inner_text() == community_name(overview.communities[number])
                assert overflow(page) == 0
            assert page.evaluate("window.pwned") is None
            assert page.locator("main img, main b:not([class])").count() == 0
            assert page.locator(".papers li").first.inner_text().count("<b>") == 1


@pytest.mark.browser
def test_graphs_without_a_map_show_the_whole(page: Page, built: Callable[..., LateralGraph], tmp_path: Path) -> None:
    graph = built(paper("a", "", "The lasso", year=1996, field="statistics"))
    path = tmp_path / "bare.html"
    path.write_text(render_overview(summarise(graph, find_communities(graph)), "bare"), encoding="utf-8")
    open_file(page, path)
    assert page.locator("#panel-title").inner_text() == "The whole graph"
    assert "statistics" in page.locator("#panel").inner_text()
    assert page.locator("text=No two concepts of this graph are related").is_visible()


@pytest.mark.browser
def test_colours_follow_the_theme(chromium: Browser, file: Path) -> None:
    fills = []
    for scheme in ("light", "dark"):
        with watched_page(chromium, color_scheme=scheme) as page:
            open_file(page, file)
            fills.append(page.locator(".community circle").first.evaluate("(c) => getComputedStyle(c).fill"))
    assert fills[0] != fills[1]
