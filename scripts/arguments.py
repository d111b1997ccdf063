"""Argument types that the commands share, with the names that `--help` shows for their values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

Graph = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH", help="Directory of the graph.")]
Sources = Annotated[
    tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE...", help="Files and folders with papers.")
]
Encoder = Annotated[
    str | None,
    tyro.conf.arg(metavar="DIR|NAME", help="Where the graph's encoder lies, if it has moved since the build."),
]
Method = Annotated[
    Literal["ppr", "dense", "bm25", "hybrid"],
    tyro.conf.arg(help="Personalized PageRank on the graph, embeddings, BM25, or the fusion of the three."),
]
Limit = Annotated[int | None, tyro.conf.arg(metavar="N", help="Read only the first N papers.")]
TopN = Annotated[int, tyro.conf.arg(metavar="N", help="Sections at most.")]
Formats = Annotated[
    tuple[Literal["md", "html", "docx", "bib", "csl"], ...],
    tyro.conf.arg(metavar="md|html|docx|bib|csl...", help="Markdown, one HTML file, Word, BibTeX, CSL-JSON."),
]
ALL_FORMATS: Formats = ("html", "md", "docx", "bib", "csl")
Citations = Annotated[
    Literal["numbered", "author_year"], tyro.conf.arg(help="How papers are cited: [1], or (Akerlof, 1970).")
]
MaxAuthors = Annotated[
    int, tyro.conf.arg(metavar="N", help="Of more authors than this, the first ones (three at most) and et al.")
]
