"""Which concepts of a graph words name, under any of their aliases."""

from __future__ import annotations

from collections.abc import Sequence

from kg.lateral import LateralGraph
from kg.names import form_key

_LONGEST_NAME = 6
"""Words that are looked up together."""


class NameLookup:
    """Concepts by the keys of their names."""

    def __init__(self, graph: LateralGraph) -> None:
        self._by_key: dict[str, list[int]] = {}
        keys = graph.concepts["keys"].combine_chunks()
        for concept, key in zip(keys.value_parent_indices().to_pylist(), keys.flatten().to_pylist(), strict=True):
            self._by_key.setdefault(key, []).append(concept)

    def spans(self, words: Sequence[str]) -> list[tuple[slice, list[int]]]:
        """Where words (normal forms) name concepts, from left to right, each as long as can be, and which."""
        found: list[tuple[slice, list[int]]] = []
        taken = 0
        for start in range(len(words)):
            for end in range(min(len(words), start + _LONGEST_NAME), max(start, taken), -1):
                if hits := self._by_key.get(form_key(" ".join(words[start:end]))):
                    found.append((slice(start, end), hits))
                    taken = end
                    break
        return found
