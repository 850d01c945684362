"""Docstrings on their way into the reference: what our notation means to reStructuredText."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CODE = re.compile(r"(``.+?``|(?::\w+:)?`[^`]+`)")
ENTRY = re.compile(r"(?P<indent> +)(?P<names>\w+(?:, \w+)+): (?P<text>.*)")
FORWARD = re.compile(r"TypeAliasForwardRef\('([\w.]+)'\)")


def keep_notation(line: str) -> str:
    """Make `code` of single backticks; elsewhere keep |a - b| and (*shape, 4) as they are.

    reStructuredText would read a title, a substitution and the start of emphasis.

    >>> print(keep_notation("shape (*shape, 4), length |a - b|, see `slerp` or :func:`lerp`"))
    shape (\\*shape, 4), length \\|a - b\\|, see ``slerp`` or :func:`lerp`
    """
    pieces = CODE.split(line)
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            pieces[i] = piece.replace("|", r"\|").replace("(*", r"(\*")
        elif not piece.startswith(("``", ":")):
            pieces[i] = f"``{piece.strip('`').strip()}``"
    return "".join(pieces)


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
