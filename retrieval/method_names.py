"""The retrieval methods by name, for commands that must not wait for torch to say which there are."""

from __future__ import annotations

from typing import Literal, get_args

Method = Literal[
    "hybrid",
    "text",
    "ppr",
    "dense",
    "bm25",
    "bm25_okapi",
    "bm25_metasyn",
    "lkg",
    "long_walk",
    "katz",
    "heat_kernel",
    "rocchio",
    "facts",
    "concepts",
    "names",
    "contexts",
]
METHODS: tuple[Method, ...] = get_args(Method)
WITHOUT_ENCODER = ("bm25", "bm25_okapi", "bm25_metasyn", "names", "contexts")
