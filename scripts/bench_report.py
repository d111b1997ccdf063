"""How large the HTML of a report is, how long it takes to make, and how soon a reader can open a citation in it.

    python scripts/bench_report.py [--papers 60] [--citations 200] [--words 300] [--keep FILE]

The report is made up: as many papers, citations and words a section as asked for. Chromium opens it in a fresh page
each time; from the start of the navigation to the first citation's passage on the screen, median of 5.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agents.reporting.html import render_html
from agents.reporting.model import (
    Block,
    BulletList,
    Citation,
    Figure,
    Note,
    Paragraph,
    Passage,
    QuoteBlock,
    Report,
    ReportSection,
    Sentence,
    SentenceKind,
    Table,
    Verdict,
    number_references,
    walk,
)
from kg.errors import InputError
from kg.records import Document
from scripts.chromium import launched

ADJECTIVES = "causal dynamic expected hidden informed local marginal optimal private random robust social".split()
NOUNS = (
    "agents auctions beliefs bias buyers contracts costs demand errors estimates firms households incentives "
    "information insurance inventories investors markets orders portfolios premiums prices quality retailers returns "
    "risk shocks signals suppliers taxes treatments wages workers"
).split()
VERBS = "amplify bound change delay distort explain follow lower predict raise reveal shift weaken".split()
LINKS = "because although when unless so while once whereas".split()
NAMES = "Akerlof Bertrand Cournot Diamond Engle Fisher Granger Hansen Imbens Jensen Krueger Lucas Mirrlees Nash".split()
OTHER_KINDS: tuple[SentenceKind, ...] = ("proposal", "connective")
VERDICTS: tuple[Verdict, ...] = ("supported",) * 8 + ("partial", "unsupported")


def large_report(papers: int = 60, citations: int = 200, words: int = 300, seed: int = 0) -> Report:
    """A report with ``citations`` citations of ``papers`` papers (all are cited); sections hold some ``words`` words.

    Nested sections, paragraphs, lists, quotes, notes, tables, a figure; the same for the same arguments. Raises
    ``InputError`` if there are fewer citations than papers.
    """
    if citations < papers:
        raise InputError(f"{papers} papers cannot all be cited with {citations} citations; ask for more of them")
    return _Maker(papers, citations, words, random.Random(seed)).report()


class _Maker:
    """Makes up one report; papers in ``uncited`` are cited once each, ``spare`` citations go to any."""

    def __init__(self, papers: int, citations: int, words: int, rng: random.Random) -> None:
        self.rng = rng
        self.documents = [self._document(number) for number in range(papers)]
        self.texts = {
            f"{document.doc_id}#{number}": self._text(words)
            for document in self.documents
            for number in range(rng.randint(1, 3))
        }
        self.uncited = rng.sample(self.documents, papers)
        self.spare = citations - papers
        self.sentences = 0

    def report(self) -> Report:
        sections = []
        note = Note("What was searched for and not found is said here.")
        while self.left:
            blocks = tuple(self._blocks(5))
            below = ReportSection(self._heading(), tuple(self._blocks(3)), (ReportSection(self._heading(), (note,)),))
            sections.append(ReportSection(self._heading(), blocks, (below,)))
        cited = {citation.section_id for _, sentence in walk(sections) for citation in sentence.citations}
        return Report(
            title="Information, incentives and prices: a survey of what is known",
            question="How does private information change prices, contracts and the risk that firms and workers bear?",
            language="en",
            sections=tuple(sections),
            references=number_references(sections, {document.doc_id: document for document in self.documents}),
            notes=("Made up for measurement; none of it is true.",),
            passages=tuple(
                Passage(section_id, self._heading(), text, self.rng.random(), "Found along “prices” → “quality”.")
                for section_id, text in self.texts.items()
                if section_id in cited
            ),
        )

    @property
    def left(self) -> int:
        """Citations still to be made."""
        return len(self.uncited) + self.spare

    def _blocks(self, count: int) -> Iterator[Block]:
        for number in range(count):
            if self.left:
                yield Paragraph(tuple(self._sentence() for _ in range(self.rng.randint(2, 5))))
            if number == 0:
                yield BulletList(tuple(Paragraph((self._sentence(),)) for _ in range(3)))
            elif number == 1 and self.left:
                quoted = self._sentence(quoted=True)
                yield QuoteBlock(quoted, f"{self.documents[0].authors[0]} (1970), Findings")
            elif number == 3:
                yield self._table()
                yield Figure("image/svg+xml", self._chart(), "A bar chart of effects by study.", "Effects by study.")

    def _sentence(self, quoted: bool = False) -> Sentence:
        self.sentences += 1
        name = f"s{self.sentences}"
        if not self.left:
            return Sentence(name, "connective", self._words())
        if not quoted and self.rng.random() < 0.25:
            return Sentence(name, self.rng.choice(OTHER_KINDS), self._words())
        wanted = 1 if quoted else self.rng.choice((1, 1, 1, 2, 2, 3))
        citations = [self._citation(self._next_paper()) for _ in range(min(self.left, wanted))]
        if not quoted and self.spare and self.rng.random() < 0.2:  # two passages of one paper
            self.spare -= 1
            citations.append(self._citation(next(d for d in self.documents if d.doc_id == citations[0].doc_id)))
        text = citations[0].quote if quoted else self._words()
        return Sentence(
            name, "claim", text, tuple(citations), self.rng.choice(VERDICTS), self.rng.random(), "entailment"
        )

    def _next_paper(self) -> Document:
        if self.uncited and self.rng.randrange(self.left) >= self.spare:
            return self.uncited.pop()
        self.spare -= 1
        return self.rng.choice(self.documents)

    def _citation(self, document: Document) -> Citation:
        """Some 5 to 40 words of a section of the paper; different quotes may overlap."""
        section_id = self.rng.choice([name for name in self.texts if name.rpartition("#")[0] == document.doc_id])
        text = self.texts[section_id]
        starts = [0, *(i + 1 for i, ch in enumerate(text) if ch.isspace())]
        first = self.rng.randrange(max(1, len(starts) - 40))
        start, end = starts[first], (*starts, len(text) + 1)[min(first + self.rng.randint(5, 40), len(starts))] - 1
        return Citation(section_id, hashlib.sha256(text.encode()).hexdigest(), text[start:end], start, end)

    def _document(self, number: int) -> Document:
        authors = tuple(
            f"{name}, {self.rng.choice('ABCDEFG')}." for name in self.rng.sample(NAMES, self.rng.randint(1, 5))
        )
        return Document(
            f"10.5555/{number:04d}", self._heading(), authors=authors, year=1950 + self.rng.randrange(75),
            venue="Journal of Made-up Results", doi=f"10.5555/{number:04d}",
            details=(("pages", f"{number}-{number + 20}"), ("volume", str(1 + number % 40))),
        )  # fmt: skip

    def _heading(self) -> str:
        return f"{self.rng.choice(ADJECTIVES).capitalize()} {self.rng.choice(NOUNS)} and {self.rng.choice(NOUNS)}"

    def _words(self) -> str:
        clauses = (
            f"{self.rng.choice(ADJECTIVES)} {self.rng.choice(NOUNS)} {self.rng.choice(VERBS)} the "
            f"{self.rng.choice(ADJECTIVES)} {self.rng.choice(NOUNS)}"
            for _ in range(2)
        )
        return f" {self.rng.choice(LINKS)} ".join(clauses).capitalize() + "."

    def _text(self, words: int) -> str:
        sentences: list[str] = []
        while sum(sentence.count(" ") + 1 for sentence in sentences) < words:
            sentences.append(self._words())
        third = max(1, len(sentences) // 3)
        return "\n\n".join(" ".join(sentences[start : start + third]) for start in range(0, len(sentences), third))

    def _table(self) -> Table:
        rows = tuple(
            (name, str(1950 + self.rng.randrange(70)), f"{self.rng.random():.2f}", self._words()) for name in NAMES[:6]
        )
        return Table(("Study", "Year", "Effect", "Finding"), rows, "Effects that were found.")

    def _chart(self) -> bytes:
        bars = "".join(
            f'<rect x="{60 * i + 20}" y="{180 - h}" width="40" height="{h}" fill="#0072b2"/>'
            for i, h in enumerate(self.rng.randrange(20, 160) for _ in range(8))
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="520" height="200" viewBox="0 0 520 200">{bars}'
            '<path d="M10 180H510" stroke="#555"/></svg>'
        ).encode()


def main() -> int:
    """Make the report, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=60)
    parser.add_argument("--citations", type=int, default=200)
    parser.add_argument("--words", type=int, default=300, help="words in a section")
    parser.add_argument("--keep", type=Path, help="write the page here and keep it")
    arguments = parser.parse_args()
    report = large_report(arguments.papers, arguments.citations, arguments.words)
    render_html(report)  # loads the libraries
    start = time.perf_counter()
    text = render_html(report)
    seconds = time.perf_counter() - start
    print(f"{arguments.papers} papers, {arguments.citations} citations, {len(report.passages)} sections in full")
    print(f"  size     {len(text.encode()) / 1e6:8.2f} MB")
    print(f"  render   {seconds:8.2f} s")
    with tempfile.TemporaryDirectory() as temporary:
        path = arguments.keep or Path(temporary) / "report.html"
        path.write_text(text, encoding="utf-8")
        try:
            times = opening_times(path)
        except InputError as error:
            print(f"  opening not measured: {error}", file=sys.stderr)
            return 1
    spread = f"{min(times):.2f} to {max(times):.2f}"
    print(f"  usable   {statistics.median(times):8.2f} s until the first citation is open ({spread})")
    return 0


def opening_times(path: Path, runs: int = 5) -> list[float]:
    """Seconds from the start of the navigation to the first citation's passage shown, one fresh page a run."""
    times = []
    with launched() as browser:
        for _ in range(runs):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            start = time.perf_counter()
            page.goto(path.absolute().as_uri(), wait_until="commit")
            page.locator("a.cite").first.click()
            page.locator("#citation mark").first.wait_for(state="visible")
            times.append(time.perf_counter() - start)
            context.close()
    return times


if __name__ == "__main__":
    sys.exit(main())
