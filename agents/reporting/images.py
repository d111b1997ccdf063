"""Pictures as files: their size, and SVG turned into PNG for formats that know no SVG."""

from __future__ import annotations

import math
import re
import struct
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

from kg.errors import InputError

_PNG = b"\x89PNG\r\n\x1a\n"
LARGEST = 20_000
"""CSS pixels that a side of an SVG figure may have."""
_PIXELS = 50e6
"""Most pixels of a PNG that is made of an SVG: 200 MB while it is drawn."""
_LENGTH = re.compile(r"\s*([0-9.]+)\s*(?:px)?\s*")


def image_size(media_type: str, content: bytes) -> tuple[float, float]:
    """(width, height) in CSS pixels. Raises ``InputError`` for what is no such file."""
    if media_type == "image/png":
        if not content.startswith(_PNG) or content[12:16] != b"IHDR" or len(content) < 33:
            raise InputError("a figure is said to be a PNG and is none; give the whole file")
        width, height = struct.unpack(">II", content[16:24])
        return float(width), float(height)
    root = _svg_root(content)
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

    Raises ``InputError`` if it cannot be drawn.
    Fonts are the system's; DejaVu, which comes with matplotlib, stands in where there is none.
    """
    import resvg_py

    width, height = image_size("image/svg+xml", svg)
    scale = min(scale, math.sqrt(_PIXELS / (width * height)))
    try:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg.decode("utf-8"), zoom=scale, font_dirs=_font_folders(), sans_serif_family="DejaVu Sans"
            )
        )
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of resvg is no Exception, and must not end a report in a traceback
        raise InputError(
            f"an SVG figure cannot be drawn ({error}); open it in a browser to see what is wrong"
        ) from None


def _font_folders() -> list[str]:
    spec = find_spec("matplotlib")  # found, not imported: that takes half a second
    return [str(Path(p) / "mpl-data/fonts/ttf") for p in (spec.submodule_search_locations or [])] if spec else []


def _svg_root(content: bytes) -> ET.Element:
    # A document type could define entities without end; pictures need none.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise InputError("an SVG figure has a document type declaration; save it without one")
    try:
        root = ET.fromstring(content)
    except (ET.ParseError, UnicodeError, ValueError) as error:
        raise InputError(f"a figure is said to be SVG and cannot be read ({error}); give the whole file") from None
    if root.tag != "{http://www.w3.org/2000/svg}svg":
        raise InputError(f"a figure is said to be SVG and begins with <{root.tag}>; give an SVG file")
    for node in root.iter():
        for name, value in node.items():
            if name.rpartition("}")[2] in {"href", "src"} and not value.strip().startswith(("#", "data:")):
                raise InputError(f"an SVG figure refers to {value[:80]!r}; put into the file whatever it needs")
    return root
