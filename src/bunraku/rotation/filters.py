"""Orientation from an IMU: two complementary filters, one step per call.

q (..., 4) turns vectors of the sensor into the world, whose up is +Y. A gyroscope gives the angular
velocity (..., 3) in rad/s and an accelerometer the acceleration (..., 3), both in the sensor's
axes; at rest the latter shows 1 g *upwards*, in any unit. It corrects tilt; nothing here corrects
the heading. An acceleration of exactly zero (free fall) corrects nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.rotation import quaternion
from bunraku.rotation._arrays import QUATERNION, SCALAR, VECTOR, Floats, length, read

UP = (0.0, 1.0, 0.0)


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
    q_, rate, tilt, step, beta = _read(q, gyroscope, accelerometer, dt, gain)
    size = length(tilt)[..., np.newaxis]
    direction = tilt / np.where(size > 0, size, 1)
    return _turned(q_, rate + 2 * beta[..., np.newaxis] * direction, step)


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
    q_, rate, tilt, step, gain = _read(q, gyroscope, accelerometer, dt, proportional)
    drift, rise = read((bias, VECTOR), (integral, SCALAR))
    learned = drift - (rise * step)[..., np.newaxis] * tilt
    return _turned(q_, rate - learned + gain[..., np.newaxis] * tilt, step), learned


def _read(
    q: ArrayLike, gyroscope: ArrayLike, accelerometer: ArrayLike, dt: ArrayLike, gain: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """The inputs as arrays, and in place of the acceleration the error a x u: what turns the
    estimated up u (in the sensor's axes) onto the measured one, as long as its sine."""
    q_, rate, a, step, gain_ = read(
        (q, QUATERNION), (gyroscope, VECTOR), (accelerometer, VECTOR), (dt, SCALAR), (gain, SCALAR)
    )
    size = length(a)[..., np.newaxis]
    up = quaternion.rotate(quaternion.conjugate(q_), np.asarray(UP, dtype=q_.dtype))
    tilt = np.cross(a / np.where(size > 0, size, 1), up)
    return q_, rate, np.asarray(tilt), step, gain_


def _turned(q: Floats, rate: Floats, step: Floats) -> Floats:
    turn = quaternion.from_rotation_vector(rate * step[..., np.newaxis])
    return quaternion.normalize(quaternion.multiply(q, turn))
