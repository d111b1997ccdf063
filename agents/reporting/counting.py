"""What stands in a report, counted: claims by verdict, papers, and the sections that its appendix shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.reporting.model import Report, Sentence, Verdict, walk
from agents.reporting.wording import QUOTED, VERDICTS, is_quotation, number_of
from kg.records import split_section_id


@dataclass(frozen=True)
class Counts:
    """Claims by verdict, proposals and papers in words; ``verdicts`` holds (verdict, "14 quoted word for word")."""

    claims: str
    verdicts: tuple[tuple[Verdict, str], ...]
    proposals: str
    """ "" where there are none."""
    papers: str

    @property
    def line(self) -> str:
        """ "14 claims: 13 quoted word for word, 1 not checked · 7 papers cited"."""
        found = ", ".join(words for _, words in self.verdicts)
        return " · ".join(
            filter(None, (f"{self.claims}: {found}" if found else self.claims, self.proposals, self.papers))
        )


def count(report: Report) -> Counts:
    """The counts of the whole report."""
    sentences = [sentence for _, sentence in walk(report.sections)]
    claims = [sentence for sentence in sentences if sentence.kind == "claim"]
    proposals = sum(sentence.kind == "proposal" for sentence in sentences)
    quoted_only = bool(claims) and all(map(is_quotation, claims))  # a claim is more than that somebody wrote so
    return Counts(
        claims=number_of(len(claims), "quotation" if quoted_only else "claim") if claims else "No claims",
        verdicts=(("supported", "copied word for word"),) if quoted_only else _verdicts(claims),
        proposals=f"{number_of(proposals, 'proposal')} of the writer" if proposals else "",
        papers=f"{number_of(len(report.references), 'paper')} cited",
    )


def cited_sections(report: Report) -> dict[str, list[str]]:
    """doc_id -> the ids of its cited sections, each once, in the order of the paper."""
    cited = {c.section_id for _, sentence in walk(report.sections) for c in sentence.citations}
    found: dict[str, list[str]] = {}
    for doc_id, _, section_id in sorted((*split_section_id(section_id), section_id) for section_id in cited):
        found.setdefault(doc_id, []).append(section_id)
    return found


def uncited(report: Report) -> str:
    """How many passages were found and are not cited, in a sentence; "" where there are none."""
    cited = {section_id for sections in cited_sections(report).values() for section_id in sections}
    unused = sum(passage.section_id not in cited for passage in report.passages)
    if not unused:
        return ""
    further = "further passage" if cited else "passage"
    found, them = ("was", "it") if unused == 1 else ("were", "them")
    return f"{number_of(unused, further)} {found} found but not cited; the report’s data hold {them}."


def _verdicts(claims: Sequence[Sentence]) -> tuple[tuple[Verdict, str], ...]:
    """Quotations are counted apart, since of them only the wording was checked."""
    found = [claim.verdict for claim in claims if not is_quotation(claim)]
    own: list[tuple[Verdict, str]] = [(v, f"{found.count(v)} {words}") for v, words in VERDICTS.items() if v in found]
    quoted = len(claims) - len(found)
    return (("supported", f"{quoted} {QUOTED}"), *own) if quoted else tuple(own)
