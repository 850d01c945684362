"""Choosing a camera that shows all of a figure throughout its motion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float64
from bunraku.query import Camera

View = Literal["front", "side", "three-quarter", "back"]
# Azimuth from the front towards the figure's left, and height above the horizon, in degrees.
# Portraits are taken from a little above: the shadow on the ground is seen, and faces are not
# seen from below.
VIEWS: dict[str, tuple[float, float]] = {
    "front": (0, 8),
    "side": (90, 8),
    "three-quarter": (35, 14),
    "back": (180, 8),
}
FIELD = np.radians(26)  # of a portrait lens: little foreshortening, yet near is larger than far
MARGIN = 1.10


def view_axes(view: View | tuple[float, float], turn: float = 0.0) -> Float64:
    """Axes (3, 3) of a camera for a figure that faces +Z: right, up, backwards.

    Args:
        view: a name, or azimuth from the front towards the figure's left (+X) and elevation,
            radians.
        turn: added to the azimuth, radians.

    Raises:
        RigError: an unknown name, or an elevation beyond straight up or down.

    >>> view_axes((0, 0))[2]
    array([0., 0., 1.])
    """
    if isinstance(view, str):
        if view not in VIEWS:
            raise RigError(f"view: expected {', '.join(VIEWS)}, found {view!r}")
        azimuth, elevation = np.radians(VIEWS[view])
    else:
        azimuth, elevation = view
    if not (np.isfinite(azimuth) and abs(elevation) <= np.pi / 2 + 1e-9):
        raise RigError(f"view: expected an elevation within ±π/2, found {view!r}")
    sin, cos = np.sin(azimuth + turn), np.cos(azimuth + turn)
    right = np.array([cos, 0, -sin])
    back = np.array([sin * np.cos(elevation), np.sin(elevation), cos * np.cos(elevation)])
    return np.stack([right, np.cross(back, right), back])


def frame(
    frames: Iterable[npt.ArrayLike],
    axes: npt.ArrayLike,
    size: tuple[int, int],
    *,
    orthographic: bool = False,
) -> Camera:
    """The nearest camera with these axes that sees all points of all frames, with a margin.

    Every point asks each of the picture's four edges for one inequality that is linear in the
    camera's position, so the nearest position is exact and takes one pass.

    Args:
        frames: arrays (…, 3) of points, metres; those that are not finite are left out.
        axes: (3, 3) as from `view_axes`.
        size: width and height in pixels.

    Raises:
        RigError: there is no finite point.

    >>> camera = frame([[[-1, -1, 0], [1, 1, 0]]], view_axes((0, 0)), (64, 64))
    >>> camera.project([[-1, -1, 0], [1, 1, 0]], (64, 64)).round(1)[:, :2].tolist()
    [[2.9, 61.1], [61.1, 2.9]]
    """
    turned = np.asarray(axes, np.float64)
    width, height = size
    # The field is that of the shorter side, so a tall picture is no closer than a wide one.
    half_height = float(np.tan(FIELD / 2)) * max(1.0, height / width)
    tangents = half_height / MARGIN * np.array([width / height, 1.0])
    slopes = np.zeros(2) if orthographic else tangents
    reach = np.full(5, -np.inf)  # right, up, left, down, near
    for points in frames:
        flat = np.asarray(points, np.float64).reshape(-1, 3)
        local = flat[np.isfinite(flat).all(axis=1)] @ turned.T
        if not len(local):
            continue
        plane, near = local[:, :2], local[:, 2:]
        sides = np.concatenate([plane + near * slopes, -plane + near * slopes, near], axis=1)
        reach = np.maximum(reach, sides.max(axis=0))
    if not np.isfinite(reach).all():
        raise RigError("frame: there is no finite point to look at")
    middle, spread = (reach[:2] - reach[2:4]) / 2, (reach[:2] + reach[2:4]) / 2
    least = max(1e-6, 1e-6 * float(np.abs(reach).max()))
    if orthographic:
        half = max(float(np.max(spread / [width / height, 1.0])) * MARGIN, least)
        away = reach[4] + 2 * half
        return Camera(np.array([*middle, away]) @ turned, turned, half, orthographic=True)
    away = max(float(np.max(spread / tangents)), reach[4] + least)
    return Camera(np.array([*middle, away]) @ turned, turned, half_height)
