"""A soft key light, a fill from all around, and how much of either reaches a point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Float32, Float64
from bunraku.render.scene import Scene

PATTERN = 4  # pixels in blocks of 4 × 4 ask in 16 different sets of directions
SHADOW_RAYS, OPEN_RAYS = 3, 4  # per pixel; after smoothing each pixel has those of its 16 together
SOFTNESS = 0.075  # half the angle of the key light, radians: shadows have edges, but soft ones

KEY = np.array([0.74, 0.71, 0.66], np.float32)
SKY = np.array([0.40, 0.42, 0.46], np.float32)
FLOOR = np.array([0.24, 0.22, 0.21], np.float32)
FRONT = 0.10  # a little light from the camera models what lies in the shadow
SHOULDER = 0.7  # from here on light is compressed below 1
WRAP = 0.12  # how far the key light reaches around a form, as that of a large lamp does


def key_direction(axes: Float64) -> Float32:
    """Towards the key light (3,): above and left of a camera with these axes."""
    across = np.cross([0.0, 1.0, 0.0], axes[0])  # towards what is seen, level
    direction = -0.52 * axes[0] - 0.62 * across + np.array([0.0, 0.78, 0.0])
    return np.asarray(direction / np.linalg.norm(direction), np.float32)


def reaching(
    scene: Scene, points: Float32, normals: Float32, key: Float32, pattern: npt.NDArray[np.intp]
) -> Float32:
    """Shares (N, 2) of the key light and of the surroundings that reach points, 0 … 1.

    Args:
        points, normals: (N, 3) where, and which way is out.
        key: (3,) towards the key light.
        pattern: (N,) 0 … 15, which directions are asked.
    """
    shares = np.zeros((len(points), 2), np.float32)
    lit = np.flatnonzero(normals @ key > -WRAP)
    if len(lit):
        directions = (key + SOFTNESS * (_DISC @ _across(key)))[pattern[lit]]
        shares[lit, 0] = _clear(scene, points[lit], directions)
    directions = normals[:, None] + _BALL[pattern]
    shares[:, 1] = _clear(scene, points, directions)
    return shares


def _clear(scene: Scene, points: Float32, directions: Float32) -> Float32:
    count, rays = directions.shape[:2]
    origins = np.repeat(points, rays, axis=0)
    blocked = scene.blocked(origins, directions.reshape(-1, 3)).reshape(count, rays)
    clear = np.zeros(count, np.uint8)
    # Column by column: NumPy takes many times as long for means along so short an axis.
    for column in blocked.T:
        clear += ~column
    return clear * np.float32(1 / rays)


def radiance(normals: Float32, toward_eye: Float32, shares: Float32, key: Float32) -> Float32:
    """Light (N, 3) that a white matte surface sends back."""
    facing = np.maximum((normals @ key + np.float32(WRAP)) / np.float32(1 + WRAP), 0)
    light = (facing * shares[:, 0])[:, None] * KEY
    up = normals[:, 1:2] * np.float32(0.5) + np.float32(0.5)
    light += shares[:, 1:] * (FLOOR + up * (SKY - FLOOR))
    ahead = np.maximum(np.einsum("ij,ij->i", normals, toward_eye), 0)
    light += (np.float32(FRONT) * ahead * shares[:, 1])[:, None]
    # Bright places lean towards 1 instead of burning out.
    over = np.maximum(light - np.float32(SHOULDER), 0)
    room = np.float32(1 - SHOULDER)
    return np.asarray(np.minimum(light, SHOULDER) + over * room / (over + room), np.float32)


def ground_shadow(shares: Float32, key: Float32) -> Float32:
    """How dark (N,) the ground is where these shares of the light reach it: 0 … 1."""
    direct = float(KEY.mean() * (key[1] + WRAP) / (1 + WRAP))
    around = float(SKY.mean())
    return np.asarray(1 - (shares @ np.array([direct, around], np.float32)) / (direct + around))


def _low_discrepancy(count: int) -> Float64:
    """(count, 2) points that fill the unit square evenly, any first few too (R2, Roberts 2018)."""
    golden = 1.32471795724474602596  # the real root of x³ = x + 1
    steps = np.array([1 / golden, 1 / golden**2])
    return np.asarray((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1)


def _disc() -> Float32:
    """(16, SHADOW_RAYS, 2) points that fill the unit disc evenly, as a sunflower's seeds do."""
    count = 16 * SHADOW_RAYS
    seeds = np.arange(count)
    radius, turn = np.sqrt((seeds + 0.5) / count), seeds * np.pi * (3 - np.sqrt(5))
    points = radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    # Seeds far from one another go to the same pixel.
    spread = points.reshape(SHADOW_RAYS, 16, 2).transpose(1, 0, 2)
    return np.ascontiguousarray(spread, np.float32)


def _across(direction: Float32) -> Float32:
    """Two unit vectors (2, 3) at right angles to a unit vector and to each other."""
    least = np.eye(3)[np.argmin(np.abs(direction))]
    one = np.cross(direction, least)
    one /= np.linalg.norm(one)
    return np.stack([one, np.cross(direction, one)]).astype(np.float32)


def _ball() -> Float32:
    """(16, OPEN_RAYS, 3) points on the unit sphere: with a normal added, cosine-distributed."""
    u, v = _low_discrepancy(16 * OPEN_RAYS).T
    height, turn = (1 - 2 * u) * 0.999, 2 * np.pi * v
    ring = np.sqrt(1 - height**2)
    points = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], -1)
    return points.astype(np.float32).reshape(16, OPEN_RAYS, 3)


# Neighbouring pixels take sets that lie far apart in the sequence (a 4 × 4 dither matrix).
ORDER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]], np.intp)
_DISC, _BALL = _disc(), _ball()
