"""What goes wrong, and what is worth saying.

A `BunrakuError` stops: the input cannot be what it claims to be. A `Note` does
not: something was repaired, renormalised or left out, and the caller should be
able to find out what.
"""

from __future__ import annotations

from dataclasses import dataclass


class BunrakuError(Exception):
    """Base of every error Bunraku raises on purpose."""


class FormatError(BunrakuError, ValueError):
    """A file is malformed: the message names file, place, expected and found."""


class RigError(BunrakuError, ValueError):
    """A character, pose or clip contradicts itself (shapes, ranges, cycles, finiteness)."""


class UnsupportedError(BunrakuError, ValueError):
    """The input is well formed but asks for something Bunraku, or this installation, cannot do."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader, solver or writer changed, repaired or could not represent.

    Attributes:
        code: stable kebab-case identifier a program may match, e.g. ``"weights-renormalised"``.
        message: one sentence for a person, with the numbers that matter.
        place: where it happened, e.g. ``"meshes[0].primitives[2]"``; empty for the whole file.

    >>> print(Note("weights-renormalised", "12 vertices summed to 0.98 at least", "meshes[0]"))
    meshes[0]: 12 vertices summed to 0.98 at least [weights-renormalised]
    """

    code: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} [{self.code}]"
