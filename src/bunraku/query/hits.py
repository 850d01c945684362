"""What queries answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Float32, Int32


@dataclass(frozen=True, eq=False, slots=True)
class Hits:
    """The closest hit of each ray; every array has the rays' leading shape.

    A miss is `t = inf`, `primitive = -1` and zeros.

    Attributes:
        t: float32, the hit lies at origin + t · direction.
        primitive: int32, the caller's index of the face, box or sphere.
        u, v: float32, the weights of a triangle's second and third corner, at least 0; the first
            has 1 − u − v. 0 for boxes and spheres.
        normal: (…, 3) float32 unit vectors, on the side from which a triangle's corners run
            counter-clockwise, outwards for boxes and spheres; (0, 0, 0) for a degenerate
            triangle. None unless asked for.
        box_tests, primitive_tests: int32, what finding the answer took. None unless asked for.
    """

    t: Float32
    primitive: Int32
    u: Float32
    v: Float32
    normal: Float32 | None = None
    box_tests: Int32 | None = None
    primitive_tests: Int32 | None = None

    @property
    def hit(self) -> npt.NDArray[np.bool_]:
        """Which rays hit anything."""
        return self.primitive >= 0

    def __repr__(self) -> str:
        count = np.count_nonzero(self.hit)
        return f"{type(self).__name__}({self.t.size} rays, {count} of them hit)"


@dataclass(frozen=True, eq=False, slots=True)
class AllHits:
    """Every hit of N rays, ray after ray.

    Attributes:
        first: (N + 1,) int64; ray r has the hits from first[r] up to first[r + 1], sorted by t,
            those with the same t by primitive, each primitive once.
        t, primitive, u, v: (first[N],) as in `Hits`.
    """

    first: npt.NDArray[np.int64]
    t: Float32
    primitive: Int32
    u: Float32
    v: Float32

    def of(self, ray: int) -> slice:
        """Where the hits of one ray stand in the arrays."""
        return slice(int(self.first[ray]), int(self.first[ray + 1]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.first) - 1} rays, {len(self.t)} hits)"


@dataclass(frozen=True, eq=False, slots=True)
class Nearest:
    """The closest point of a surface to each point; every array has the points' leading shape.

    Nothing within the distance allowed is `distance = inf`, `primitive = -1` and zeros.

    Attributes:
        distance: float32.
        primitive: int32, the caller's index of the face; the lowest of several as close.
        point: (…, 3) float32.
        u, v: float32 weights of the face's second and third corner.
    """

    distance: Float32
    primitive: Int32
    point: Float32
    u: Float32
    v: Float32

    def __repr__(self) -> str:
        found = np.count_nonzero(self.primitive >= 0)
        return f"Nearest({self.distance.size} points, {found} of them near)"


# t, primitive, u, v and normal, in the core's order.
Columns = tuple[Float32, Int32, Float32, Float32, Float32 | None]


def unwritten(rays: int, *, normals: bool) -> Columns:
    """Arrays for the closest hits of some rays."""
    t, u, v = (np.empty(rays, np.float32) for _ in range(3))
    normal = np.empty((rays, 3), np.float32) if normals else None
    return t, np.empty(rays, np.int32), u, v, normal


def shaped(columns: Iterable[Any], shape: tuple[int, ...]) -> Iterator[Any]:
    """Rows of a batch back in the caller's leading shape; None stays."""
    if len(shape) == 1:
        return iter(columns)
    return (None if a is None else a.reshape(shape + a.shape[1:]) for a in columns)
