"""SVG files checked before they become part of a report: nothing in them acts, and nothing comes from outside.

A figure is copied beside the Markdown, where a browser opens it as a page of its own: what a page could do, a figure
must not. Scripting and references as in SVG 2 (W3C, 2018), sections 15 and 16; ``url()`` and escapes as in CSS Syntax
Level 3.
"""

from __future__ import annotations

import base64
import binascii
import re
import xml.etree.ElementTree as ET
from urllib.parse import unquote_to_bytes

from agents.reporting.png import MOST_PIXELS, png_size
from kg.errors import InputError

_ROOT = "{http://www.w3.org/2000/svg}svg"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_ACTIVE = {"script", "foreignobject", "handler", "listener", "iframe", "object", "embed", "audio", "video"}
_ANIMATIONS = {"set", "animate", "animatetransform", "animatemotion", "animatecolor", "discard"}
_ENCODING = re.compile(r"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\r\n\f])|(.))", re.DOTALL)
_URL = re.compile(r"url\(\s*[\"']?\s*([^\"')]*)", re.IGNORECASE)
_STRING_URLS = re.compile(r"(?<![\w-])((?:-webkit-)?(?:image-set|image|src|cross-fade))\(", re.IGNORECASE)
_WORDS = {"id", "class", "title", "alt", "name", "label"}
"""Attributes that hold names or prose; what they say of addresses refers to nothing."""
_DATA = re.compile(r"data:([^,;]*)((?:;[^,]*)?),(.*)", re.DOTALL | re.IGNORECASE)
_PICTURES = {"image/png", "image/jpeg", "image/jpg", "image/gif"}
_FONT = re.compile(r"(?:font/|application/(?:x-)?font|application/vnd\.ms-fontobject)")


def svg_root(content: bytes) -> ET.Element:
    """The checked picture.

    Raises ``InputError`` for what is no SVG, and for an SVG that holds scripts, event handlers, other documents, or
    references to anything outside the file.
    """
    text = _text(content)
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise InputError(f"a figure is said to be SVG and cannot be read ({error}); give the whole file") from None
    if root.tag != _ROOT:
        raise InputError(f"a figure is said to be SVG and begins with <{root.tag}>; give an SVG file")
    for node in root.iter():
        _check(node)
    return root


def _text(content: bytes) -> str:
    """The file as text. In another encoding than UTF-8 a browser might read what we did not."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    declared = _ENCODING.match(text)
    if "\0" in text or (declared and declared[1].lower() not in {"utf-8", "utf8", "us-ascii", "ascii"}):
        raise InputError("a figure is said to be SVG and cannot be read as UTF-8; save it in that encoding")
    # A document type could define entities without end; pictures need none.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError("an SVG figure has a document type declaration; save it without one")
    if "<?xml-stylesheet" in text:
        raise InputError("an SVG figure refers to a style sheet (xml-stylesheet); put its rules into the file")
    return text


def _check(node: ET.Element) -> None:
    tag = str(node.tag)
    name = tag.rpartition("}")[2]
    if name.lower() in _ACTIVE or tag.startswith(_XHTML):
        raise InputError(f"an SVG figure holds <{name}>, which may act like a page; save it without")
    if name == "style":
        _check_css("".join(node.itertext()))
    for full, value in node.items():
        namespace, _, attribute = full.rpartition("}")
        lower = attribute.lower()
        if lower.startswith("on"):
            raise InputError(f"an SVG figure acts on events ({attribute} of <{name}>); save it without scripts")
        if lower in {"href", "src"}:
            _check_reference(value)
        elif lower == "base" and namespace:
            raise InputError(f"an SVG figure refers to {value[:80]!r} (xml:base); put into the file whatever it needs")
        elif lower == "attributename" and name.lower() in _ANIMATIONS:
            target = value.strip().rpartition(":")[2].lower()
            if target in {"href", "src", "style"} or target.startswith("on"):
                raise InputError(f"an SVG figure changes {value.strip()} while it is shown (<{name}>); save it still")
        elif not namespace and not lower.startswith(("aria-", "data-")) and lower not in _WORDS:
            _check_css(value)


def _check_css(css: str) -> None:
    """Comments count as well: where they begin is a matter of dispute between readers of damaged style sheets."""
    plain = _ESCAPE.sub(_unescaped, css)
    if "@import" in plain.lower():
        raise InputError("an SVG figure imports a style sheet (@import); put its rules into the file")
    for url in _URL.finditer(plain):
        _check_reference(url[1])
    if other := _STRING_URLS.search(plain):
        raise InputError(f"an SVG figure may refer to other files ({other[1]}() in its style); use url(#...) instead")


def _unescaped(match: re.Match[str]) -> str:
    code, newline, character = match.groups()
    if newline:
        return ""
    if character:
        return str(character)
    number = int(code, 16)
    return chr(number) if 0 < number <= 0x10FFFF else "\ufffd"


def _check_reference(value: str) -> None:
    """A part of the figure itself, or a picture or font that stands in it as data."""
    value = value.strip()
    if value.startswith("#") or not value:
        return
    data = _DATA.fullmatch(value)
    if not data:
        raise InputError(f"an SVG figure refers to {value[:80]!r}; put into the file whatever it needs")
    media_type = data[1].strip().lower()
    if media_type in _PICTURES:
        _check_picture(media_type, data[2], data[3])
    elif not _FONT.match(media_type):
        kind = media_type or "text/plain"
        raise InputError(f"an SVG figure holds data of type {kind[:40]!r}; hold pictures as PNG, JPEG or GIF")


def _check_picture(media_type: str, parameters: str, data: str) -> None:
    raw = unquote_to_bytes(data)
    if parameters.lower().replace(" ", "").endswith(";base64"):
        try:
            raw = base64.b64decode(b"".join(raw.split()) + b"==")
        except (binascii.Error, ValueError):
            raise InputError("an SVG figure holds a picture that is not whole; save it again") from None
    if media_type == "image/png":
        png_size(raw)
        return
    from docx.image.image import Image

    try:
        picture = Image.from_blob(raw)
        width, height = int(picture.px_width), int(picture.px_height)
    except Exception:  # a reader of headers, on bytes of any kind
        raise InputError(f"an SVG figure holds {media_type} data that is no such picture; save it again") from None
    if not 0 < width * height <= MOST_PIXELS:
        raise InputError(f"an SVG figure holds a picture of {width:,} x {height:,} pixels; scale it down")
