"""What decides what graph a set of papers gives, and how two of these differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from kg.merge import MergeConfig
from kg.overrules import Overrules
from kg.pair_scorer import WEIGHTS, load_scorer
from kg.protocols import Encoder, Extractor, Track, no_track
from kg.sectioning import SectioningConfig

_ABSENT = object()


@dataclass(frozen=True)
class BuildConfig:
    """Everything that decides what graph a set of papers gives, beside extractor and encoder."""

    sectioning: SectioningConfig = SectioningConfig()
    merge: MergeConfig = MergeConfig()


@dataclass(frozen=True)
class Tools:
    """What a build works with; handed in, so that tests and other extractors use the same path."""

    extractor: Extractor
    encoder: Encoder
    config: BuildConfig = BuildConfig()
    track: Track = no_track

    def under(self, overrules: Overrules) -> Tools:
        """The same with other ``overrules``."""
        return replace(self, config=replace(self.config, merge=replace(self.config.merge, overrules=overrules)))

    def configuration(self) -> dict[str, Any]:
        """As it stands in the manifest: plain JSON, the weights of the scorer of pairs by their fingerprint.

        Raises:
            InputError: the scorer's weights cannot be read.
        """
        named = {
            "extractor": {"name": self.extractor.name, "fingerprint": self.extractor.fingerprint},
            "encoder": {"name": self.encoder.name, "fingerprint": self.encoder.fingerprint},
        }
        settings = asdict(self.config)
        weights = settings["merge"].pop("scorer")
        if self.config.merge.rungs == "scorer":
            named["pair_scorer"] = {"name": weights or WEIGHTS.name, "fingerprint": load_scorer(weights).fingerprint}
        record: dict[str, Any] = json.loads(json.dumps(named | settings))
        return record


def difference(built_with: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """The first setting in which two configurations differ, in words that go on "was built with"; "" where none does.

    What has a fingerprint (encoder, extractor, scorer) is what that says, wherever it lies.

    >>> difference({"merge": {"join": 0.5, "rungs": "rules"}}, {"merge": {"join": 0.6, "rungs": "scorer"}})
    'merge.join 0.5, not 0.6 (and 1 more that differs)'
    """
    found = list(_differences(built_with, given, ""))
    more = len(found) - 1
    return "" if not found else found[0] + (f" (and {more} more that differ{'s' if more == 1 else ''})" if more else "")


def _differences(ours: Mapping[str, Any], theirs: Mapping[str, Any], above: str) -> Iterator[str]:
    for key in sorted(ours.keys() | theirs.keys()):
        one, other, name = ours.get(key, _ABSENT), theirs.get(key, _ABSENT), f"{above}{key}"
        if one is _ABSENT or other is _ABSENT:
            yield f"{name} {_told(one)}, not {_told(other)}"
        elif isinstance(one, dict) and isinstance(other, dict) and "fingerprint" not in one:
            yield from _differences(one, other, f"{name}.")
        elif isinstance(one, list) and isinstance(other, list) and one != other:
            first = min(entry for entry in [*one, *other] if (entry in one) != (entry in other))
            yield f"another {name}, {first} {'only there' if first in one else 'lacking there'}"
        elif _identity(one) != _identity(other):
            yield f"{name} {_told(one)}, not {_told(other)}"


def _identity(setting: Any) -> Any:
    return setting["fingerprint"] if isinstance(setting, dict) and "fingerprint" in setting else setting


def _told(setting: Any) -> str:
    if setting is _ABSENT:
        return "unset"
    if isinstance(setting, dict):
        return f"{setting['name']} ({setting['fingerprint'][:12]})" if "fingerprint" in setting else "set"
    return json.dumps(setting) if setting in ("", None) else str(setting)
