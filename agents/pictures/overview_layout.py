"""A map of circles: near each other what is linked, none over another, compact, wider than high.

Force-directed as in Fruchterman & Reingold (1991), with circles that grow to their size while it runs: links pull by
their weight, circles push by the gap between them, and gravity holds parts together that no link joins. Of several
starts, the same at every call, the map stands whose links are shortest.
"""

from __future__ import annotations

import numpy as np

ASPECT = 1.5
"""Width by height that the map tends to."""
_STARTS = 8
_STEPS = 250
_GROWN = 0.7
"""Part of the steps after which circles have their size."""
_SETTLING = 200
_SEED = 1991


def place_circles(radii: np.ndarray, pull: np.ndarray, gap: float) -> np.ndarray:
    """Centres float64 [n, 2] for circles of ``radii`` [n] > 0 with ``pull`` [n, n] >= 0 between them, symmetric.

    A pull of about 1 is strong. Circles keep ``gap`` between each other; the box around them is centred on (0, 0).
    """
    if len(radii) < 2:
        return np.zeros((len(radii), 2))
    starts = np.random.Generator(np.random.PCG64(_SEED)).standard_normal((_STARTS, len(radii), 2))
    maps = [_settled(_attracted(start, radii, pull, gap), radii, gap) for start in starts]
    at = min(maps, key=lambda at: _cost(at, radii, pull))
    low, high = _box(at, radii)
    return np.asarray(at - (low + high) / 2)


def _cost(at: np.ndarray, radii: np.ndarray, pull: np.ndarray) -> float:
    """Pull times room, in sizes of the page that holds the map: long links cost, and so does a map that must shrink."""
    low, high = _box(at, radii)
    width, height = high - low
    return float((1.0 + (pull * _room(at, radii)[1]).sum()) * max(width / ASPECT, height))


def _box(at: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (at - radii[:, None]).min(axis=0), (at + radii[:, None]).max(axis=0)


def _attracted(start: np.ndarray, radii: np.ndarray, pull: np.ndarray, gap: float) -> np.ndarray:
    """Where forces bring the circles; some may still overlap. Lengths in forces are in units of ``unit``."""
    unit = 2 * float(np.sqrt((radii**2).mean())) + gap
    at = start * np.array([1.0, 1 / ASPECT]) * np.sqrt(len(radii)) * 0.4
    for step in range(_STEPS):
        direction, room = _room(at, radii / unit * min(1.0, step / _STEPS / _GROWN))
        push = 0.05 / np.maximum(room, 0.1) - 0.5 * pull * np.maximum(room, 0.0)
        np.fill_diagonal(push, 0.0)
        force = (direction * push[..., None]).sum(axis=1) - _gravity(at)
        size = np.linalg.norm(force, axis=1, keepdims=True)
        at = at + force / np.maximum(size, 1e-9) * np.minimum(size, 0.5 * (1 - step / _STEPS))
    return at * unit


def _settled(at: np.ndarray, radii: np.ndarray, gap: float) -> np.ndarray:
    """Overlaps removed, then holes closed as far as they go."""
    for step in range(_SETTLING):
        at = _parted(at - _gravity(at) * 0.3 * (1 - step / _SETTLING), radii, gap)
    while (np.triu(_room(at, radii)[1], 1) < np.triu(np.full((len(at), len(at)), gap - 1e-6), 1)).any():
        at = _parted(at * 1.02, radii, gap)  # what is still too near grows apart with the whole
    return at


def _gravity(at: np.ndarray) -> np.ndarray:
    return at * np.array([0.03, 0.03 * ASPECT**3])


def _room(at: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors [n, n, 2] from the second to the first of each pair, and the room between their circles [n, n]."""
    difference = at[:, None] - at[None]
    distance = np.linalg.norm(difference, axis=2)
    return difference / np.maximum(distance, 1e-9)[..., None], distance - radii[:, None] - radii[None]


def _parted(at: np.ndarray, radii: np.ndarray, gap: float) -> np.ndarray:
    """Pairs that are too near pushed apart along the line of their centres, the smaller circle further."""
    direction, room = _room(at, radii)
    missing = np.maximum(gap - room, 0.0)
    np.fill_diagonal(missing, 0.0)
    mass = radii**2
    return np.asarray(
        at + (direction * (missing * mass[None] / (mass[:, None] + mass[None]))[..., None]).sum(axis=1) * 0.7
    )
