"""How two configurations differ, in words that stay readable."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from kg.configuration import BuildConfig, Tools, difference
from kg.errors import InputError
from kg.merge import MergeConfig
from kg.overrules import Overrules, Said
from kg.pair_scorer import WEIGHTS


def with_merge(tools: Tools, **settings: Any) -> Tools:
    return dataclasses.replace(tools, config=BuildConfig(merge=MergeConfig(**settings)))


def test_a_configuration_is_what_a_manifest_gives_back(tools: Tools) -> None:
    said = Overrules.of([Said("same", "a", "b"), Said("different", "c", "d")])
    found = tools.under(said).configuration()
    assert found == json.loads(json.dumps(found))
    assert found["merge"]["overrules"] == {"same": [["a", "b"]], "different": [["c", "d"]]}
    assert Overrules.stored(found["merge"]["overrules"]) == said
    assert difference(found, tools.under(said).configuration()) == ""


def test_the_scorer_is_told_by_its_weights_and_only_where_it_scores(tools: Tools, tmp_path: Path) -> None:
    moved = tmp_path / "moved.json"
    moved.write_bytes(WEIGHTS.read_bytes())
    own = tools.configuration()
    assert own["pair_scorer"]["name"] == "pair_scorer.json"
    assert "scorer" not in own["merge"]
    assert difference(own, with_merge(tools, scorer=str(moved)).configuration()) == ""
    assert "pair_scorer" not in with_merge(tools, rungs="rules", scorer="none").configuration()
    with pytest.raises(InputError, match=r"none holds no weights"):
        with_merge(tools, scorer="none").configuration()


def tool(name: str, fingerprint: str) -> dict[str, str]:
    return {"name": name, "fingerprint": fingerprint}


@pytest.mark.parametrize(
    ("built_with", "given", "words"),
    [
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, "a.b.c 1, not 2"),
        ({"a": 1, "b": 2, "c": {"d": 3}}, {"a": 2, "b": 3, "c": {"d": 4}}, "a 1, not 2 (and 2 more that differ)"),
        ({"a": 1, "b": 2}, {"a": 2, "b": 3}, "a 1, not 2 (and 1 more that differs)"),
        ({"a": {"b": None}}, {"a": {"b": ""}}, 'a.b null, not ""'),
        ({"a": 1}, {}, "a 1, not unset"),
        ({}, {"a": {"b": 1}}, "a unset, not set"),
        ({"a": [["x", "y"]]}, {"a": [["v", "w"], ["x", "y"]]}, "another a, ['v', 'w'] lacking there"),
        ({"a": [["x", "y"]]}, {"a": []}, "another a, ['x', 'y'] only there"),
        ({"a": tool("x", "1" * 16)}, {"a": tool("y", "2")}, "a x (111111111111), not y (2)"),
        ({"a": tool("x", "1")}, {"a": tool("/moved/x", "1")}, ""),
    ],
)  # fmt: skip
def test_the_first_difference_is_named_and_the_others_counted(
    built_with: dict[str, Any], given: dict[str, Any], words: str
) -> None:
    assert difference(built_with, given) == words
