"""Pictures in reports: what is no picture, not whole or not safe is refused, and none exhausts the memory."""

from __future__ import annotations

import base64
import io
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agents.reporting import images
from agents.reporting.images import image_size, svg_to_png
from agents.reporting.model import Figure
from kg.errors import InputError

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def drawn(mode: str = "RGB", size: tuple[int, int] = (7, 9), kind: str = "PNG", **options: Any) -> bytes:
    """A picture of noise, as another library writes it."""
    random = np.random.default_rng(0)
    noise = Image.fromarray(random.integers(0, 256, (size[1], size[0], 4), np.uint8), "RGBA")
    file = io.BytesIO()
    noise.convert(mode).save(file, kind, **options)
    return file.getvalue()


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int, colour: int, data: bytes, *, interlace: int = 0) -> bytes:
    """A PNG put together by hand."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))
    palette = chunk(b"PLTE", bytes(6)) if colour == 3 else b""
    return SIGNATURE + header + palette + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND")


def chunks_of(content: bytes) -> list[bytes]:
    found, at = [], 8
    while at < len(content):
        end = at + 12 + int.from_bytes(content[at : at + 4], "big")
        found.append(content[at:end])
        at = end
    return found


PNG = drawn()
HEADER, DATA, END = chunks_of(PNG)


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
        ("image/png", PNG[:20], "cut off"),
        ("image/png", PNG[:5], "is none"),
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


# PNG


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
@pytest.mark.parametrize("size", [(1, 1), (7, 9), (640, 3)])
def test_every_kind_of_png_that_another_library_writes_passes(mode: str, size: tuple[int, int]) -> None:
    if mode == "I;16":
        file = io.BytesIO()
        Image.fromarray(np.full((size[1], size[0]), 60000, np.uint16)).save(file, "PNG")
        assert image_size("image/png", file.getvalue()) == size
    else:
        assert image_size("image/png", drawn(mode, size)) == size


def test_a_png_with_remarks_and_frames_passes() -> None:
    remarks = [chunk(b"tEXt", b"Title\0A"), chunk(b"pHYs", bytes(9)), chunk(b"prIv", b"x")]
    assert image_size("image/png", b"".join([SIGNATURE, HEADER, *remarks, DATA, *remarks, END])) == (7, 9)
    frames = drawn(save_all=True, append_images=[Image.new("RGB", (7, 9))])
    assert b"fdAT" in frames
    assert image_size("image/png", frames) == (7, 9)


@given(
    st.integers(1, 20), st.integers(1, 20), st.sampled_from([(0, 1), (0, 16), (2, 8), (3, 2), (4, 8), (6, 16)]),
)  # fmt: skip
def test_the_data_of_an_interlaced_png_is_counted(width: int, height: int, kind: tuple[int, int]) -> None:
    colour, depth = kind
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    passes = ["1.......", "....1...", "1...1...", "..1...1.", "1.1.1.1.", ".1.1.1.1", "11111111"]
    rows = ["1.......", "1.......", "....1...", "1...1...", "..1...1.", "1.1.1.1.", ".1.1.1.1"]
    total = 0
    for across, down in zip(passes, rows, strict=True):
        columns = sum(across[x % 8] == "1" for x in range(width))
        total += sum(down[y % 8] == "1" for y in range(height)) * (1 + -(-columns * bits // 8)) if columns else 0
    whole = png(width, height, depth, colour, bytes(total), interlace=1)
    assert image_size("image/png", whole) == (width, height)
    Image.open(io.BytesIO(whole)).load()  # another reader agrees
    for wrong in (total - 1, total + 1):
        with pytest.raises(InputError, match="image data than"):
            image_size("image/png", png(width, height, depth, colour, bytes(wrong), interlace=1))


@given(st.integers(0, len(PNG) - 1))
def test_a_png_cut_off_anywhere_is_refused(length: int) -> None:
    with pytest.raises(InputError, match="give the whole file"):
        image_size("image/png", PNG[:length])


@given(st.integers(0, len(PNG) - 1), st.integers(1, 255))
def test_a_png_with_any_byte_changed_is_refused(place: int, change: int) -> None:
    damaged = bytearray(PNG)
    damaged[place] ^= change
    with pytest.raises(InputError, match="give the whole file"):
        image_size("image/png", bytes(damaged))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([], "cut off"),
        ([END], "does not begin with a header"),
        ([DATA, HEADER, END], "does not begin with a header"),
        ([chunk(b"IHDR", bytes(12)), DATA, END], "does not begin with a header"),
        ([HEADER, END], "no image data"),
        ([HEADER, DATA], "cut off"),
        ([HEADER, DATA, END, b"!"], "1 bytes stand after its end"),
        ([HEADER, DATA, chunk(b"tEXt", b"a\0b"), chunk(b"IDAT"), END], "interrupted"),
        ([HEADER, DATA, DATA, chunk(b"IEND")[:-1] + b"x"], "checksum"),
        ([HEADER, chunk(b"IDAT", b"no zlib"), END], "cannot be decompressed"),
        ([HEADER, chunk(b"IDAT", zlib.compress(bytes(198))[:-4]), END], "less image data than 7 x 9"),
        ([HEADER, chunk(b"IDAT", zlib.compress(bytes(100))), END], "less image data than 7 x 9"),
        ([HEADER, chunk(b"IDAT", zlib.compress(bytes(10**6))), END], "more image data than 7 x 9"),
        ([HEADER, b"\xff\xff\xff\xffIDAT", DATA, END], "cut off"),
    ],
)
def test_a_png_whose_parts_are_wrong_is_refused(parts: list[bytes], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        image_size("image/png", b"".join([SIGNATURE, *parts]))


@pytest.mark.parametrize(
    ("width", "height", "depth", "colour", "reason"),
    [
        (0, 1, 8, 0, "its size is 0 x 1"), (1, 1, 3, 0, "no picture that PNG knows"), (1, 1, 16, 3, "no picture"),
        (1, 1, 8, 5, "no picture"), (8000, 8000, 1, 0, "8,000 x 8,000 pixels, more than 50 million"),
        (2**31 - 1, 2**31 - 1, 16, 6, "scale it down"),
    ],
)  # fmt: skip
def test_a_png_of_no_sensible_size_or_kind_is_refused(
    width: int, height: int, depth: int, colour: int, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        image_size("image/png", png(width, height, depth, colour, b""))


def test_a_palette_that_is_missing_is_told() -> None:
    whole = png(1, 1, 8, 3, bytes(2))
    assert image_size("image/png", whole) == (1, 1)
    header, _, *rest = chunks_of(whole)
    with pytest.raises(InputError, match="palette"):
        image_size("image/png", SIGNATURE + header + b"".join(rest))


def test_data_without_end_does_not_fill_the_memory() -> None:
    bomb = zlib.compressobj(9)
    zeros = bytes(2**20)
    data = b"".join(bomb.compress(zeros) for _ in range(64)) + bomb.flush()
    content = SIGNATURE + HEADER + chunk(b"IDAT", data) + END
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more image data"):
            image_size("image/png", content)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


# SVG that would act or fetch

GIF = drawn("P", kind="GIF")
JPEG = drawn("RGB", kind="JPEG")


def data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


@pytest.mark.parametrize(
    "inside",
    [
        '<a href="#part"><use xlink:href="#part"/></a>',
        '<rect fill="url(#g)" style="filter:url(&quot;#f&quot;);clip-path:url( \'#c\' )"/>',
        "<style>/* a remark */ rect { fill: url(#g); font-family: 'A &amp; B' }</style>",
        f"<style>@font-face {{ font-family: F; src: url({data_url('font/woff2', b'font')}) format('woff2') }}</style>",
        f'<image href="{data_url("image/png", PNG)}"/><image href="{data_url("image/gif", GIF)}"/>',
        f'<image xlink:href=" {data_url("image/jpeg", JPEG)}"/>',
        f'<image href="data:image/png,{quote(PNG)}"/>',
        f"<style>rect {{ background: url({data_url('image/png', PNG)}) }}</style>",
        '<text aria-label="on url(http://a.b), see @import" data-x="url(x)" id="onload" class="script">script</text>',
        "<title>javascript: url(http://example.org) onload</title><desc>@import</desc>",
        '<rect width="3"><animate attributeName="width" values="1;2" dur="1s"/></rect>',
        '<metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description/></r:RDF></metadata>',
    ],
)
def test_an_svg_that_needs_nothing_else_passes(inside: str) -> None:
    assert image_size("image/svg+xml", svg('width="4" height="3"', inside)) == (4, 3)


HARM = {
    "script": ("<script>alert(1)</script>", "holds <script>"),
    "script of another case": ("<SCRIPT/>", "holds <SCRIPT>"),
    "script below": ("<g><defs><script href='#x'/></defs></g>", "holds <script>"),
    "script of another namespace": ('<s:script xmlns:s="http://www.w3.org/1999/xhtml"/>', "holds <script>"),
    "page element": ('<h:p xmlns:h="http://www.w3.org/1999/xhtml"/>', "holds <p>"),
    "foreign object": ("<foreignObject/>", "holds <foreignObject>"),
    "frame": ("<iframe src='#x'/>", "holds <iframe>"),
    "handler": ("<handler/>", "holds <handler>"),
    "event": ('<rect onclick="alert(1)"/>', r"acts on events \(onclick of <rect>\)"),
    "event of the root": ('<g OnLoad="x"/>', "acts on events"),
    "event of another namespace": ('<g xmlns:e="urn:e" e:onload="x"/>', "acts on events"),
    "javascript": ('<a href="javascript:alert(1)"/>', "refers to 'javascript:"),
    "javascript spelt oddly": ('<a xlink:href=" java&#10;script:x"/>', "refers to 'java"),
    "animated reference": ('<a><set attributeName="xlink:href" to="javascript:x"/></a>', "changes xlink:href"),
    "animated event": ('<animate attributeName=" onload " values="x"/>', "changes onload"),
    "animated style": ('<animate attributeName="style" values="x"/>', "changes style"),
    "base": ('<g xml:base="http://example.org/"/>', "xml:base"),
    "import": ("<style>@import 'a.css';</style>", "@import"),
    "import in a comment": ("<style>/* @IMPORT */</style>", "@import"),
    "import in two pieces": ("<style>@im<!-- -->port 'a';</style>", "@import"),
    "import behind escapes": (r"<style>@\69 m\000070ort 'a';</style>", "@import"),
    "address in a style sheet": ("<style>a { fill: url(http://a.b/c) }</style>", "refers to 'http://a.b/c'"),
    "address behind escapes": (r"<style>a { fill: u\72L('\2f/a.b') }</style>", "refers to '//a.b'"),
    "address in a style": ('<g style="fill:URL(&quot;//a.b&quot;)"/>', "refers to '//a.b'"),
    "address in an attribute": ('<g filter="url( ../a.svg#b )"/>', "refers to '../a.svg#b'"),
    "one address of several": ('<g style="fill:url(#a) ; stroke : url(b)"/>', "refers to 'b'"),
    "address as a string": ("<style>a{background:image-set('http://a.b' 1x)}</style>", r"image-set\(\)"),
    "address as a source": ("<style>a{src:src('http://a.b')}</style>", r"src\(\)"),
    "svg as data": (f'<image href="{data_url("image/svg+xml", b"<svg/>")}"/>', "data of type 'image/svg"),
    "svg as data in a style": ("<style>a{fill:url(data:image/SVG+xml;utf8,x)}</style>", "data of type 'image/svg"),
    "page as data": ('<a href="data:text/html,x"/>', "data of type 'text/html'"),
    "data of no type": ('<a href="data:,x"/>', "data of type 'text/plain'"),
    "data that is no data": ('<a href="data:image/png"/>', "refers to 'data:image/png'"),
    "damaged picture": (f'<image href="{data_url("image/png", PNG[:-9])}"/>', "a PNG figure is damaged"),
    "large picture": (f'<image href="{data_url("image/png", png(9999, 9999, 8, 0, b""))}"/>', "scale it down"),
    "other picture": (f'<image href="{data_url("image/jpeg", b"GI")}"/>', "image/jpeg data that is no such picture"),
    "large gif": (f'<image href="{data_url("image/gif", GIF[:6] + bytes([255] * 4) + GIF[10:])}"/>', "scale it down"),
    "no base64": ('<image href="data:image/png;base64,A"/>', "not whole"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HARM)
def test_an_svg_that_acts_or_fetches_is_refused_in_a_sentence(kind: str) -> None:
    inside, reason = HARM[kind]
    with pytest.raises(InputError, match=reason) as error:
        Figure("image/svg+xml", svg('width="4" height="3"', inside), "A picture")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("before", "encoding", "reason"),
    [
        ("<?xml-stylesheet href='a.css'?>", "utf-8", "xml-stylesheet"),
        ("<?xml version='1.0' encoding='utf-16'?>", "utf-16", "UTF-8"),
        ("", "utf-16-le", "UTF-8"),
        ("<?xml version='1.0' encoding='cp037'?>", "cp037", "UTF-8"),
        ("<?xml version='1.0' encoding='latin-1'?>", "utf-8", "UTF-8"),
        ("<?xml version='1.0' encoding='utf-8'?><!DOCTYPE svg>", "utf-8", "document type"),
    ],
)
def test_an_svg_that_a_browser_may_read_otherwise_is_refused(before: str, encoding: str, reason: str) -> None:
    content = (before + svg('width="4" height="3"').decode()).encode(encoding)
    with pytest.raises(InputError, match=reason):
        image_size("image/svg+xml", content)


def test_an_svg_that_declares_its_encoding_passes() -> None:
    for before in ("\ufeff", "<?xml version='1.0' encoding='UTF-8' standalone='no'?>\n"):
        content = before.encode() + svg('width="4" height="3"')
        assert image_size("image/svg+xml", content) == (4, 3)
        assert image_size("image/png", svg_to_png(content)) == (8, 6)


# Drawing


def test_an_svg_is_drawn_at_the_scale_asked_for(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(svg_to_png(svg('width="40" height="30"', '<rect width="20" height="30"/>'), 3))
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (120, 90)
        assert picture.getpixel((30, 45))[3] == 255
        assert picture.getpixel((90, 45))[3] == 0


def test_a_very_large_svg_is_drawn_smaller(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(svg_to_png(svg('width="20000" height="20000"')))
    with Image.open(tmp_path / "a.png") as picture:
        assert 6500 <= picture.width == picture.height <= 7072


FATAL = {
    "stack": "<g>" * 2000 + "</g>" * 2000,
    "memory": '<pattern id="p" width="1e6" height="1e6" patternUnits="userSpaceOnUse"><path d="M0 0h1v1"/></pattern>'
    '<rect width="9" height="9" fill="url(#p)"/>',
    "copies": '<g id="a0"><path d="M0 0h1v1"/></g>'
    + "".join(f'<g id="a{n}">{f"""<use href="#a{n - 1}"/>""" * 10}</g>' for n in range(1, 9)),
}


@pytest.mark.parametrize("kind", FATAL)
def test_a_picture_that_ends_the_process_that_draws_it_is_a_sentence(kind: str) -> None:
    with pytest.raises(InputError, match=r"an SVG figure cannot be drawn \([^\n]+\); open it") as error:
        svg_to_png(svg('width="40" height="30"', FATAL[kind]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        ("class Panic(BaseException): pass\ndef svg_to_bytes(**_): raise Panic('index out of bounds')", "index out of"),
        ("def svg_to_bytes(**_): raise ValueError('first\\nsecond')", "second"),
        ("def svg_to_bytes(**_): import os; os.abort()", "ends in SIGABRT"),
        ("def svg_to_bytes(**_): import time; time.sleep(60)", "takes longer than 1 s"),
        ("def svg_to_bytes(**_): bytearray(2**33)", "MemoryError"),
    ],
)
def test_whatever_the_library_does_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, reason: str
) -> None:
    (tmp_path / "resvg_py.py").write_text(library)
    monkeypatch.syspath_prepend(str(tmp_path))
    if "sleep" in library:
        monkeypatch.setattr(images, "SECONDS", 1)
    with pytest.raises(InputError, match=rf"cannot be drawn \(.*{reason}.*\); open it"):
        svg_to_png(svg('width="4" height="3"'))
