"""What a reading left out, and why: every record is either a document or a line of this report."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rejected:
    """A record or file that could not be read. ``place`` is a file or ``file, line 12``."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True)
class Duplicate:
    """The same document once more: ``place`` repeats what ``first`` already gave."""

    doc_id: str
    place: str
    first: str

    def __str__(self) -> str:
        return f"{self.place}: the same document as in {self.first} ({self.doc_id})"


@dataclass
class ReadReport:
    """Filled while documents are read; ``documents`` counts those handed on."""

    documents: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)

    def reject(self, place: str, reason: str) -> None:
        """Note that what stands at ``place`` was left out; ``reason`` says why and the way out."""
        self.rejected.append(Rejected(place, reason))

    def summary(self) -> str:
        """One line: what was read, what was not, and the first thing that was not."""
        counts = [f"{self.documents:,} document{'' if self.documents == 1 else 's'} read"]
        for number, what in (
            (len(self.rejected), "rejected"),
            (len(self.duplicates), "given twice"),
            (len(self.skipped), "skipped"),
        ):
            if number:
                counts.append(f"{number:,} {what}")
        line = ", ".join(counts)
        return f"{line}; first rejected: {self.rejected[0]}" if self.rejected else line
