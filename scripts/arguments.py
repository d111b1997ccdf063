"""Argument types that the commands share, with the names that `--help` shows for their values, and rules for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from kg.errors import InputError
from retrieval.method_names import Method as MethodName

Graph = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GRAPH", help="Directory of the graph.")]
Sources = Annotated[
    tuple[Path, ...],
    tyro.conf.Positional,
    tyro.conf.arg(metavar="SOURCE...", help="Files and folders with papers.", help_behavior_hint="(required)"),
]
Encoder = Annotated[
    str | None,
    tyro.conf.arg(metavar="DIR|NAME", help="Where the graph's encoder lies, if it has moved since the build."),
]
Method = Annotated[
    MethodName,
    tyro.conf.arg(
        help="The fusion of embeddings, BM25 and the graph; that of the first two (text); one of them; other ways over"
        " the graph (lkg, long_walk, katz, heat_kernel, concepts); feedback (rocchio, facts)."
    ),
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


def refuse_repeated(given: Sequence[str]) -> None:
    """Raise ``InputError`` for an option that is given twice: the parser would drop the first without a word."""
    options = [word.partition("=")[0] for word in takewhile(lambda word: word != "--", given) if word.startswith("--")]
    for option, times in Counter(option.replace("-", "_") for option in options).items():
        if times > 1:
            name = f"--{option.removeprefix('__')}"
            raise InputError(f"{name} is given {times} times; give it once, all its values after it.")


def named_paths(given: Sequence[str]) -> ConstructorRegistry:
    """How the parser makes paths of words: as they are, but none of an empty one, which would mean the directory one
    is in. The ``InputError`` names the option.
    """
    registry = ConstructorRegistry()
    before = (option for option, value in pairwise(given) if value == "" and option.startswith("--"))
    joined = (word.rstrip("=") for word in given if word.startswith("--") and word.endswith("="))
    option = next(before, None) or next(joined, "A path")

    def path_of(words: list[str]) -> Path:
        if not words[0]:
            raise InputError(f"{option} is empty; name a file or a directory (. is the one you are in).")
        return Path(words[0])

    @registry.primitive_rule
    def rule(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Path] | None:
        if info.type is not Path:
            return None
        return PrimitiveConstructorSpec(
            nargs=1, metavar="PATH", instance_from_str=path_of,
            is_instance=lambda value: isinstance(value, Path), str_from_instance=lambda path: [str(path)],
        )  # fmt: skip

    return registry
