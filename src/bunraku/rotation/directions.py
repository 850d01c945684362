"""Rotations from directions, and the part of a rotation that is about a direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.rotation._arrays import QUATERNION, VECTOR, Floats
from bunraku.rotation._elementwise import One, Two, elementwise, no_direction


def between_vectors(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the shortest rotations (..., 4) that turn directions a (..., 3) onto b (..., 3).

    Vectors may have any length but zero. Exact near 0 and near 180 degrees; exactly opposite,
    where every axis across a will do, it is a x e for the coordinate axis e that a is least along
    (the first of equals).

    Raises:
        RigError: a vector has no direction, or shapes do not fit.

    >>> between_vectors([1, 1, 0], [0, 2, 2]).round(4)
    array([ 0.2887, -0.2887,  0.2887,  0.866 ])
    >>> between_vectors([-1, 0, 0], [1, 0, 0])  # a half turn about Z
    array([ 0.,  0., -1.,  0.])
    """
    return _between_vectors(a, b)


def look_at(direction: ArrayLike, up: ArrayLike | None = None) -> Floats:
    """Return rotations (..., 4) that turn +Z onto `direction` and +Y as near to `up` as it can be.

    Directions (..., 3) and up (..., 3), +Y if not given, may have any length but zero. +Z is where
    characters face; a glTF camera looks along -Z, so give it ``look_at(-direction)``. Where up is
    parallel to the direction it says nothing, and the shortest turn is taken.

    Raises:
        RigError: a vector has no direction, or shapes do not fit.

    >>> look_at([1, 0, 0]).round(4)  # a quarter turn to the left
    array([0.    , 0.7071, 0.    , 0.7071])
    """
    if up is None:
        up = _UP_SINGLE if getattr(direction, "dtype", None) == np.float32 else _UP
    return _look_at(direction, up)


def swing_twist(q: ArrayLike, axis: ArrayLike) -> tuple[Floats, Floats]:
    """Return swing and twist (..., 4), q = swing twist, for rotations q (..., 4), axis (..., 3).

    The twist turns about the axis, the swing about a line across it: what a forearm does about
    its own length, and where it points. Any length but zero for both. A swing of half a turn leaves
    no twist to find: it is the identity then.

    Raises:
        RigError: a quaternion or an axis has no direction, or shapes do not fit.

    >>> swing, twist = swing_twist([0.5, 0.5, 0.5, 0.5], [0, 0, 1])
    >>> swing.round(4), twist.round(4)
    (array([0.    , 0.7071, 0.    , 0.7071]), array([0.    , 0.    , 0.7071, 0.7071]))
    """
    return _swing_twist(q, axis)


_UP = np.array((0.0, 1.0, 0.0))
_UP_SINGLE = _UP.astype(np.float32)

_between_vectors: One = elementwise(
    "between_vectors", VECTOR, VECTOR, faults=(no_direction(0, VECTOR), no_direction(1, VECTOR))
)
_look_at: One = elementwise(
    "look_at",
    VECTOR,
    VECTOR,
    faults=(no_direction(0, VECTOR), no_direction(1, VECTOR._replace(noun="up vector"))),
)
_swing_twist: Two = elementwise(
    "swing_twist", QUATERNION, VECTOR, faults=(no_direction(0), no_direction(1, VECTOR))
)
