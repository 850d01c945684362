"""Docstrings on their way into the reference: what our notation means to reStructuredText."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ENTRY = re.compile(r"(?P<indent> +)(?P<names>\w+(?:, \w+)+): (?P<text>.*)")
FORWARD = re.compile(r"TypeAliasForwardRef\('([\w.]+)'\)")


def keep_notation(line: str) -> str:
    """Keep |a - b| from becoming a substitution, and (*shape, 4) from becoming emphasis.

    >>> keep_notation("shape (*shape, 4), length |a - b|")
    'shape (\\\\*shape, 4), length \\\\|a - b\\\\|'
    """
    return line.replace("|", r"\|").replace("(*", r"(\*")


def one_name_each(lines: list[str]) -> list[str]:
    """Give every name of an entry `a, b: text` an entry of its own; napoleon knows one each.

    >>> one_name_each(["Args:", "    low, high: ends", "        of an axis"])
    ['Args:', '    low: ends', '        of an axis', '    high: ends', '        of an axis']
    """
    result: list[str] = []
    i = 0
    while i < len(lines):
        entry = ENTRY.fullmatch(lines[i])
        last = i + 1
        if entry is None:
            result.append(lines[i])
        else:
            while last < len(lines) and lines[last].startswith(entry["indent"] + " "):
                last += 1
            for name in entry["names"].split(", "):
                result.append(f"{entry['indent']}{name}: {entry['text']}")
                result += lines[i + 1 : last]
        i = last
    return result


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = one_name_each([keep_notation(line) for line in lines])


def _process_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str | None, result: str
) -> tuple[str, str] | None:
    # Sphinx 9 writes an alias in a union by its repr.
    if arguments is None:
        return None
    return FORWARD.sub(r"\1", arguments), FORWARD.sub(r"\1", result or "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Come before napoleon, which listens at the ordinary priority of 500."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-process-signature", _process_signature)
    return {"parallel_read_safe": True}
