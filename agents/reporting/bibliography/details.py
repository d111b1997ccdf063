"""Which details of a source are bibliographic: those that describe the publication, and so belong in its reference.

Others are a collection's own remarks on its file (who checked it, where it was found, whether it is a summary). They
stay with the report's data and are no part of what a reference manager is given.
"""

from __future__ import annotations

import re

# Fields of BibTeX and biblatex, variables of CSL 1.0.2, and other names that sources have for the same.
_NAMES = frozenset(
    """abstract accessed address archive archiveprefix article-number arxiv arxiv-id author authors bibcode booktitle
    chapter collection-editor collection-title conference container-title date day doi edition editor
    editors eid eissn eprint eventdate eventtitle howpublished institution isbn issn issue issuetitle journal
    journal-abbreviation journal-title journaltitle jstor keyword keywords language location mesh month note number
    number-of-pages number-of-volumes organization original-date original-title origtitle page pages pagetotal part
    place pmcid pmid primaryclass pubmed-id publication-date publication-type publisher publisher-place school series
    short-title subtitle title translator type url urldate venue version volume volumes year""".split()
)


def is_bibliographic(name: str) -> bool:
    """Whether a detail of this name describes the publication; case, spaces and underscores do not matter."""
    return re.sub(r"[\s_]+", "-", name.strip().casefold()) in _NAMES
