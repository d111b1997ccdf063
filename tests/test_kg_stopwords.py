"""The language of a section by its own small words."""

from __future__ import annotations

import pytest
from bm25s import stopwords
from hypothesis import given
from hypothesis import strategies as st

from kg.stopwords import section_stopwords

GERMAN = (
    "Die Verlustaversion ist ein Begriff der Verhaltensökonomie und bezeichnet die Tendenz, dass Menschen Verluste "
    "höher gewichten als Gewinne. Sie ist nicht auf das Geld beschränkt und wird auch bei anderen Gütern gefunden."
)
FRENCH = (
    "L'aversion aux pertes est une notion de la théorie des perspectives. Elle dit que les pertes ont plus de poids "
    "que les gains dans le choix, et que le point de référence est le plus souvent la situation du moment."
)
ENGLISH = "Loss aversion is the tendency to weigh losses more than gains, and it is found in the field and in the lab."


@pytest.mark.parametrize(
    ("text", "expected"), [(GERMAN, stopwords.STOPWORDS_GERMAN), (FRENCH, stopwords.STOPWORDS_FRENCH)]
)
def test_a_text_brings_the_stop_words_of_its_language(text: str, expected: tuple[str, ...]) -> None:
    assert section_stopwords(text) == frozenset(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "123 (4)",
        ENGLISH,
        "量子计算与机器学习。",
        "Verlustaversion",
        "die and das",
        ENGLISH + " The word is von der Leyen.",
    ],
)
def test_english_short_and_unknown_texts_bring_none(text: str) -> None:
    assert section_stopwords(text) == frozenset()


@given(st.text(max_size=50))
def test_what_stands_far_behind_does_not_count(tail: str) -> None:
    assert section_stopwords(GERMAN * 8 + tail) == section_stopwords(GERMAN)
    assert section_stopwords(ENGLISH * 15 + tail + FRENCH) == frozenset()
