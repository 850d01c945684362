"""Rotations in motion: angular velocity integrated and measured, and lengths kept at 1.

Angular velocities (..., 3) are in rad/s about the axes of the world; those of the body are
``rotate(q, body_velocity)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, SCALAR, VECTOR, Floats
from bunraku.rotation._elementwise import One, elementwise, not_finite
from bunraku.rotation._tracks import of_keys


def integrate(q: ArrayLike, velocity: ArrayLike, dt: ArrayLike) -> Floats:
    """Return rotations (..., 4) after dt (...) seconds at a constant angular velocity (..., 3).

    The exponential map: exact for any dt, and a unit quaternion if q is one.

    Raises:
        RigError: a number is not finite, or shapes do not fit.

    >>> integrate([0, 0, 0, 1], [0, 0, np.pi], 0.5).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    return _integrate(q, velocity, dt)


def integrate_first_order(q: ArrayLike, velocity: ArrayLike, dt: ArrayLike) -> Floats:
    """Return normalize(q + dt/2 (velocity, 0) q): `integrate` to first order, without trigonometry.

    Quaternions (..., 4), velocity (..., 3) in rad/s, dt (...) in seconds. A step that should turn
    by x turns by 2 arctan(x / 2), x^3 / 12 too little.

    Raises:
        RigError: shapes do not fit, or a result has no direction.

    >>> integrate_first_order([0, 0, 0, 1], [0, 0, 1], 0.02).round(4)
    array([0.  , 0.  , 0.01, 1.  ])
    """
    return _integrate_first_order(q, velocity, dt)


def angular_velocity(times: ArrayLike, track: ArrayLike) -> Floats:
    """Return the angular velocities (K - 1, ..., 3) that lead from each key of a track to the next.

    Times (K,) in increasing order, unit quaternions (K, ..., 4); every step turns the short way.
    `integrate` over the step leads back to the keys.

    Raises:
        RigError: the shapes do not fit, or times are not finite or do not increase.

    >>> angular_velocity([0, 0.5], [[0, 0, 0, 1], [0, 0, 1, 1]]).round(4)
    array([[0.    , 0.    , 3.1416]])
    """
    return _angular_velocity(times, track)


def relative_angular_velocity(times: ArrayLike, track: ArrayLike, reference: ArrayLike) -> Floats:
    """Return how fast a track turns against another, (K - 1, ..., 3) in the other's moving frame.

    Unit quaternions (K, ..., 4) each, both of the world: a hand against its forearm, say.

    Raises:
        RigError: the shapes do not fit, or times are not finite or do not increase.

    >>> from bunraku.rotation import quaternion
    >>> turn = quaternion.from_axis_angle([0, 0, 1], [0.0, 1.0])
    >>> relative_angular_velocity([0, 1], turn, turn)
    array([[0., 0., 0.]])
    """
    return _relative_angular_velocity(times, track, reference)


def renormalize(q: ArrayLike) -> Floats:
    """Return q (3 - |q|^2) / 2: quaternions (..., 4) that have drifted a little, back at length 1.

    One Newton step without a root or a division: a length of 1 + e comes out as 1 - 1.5 e^2.

    Raises:
        RigError: a length is further from 1 than 10 %: that is no drift; `normalize` takes it.

    >>> renormalize([0, 0, 0, 1.001]).round(5)
    array([0., 0., 0., 1.])
    """
    return _renormalize(q)


def _no_drift(index: tuple[int, ...], elements: list[Floats]) -> str:
    length = np.linalg.norm(elements[0].astype(np.longdouble))
    return f"{_arrays.place('quaternion', index)}: expected a length near 1, found {length:.4g}"


def _no_step(index: tuple[int, ...], elements: list[Floats]) -> str:
    q, velocity, dt = elements
    return (
        f"{_arrays.place('quaternion', index)}: expected a finite step from a quaternion of "
        f"non-zero length, found {_arrays.listed(q)} turning by {_arrays.listed(velocity)} for {dt}"
    )


_integrate: One = elementwise(
    "integrate",
    *(QUATERNION, VECTOR, SCALAR),
    faults=(not_finite(1, "angular velocity"), not_finite(2, "dt"), _no_step),
)
_integrate_first_order: One = elementwise(
    "integrate_first_order", QUATERNION, VECTOR, SCALAR, faults=(_no_step,)
)
_renormalize: One = elementwise("renormalize", QUATERNION, faults=(_no_drift,))
_angular_velocity = of_keys("track_angular_velocity")
_relative_angular_velocity = of_keys("track_relative_angular_velocity")
