"""Differences between two words that carry meaning: opposites, prefixes that turn a word around, roles, dates."""

from __future__ import annotations

from functools import lru_cache

from kg.stems import american, stem

_OPPOSED_PREFIXES = (
    ("", "un"), ("", "non"), ("", "in"), ("", "im"), ("", "ir"), ("", "il"), ("", "anti"), ("", "dis"), ("", "de"),
    ("", "a"), ("", "co"), ("", "sub"), ("", "super"), ("", "semi"), ("", "self"), ("", "re"),
    ("", "pre"), ("", "post"),
    ("hypo", "hyper"), ("micro", "macro"), ("intra", "inter"), ("pre", "post"), ("endo", "exo"), ("over", "under"),
    ("up", "down"), ("mono", "poly"), ("uni", "multi"), ("homo", "hetero"), ("in", "out"), ("in", "ex"),
    ("uni", "bi"), ("uni", "tri"), ("bi", "tri"), ("mono", "di"), ("di", "tri"),
    ("in", "de"), ("en", "de"), ("im", "ex"), ("ex", "im"),
    ("sym", "asym"), ("up", "un"), ("for", "back"), ("im", "em"),
)  # fmt: skip
_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "male/female man/woman men/women boy/girl mother/father maternal/paternal child/adult young/old left/right "
        "high/low upper/lower large/small big/small long/short early/late acute/chronic positive/negative good/bad "
        "primary/secondary direct/indirect buyer/seller supplier/customer supply/demand import/export "
        "public/private domestic/foreign internal/external local/global linear/nonlinear parametric/nonparametric "
        "supervised/unsupervised convex/concave increase/decrease gain/loss win/loss profit/loss benefit/cost "
        "input/output forward/backward static/dynamic discrete/continuous active/passive systolic/diastolic "
        "arterial/venous dominant/recessive benign/malignant aerobic/anaerobic true/false cause/effect "
        "null/alternative type/token mean/median strong/weak hot/cold fast/slow "
        "agonist/antagonist oxidation/reduction agonism/antagonism union/intersection minimum/maximum min/max "
        "short/long demand/offer wholesale/retail upstream/downstream ex/post bull/bear call/put debt/equity "
        "before/after am/pm ad/bc ce/bce pre/post intra/inter micro/macro hyper/hypo endo/exo mono/poly uni/multi "
        "over/under up/down homo/hetero inner/outer afferent/efferent prior/posterior affect/effect anterior/posterior "
        "causal/casual ventral/dorsal proximal/distal"
    ).split()
)
_OPPOSED_SUFFIXES = (("ic", "ous"), ("ate", "ite"), ("ide", "ite"), ("ide", "ate"), ("ose", "ase"), ("in", "ase"))
"""What a compound or an enzyme is, by its ending: sulfuric and sulfurous acid, chloride and chlorite."""
_TEENS = "thir four fif six seven eigh nine".split()
_TENS = "twent thirt fort fift sixt sevent eight ninet".split()
_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve".split(),
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),
)
NUMBER_WORDS: dict[str, int] = (
    {word: number for words in _SMALL for number, word in enumerate(words)}
    | {f"{teen}teen{end}": number for number, teen in enumerate(_TEENS, 13) for end in ("", "th")}
    | {f"{ten}{end}": 10 * number for number, ten in enumerate(_TENS, 2) for end in ("y", "ieth")}
    | {f"{word}{end}": number for word, number in _LARGE.items() for end in ("", "th")}
)
"""Cardinals and ordinals of one English word."""


def in_words(tens: str, ones: str) -> int | None:
    """The number that two words make up: 21 for "twenty" and "first"; None if they make up none."""
    number = NUMBER_WORDS.get(tens, 0) + NUMBER_WORDS.get(ones, 0)
    made_up = tens[:-1] in _TENS and 0 < NUMBER_WORDS.get(ones, 0) < 10
    return number if made_up else None


_CLOSED_CLASSES: tuple[dict[str, int], ...] = (
    *(
        {word: place for place, written in enumerate(members.split()) for word in written.split("/")}
        for members in (
            "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep "
            "october/oct november/nov december/dec",
            "monday/mon tuesday/tues/tue wednesday/wed thursday/thurs/thur/thu friday/fri saturday/sat sunday/sun",
            "spring summer autumn winter",
            "north/northern east/eastern south/southern west/western",
            "single double/dual triple quadruple",
            "jr/junior sr/senior",
        )
    ),
    NUMBER_WORDS,
)
"""Months, weekdays, seasons, points of the compass, generations, numbers, each word with its place in its class: two
words of a class are one only at the same place."""


@lru_cache(maxsize=1 << 16)
def _classes_of(word: str) -> tuple[tuple[int, dict[str, int]], ...]:
    return tuple((places[word], places) for places in _CLOSED_CLASSES if word in places)


@lru_cache(maxsize=1 << 16)
def _role(token: str) -> str:
    """Suffix of a word for someone or something that acts: an employer is no employment, nor an employee."""
    word = american(token)  # "centre" and "center", "behaviour" and "behavior" end alike
    return next((suffix for suffix in ("er", "or", "ee", "ist") if word.endswith(suffix) and len(word) > 5), "")


def _two_sides(x: str, y: str) -> bool:
    """Who does it and who it is done to: lessor and lessee, trainer and trainee."""
    return x[:-2] == y[:-2] and "ee" in {x[-2:], y[-2:]} and {x[-2:], y[-2:]} <= {"er", "or", "ee"}


def _endings(word: str) -> list[tuple[str, str]]:
    """Pairs of suffixes of which the word has the first."""
    both = (pair for ends in _OPPOSED_SUFFIXES for pair in (ends, ends[::-1]))
    return [(own, other) for own, other in both if word.endswith(own)]


@lru_cache(maxsize=1 << 18)
def opposed(x: str, y: str) -> bool:
    """Whether two words (normal forms) that differ say different things, however near they look; symmetric.

    >>> opposed("hypotension", "hypertension"), opposed("employer", "employment"), opposed("color", "colour")
    (True, True, False)
    """
    if _role(x) != _role(y) and (stem(x) == stem(y) or _two_sides(american(x), american(y))):
        return True
    if frozenset((x, y)) in _OPPOSITES or frozenset((stem(x), stem(y))) in _OPPOSITES:
        return True
    if any(y in places and places[y] != place for place, places in _classes_of(x)):
        return True
    if x[:4] == y[:4] and any({x, y} == {x[: -len(p)] + p, x[: -len(p)] + q} for p, q in _endings(x)):
        return True
    if x[-3:] != y[-3:]:  # no prefix makes the difference
        return False
    for one, other in _OPPOSED_PREFIXES:
        for p, q in ((one, other), (other, one)):
            if x.startswith(p) and y.startswith(q) and len(x) - len(p) >= 3 and x[len(p) :] == y[len(q) :]:
                return True
    return False
