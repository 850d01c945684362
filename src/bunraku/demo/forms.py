"""Forms that a puppet is made of more than once: tubes, ellipsoids, surfaces given by a table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bunraku.demo import weights
from bunraku.demo.atlas import region
from bunraku.demo.shells import (
    Shell,
    around,
    circle,
    close,
    dome,
    ring,
    ring_uvs,
    stations,
    through,
)
from bunraku.model.arrays import Float64

Detail = Callable[[int], int]
"""Turns a count of rings or columns at ordinary detail into the (even) count to be made."""


def tube(
    name: str,
    path: npt.ArrayLike,
    radius: npt.ArrayLike,
    *,
    sides: int,
    count: int,
    up: npt.ArrayLike,
    paint: str,
    held: Callable[[Float64], Float64],
) -> Shell:
    """A tube along a smooth path with rounded ends.

    Args:
        name: of the shell.
        path: (K, 3) knots that the middle line passes, evenly in its parameter.
        radius: one for all, or (K,) or (K, 2): across `up` direction and sideways.
        sides, count: columns and rings (without the caps).
        up: direction of the first column, made square to the path.
        paint: region of the atlas.
        held: weights of points (V, 3) → (V, J).
    """
    knots = np.asarray(path, np.float64)
    length = float(np.linalg.norm(np.diff(knots, axis=0), axis=1).sum())
    radii = np.asarray(radius, np.float64)
    radii = np.broadcast_to(radii[:, None] if radii.ndim == 1 else radii, (len(knots), 2))
    places = np.linspace(0, length, len(knots))
    caps = (float(radii[0].min()), float(radii[-1].min()))
    at = stations(0, length, count, caps)
    table = through(np.column_stack([places, knots, radii]), at)
    centres = table[:, :3]
    ahead = through(np.column_stack([places, knots]), at + length * 1e-4)
    behind = through(np.column_stack([places, knots]), at - length * 1e-4)
    along = ahead - behind
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    u = np.broadcast_to(np.asarray(up, np.float64), along.shape)
    u = u - along * (u * along).sum(axis=1, keepdims=True)
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(along, u)
    round_ends = dome(at, 0, length, caps)
    a, b = ring(
        *circle(sides), table[:, 3] * round_ends, table[:, 3] * round_ends, table[:, 4] * round_ends
    )
    rings = centres[:, None] + a[..., None] * u[:, None] + b[..., None] * v[:, None]
    positions, faces = close(rings, knots[0], knots[-1])
    uvs = ring_uvs(around(sides), at / length, region(paint))
    return Shell(name, positions, faces, uvs, held(positions))


def blob(
    name: str,
    centre: npt.ArrayLike,
    reach: npt.ArrayLike,
    *,
    sides: int,
    rings: int,
    paint: str,
    joint: str = "head",
    tilt: float = 0.0,
    squareness: float = 2.0,
) -> Shell:
    """An ellipsoid of half axes `reach` (x, y, z), turned by `tilt` radians about +Z."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, rings + 2)[1:-1]
    power = 2 / squareness
    out = np.cos(turn) ** power
    level = np.sign(turn) * np.abs(np.sin(turn)) ** power
    cos, sin = circle(sides)
    z, x = ring(cos, sin, out, out, out, squareness)
    points = np.stack([x, np.broadcast_to(level[:, None], x.shape), z], -1)
    positions, faces = close(points, [0, -1, 0], [0, 1, 0])
    positions = positions * np.asarray(reach)
    c, s = np.cos(tilt), np.sin(tilt)
    positions = positions @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + np.asarray(centre)
    uvs = ring_uvs(around(sides), (level + 1) / 2, region(paint))
    return Shell(name, positions, faces, uvs, weights.held_by(len(positions), joint))


def surface(table: Float64, x: npt.ArrayLike, y: npt.ArrayLike, squareness: float) -> Float64:
    """z (V,) of the front of a form at x, y (V,).

    The table's rows are height, half width, reach to the front and reach to the back.
    """
    half_width, front, _ = through(table, y).T
    share = np.clip(np.abs(np.asarray(x, np.float64)) / half_width, 0, 1)
    return np.asarray(front * (1 - share**squareness) ** (1 / squareness))
