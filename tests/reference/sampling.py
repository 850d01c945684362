"""Tracks sampled key by key: formulas as in glTF 2.0, appendix C, and MMD's Bezier curves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bunraku.rotation import quaternion


def sample_track(track, time: float) -> np.ndarray:
    """The value of a track at a time, float64."""
    keys = track.times
    values = track.values.astype(np.float64)
    cubic = track.interpolation == "CUBICSPLINE"
    at_keys = values[:, 1] if cubic else values
    turns = track.path == "rotation"
    nearest = int(np.argmin(np.abs(keys - time)))
    if abs(keys[nearest] - time) <= 1e-6 or time < keys[0] or time > keys[-1]:
        return unit(at_keys[nearest]) if turns else at_keys[nearest]
    k = int(np.flatnonzero(keys <= time)[-1])
    if track.interpolation == "STEP":
        return unit(at_keys[k]) if turns else at_keys[k]
    dt = keys[k + 1] - keys[k]
    u = (time - keys[k]) / dt
    if not cubic:
        if track.interpolation == "BEZIER":  # the curve of the later key
            u = np.array([height(curve, u) for curve in track.curves[k + 1].astype(np.float64)])
        if turns:
            return turn_part_of_the_way(unit(at_keys[k]), unit(at_keys[k + 1]), np.ravel(u)[0])
        return (1 - u) * at_keys[k] + u * at_keys[k + 1]
    value = (
        (2 * u**3 - 3 * u**2 + 1) * values[k, 1]
        + dt * (u**3 - 2 * u**2 + u) * values[k, 2]
        + (-2 * u**3 + 3 * u**2) * values[k + 1, 1]
        + dt * (u**3 - u**2) * values[k + 1, 0]
    )
    return unit(value) if turns else value


def height(curve: np.ndarray, u: float) -> float:
    """y of the curve (0, 0), (x1, y1), (x2, y2), (1, 1) where x is u: exact halving."""
    x1, y1, x2, y2 = (Fraction(float(number)) for number in curve)
    low, high = Fraction(0), Fraction(1)
    for _ in range(80):
        s = (low + high) / 2
        if bezier(x1, x2, s) < Fraction(u):
            low = s
        else:
            high = s
    return float(bezier(y1, y2, low))


def bezier(a: Fraction, b: Fraction, s: Fraction) -> Fraction:
    return 3 * (1 - s) ** 2 * s * a + 3 * (1 - s) * s**2 * b + s**3


def unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q)


def turn_part_of_the_way(p: np.ndarray, q: np.ndarray, u: float) -> np.ndarray:
    """p · (conj(p) · q)^u along the shorter turn, by axis and angle."""
    step = quaternion.multiply(quaternion.conjugate(p), q if p @ q >= 0 else -q)
    return quaternion.multiply(
        p, quaternion.from_rotation_vector(u * quaternion.to_rotation_vector(step))
    )
