"""Rays against one shape at a time, and boxes against boxes: the formulas.

Everything is float64 and broadcasts; for many primitives see `Bvh`. A ray is
origin + t · direction; the direction needs no unit length. Where a ray is inside a shape is an
interval (enter, leave) of t, over the whole line; a miss is the empty interval (inf, -inf).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Float64
from bunraku.query.rays import numbers, triples

Interval = tuple[Float64, Float64]


def _vectors(value: npt.ArrayLike, place: str) -> Float64:
    return triples(value, place).astype(np.float64)


def _dot(a: Float64, b: Float64) -> Float64:
    return np.asarray(np.einsum("...i,...i->...", a, b))


def ray_plane(
    origins: npt.ArrayLike, directions: npt.ArrayLike, normal: npt.ArrayLike, offset: npt.ArrayLike
) -> Float64:
    """Where lines meet the plane normal · x = offset: t, inf where they run beside it.

    A line in the plane meets it at t = 0.

    >>> ray_plane([0, 0, 3], [0, 0, -1], [0, 0, 1], 1)
    array(2.)
    """
    o, d, n = (
        _vectors(origins, "origins"),
        _vectors(directions, "directions"),
        _vectors(normal, "normal"),
    )
    above = numbers(offset, "offset").astype(np.float64) - _dot(n, o)
    slope = _dot(n, d)
    above, slope = np.broadcast_arrays(above, slope)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.where(slope == 0, np.where(above == 0, 0.0, np.inf), above / slope)
    return np.asarray(t)


def ray_sphere(
    origins: npt.ArrayLike, directions: npt.ArrayLike, center: npt.ArrayLike, radius: npt.ArrayLike
) -> Interval:
    """Where lines are inside a ball: (enter, leave). A zero direction misses.

    The discriminant is formed from the line's distance to the centre, which keeps its digits far
    away (Haines et al. in Ray Tracing Gems, 2019).

    >>> ray_sphere([-3, 0, 0], [2, 0, 0], [0, 0, 0], 1)
    (array(1.), array(2.))
    """
    o, d = _vectors(origins, "origins"), _vectors(directions, "directions")
    m = _vectors(center, "center") - o
    r = numbers(radius, "radius").astype(np.float64)
    dd = _dot(d, d)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = _dot(d, m) / dd
        off = m - middle[..., None] * d
        half = np.sqrt((r * r - _dot(off, off)) / dd)
        missed = ~(half >= 0) | (r < 0)
    return np.where(missed, np.inf, middle - half), np.where(missed, -np.inf, middle + half)


def ray_box(
    origins: npt.ArrayLike, directions: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike
) -> Interval:
    """Where lines are inside an axis-aligned box: (enter, leave), by slabs (Kay and Kajiya 1986).

    The box is closed: a line that runs in a face or touches an edge meets it. A component of 0 or
    −0 is decided by the origin alone. A box with low > high is never met.

    >>> ray_box([[-3, 0, 0], [-3, 5, 0]], [1, 0, 0], [-1, -1, -1], [1, 1, 1])
    (array([ 2., inf]), array([  4., -inf]))
    """
    o, d = _vectors(origins, "origins"), _vectors(directions, "directions")
    a, b = _vectors(low, "low"), _vectors(high, "high")
    o, d, a, b = np.broadcast_arrays(o, d, a, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, second = (a - o) / d, (b - o) / d
    still = d == 0
    beside = still & ~((a <= o) & (o <= b))
    first = np.where(still, np.where(beside, np.inf, -np.inf), first)
    second = np.where(still, np.where(beside, -np.inf, np.inf), second)
    enter = np.where(beside, np.inf, np.minimum(first, second)).max(axis=-1)
    leave = np.where(beside, -np.inf, np.maximum(first, second)).min(axis=-1)
    missed = ~(enter <= leave) | (a > b).any(axis=-1) | still.all(axis=-1)
    return np.where(missed, np.inf, enter), np.where(missed, -np.inf, leave)


def ray_triangle(
    origins: npt.ArrayLike,
    directions: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    c: npt.ArrayLike,
) -> tuple[Float64, Float64, Float64]:
    """Where lines meet triangles, watertight (Woop, Benthin and Wald 2013): (t, u, v).

    The point is (1 − u − v)·a + u·b + v·c. A miss is (inf, 0, 0); edges and corners count as hits.
    Two triangles that share an edge leave no gap between them.

    >>> ray_triangle([0.25, 0.5, 1], [0, 0, -1], [0, 0, 0], [1, 0, 0], [0, 1, 0])
    (array(1.), array(0.25), array(0.5))
    """
    o, d, *corners = np.broadcast_arrays(
        _vectors(origins, "origins"),
        _vectors(directions, "directions"),
        *(_vectors(p, n) for p, n in ((a, "a"), (b, "b"), (c, "c"))),
    )
    z = np.abs(d).argmax(axis=-1)
    back = np.take_along_axis(d, z[..., None], -1)[..., 0] < 0
    x, y = (z + np.where(back, 2, 1)) % 3, (z + np.where(back, 1, 2)) % 3

    def turned(v: Float64) -> list[Float64]:
        return [np.take_along_axis(v, k[..., None], -1)[..., 0] for k in (x, y, z)]

    with np.errstate(divide="ignore", invalid="ignore"):
        dx, dy, dz = turned(d)
        flat = []
        for corner in corners:
            px, py, pz = turned(corner - o)
            flat.append((px - dx / dz * pz, py - dy / dz * pz, pz))
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = flat
        u, v, w = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
        area = u + v + w
        hit = ((u >= 0) & (v >= 0) & (w >= 0)) | ((u <= 0) & (v <= 0) & (w <= 0))
        hit &= area != 0
        t = (u / area * az + v / area * bz + w / area * cz) / dz
        return np.where(hit, t, np.inf), np.where(hit, v / area, 0.0), np.where(hit, w / area, 0.0)


def box_union(
    low_a: npt.ArrayLike, high_a: npt.ArrayLike, low_b: npt.ArrayLike, high_b: npt.ArrayLike
) -> tuple[Float64, Float64]:
    """The smallest box around two: (low, high).

    >>> box_union([-1, -1, -1], [1, 1, 1], [0, 0, 2], [3, 2, 5])
    (array([-1., -1., -1.]), array([3., 2., 5.]))
    """
    low = np.minimum(_vectors(low_a, "low_a"), _vectors(low_b, "low_b"))
    return low, np.maximum(_vectors(high_a, "high_a"), _vectors(high_b, "high_b"))


def boxes_overlap(
    low_a: npt.ArrayLike, high_a: npt.ArrayLike, low_b: npt.ArrayLike, high_b: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Whether boxes have a point in common; touching is enough.

    >>> boxes_overlap([0, 0, 0], [1, 1, 1], [[1, 0, 0], [1.5, 0, 0]], [[2, 1, 1], [2, 1, 1]])
    array([ True, False])
    """
    a, b = _vectors(low_a, "low_a"), _vectors(high_a, "high_a")
    c, d = _vectors(low_b, "low_b"), _vectors(high_b, "high_b")
    return np.asarray(((a <= d) & (c <= b)).all(axis=-1))
