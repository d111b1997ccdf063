"""What every renderer says in the same words: verdicts, cautions, and that words are those of a summary."""

from __future__ import annotations

from agents.reporting.body import DOUBTS, VERBATIM
from agents.reporting.model import Sentence, Verdict, is_blank

CAUTION = "Caution"
SUMMARY_PASSAGE = "These are the words of a summary of the paper, not of the paper itself."
SUMMARY_REFERENCE = "Read as a summary."
NOT_STORED = "The text of this section was not stored with the report; this is the quote itself."
PASSAGES = "The sections that this report cites, with every quote marked where it stands."
QUOTED = "quoted word for word"
VERDICTS: dict[Verdict, str] = {
    "supported": "supported",
    **DOUBTS,
    "unchecked": "not checked",
}


def is_quotation(sentence: Sentence) -> bool:
    """Whether only its wording was checked: it stands so in the cited section, which says nothing of what it proves."""
    return sentence.checker == VERBATIM and sentence.verdict == "supported"


def verdict_words(sentence: Sentence) -> str:
    """The verdict with confidence and checker; "" where nothing was checked."""
    if sentence.verdict == "unchecked":
        return ""
    if is_quotation(sentence):
        return QUOTED.capitalize()
    confidence = "" if sentence.confidence is None else f"confidence {sentence.confidence:.2f}"
    checker = "" if is_blank(sentence.checker) else f"checker: {sentence.checker}"
    details = ", ".join(filter(None, (confidence, checker)))
    words = VERDICTS[sentence.verdict].capitalize()
    return f"{words} ({details})" if details else words


def number_of(n: int, noun: str) -> str:
    """So many: "1 paper", "2 papers"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
