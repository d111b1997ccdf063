"""Names of concepts: the normal form that stands for all spellings of one name.

``name_form`` folds what never tells two concepts apart: Unicode width and compatibility (NFKC), case,
hyphens and spaces, possessives, English plurals, a lone Greek letter against its name. ``form_key`` then
drops the spaces, so that *data set*, *data-set* and *dataset* are one. Accents, scripts, digits and signs such
as the ``+`` of C++ are kept: *Müller*, *naïve Bayes*, *β-VAE* and *量子计算* have four different, non-empty keys.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import regex

# Combining marks belong to their letter: without \p{M} the words of Hindi or Thai fall apart.
_TOKEN = regex.compile(r"\d+(?:[.,]\d+)+|[\p{L}\p{N}\p{M}]+(?:[+#]+(?![\p{L}\p{N}]))?")
_POSSESSIVE = re.compile(r"['’]s\b|['’]")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_GREEK = re.compile(r"[α-ω]")
_GREEK_WORD = regex.compile(r"[\p{Greek}\p{M}]{2,}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CAPITALS_AND_S = regex.compile(r"\p{Lu}{2,}s")
_DIGITS_APART = re.compile(r"\d \d")
_SPACE_AFTER_NON_DIGIT = re.compile(r"(?<!\d) | (?!\d)")

GREEK_LETTERS = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψως",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
        "chi psi omega sigma".split(),
        strict=True,
    )
)
GREEK_NAMES = frozenset(GREEK_LETTERS.values())
_IRREGULAR = {
    "analyses": "analysis", "axes": "axis", "bases": "basis", "biases": "bias", "children": "child",
    "corpora": "corpus",
    "crises": "crisis", "criteria": "criterion", "diagnoses": "diagnosis", "feet": "foot", "foci": "focus",
    "gases": "gas", "genera": "genus", "hypotheses": "hypothesis", "indices": "index", "indexes": "index",
    "leaves": "leaf", "lives": "life", "loci": "locus", "matrices": "matrix", "men": "man", "mice": "mouse",
    "movies": "movie", "nuclei": "nucleus", "oases": "oasis", "phenomena": "phenomenon", "prognoses": "prognosis",
    "radii": "radius", "stimuli": "stimulus", "strata": "stratum", "syntheses": "synthesis", "teeth": "tooth",
    "theses": "thesis", "vertices": "vertex", "viruses": "virus", "women": "woman", "mitochondria": "mitochondrion",
    "bacteria": "bacterium", "buses": "bus", "lenses": "lens", "statuses": "status", "biopsies": "biopsy",
}  # fmt: skip
_LONGEST_CAPITALS = 5
"""Letters of a word in capitals that is taken for an acronym; a longer one stands in a heading in capitals."""
_INVARIANT = frozenset(
    "always atlas bias canvas chaos christmas cosmos diabetes ethos gas has herpes lens mathematics means measles news "
    "pancreas perhaps plus rabies sales scabies series species texas this thus was yes his its "
    "bayes gauss laplace holmes james keynes sachs paris athens wales kansas illinois arkansas moses".split()
)


@lru_cache(maxsize=1 << 18)
def _singular(token: str) -> str:
    """English singular of a lower-case token; anything not plainly an English plural comes back as it is."""
    if token in _IRREGULAR:
        return _IRREGULAR[token]
    if len(token) < 4 or not token.isascii() or token in _INVARIANT:
        return token
    if not token.endswith("s") or token.endswith(("ss", "us", "is", "ics", "ous", "series", "species")):
        return token
    if token.endswith("ies"):
        return token[:-3] + "y" if len(token) > 4 else token[:-1]
    if token.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return token[:-2]
    return _IRREGULAR.get(token[:-1], token[:-1])


@lru_cache(maxsize=1 << 18)
def token_form(token: str) -> str:
    """Normal form of one word: NFKC, case folded, singular unless it ends in capitals (GPS, OLS, ConvS2S), Greek by
    name."""
    capitals = 1 < len(token) <= _LONGEST_CAPITALS if token.isupper() else token.endswith("S")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", token).casefold())
    if not _GREEK_WORD.fullmatch(folded):  # letters used as signs (β, 1β, κB)
        folded = unicodedata.normalize("NFKC", _GREEK.sub(lambda match: GREEK_LETTERS[match[0]], folded))
    if capitals:
        return folded
    return folded[:-1] if _CAPITALS_AND_S.fullmatch(token) else _singular(folded)


def name_form(name: str) -> str:
    """The normal form of a name, words separated by one space; "" only for a name without any visible character.

    >>> name_form("Supply-Chains"), name_form("TGF-β1"), name_form("Parkinson's disease"), name_form("U.S.")
    ('supply chain', 'tgf beta1', 'parkinson disease', 'us')
    """
    text = unicodedata.normalize("NFKC", name)
    if words := word_forms(text):
        return words
    # A name of symbols alone ("∇", "++") is still a name; white space and format characters are not.
    return "".join(ch for ch in text.casefold() if not ch.isspace() and unicodedata.category(ch) not in {"Cf", "Cc"})


def word_forms(text: str) -> str:
    """Forms of the words of ``text``, signs beside them dropped; "" where it has no word."""
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), unicodedata.normalize("NFKC", text))
    text = _THOUSANDS.sub("", _POSSESSIVE.sub("", text))
    return " ".join(map(token_form, _TOKEN.findall(text)))


def form_key(form: str) -> str:
    """The form without its spaces, but for those between two digits: "resnet 50" and "1 10" -> "resnet50", "1 10"."""
    if " " not in form:
        return form
    return form.replace(" ", "") if not _DIGITS_APART.search(form) else _SPACE_AFTER_NON_DIGIT.sub("", form)


def name_key(name: str) -> str:
    """``form_key(name_form(name))``: names with one key are one name."""
    return form_key(name_form(name))
