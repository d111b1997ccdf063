"""How well extractors that need no language model find the names that people marked, and how fast.

    python scripts/bench_extraction.py [--data DIR] [--methods NAME ...] [--half choose|report] [--sections N]

Data: sections of the papers of SciREX (machine learning); besides, abstracts of evidence_inference (trials). Every
method reads the same text and gives its best k terms, which are compared by their normal form (``kg.names``). Rules
and weights of kg.keyphrase were chosen on the first half of the papers; by default the second is reported.
YAKE and KeyBERT come with the extra ``bench``.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kg.errors import InputError
from kg.keyphrase import KeyphraseExtractor
from kg.mentions import surface_form
from kg.names import form_key
from kg.records import Section
from kg.sectioning import count_words
from retrieval.significance import cluster_bootstrap, holm, paired_randomisation
from scripts.extractors import METHODS, Term, mention_table
from scripts.labelled_sections import Labelled, read_scirex, read_trials

ROOT = Path(__file__).resolve().parent.parent
SEED = 718
CUTS = (5, 10, 15, 20)
LEAST_WORDS = 40
TIMED = 20
"""Sections that speed is measured on, the same for all methods."""

Values = dict[str, dict[str, float]]
"""Measure -> paper -> value."""


def main() -> int:
    """Print the tables of docs/extraction.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("EVIGRAPH_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data, help="folder that holds scirex and evidence_inference")
    parser.add_argument(
        "--methods", nargs="+", default=["ours", "section", "plain", "alone", "yake"], choices=[*METHODS]
    )
    parser.add_argument("--half", choices=["choose", "report"], default="report")
    parser.add_argument("--sections", type=int, help="at most so many sections of a paper, drawn; default: all")
    arguments = parser.parse_args()
    try:
        papers = read_scirex(arguments.data / "scirex")
        asked = sample(half(papers, arguments.half), arguments.sections)
        compare(f"SciREX, {arguments.half} half", asked, arguments.methods, papers)
        show_selection(papers, asked)
        show_speed(arguments.methods, [labelled.section for labelled in asked])
        if not arguments.sections:
            trials = read_trials(arguments.data / "evidence_inference", "validation")
            named = [labelled for labelled in trials if labelled.salient]
            compare("evidence_inference, validation", named, arguments.methods, trials)
    except InputError as error:
        sys.exit(str(error))
    return 0


def compare(title: str, labelled: Sequence[Labelled], names: Sequence[str], corpus: Sequence[Labelled]) -> None:
    """Print the tables of the methods ``names``; those that count over a corpus count over ``corpus``."""
    everything, asked = [one.section for one in corpus], [one.section for one in labelled]
    report(title, labelled, {name: METHODS[name](everything)(asked) for name in names})


def half(papers: Sequence[Labelled], which: str) -> list[Labelled]:
    """Sections of at least ``LEAST_WORDS`` words with a salient entity, of a seeded half of the papers."""
    ids = sorted({labelled.section.doc_id for labelled in papers})
    random.Random(SEED).shuffle(ids)
    own = set(ids[which == "report" :: 2])
    return [
        labelled
        for labelled in papers
        if labelled.section.doc_id in own and labelled.salient and count_words(labelled.section.text) >= LEAST_WORDS
    ]


def sample(labelled: Sequence[Labelled], limit: int | None) -> list[Labelled]:
    """At most ``limit`` sections of each paper, drawn with ``SEED``, in the order given."""
    numbers = list(range(len(labelled)))
    random.Random(SEED).shuffle(numbers)
    taken: dict[str, int] = {}
    kept = []
    for number in numbers:
        paper = labelled[number].section.doc_id
        taken[paper] = taken.get(paper, 0) + 1
        if limit is None or taken[paper] <= limit:
            kept.append(number)
    return [labelled[number] for number in sorted(kept)]


def near(a: str, b: str) -> bool:
    """Whether one form stands, word for word, in the other and is at least half of it."""
    short, long = sorted((a.split(), b.split()), key=len)
    if 2 * len(short) < len(long):
        return False
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def evaluate(labelled: Sequence[Labelled], terms: Sequence[Sequence[Term]]) -> Values:
    """R@k, N@k (recall, near names allowed) and P@k of each paper, the mean over its sections.

    Recall is that of the salient entities of the section; precision counts terms that are any marked name of it, out
    of k whether or not so many were given.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for one, own in zip(labelled, terms, strict=True):
        best = own[: max(CUTS)]
        keys = [set(map(form_key, term)) for term in best]
        marked = set(map(form_key, one.mentions))
        exact, loose = [], []
        for entity in one.salient:
            same = [bool(term & set(map(form_key, entity))) for term in keys]
            alike = [any(near(a, b) for a in term for b in entity) for term in best]
            exact.append(_first(same))
            loose.append(min(exact[-1], _first(alike)))
        for k in CUTS:
            for measure, value in (
                (f"R@{k}", statistics.fmean(rank < k for rank in exact)),
                (f"N@{k}", statistics.fmean(rank < k for rank in loose)),
                (f"P@{k}", sum(bool(term & marked) for term in keys[:k]) / k),
            ):
                found.setdefault(measure, {}).setdefault(one.section.doc_id, []).append(value)
    return {m: {paper: statistics.fmean(values) for paper, values in of.items()} for m, of in found.items()}


def _first(hits: Sequence[bool]) -> int:
    return hits.index(True) if True in hits else len(hits) + max(CUTS)


def report(title: str, labelled: Sequence[Labelled], terms: Mapping[str, Sequence[Sequence[Term]]]) -> None:
    """Print one table per measure, and the paired tests of the first method against each other one."""
    values = {name: evaluate(labelled, own) for name, own in terms.items()}
    papers = len({one.section.doc_id for one in labelled})
    print(f"\n## {title}: {len(labelled):,} sections of {papers:,} papers")
    for letter, what in (("R", "recall of salient entities"), ("N", "the same, near names too"), ("P", "precision")):
        print(f"\n| {what} |" + "".join(f" {letter}@{k} |" for k in CUTS) + "\n|---|" + "---|" * len(CUTS))
        for name, own in values.items():
            cells = (cluster_bootstrap(own[f"{letter}@{k}"], seed=SEED) for k in CUTS)
            shown = (f"{c.mean:.3f}" if c.low is None else f"{c.mean:.3f} ({c.low:.3f} to {c.high:.3f})" for c in cells)
            print(f"| {name} | " + " | ".join(shown) + " |")
    first, *others = values
    p = {
        (name, measure): paired_randomisation(values[first][measure], values[name][measure], seed=SEED)
        for name in others
        for measure in values[first]
    }
    for name in others:
        tests = (f"{measure} {value:.4f}" for (own, measure), value in holm(p).items() if own == name)
        print(f"\n{first} against {name}, adjusted p: " + ", ".join(tests))


def show_selection(papers: Sequence[Labelled], asked: Sequence[Labelled]) -> None:
    """Print what a graph of these papers keeps of the sections ``asked``: as many terms as it likes."""
    extractor = KeyphraseExtractor()
    table = mention_table([labelled.section for labelled in papers], extractor)
    table = table.keep(extractor.select(table))
    kept: list[set[str]] = [set() for _ in papers]
    named: list[set[int]] = [set() for _ in papers]
    for section, surface, name in zip(table.section, table.surface, table.name, strict=True):
        kept[section] |= {form_key(surface_form(table.surfaces[surface])), table.names[name][1]}
        named[section].add(int(name))
    place = {labelled.section.section_id: number for number, labelled in enumerate(papers)}
    recall: dict[str, list[float]] = {}
    for one in asked:
        own = kept[place[one.section.section_id]]
        value = statistics.fmean(bool(own & set(map(form_key, entity))) for entity in one.salient)
        recall.setdefault(one.section.doc_id, []).append(value)
    terms = statistics.fmean(len(named[place[one.section.section_id]]) for one in asked)
    mean = statistics.fmean(map(statistics.fmean, recall.values()))
    print(f"\nA graph keeps {terms:.1f} terms of a section; recall of salient entities {mean:.3f}")


def show_speed(methods: Sequence[str], sections: Sequence[Section]) -> None:
    """Print sections per second on one core, the median of three runs and their range, methods in turn."""
    import torch

    torch.set_num_threads(1)
    drawn = random.Random(SEED).sample(list(sections), min(TIMED, len(sections)))
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(3):
        for name in methods:
            rank = METHODS[name](drawn)  # made anew, so that nothing is kept from the run before
            start = time.process_time()
            rank(drawn)
            seconds[name].append(time.process_time() - start)
    print(f"\n| {len(drawn)} sections, one core | sections/s (least to most of 3) |\n|---|---|")
    for name, taken in seconds.items():
        speeds = sorted(len(drawn) / one for one in taken)
        print(f"| {name} | {speeds[1]:,.1f} ({speeds[0]:,.1f} to {speeds[2]:,.1f}) |")


if __name__ == "__main__":
    sys.exit(main())
