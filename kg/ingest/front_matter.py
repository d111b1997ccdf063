"""YAML front matter: the bibliographic fields between two ``---`` lines at the top of a Markdown file."""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml

_KEY = re.compile(r"[A-Za-z_][\w -]*:(?:\s|$)")


class FrontMatterError(ValueError):
    """Front matter that cannot be read; ``line`` counts from 1 in the file."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class _PlainLoader(yaml.SafeLoader):
    """Safe YAML whose scalars stay text, but for null.

    YAML would read the DOI 10.10 as 10.1, the pages 1:30 as 90 and the title ``No`` as false.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [
            (tag, pattern) for tag, pattern in resolvers if tag in ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def split_front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """(fields, rest) of a Markdown text; no fields where it has no front matter.

    Two ``---`` lines around prose are rules, not front matter. Raises ``FrontMatterError``.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        if len(lines) > 1 and _KEY.match(lines[1]):
            raise FrontMatterError(1, "opens front matter that is never closed; end it with a line of three dashes")
        return {}, text
    loaded = _load("\n".join(lines[1:end]))
    if loaded is None:
        return {}, "\n".join(lines[end + 1 :])
    if not isinstance(loaded, Mapping):
        return {}, text
    return {str(key): value for key, value in loaded.items()}, "\n".join(lines[end + 1 :])


def line_of_field(text: str, name: str) -> int:
    """The line of the file in which the front matter gives field ``name``; 1 if it cannot be told."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(rf"[\"']?{re.escape(name)}[\"']?\s*:", line, re.IGNORECASE):
            return number
    return 1


def _load(source: str) -> object:
    try:
        return yaml.load(source, Loader=_PlainLoader)  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it is not YAML"
        line = mark.line + 2 if mark else 1
    except yaml.reader.ReaderError as error:
        problem, line = (
            f"character U+{ord(source[error.position]):04X} is not allowed",
            source.count("\n", 0, error.position) + 2,
        )
    except RecursionError:
        problem, line = "it is nested too deeply", 1
    except (ValueError, TypeError, LookupError, AttributeError):  # what explicit tags such as !!int x come to
        problem, line = "a tag does not fit its value", 1
    raise FrontMatterError(line, f"is no YAML front matter: {problem}; put values that hold a colon in quotes")
