"""Pictures in reports: what is no picture is refused, nothing outside a file is read, and none exhausts the memory."""

from __future__ import annotations

import struct
import sys
from types import SimpleNamespace

import pytest
from PIL import Image

from agents.reporting.images import image_size, svg_to_png
from agents.reporting.model import Figure
from kg.errors import InputError

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 7, 9, 8, 2, 0, 0, 0) + bytes(4)


def svg(attributes: str, inside: str = "") -> bytes:
    return f"{HEAD}{attributes}>{inside}</svg>".encode()


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="40" height="30"', (40, 30)),
        ('width="40px" height="30.5px"', (40, 30.5)),
        ('viewBox="0 0 40 30"', (40, 30)),
        ('viewBox="0,0,40,30" width="100%"', (40, 30)),
    ],
)
def test_the_size_of_an_svg_is_that_of_its_attributes(attributes: str, size: tuple[float, float]) -> None:
    assert image_size("image/svg+xml", svg(attributes)) == size


def test_the_size_of_a_png_stands_in_its_header() -> None:
    assert image_size("image/png", PNG) == (7, 9)


@pytest.mark.parametrize(
    ("media_type", "content", "message"),
    [
        ("image/png", b"", "is none"),
        ("image/png", PNG[:20], "is none"),
        ("image/png", svg('width="1" height="1"'), "is none"),
        ("image/svg+xml", b"", "cannot be read"),
        ("image/svg+xml", b"<svg", "cannot be read"),
        ("image/svg+xml", b"<html/>", "begins with <html>"),
        ("image/svg+xml", b"<!DOCTYPE svg>" + svg('width="1" height="1"'), "document type"),
        ("image/svg+xml", svg(""), "needs a width and a height"),
        ("image/svg+xml", svg('viewBox="0 0 nan 3"'), "needs a width and a height"),
        ("image/svg+xml", svg('viewBox="0 0 1e9 1e9"'), "at most 20000"),
        ("image/svg+xml", svg('width="-1" height="3"'), "needs a width and a height"),
        ("image/svg+xml", svg('width="9" height="9"', '<image xlink:href="file:///etc/passwd"/>'), "refers to 'file:"),
        (
            "image/svg+xml",
            svg('width="9" height="9"', '<use href="https://example.org/a.svg#b"/>'),
            "refers to 'https:",
        ),
        ("image/gif", b"GIF89a", "use image/svg"),
    ],
)
def test_what_is_no_picture_or_not_whole_is_refused(media_type: str, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Figure(media_type, content, "A picture")  # type: ignore[arg-type]


def test_a_figure_without_words_is_refused() -> None:
    with pytest.raises(InputError, match="alt text"):
        Figure("image/png", PNG, " ")


def test_an_svg_is_drawn_at_the_scale_asked_for(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(svg_to_png(svg('width="40" height="30"', '<rect width="20" height="30"/>'), 3))
    with Image.open(tmp_path / "a.png") as drawn:
        assert drawn.size == (120, 90)
        assert drawn.getpixel((30, 45))[3] == 255
        assert drawn.getpixel((90, 45))[3] == 0


def test_a_very_large_svg_is_drawn_smaller(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(svg_to_png(svg('width="20000" height="20000"')))
    with Image.open(tmp_path / "a.png") as drawn:
        assert 6500 <= drawn.width == drawn.height <= 7072


def test_a_panic_of_the_library_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(**_: object) -> bytes:
        raise PanicException("index out of bounds")

    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=panic))
    with pytest.raises(InputError, match=r"cannot be drawn \(index out of bounds\)"):
        svg_to_png(svg('width="4" height="3"'))
