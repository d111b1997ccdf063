"""HTML pages that are one file: styles, scripts and pictures inside, and a policy that forbids everything else.

Texts of papers reach a page through Jinja's escaping or as JSON data, never as markup. The Content-Security-Policy
allows no connection at all and only those scripts that the page was made with (by their SHA-256), so that even a text
that slipped through could neither run nor call out.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(template: str, scripts: Sequence[str], **context: object) -> str:
    """The page that ``template`` makes of ``context``; ``scripts`` are the sources to run at its end, in order.

    Templates extend ``page.html``, which sets title, language, styles and policy; ``context`` needs ``title`` and
    ``language`` for it, and ``styles``: names of style sheets beside the templates, after ``base.css``.
    """
    sources = [asset("page.js"), *scripts]
    policy = "; ".join(
        [
            "default-src 'none'",
            "img-src data:",
            "style-src 'unsafe-inline'",
            "script-src " + " ".join(f"'sha256-{_digest(source)}'" for source in sources),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return _environment().get_template(template).render(policy=policy, scripts=sources, asset=asset, **context)


def asset(name: str) -> str:
    """The text of a style sheet or script that lies beside the templates."""
    return files("agents.reporting").joinpath("templates", name).read_text(encoding="utf-8")


def json_data(value: object) -> str:
    """``value`` as JSON that may stand in a ``<script type="application/json">`` element: no text of it ends that."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def d3_source() -> str:
    """D3 5 (ISC licence) as the package mpld3 ships it. Raises ``InputError`` where that is not installed."""
    spec = find_spec("mpld3")  # found, not imported: it would import matplotlib
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "js" / "d3.v5.min.js"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise InputError("the picture needs D3 from the package mpld3, which is not installed; pip install mpld3")


def _digest(source: str) -> str:
    return b64encode(hashlib.sha256(source.encode("utf-8")).digest()).decode("ascii")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("agents.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = lambda value: Markup(json_data(value))
    return environment


def trusted(text: str) -> Any:
    """Markup that our own code made (an SVG, MathML) and that a template must not escape."""
    from markupsafe import Markup

    return Markup(text)
