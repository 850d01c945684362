"""Rays against one shape at a time, boxes against boxes, and the rays of a camera: the formulas.

Everything is float64 and broadcasts; for many primitives see `Bvh`. A ray is
origin + t · direction; the direction needs no unit length. Where a ray is inside a shape is an
interval (enter, leave) of t, over the whole line; a miss is the empty interval (inf, -inf).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, tan

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float64, checked

Interval = tuple[Float64, Float64]


def _vectors(value: npt.ArrayLike, place: str, width: int = 3) -> Float64:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.ndim == 0 or array.shape[-1] != width:
        raise RigError(f"{place}: expected numbers (…, {width}), found {array.dtype} {array.shape}")
    return array.astype(np.float64)


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
    above = np.asarray(offset, np.float64) - _dot(n, o)
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
    r = np.asarray(radius, np.float64)
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


# --- cameras ---------------------------------------------------------------------------------


def perspective(yfov: float, aspect: float, znear: float, zfar: float = np.inf) -> Float64:
    """(4, 4) projection of a glTF perspective camera; zfar = inf for an infinite one.

    Args:
        yfov: vertical field of view, radians, in (0, π).
        aspect: width over height.
        znear, zfar: distances along the view, metres.

    Raises:
        RigError: numbers out of range.
    """
    if not (0 < yfov < np.pi and aspect > 0 and 0 < znear < zfar and isfinite(aspect)):
        raise RigError(
            "perspective: expected 0 < yfov < π, aspect > 0 and 0 < znear < zfar, "
            f"found {yfov}, {aspect}, {znear}, {zfar}"
        )
    focal = 1 / tan(yfov / 2)
    m = np.zeros((4, 4))
    m[0, 0], m[1, 1], m[3, 2] = focal / aspect, focal, -1
    if isfinite(zfar):
        m[2, 2], m[2, 3] = (zfar + znear) / (znear - zfar), 2 * zfar * znear / (znear - zfar)
    else:
        m[2, 2], m[2, 3] = -1, -2 * znear
    return m


def orthographic(xmag: float, ymag: float, znear: float, zfar: float) -> Float64:
    """(4, 4) projection of a glTF orthographic camera that shows ±xmag by ±ymag metres.

    Raises:
        RigError: a magnitude of 0 or that is not finite, or not 0 ≤ znear < zfar.
    """
    if not (xmag and ymag and isfinite(xmag * ymag) and 0 <= znear < zfar and isfinite(zfar)):
        raise RigError(
            "orthographic: expected magnitudes that are not 0 and 0 <= znear < zfar, "
            f"found {xmag}, {ymag}, {znear}, {zfar}"
        )
    m = np.diag([1 / xmag, 1 / ymag, 2 / (znear - zfar), 1.0])
    m[2, 3] = (zfar + znear) / (znear - zfar)
    return m


@dataclass(frozen=True, eq=False)
class Camera:
    """A view of the world on width × height pixels.

    The camera looks along its own −Z with +Y up, as in glTF. Pixel coordinates have x to the right
    and y down, (0, 0) at the upper left corner of the image; centres lie at ½.

    Attributes:
        projection: (4, 4) float64, from `perspective` or `orthographic`.
        world: (4, 4) float64, the camera's global transform.
        width, height: pixels.

    Raises:
        RigError: wrong shapes, numbers that are not finite, a size below 1.

    >>> camera = Camera(perspective(np.pi / 2, 1, 0.1), np.eye(4), 100, 100)
    >>> pixel, depth = camera.project([0, 0, -5])
    >>> pixel, camera.unproject(pixel, depth)
    (array([50., 50.]), array([ 0.,  0., -5.]))
    """

    projection: Float64
    world: Float64
    width: int
    height: int

    def __post_init__(self) -> None:
        for name in ("projection", "world"):
            array = checked(getattr(self, name), np.float64, (4, 4), name)
            object.__setattr__(self, name, array)
        if self.width < 1 or self.height < 1:
            raise RigError(f"width, height: expected 1 or more, found {self.width}, {self.height}")

    def project(self, points: npt.ArrayLike) -> tuple[Float64, Float64]:
        """World points (…, 3) to pixels (…, 2) and depth (…,): −1 at znear to 1 at zfar.

        Points behind a perspective camera come out with NaN.
        """
        p = _vectors(points, "points")
        clip_from_world = self.projection @ np.linalg.inv(self.world)
        clip = np.concatenate([p, np.ones((*p.shape[:-1], 1))], -1) @ clip_from_world.T
        w = np.where(clip[..., 3:] > 0, clip[..., 3:], np.nan)
        ndc = clip[..., :3] / w
        size = np.array([self.width, self.height])
        return (ndc[..., :2] * [1, -1] + 1) / 2 * size, ndc[..., 2]

    def unproject(self, pixels: npt.ArrayLike, depth: npt.ArrayLike) -> Float64:
        """The inverse of `project`: world points (…, 3)."""
        xy = _vectors(pixels, "pixels", 2) / [self.width, self.height] * 2 - 1
        z = np.broadcast_to(np.asarray(depth, np.float64), xy.shape[:-1])
        ndc = np.stack([xy[..., 0], -xy[..., 1], z, np.ones_like(z)], axis=-1)
        p = ndc @ (self.world @ np.linalg.inv(self.projection)).T
        return np.asarray(p[..., :3] / p[..., 3:])

    def rays(self, pixels: npt.ArrayLike | None = None) -> tuple[Float64, Float64]:
        """Origins and unit directions (…, 3) of the rays through pixels (…, 2).

        Without `pixels`, through the centre of each: (height, width, 3). A perspective camera's
        rays start at its position, an orthographic one's on its plane.
        """
        if pixels is None:
            y, x = np.mgrid[: self.height, : self.width] + 0.5
            pixels = np.stack([x, y], axis=-1)
        xy = _vectors(pixels, "pixels", 2) / [self.width, self.height] * 2 - 1
        x, y = xy[..., 0], -xy[..., 1]
        m = self.projection
        if m[3, 3] == 0:
            origin = np.broadcast_to(np.zeros(3), (*x.shape, 3))
            direction = np.stack([x / m[0, 0], y / m[1, 1], np.full_like(x, -1.0)], axis=-1)
        else:
            origin = np.stack([x / m[0, 0], y / m[1, 1], np.zeros_like(x)], axis=-1)
            direction = np.broadcast_to(np.array([0.0, 0.0, -1.0]), origin.shape)
        direction = direction @ self.world[:3, :3].T
        length = np.linalg.norm(direction, axis=-1, keepdims=True)
        return origin @ self.world[:3, :3].T + self.world[:3, 3], direction / length
