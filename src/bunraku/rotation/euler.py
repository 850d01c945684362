"""Euler angles: three turns about coordinate axes, in all 24 orders, in radians.

An order is three letters, as in SciPy. Lower case, ``"xyz"``: about the axes of the world
(*extrinsic*), x first. Upper case, ``"XYZ"``: about the axes of the moving body (*intrinsic*), X
first. So ``"XYZ"`` with (a, b, c) is ``"zyx"`` with (c, b, a), and as matrices Rx(a) Ry(b) Rz(c).

**Gimbal lock.** Where the middle angle makes the first and the third axis parallel (+-90 degrees
when three different axes turn, 0 or 180 when the first turns again), only the sum or the
difference of the outer angles is known. Within 1e-7 rad of it (1e-6 in float32) the third angle
given is 0, and the first says it all; `gimbal_locked` tells which rotations those are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import RigError
from bunraku.rotation._arrays import QUATERNION, VECTOR, Floats, Layout
from bunraku.rotation._elementwise import One, elementwise, no_direction, not_finite

YAW_PITCH_ROLL = "YXZ"


def from_euler(angles: ArrayLike, order: str) -> Floats:
    """Return unit quaternions (..., 4) from angles (..., 3) in radians, one for each letter.

    Raises:
        RigError: an angle is not finite, the shape is wrong, or the order is none of the 24.

    >>> from_euler([np.pi / 2, 0, 0], "xyz").round(4)
    array([0.7071, 0.    , 0.    , 0.7071])
    """
    return _from_euler(angles, option=_code(order))


def to_euler(q: ArrayLike, order: str) -> Floats:
    """Return angles (..., 3) in radians, in the order of the letters, from quaternions (..., 4).

    Any length but zero. The outer angles are in [-pi, pi]; the middle one is in [-pi/2, pi/2] when
    three different axes turn, else in [0, pi]. In gimbal lock the third is 0. Bernardes and
    Viollet: "Quaternion to Euler angles conversion" (2022).

    Raises:
        RigError: a quaternion is zero or not finite, the shape is wrong, or the order is none of
            the 24.

    >>> to_euler([0, 0, 1, 1], "xyz").round(4)
    array([0.    , 0.    , 1.5708])
    """
    return _to_euler(q, option=_code(order))


def gimbal_locked(q: ArrayLike, order: str) -> NDArray[np.bool_]:
    """Return where (...) the order's first and third axis are parallel for quaternions (..., 4).

    Raises:
        RigError: as `to_euler`.

    >>> bool(gimbal_locked(from_euler([0.3, np.pi / 2, 0], "xyz"), "xyz"))
    True
    """
    return _gimbal_locked(q, option=_code(order))


def from_yaw_pitch_roll(yaw: ArrayLike, pitch: ArrayLike, roll: ArrayLike) -> Floats:
    """Return unit quaternions (..., 4) for R = Ry(yaw) Rx(pitch) Rz(roll), angles (...) in radians.

    Roll turns first, about Z; then pitch about X; then yaw about Y: a head that tilts, nods and
    turns. It is the order ``"YXZ"``.

    Raises:
        RigError: an angle is not finite, or the shapes do not broadcast.

    >>> from_yaw_pitch_roll(np.pi / 2, 0, 0).round(4)
    array([0.    , 0.7071, 0.    , 0.7071])
    """
    return _from_three_angles(yaw, pitch, roll, option=_code(YAW_PITCH_ROLL))


def to_yaw_pitch_roll(q: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return yaw, pitch and roll (...) in radians of quaternions (..., 4), R = Ry Rx Rz.

    Pitch is in [-pi/2, pi/2]; at its ends, in gimbal lock, roll is 0 and yaw says it all.

    Raises:
        RigError: a quaternion is zero or not finite, or not (..., 4).

    >>> [round(float(angle), 4) for angle in to_yaw_pitch_roll([0, 1, 0, 1])]
    [1.5708, 0.0, 0.0]
    """
    return _to_three_angles(q, option=_code(YAW_PITCH_ROLL))


def _codes() -> Iterator[tuple[str, int]]:
    """Each order and the core's number for it; see core/rotation/euler.hpp."""
    for a, b, c in product(range(3), repeat=3):
        if b not in (a, c):
            order, code = "".join("xyz"[k] for k in (a, b, c)), a | b << 2 | c << 4
            yield order, code
            yield order.upper(), code | 1 << 6


_CODES = dict(_codes())


def _code(order: str) -> int:
    try:
        return _CODES[order]
    except (KeyError, TypeError):  # TypeError: a list of letters, say
        raise RigError(
            f"expected an order of three letters x, y, z, neighbours different, all lower case "
            f"(extrinsic) or all upper case (intrinsic), found {order!r}"
        ) from None


_from_euler: One = elementwise(
    "from_euler", VECTOR._replace(noun="Euler angle", order=""), faults=(not_finite(0, "angle"),)
)
_to_euler: One = elementwise("to_euler", QUATERNION, faults=(no_direction(0),))
_gimbal_locked: Callable[..., NDArray[np.bool_]] = elementwise(
    "gimbal_locked", QUATERNION, faults=(no_direction(0),)
)
_from_three_angles: One = elementwise(
    "from_three_angles",
    *(Layout(name, ()) for name in ("yaw", "pitch", "roll")),
    faults=(not_finite(0, "yaw"), not_finite(1, "pitch"), not_finite(2, "roll")),
)
_to_three_angles: Callable[..., tuple[Floats, Floats, Floats]] = elementwise(
    "to_three_angles", QUATERNION, faults=(no_direction(0),)
)
