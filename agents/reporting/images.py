"""Pictures as files: their size, and SVG turned into PNG for formats that know no SVG."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from agents.reporting.png import MOST_PIXELS, png_size
from agents.reporting.svg import svg_root
from kg.errors import InputError

LARGEST = 20_000
"""CSS pixels that a side of an SVG figure may have."""
SECONDS = 120
"""Time that drawing an SVG figure may take."""
MEMORY = 4 * 2**30
"""Bytes of memory that drawing an SVG figure may take."""
_DRAW = """
import resource, sys
from contextlib import suppress
with suppress(ValueError, OSError):
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import resvg_py
svg = sys.stdin.buffer.read().decode("utf-8-sig")
try:
    png = resvg_py.svg_to_bytes(
        svg_string=svg, zoom=float(sys.argv[1]), font_dirs=sys.argv[3:], sans_serif_family="DejaVu Sans"
    )
except BaseException as error:  # a panic of resvg is no Exception
    sys.exit(str(error) or type(error).__name__)
sys.stdout.buffer.write(bytes(png))
"""
_LENGTH = re.compile(r"\s*([0-9.]+)\s*(?:px)?\s*")


def image_size(media_type: str, content: bytes) -> tuple[float, float]:
    """(width, height) in CSS pixels. Raises ``InputError`` for what is no such file, not whole, or not safe to show."""
    if media_type == "image/png":
        width, height = png_size(content)
        return float(width), float(height)
    root = svg_root(content)
    lengths = [_LENGTH.fullmatch(root.get(name, "")) for name in ("width", "height")]
    box = root.get("viewBox", "").replace(",", " ").split()
    try:
        size = tuple(float(m[1]) for m in lengths if m) if all(lengths) else (float(box[2]), float(box[3]))
    except (ValueError, IndexError):
        size = (0.0, 0.0)
    if not all(0 < side <= LARGEST for side in size):  # NaN as well
        raise InputError(f"an SVG figure needs a width and a height, or a viewBox, of at most {LARGEST} pixels a side")
    return size[0], size[1]


def svg_to_png(svg: bytes, scale: float = 2.0) -> bytes:
    """The picture at ``scale`` device pixels per CSS pixel, less where it is very large.

    It is drawn in a process of its own: a few hundred nested elements, or a pattern of a million pixels, end the one
    that draws. Raises ``InputError`` if the picture cannot be drawn, or not within ``SECONDS`` and ``MEMORY``.
    Fonts are the system's; DejaVu, which comes with matplotlib, stands in where there is none.
    """
    width, height = image_size("image/svg+xml", svg)
    scale = min(scale, math.sqrt(MOST_PIXELS / (width * height)))
    try:
        drawn = subprocess.run(
            [sys.executable, "-P", "-c", _DRAW, str(scale), str(MEMORY), *_font_folders()],
            input=svg,
            capture_output=True,
            timeout=SECONDS,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
    except subprocess.TimeoutExpired:
        raise _undrawn(f"it takes longer than {SECONDS} s") from None
    except OSError as error:
        raise _undrawn(f"no process to draw it can be started: {error.strerror}") from None
    if drawn.returncode < 0:
        raise _undrawn(f"drawing it ends in {signal.Signals(-drawn.returncode).name}")
    if drawn.returncode:
        said = drawn.stderr.decode("utf-8", "replace").split("\n")
        raise _undrawn(next(line.strip() for line in reversed(said) if line.strip()))
    return drawn.stdout


def _undrawn(reason: str) -> InputError:
    return InputError(f"an SVG figure cannot be drawn ({reason}); open it in a browser to see what is wrong")


def _font_folders() -> list[str]:
    spec = find_spec("matplotlib")  # found, not imported: that takes half a second
    return [str(Path(p) / "mpl-data/fonts/ttf") for p in (spec.submodule_search_locations or [])] if spec else []
