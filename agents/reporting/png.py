"""PNG files checked whole, so that what is stored can be drawn by whoever reads it.

Portable Network Graphics, third edition (W3C, 2025): chunks in section 5, image data in sections 7 to 10.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kg.errors import InputError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 50_000_000
"""Pixels of a figure: 200 MB while it is drawn."""
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""Bits per sample that each colour type allows (table 11.1)."""
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""(x, y) of the first pixel of each pass of an interlaced picture, and the steps from one to the next."""
_PIECE = 1 << 16


@dataclass(frozen=True)
class _Header:
    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    def data_bytes(self) -> int:
        """Length of the filtered image data once it is decompressed."""
        passes = _ADAM7 if self.interlaced else ((0, 0, 1, 1),)
        bits = self.depth * _SAMPLES[self.colour]
        total = 0
        for x, y, across, down in passes:
            columns, rows = -(-(self.width - x) // across), -(-(self.height - y) // down)
            if columns > 0 and rows > 0:
                total += rows * (1 + -(-columns * bits // 8))
        return total


def png_size(content: bytes) -> tuple[int, int]:
    """(width, height) in pixels. Raises ``InputError`` for what is no PNG, not whole, damaged, or too large to draw."""
    if not content.startswith(SIGNATURE):
        raise InputError("a figure is said to be a PNG and is none; give the whole file")
    chunks = list(_chunks(content))
    header = _header(*chunks[0])
    kinds = [kind for kind, _ in chunks]
    data = [number for number, kind in enumerate(kinds) if kind == b"IDAT"]
    if not data:
        raise _damaged("it holds no image data (IDAT)")
    if data != list(range(data[0], data[-1] + 1)):
        raise _damaged("its image data (IDAT) is interrupted")
    if header.colour == 3 and b"PLTE" not in kinds[: data[0]]:
        raise _damaged("its palette (PLTE) is missing")
    _check_data(header, (chunks[number][1] for number in data))
    return header.width, header.height


def _chunks(content: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """(type, data) of every chunk, to IEND, which must be the end."""
    view, at = memoryview(content), len(SIGNATURE)
    while at + 12 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        end = at + 12 + length
        if end > len(content):
            break
        if zlib.crc32(view[at + 4 : end - 4]) != struct.unpack_from(">I", content, end - 4)[0]:
            raise _damaged(f"the checksum of its chunk {kind.decode('latin-1')!a} is wrong")
        yield kind, view[at + 8 : end - 4]
        at = end
        if kind == b"IEND":
            if at < len(content):
                raise _damaged(f"{len(content) - at:,} bytes stand after its end (IEND)")
            return
    raise _damaged("it is cut off before its end (IEND)")


def _header(kind: bytes, data: memoryview) -> _Header:
    if kind != b"IHDR" or len(data) != 13:
        raise _damaged("it does not begin with a header (IHDR)")
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(">IIBBBBB", data)
    if depth not in _DEPTHS.get(colour, ()) or compression or filtering or interlace > 1:
        raise _damaged("its header (IHDR) describes no picture that PNG knows")
    if not (width and height):
        raise _damaged(f"its size is {width} x {height} pixels")
    if width * height > MOST_PIXELS:
        raise InputError(
            f"a PNG figure has {width:,} x {height:,} pixels, more than {MOST_PIXELS // 10**6} million; scale it down"
        )
    return _Header(width, height, depth, colour, bool(interlace))


def _check_data(header: _Header, pieces: Iterable[memoryview]) -> None:
    """Decompress a little at a time: data without end is noticed before it fills the memory."""
    expected, found = header.data_bytes(), 0
    stream = zlib.decompressobj()
    try:
        for piece in pieces:
            rest: bytes | memoryview = piece
            while rest and found <= expected:
                found += len(stream.decompress(rest, _PIECE))
                rest = stream.unconsumed_tail
    except zlib.error as error:
        raise _damaged(f"its image data cannot be decompressed ({error})") from None
    if found != expected or not stream.eof:
        amount = "more" if found > expected else "less"
        raise _damaged(f"it holds {amount} image data than {header.width} x {header.height} pixels need")


def _damaged(reason: str) -> InputError:
    return InputError(f"a PNG figure is damaged: {reason}; give the whole file")
