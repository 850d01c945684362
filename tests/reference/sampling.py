"""Tracks sampled key by key, with the formulas as glTF 2.0, appendix C writes them."""

from __future__ import annotations

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
        if turns:
            return turn_part_of_the_way(unit(at_keys[k]), unit(at_keys[k + 1]), u)
        return (1 - u) * at_keys[k] + u * at_keys[k + 1]
    value = (
        (2 * u**3 - 3 * u**2 + 1) * values[k, 1]
        + dt * (u**3 - 2 * u**2 + u) * values[k, 2]
        + (-2 * u**3 + 3 * u**2) * values[k + 1, 1]
        + dt * (u**3 - u**2) * values[k + 1, 0]
    )
    return unit(value) if turns else value


def unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q)


def turn_part_of_the_way(p: np.ndarray, q: np.ndarray, u: float) -> np.ndarray:
    """p · (conj(p) · q)^u along the shorter turn, by axis and angle."""
    step = quaternion.multiply(quaternion.conjugate(p), q if p @ q >= 0 else -q)
    return quaternion.multiply(
        p, quaternion.from_rotation_vector(u * quaternion.to_rotation_vector(step))
    )
