"""What a tree can be built over, and how."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError, UnsupportedError
from bunraku.model.arrays import Float32, checked, whole

Builder = Literal["sah", "median"]
Kind = Literal["triangles", "boxes", "spheres"]


def extents_of(
    kind: Kind, points: npt.ArrayLike, extents: npt.ArrayLike, names: str, more: str
) -> tuple[Float32, Float32]:
    """Corners of boxes, or centres of spheres and radii as a column: float32, checked.

    Raises:
        RigError: shapes that do not match.
    """
    first = checked(points, np.float32, (None, 3), names, finite=False)
    count = len(first)
    if kind == "boxes":
        return first, checked(extents, np.float32, (count, 3), more, finite=False)
    radii = checked(extents, np.float32, (count,), more, finite=False)
    return first, radii.reshape(count, 1)


def limited(value: int, least: int, most: int, place: str) -> int:
    """A Python integer in [least, most], of any integer type.

    Raises:
        RigError: no integer, or outside of the range.
    """
    number = whole(value)
    if number is None or not least <= number <= most:
        raise RigError(f"{place}: expected {least} … {most}, found {value!r}")
    return number


def need_triangles(kind: Kind, what: str) -> None:
    """Raise UnsupportedError unless the tree is over triangles."""
    if kind != "triangles":
        raise UnsupportedError(f"{what}: expected a tree over triangles, found {kind}")
