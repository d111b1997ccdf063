"""What several commands need: the encoder that fits a graph, and the tools to build with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kg.build import Tools
from kg.errors import GraphError, InputError
from kg.keyphrase import KeyphraseExtractor
from scripts.console import say, track

if TYPE_CHECKING:
    from retrieval.encoder import SentenceEncoder

ENCODER_VARIABLE = "EVIGRAPH_ENCODER"


def load_encoder(given: str | None, manifest: Mapping[str, Any] | None = None) -> SentenceEncoder:
    """Flag, else environment, else the graph's own, else the default; ``GraphError`` if it does not fit the graph."""
    from retrieval.encoder import SentenceEncoder, find_encoder

    if given is not None and not given.strip():
        raise InputError("--encoder is empty; name a model or its folder, or leave it out.")
    built_with = manifest["configuration"]["encoder"] if manifest else None
    source = find_encoder(given or os.environ.get(ENCODER_VARIABLE) or (built_with["name"] if built_with else None))
    if source.note:
        say(source.note + ".")
    encoder = SentenceEncoder.load(source)
    if built_with and encoder.fingerprint != built_with["fingerprint"]:
        raise GraphError(
            f"The graph was built with the encoder {built_with['name']} ({built_with['fingerprint'][:12]}), but "
            f"{encoder.name} ({encoder.fingerprint[:12]}) is another model; pass the first with --encoder, "
            "or build the graph again."
        )
    return encoder


def build_tools(encoder: SentenceEncoder) -> Tools:
    """Tools with the extractor that needs no language model."""
    return Tools(KeyphraseExtractor(), encoder, track=track)
