"""Words that say what kind of thing a name stands for, and so may be dropped or added: the CIFAR-10 *dataset*.

``TYPE_WORDS`` by the kind they tell; ``LEADING`` words before a name; ``LEGAL_FORMS`` of organizations, ``TITLES`` and
``DEGREES`` of people, which tell no two of them apart.
"""

from __future__ import annotations

TYPE_WORDS: frozenset[str] = frozenset(
    """
    dataset data set corpus collection benchmark database suite testbed archive split challenge competition leaderboard
    task problem score metric measure measurement value point scale test statistic criterion accuracy method model
    algorithm approach technique procedure framework system network architecture module layer operation tool toolkit
    library package software platform program programme project language task-force protein gene molecule compound drug
    tablet syndrome disorder disease infection virus cell city town province state country river mount mountain lake
    island region district prefecture company corporation firm group newspaper magazine journal film novel book album
    song series website service app device phone smartphone console vaccine species tree theory theorem lemma law
    principle effect hypothesis equation formula distribution function theory conjecture inequality process transform
    treatment therapy surgery procedure war battle treaty act agreement protocol accord movement party award prize medal
    tournament league cup
    """.split()
)
"""Singular forms, as ``kg.names`` makes them."""

PLAIN_TYPES: frozenset[str] = frozenset(
    """
    dataset data corpus benchmark database task problem score metric measure value method model algorithm approach
    technique procedure framework system network net architecture module layer tool toolkit software
    """.split()
)
"""Those that may be dropped without becoming another thing: a theory, a war or a disease is not what it is named
after."""

LEADING: frozenset[str] = frozenset("the a an".split())
"""Articles; those of other languages are part of names: El Salvador, La Paz. An adjective may be one too: New York,
standard deviation, novel coronavirus."""

LEGAL_FORMS: frozenset[str] = frozenset(
    """
    inc incorporated corp corporation co company ltd limited llc llp lp plc pty gmbh ag kg kgaa se sa sarl sas spa srl
    nv bv ab oy oyj as asa aps kk group holding holdings sae pjsc ojsc jsc ooo oao pao zrt kft sro doo
    """.split()
)

TITLES: frozenset[str] = frozenset("dr prof professor sir dame mrs rev reverend".split())
"""Those before a name that are hardly ever part of one, or an acronym: general relativity, Burger King, MR imaging."""

DEGREES: frozenset[str] = frozenset("phd dphil esq".split())
"""Those behind one; Jr. and Sr. are none: they tell a son from his father."""


def core_words(words: tuple[str, ...], titled: bool = True, called: bool = True) -> tuple[str, ...]:
    """The words (normal forms) of a name without articles, titles, legal forms and type words; never empty.

    ``titled``: what may be a title is written as one (Sir, and not SIR); ``called``: it is written as a name, so that
    what may be a legal form is one (Volvo AB, and not blood type AB).

    >>> core_words(("the", "cifar", "10", "dataset")), core_words(("dr", "smith")), core_words(("data", "set"))
    (('cifar', '10'), ('smith',), ('data', 'set'))
    """
    start, end = 0, len(words)
    before = LEADING | TITLES if titled else LEADING
    behind = TYPE_WORDS | LEGAL_FORMS | DEGREES if called else TYPE_WORDS
    while start < end - 1 and words[start] in before:
        start += 1
    while end > start + 1 and words[end - 1] in behind:
        end -= 1
    core = words[start:end]
    # What is left must still name something: a letter and more, not a type itself.
    telling = len("".join(core)) > 1 and any(not word.isdigit() and word not in TYPE_WORDS for word in core)
    return core if telling else words
