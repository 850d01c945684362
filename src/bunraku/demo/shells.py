"""Closed surfaces swept from rings of points, and what a puppet needs to do with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bunraku.demo.figure import JOINTS, mirrored
from bunraku.model.arrays import Float64, Int32

_SWAPPED = np.array([JOINTS.index(mirrored(joint)) for joint in JOINTS])


@dataclass(frozen=True, eq=False)
class Shell:
    """A closed, outward-facing surface of the sphere's topology, with its paint and its weights.

    Attributes:
        name: e.g. "leftArm".
        positions: (V, 3) metres.
        faces: (F, 3) counter-clockwise seen from outside.
        uvs: (V, 2) atlas coordinates, origin at the top left.
        weights: (V, J) one column per joint of the figure; rows sum to 1.
    """

    name: str
    positions: Float64
    faces: Int32
    uvs: Float64
    weights: Float64

    def mirror(self, name: str) -> Shell:
        """The same shell on the other side of the plane x = 0."""
        return replace(
            self,
            name=name,
            positions=self.positions * [-1, 1, 1],
            faces=self.faces[:, ::-1],
            weights=self.weights[:, _SWAPPED],
        )


def circle(sides: int) -> tuple[Float64, Float64]:
    """Cosine and sine of `sides` even angles (an even number), mirror images to the last bit.

    >>> cos, sin = circle(12)
    >>> bool((sin[1:6] == -sin[:6:-1]).all() and sin[6] == 0)
    True
    """
    half = np.arange(1, sides // 2) * (2 * np.pi / sides)
    cos, sin = np.cos(half), np.sin(half)
    cos = np.concatenate([[1.0], cos, [-1.0], cos[::-1]])
    sin = np.concatenate([[0.0], sin, [0.0], -sin[::-1]])
    return cos, sin


def around(sides: int) -> Float64:
    """Texture coordinate (sides,) of the columns of a ring: 0 at its first column, 1 opposite.

    Both halves of a ring show the same strip of the atlas, mirrored, so no shell needs a seam
    (and every edge is shared by exactly two faces).
    """
    return np.asarray(1 - np.abs(1 - np.arange(sides) * (2 / sides)))


def ring(
    cos: Float64,
    sin: Float64,
    ahead: npt.ArrayLike,
    behind: npt.ArrayLike,
    side: npt.ArrayLike,
    squareness: npt.ArrayLike = 2.0,
) -> tuple[Float64, Float64]:
    """Superellipse rings of different reach ahead and behind: two arrays (rings, sides).

    A `squareness` of 2 is an ellipse; more is boxier. The first array points ahead.
    """
    power = 2 / np.asarray(squareness, np.float64)[..., None]
    u = np.sign(cos) * np.abs(cos) ** power
    v = np.sign(sin) * np.abs(sin) ** power
    reach = np.where(cos >= 0, np.asarray(ahead)[..., None], np.asarray(behind)[..., None])
    return reach * u, np.asarray(side)[..., None] * v


def close(rings: Float64, start: npt.ArrayLike, end: npt.ArrayLike) -> tuple[Float64, Int32]:
    """Join rings (R, S, 3) and a pole at either end to a closed surface.

    The rings turn counter-clockwise about the way they are strung, seen from its far end.

    Returns:
        Positions (R·S + 2, 3), rings first, then the two poles; faces (2·R·S, 3).

    >>> positions, faces = close(np.zeros((2, 4, 3)), [0, 0, 0], [0, 0, 1])
    >>> positions.shape, faces.shape
    ((10, 3), (16, 3))
    """
    count, sides = rings.shape[:2]
    positions = np.concatenate([rings.reshape(-1, 3), [start], [end]])
    at = np.arange(count * sides).reshape(count, sides)
    a, b = at[:-1], np.roll(at[:-1], -1, axis=1)
    d, c = at[1:], np.roll(at[1:], -1, axis=1)
    # The diagonals of the two halves of a ring are mirror images, like their vertices.
    first = np.arange(sides) < sides // 2
    one = np.where(first[:, None], np.stack([a, b, c], -1), np.stack([a, b, d], -1))
    two = np.where(first[:, None], np.stack([a, c, d], -1), np.stack([b, c, d], -1))
    near, far = np.full(sides, count * sides), np.full(sides, count * sides + 1)
    faces = np.concatenate(
        [
            np.stack([near, np.roll(at[0], -1), at[0]], -1),
            one.reshape(-1, 3),
            two.reshape(-1, 3),
            np.stack([far, at[-1], np.roll(at[-1], -1)], -1),
        ]
    )
    return positions, faces.astype(np.int32)


def ring_uvs(
    columns: Float64, rows: Float64, rect: Sequence[float], *, turned: bool = False
) -> Float64:
    """Atlas coordinates (R·S + 2, 2) of a closed string of rings.

    Args:
        columns: (S,) place around the ring, 0 … 1 (see `around`).
        rows: (R,) place along the string, 0 … 1.
        rect: left, top, right, bottom in the atlas, 0 … 1.
        turned: columns run down the rectangle and rows to its right, instead of the reverse.
    """
    across, down = np.meshgrid(columns, rows)
    grid = np.stack([across, down], -1).reshape(-1, 2)
    grid = np.concatenate([grid, [[0.5, rows[0]], [0.5, rows[-1]]]])
    low, high = np.array(rect[:2]), np.array(rect[2:])
    return np.asarray(low + (grid[:, ::-1] if turned else grid) * (high - low))


def through(knots: npt.ArrayLike, at: npt.ArrayLike) -> Float64:
    """A smooth curve through knots (K, 1 + C): first column the parameter, then C values.

    Cubic Hermite with the slopes of the parabola through three neighbouring knots.

    >>> through([[0, 0], [1, 1], [2, 4]], [0.5, 1.5])
    array([[0.25], [2.25]])
    """
    table = np.asarray(knots, np.float64)
    t, values = table[:, 0], table[:, 1:]
    slopes = np.gradient(values, t, axis=0, edge_order=2 if len(t) > 2 else 1)
    where = np.asarray(at, np.float64)
    i = np.clip(np.searchsorted(t, where, side="right") - 1, 0, len(t) - 2)
    width = t[i + 1] - t[i]
    s = np.clip((where - t[i]) / width, 0, 1)[:, None]
    width = width[:, None]
    return np.asarray(
        (2 * s**3 - 3 * s**2 + 1) * values[i]
        + (s**3 - 2 * s**2 + s) * width * slopes[i]
        + (3 * s**2 - 2 * s**3) * values[i + 1]
        + (s**3 - s**2) * width * slopes[i + 1]
    )


def stations(start: float, end: float, count: int, caps: tuple[float, float]) -> Float64:
    """Places of rings along an axis: `count` even ones between the caps, some more on each cap.

    The outermost stand just inside the ends, where `dome` is still above zero.
    """
    turn = np.linspace(0, np.pi / 2, 4)[1:-1]
    near = start + caps[0] * (1 - np.sin(turn[::-1]))
    far = end - caps[1] * (1 - np.sin(turn))
    middle = np.linspace(start + caps[0], end - caps[1], count)
    return np.concatenate([near, middle, far])


def dome(at: Float64, start: float, end: float, caps: tuple[float, float]) -> Float64:
    """Factor 0 … 1 on a tube's radius that rounds both ends elliptically over the cap lengths."""
    near = np.clip(1 - (at - start) / caps[0], 0, 1)
    far = np.clip(1 - (end - at) / caps[1], 0, 1)
    return np.asarray(np.sqrt(1 - near**2) * np.sqrt(1 - far**2))
