"""Orientation from an IMU: two complementary filters, one step per call.

q (..., 4) turns vectors of the sensor into the world, whose up is +Y. A gyroscope gives the angular
velocity (..., 3) in rad/s and an accelerometer the acceleration (..., 3), both in the sensor's
axes; at rest the latter shows 1 g *upwards*, in any unit. It corrects tilt; nothing here corrects
the heading. An acceleration of exactly zero (free fall) corrects nothing.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, SCALAR, VECTOR, Floats
from bunraku.rotation._elementwise import (
    Fault,
    One,
    Two,
    elementwise,
    no_direction,
    not_finite,
)


def madgwick(
    q: ArrayLike,
    gyroscope: ArrayLike,
    accelerometer: ArrayLike,
    dt: ArrayLike,
    *,
    gain: ArrayLike = 0.1,
) -> Floats:
    """Return unit quaternions (..., 4) dt (...) seconds later.

    Madgwick, Harrison, Vaidyanathan (2011): the gyroscope's rate, and a steepest-descent step of
    constant length `gain` (beta, in 1/s) towards the tilt that the accelerometer shows; descent on
    the sphere, where their four-component gradient also has a part along q that normalising
    removes.

    Raises:
        RigError: shapes do not fit, or a number is not finite.

    >>> madgwick([0, 0, 0, 1], [0, 0, 0], [0, 1, 0], 0.01)
    array([0., 0., 0., 1.])
    """
    return _madgwick(q, gyroscope, accelerometer, dt, gain)


def mahony(
    q: ArrayLike,
    bias: ArrayLike,
    gyroscope: ArrayLike,
    accelerometer: ArrayLike,
    dt: ArrayLike,
    *,
    proportional: ArrayLike = 1.0,
    integral: ArrayLike = 0.1,
) -> tuple[Floats, Floats]:
    """Return unit quaternions (..., 4) and the gyroscope's bias (..., 3), dt (...) seconds later.

    Mahony, Hamel, Pflimlin (2008): the sine of the tilt's error, times `proportional` (1/s), is
    added to the rate; its integral, times `integral` (1/s^2), is learned as the bias that is
    taken off. Start with a bias of zero.

    Raises:
        RigError: shapes do not fit, or a number is not finite.

    >>> mahony([0, 0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0], 0.01)
    (array([0., 0., 0., 1.]), array([0., 0., 0.]))
    """
    return _mahony(q, bias, gyroscope, accelerometer, dt, proportional, integral)


def _too_fast(rate: int) -> Fault:
    """The fault that input `rate` is so fast that the square of a step's angle is not finite."""

    def fault(index: tuple[int, ...], elements: list[Floats]) -> str:
        return (
            f"{_arrays.place('quaternion', index)}: expected a turn whose square is finite, "
            f"found a rate of {_arrays.listed(elements[rate])}"
        )

    return fault


_madgwick: One = elementwise(
    "madgwick",
    *(QUATERNION, VECTOR, VECTOR, SCALAR, SCALAR),
    faults=(
        no_direction(0),
        *map(not_finite, (1, 2, 3, 4), ("angular velocity", "acceleration", "dt", "gain")),
        _too_fast(1),
    ),
)
_mahony: Two = elementwise(
    "mahony",
    *(QUATERNION, VECTOR, VECTOR, VECTOR, SCALAR, SCALAR, SCALAR),
    faults=(
        no_direction(0),
        *map(
            not_finite,
            (1, 2, 3, 4, 5, 6),
            ("bias", "angular velocity", "acceleration", "dt", "gain", "gain"),
        ),
        _too_fast(2),
    ),
)
