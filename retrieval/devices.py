"""Where scores are computed: one rule for all methods.

A graph lies on one device as a whole. What is asked of it is scored there: every ``Scorer`` returns its scores on the
graph's device, whatever device its parts come from, and is given masks that lie there. Encoders, BM25, facts and masks
of years and exclusions keep what they hold where it was made; it is moved where it meets the graph's tensors.
"""

from __future__ import annotations

import torch

from kg.lateral import LateralGraph


def device_of(graph: LateralGraph) -> torch.device:
    """Where the graph's tensors lie, and so every score over its sections."""
    device: torch.device = graph["section"].x.device
    return device
