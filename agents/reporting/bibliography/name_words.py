"""Words by which the parts of names are told: particles, suffixes, and what only organisations are called."""

from __future__ import annotations

PARTICLES = frozenset(
    """a' aan af al ap auf aus av ben bij bin bint binti da dal dalla dall' das de de' degli dei del della delle dello
    dem den der des di do dos du e' el het ibn in la las le les lo los onder op over ten ter te thor tot uit van van't
    vande vanden vander ver vom von 't ’t zu zum zur und بن ابن آل בן""".split()
)
CAPITALISED_PARTICLES = frozenset(
    "al da de del della den der des di dos du el la las le los st st. ste. ter ten van von".split()
)
"""Those that are hardly ever a given name or a whole family name when they stand inside a name with a capital."""
GENERATIONS = frozenset("jr jr. jnr jnr. junior sr sr. snr snr. 2nd 3rd 4th".split())
NUMERALS = frozenset("II III IV VI VII VIII".split())
DEGREES = frozenset("phd ph.d. ph.d dphil d.phil. dsc d.sc. scd sc.d. esq esq.".split())
TITLES = frozenset("md m.d. m.d mba m.b.a. mph m.p.h. msc m.sc. ma m.a. bsc rn r.n. v".split())
"""Suffixes only where a comma sets them off from both names: "Smith, MD" may be Mary D. Smith."""
COMPANIES = frozenset("Inc Inc. Ltd Ltd. LLC GmbH Corp Corp. Limited Incorporated".split())
ORGANISATIONS = frozenset(
    """academy administration agency alliance association authority banco bank banque bureau center centers centre
    centres centro coalition collaboration collaborative collaborators college commission committee company
    confederation consortium corporation council department directorate federation foundation fundación gesellschaft
    government group groups hospital initiative institut institute institutes institution institutions instituto
    investigators istituto laboratories laboratory ministerio ministerium ministry ministère museum nations network
    observatory organisation organization partnership programme publishing research secretariat society states
    trialists union universidad universidade universitat università universität university université""".split()
)
OFTEN_ORGANISATIONS = frozenset(
    "board clinic conference division enterprise fund library office panel press program project registry service "
    "services staff study team trust workshop".split()
)
"""Family names, too: an organisation only in three words or more, none of them an initial."""
INSIDE_TITLES = frozenset("of for and the on in und für pour et".split())
"""Words in lower case that stand in names of organisations, and in those of people only before a particle."""
JOINING = frozenset({"y", "i"})
