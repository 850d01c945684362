"""Rotations the slow and obvious way, in extended precision: one element at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

Long = np.longdouble
PI = Long("3.14159265358979323846264338327950288")

# i j = k and so on: the product of basis elements x, y, z, w as (sign, element).
_TABLE = [
    [(-1, 3), (1, 2), (-1, 1), (1, 0)],
    [(-1, 2), (-1, 3), (1, 0), (1, 1)],
    [(1, 1), (-1, 0), (-1, 3), (1, 2)],
    [(1, 0), (1, 1), (1, 2), (1, 3)],
]


def long(v: Any) -> Any:
    return np.asarray(v, dtype=Long)


def multiply(a: Any, b: Any) -> Any:
    out = np.zeros(4, dtype=Long)
    for i in range(4):
        for j in range(4):
            sign, k = _TABLE[i][j]
            out[k] += sign * long(a)[i] * long(b)[j]
    return out


def conjugate(q: Any) -> Any:
    return long(q) * [-1, -1, -1, 1]


def unit(v: Any) -> Any:
    v = long(v)
    v = v / np.abs(v).max()
    return v / np.sqrt((v * v).sum())


def rotate(q: Any, v: Any) -> Any:
    """The sandwich q v q*, of a unit quaternion."""
    return multiply(multiply(unit(q), [*v, 0]), conjugate(unit(q)))[:3]


def matrix(q: Any) -> Any:
    """Its columns are where the axes go."""
    return np.stack([rotate(q, e) for e in np.eye(3)], axis=-1)


def from_axis_angle(axis: Any, angle: Any) -> Any:
    half = Long(angle) / 2
    return np.append(unit(axis) * np.sin(half), np.cos(half))


def rodrigues(axis: Any, angle: Any, v: Any) -> Any:
    k, v, angle = unit(axis), long(v), Long(angle)
    return v * np.cos(angle) + np.cross(k, v) * np.sin(angle) + k * (k @ v) * (1 - np.cos(angle))


def from_euler(angles: Any, order: str) -> Any:
    """One turn after another: about the world's axes, or about the body's."""
    q = long([0, 0, 0, 1])
    for letter, angle in zip(order, angles, strict=True):
        turn = from_axis_angle(np.eye(3)["xyz".index(letter.lower())], angle)
        q = multiply(q, turn) if order.isupper() else multiply(turn, q)
    return q


def arc(a: Any, b: Any) -> Any:
    """The angle between two unit 4-vectors, in [0, pi]."""
    a, b = long(a), long(b)
    return 2 * np.arctan2(np.sqrt(((a - b) ** 2).sum()), np.sqrt(((a + b) ** 2).sum()))


def angle_between(a: Any, b: Any) -> Any:
    a, b = unit(a), unit(b)
    return 2 * min(arc(a, b), arc(a, -b))


def slerp(a: Any, b: Any, t: Any, shortest: bool = True) -> Any:
    """sin((1 - t) w) / sin w and sin(t w) / sin w; not for opposite ends."""
    a, b, t = unit(a), unit(b), Long(t)
    if shortest and (a * b).sum() < 0:
        b = -b
    w = arc(a, b)
    if w == 0:
        return a
    return (np.sin((1 - t) * w) * a + np.sin(t * w) * b) / np.sin(w)


def rigid(rotation: Any, translation: Any) -> Any:
    """A 4x4 matrix."""
    out = np.eye(4, dtype=Long)
    out[:3, :3] = matrix(rotation)
    out[:3, 3] = translation
    return out


def screw_between(start: Any, end: Any, t: Any) -> Any:
    """The matrix at t on the screw motion from one rigid matrix to another, turning less than pi.

    Turn and advance about the line of the relative motion, found from its matrix alone.
    """
    relative = np.linalg.inv(start.astype(float)) @ end.astype(float)
    turn, offset = relative[:3, :3], relative[:3, 3]
    skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    axis = skew / np.linalg.norm(skew)
    angle = np.arctan2(np.linalg.norm(skew), np.trace(turn) - 1)
    advance = offset @ axis
    across = offset - advance * axis
    point = np.linalg.lstsq(np.eye(3) - turn, across, rcond=None)[0]
    part = matrix(from_axis_angle(axis, t * angle)).astype(float)
    moved = np.eye(4)
    moved[:3, :3] = part
    moved[:3, 3] = point - part @ point + t * advance * axis
    return start.astype(float) @ moved
