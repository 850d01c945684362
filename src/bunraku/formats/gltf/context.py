"""Where something stands in a document, and what is worth saying of it.

Read by every room that walks such a tree; the names of the kinds are the document's own keys.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import FormatError, Note

Place = tuple[Any, ...]

# A file with ten thousand of the same flaw gets these notes and a count.
NOTES_PER_CODE = 20
KINDS = (
    "accessors",
    "animations",
    "buffers",
    "bufferViews",
    "cameras",
    "images",
    "materials",
    "meshes",
    "nodes",
    "samplers",
    "scenes",
    "skins",
    "textures",
)


def spell(place: Place) -> str:
    """`("meshes", 0, "primitives")` as ``meshes[0].primitives``."""
    text = ""
    for key in place:
        text += f"[{key}]" if isinstance(key, int) else f".{key[:80]}" if text else key[:80]
    return text


def shown(value: object) -> str:
    """A short rendering of a JSON value for messages."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"an array of {len(value)}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a huge integer"
    return text if len(text) <= 60 else text[:60] + "…"


@dataclass
class Context:
    """What a walk needs to know and collects: file name, number of objects of each kind, notes."""

    source: str
    counts: dict[str, int]
    notes: list[Note] = field(default_factory=list)
    noted: Counter[str] = field(default_factory=Counter)

    def fail(self, place: Place, expected: str, value: object) -> FormatError:
        return FormatError(
            f"{self.source}: {spell(place) or 'glTF'}: expected {expected}, found {shown(value)}"
        )

    def note(self, code: str, place: Place, message: str) -> None:
        self.noted[code] += 1
        if self.noted[code] <= NOTES_PER_CODE:
            self.notes.append(Note(code, message, spell(place)))

    def all_notes(self) -> tuple[Note, ...]:
        """The notes, with one line for each kind of which there were too many to list."""
        rest = [
            Note(code, f"{count - NOTES_PER_CODE} more notes of this kind are not listed")
            for code, count in self.noted.items()
            if count > NOTES_PER_CODE
        ]
        return (*self.notes, *rest)
