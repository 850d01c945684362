"""Rigid transforms (rotation and translation) as dual quaternions, the kind that blend well.

LAYOUT: the last axis has 8 numbers, the REAL quaternion (x, y, z, w) FIRST, then the DUAL
quaternion (x, y, z, w). Many papers write both scalar first.

A *unit* dual quaternion has a real part of length 1 (the rotation r) and a dual part
perpendicular to it: (t, 0) r / 2 for a translation t that is applied after the rotation.
dq and -dq are the same transform. Kavan, Collins, Zara, O'Sullivan: "Geometric Skinning with
Approximate Dual Quaternion Blending" (2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from bunraku.errors import RigError
from bunraku.rotation import _arrays
from bunraku.rotation._arrays import (
    DUAL_QUATERNION,
    QUATERNION,
    RIGID_MATRIX,
    SCALAR,
    VECTOR,
    Floats,
    shape_of,
)
from bunraku.rotation._elementwise import One, Two, elementwise, no_direction, not_finite
from bunraku.rotation._fits import WEIGHT, fit, no_sum, no_weight
from bunraku.rotation.quaternion import no_rotation


class Screw(NamedTuple):
    """A rigid transform as a turn about a line in space and an advance along it."""

    axis: Floats
    """(..., 3), length 1: the line's direction."""
    moment: Floats
    """(..., 3): any point of the line x axis (Pluecker); axis x moment is the point nearest 0."""
    angle: Floats
    """(...), radians in [0, pi]."""
    advance: Floats
    """(...), metres along the axis."""


def identity(shape: int | tuple[int, ...] = (), dtype: DTypeLike = np.float64) -> Floats:
    """Return identity transforms of shape (*shape, 8), in float32 or float64.

    Raises:
        RigError: no shape, or another dtype.

    >>> identity()
    array([0., 0., 0., 1., 0., 0., 0., 0.])
    """
    return _arrays.identities(DUAL_QUATERNION, shape, dtype)


def from_rotation_translation(rotation: ArrayLike, translation: ArrayLike) -> Floats:
    """Return dual quaternions (..., 8) that rotate by unit quaternions, then translate.

    Rotation (..., 4), translation (..., 3) in metres.

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> from_rotation_translation([0, 0, 0, 1], [2, 0, 0])
    array([0., 0., 0., 1., 1., 0., 0., 0.])
    """
    return _from_rigid(rotation, translation)


def to_rotation_translation(dq: ArrayLike) -> tuple[Floats, Floats]:
    """Return the rotations (..., 4) and translations (..., 3) of unit dual quaternions (..., 8).

    Raises:
        RigError: dq is not (..., 8).

    >>> to_rotation_translation([0, 0, 0, 1, 1, 0, 0, 0])
    (array([0., 0., 0., 1.]), array([2., 0., 0.]))
    """
    return _to_rigid(dq)


def from_matrix(matrix: ArrayLike) -> Floats:
    """Return dual quaternions (..., 8) from rigid matrices (..., 3, 4) or (..., 4, 4).

    Raises:
        RigError: the left 3x3 block is no rotation (scaled, sheared, mirrored), a translation is
            not finite, the last row of a 4x4 matrix is not (0, 0, 0, 1), or the shape is wrong.

    >>> from_matrix([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0]])
    array([0., 0., 0., 1., 1., 0., 0., 0.])
    """
    return _from_matrix4(matrix) if shape_of(matrix)[-2:] == (4, 4) else _from_matrix(matrix)


def to_matrix(dq: ArrayLike) -> Floats:
    """Return rigid matrices (..., 4, 4) of unit dual quaternions (..., 8), for column vectors.

    The (..., 3, 4) rows of a palette are ``to_matrix(dq)[..., :3, :]``.

    Raises:
        RigError: dq is not (..., 8).

    >>> to_matrix([0, 0, 0, 1, 1, 0, 0, 0])[0]
    array([1., 0., 0., 2.])
    """
    return _to_matrix(dq)


def multiply(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the product a b of dual quaternions (..., 8): as transforms, b first and then a.

    Raises:
        RigError: an input is not (..., 8), or leading axes do not broadcast.

    >>> move = from_rotation_translation([0, 0, 0, 1], [1, 0, 0])
    >>> to_rotation_translation(multiply(move, move))[1]
    array([2., 0., 0.])
    """
    return _multiply(a, b)


def conjugate(dq: ArrayLike) -> Floats:
    """Return both parts conjugated: the inverse transform of a unit dual quaternion (..., 8).

    The *quaternion* conjugate, the first of three: it reverses products.

    Raises:
        RigError: dq is not (..., 8).

    >>> move = from_rotation_translation([0, 0, 0, 1], [1, 2, 3])
    >>> to_rotation_translation(conjugate(move))[1]
    array([-1., -2., -3.])
    """
    return _conjugate(dq, option=1)


def dual_conjugate(dq: ArrayLike) -> Floats:
    """Return the dual part negated (..., 8): the second conjugate, real - e dual.

    The rotation stays and the translation is reversed.

    Raises:
        RigError: dq is not (..., 8).

    >>> dual_conjugate([0, 0, 0, 1, 1, 0, 0, 0])
    array([ 0.,  0.,  0.,  1., -1., -0., -0., -0.])
    """
    return _conjugate(dq, option=2)


def full_conjugate(dq: ArrayLike) -> Floats:
    """Return both of the other conjugates in one (..., 8), the one that moves points.

    With a point p as 1 + e (p, 0), dq p full_conjugate(dq) is the moved point.

    Raises:
        RigError: dq is not (..., 8).

    >>> full_conjugate([0, 0, 0, 1, 1, 0, 0, 0])
    array([-0., -0., -0.,  1.,  1.,  0.,  0., -0.])
    """
    return _conjugate(dq, option=3)


def inverse(dq: ArrayLike) -> Floats:
    """Return the dual quaternions (..., 8) whose product with dq is 1; any real part but zero.

    For unit dual quaternions `conjugate` is the same and cheaper.

    Raises:
        RigError: a real part has no direction (zero, infinite or NaN), or dq is not (..., 8).

    >>> inverse([0, 0, 0, 2, 1, 0, 0, 0])
    array([-0.  , -0.  , -0.  ,  0.5 , -0.25, -0.  , -0.  , -0.  ])
    """
    return _inverse(dq)


def normalize(dq: ArrayLike) -> Floats:
    """Return the unit dual quaternions (..., 8): real part of length 1, dual part perpendicular.

    Both parts are divided by the length of the real one; what is left of the dual part along the
    real one (it moves nothing) is taken away.

    Raises:
        RigError: a real part has no direction (zero, infinite or NaN); the message says which.

    >>> normalize([0, 0, 0, 2, 2, 0, 0, 1])
    array([0., 0., 0., 1., 1., 0., 0., 0.])
    """
    return _normalize(dq)


def transform_points(dq: ArrayLike, points: ArrayLike) -> Floats:
    """Rotate, then translate points (..., 3) by unit dual quaternions (..., 8).

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> transform_points([0, 0, 0, 1, 1, 0, 0, 0], [1, 1, 1])
    array([3., 1., 1.])
    """
    return _transform_points(dq, points)


def transform_vectors(dq: ArrayLike, vectors: ArrayLike) -> Floats:
    """Rotate directions (..., 3), such as normals, by unit dual quaternions (..., 8).

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> transform_vectors([0, 0, 0, 1, 1, 0, 0, 0], [1, 1, 1])
    array([1., 1., 1.])
    """
    return _transform_vectors(dq, vectors)


def to_screw(dq: ArrayLike) -> Screw:
    """Return the screw motions (Chasles) of unit dual quaternions (..., 8).

    A pure translation has no line: its axis is the way it goes, its moment 0. So is taken what
    turns by less than one rounding (2^-52 rad, 2^-23 in float32), which moves no point by more than
    rounding does while its line would run off to infinity. The identity is given the axis X.

    Raises:
        RigError: a real part has no direction, or dq is not (..., 8).

    >>> to_screw(from_rotation_translation([0, 0, 1, 1] / np.sqrt(2), [1, 1, 5])).advance.round(4)
    np.float64(5.0)
    """
    return Screw._make(_to_screw(dq))


def from_screw(screw: Screw) -> Floats:
    """Return the unit dual quaternions (..., 8) of screw motions.

    Raises:
        RigError: an axis has no direction, a number is not finite, or shapes do not broadcast.

    >>> from_screw(Screw([0, 0, 1], [0, 0, 0], 0.0, 2.0))
    array([0., 0., 0., 1., 0., 0., 1., 0.])
    """
    try:
        axis, moment, angle, advance = screw
    except (TypeError, ValueError):
        raise RigError(f"expected a screw of four arrays, found {screw!r}") from None
    return _from_screw(axis, moment, angle, advance)


def sclerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Floats:
    """Return a (a^-1 b)^t: the part t of the screw motion from a to b, at even speed.

    Unit dual quaternions a, b (..., 8), t (...); the shorter way round, whichever signs a and b
    have; exactly half a turn apart, as they are stored. Rotation and translation move together, and
    the path does not depend on the frame (Kavan 2006).

    Raises:
        RigError: an input is not (..., 8), or leading axes do not broadcast.

    >>> start = from_rotation_translation([0, 0, 0, 1], [0, 0, 0])
    >>> end = from_rotation_translation([0, 0, 1, 0], [2, 0, 0])  # half a turn about (1, 0)
    >>> transform_points(sclerp(start, end, 0.5), [0, 0, 0]).round(4)
    array([ 1., -1.,  0.])
    """
    return _sclerp(a, b, t)


def blend(dqs: ArrayLike, weights: ArrayLike) -> Floats:
    """Blend N rigid transforms linearly: dqs (..., N, 8), weights (..., N), result (..., 8), unit.

    Each dual quaternion is first brought to the side of the heaviest one (ties: the lowest slot):
    negated when the inner product of the REAL parts is negative; exactly 0 counts as positive.
    The dual part, which changes with the distance from the origin, has no say in it. The sum is
    normalised by its real part, so the weights need not sum to 1. Kavan's article compares with
    the running sum instead; on transforms less than a half turn apart the results are equal.

    Raises:
        RigError: wrong shapes, no slots, weights that are all zero or not finite, or (negative
            weights) real parts that cancel.

    >>> left = from_rotation_translation([0, 0, 0, 1], [-1, 0, 0])
    >>> right = from_rotation_translation([0, 0, 0, 1], [3, 0, 0])
    >>> to_rotation_translation(blend([left, -right], [0.5, 0.5]))[1]
    array([1., 0., 0.])
    """
    return _blend(dqs, weights)


def _no_rigid(index: tuple[int, ...], elements: list[Floats]) -> str | None:
    translation = elements[0][:3, 3]
    if np.all(np.isfinite(translation)):
        return None
    return (
        f"{_arrays.place('translation', index)}: expected finite numbers, "
        f"found {_arrays.listed(translation)}"
    )


_no_real_part = no_direction(
    0, QUATERNION._replace(noun="real part of dual quaternion"), slice(0, 4)
)

_from_rigid: One = elementwise("dual_from_rigid", QUATERNION, VECTOR)
_to_rigid: Two = elementwise("dual_to_rigid", DUAL_QUATERNION)
_from_matrix: One = elementwise(
    "dual_from_matrix", _arrays.Layout("rigid matrix", (3, 4)), faults=(_no_rigid, no_rotation)
)
_from_matrix4: One = elementwise("dual_from_matrix4", RIGID_MATRIX, faults=(_no_rigid, no_rotation))
_to_matrix: One = elementwise("dual_to_matrix", DUAL_QUATERNION)
_multiply: One = elementwise("dual_multiply", DUAL_QUATERNION, DUAL_QUATERNION)
_conjugate: One = elementwise("dual_conjugate", DUAL_QUATERNION)
_inverse: One = elementwise("dual_inverse", DUAL_QUATERNION, faults=(_no_real_part,))
_normalize: One = elementwise("dual_normalize", DUAL_QUATERNION, faults=(_no_real_part,))
_transform_points: One = elementwise("dual_transform_points", DUAL_QUATERNION, VECTOR)
_transform_vectors: One = elementwise("dual_transform_vectors", DUAL_QUATERNION, VECTOR)
_to_screw: Callable[..., tuple[Floats, Floats, Floats, Floats]] = elementwise(
    "to_screw", DUAL_QUATERNION, faults=(_no_real_part,)
)
_from_screw: One = elementwise(
    "from_screw",
    *(VECTOR, VECTOR, SCALAR, SCALAR),
    faults=(
        no_direction(0, VECTOR._replace(noun="axis")),
        *(not_finite(k, noun) for k, noun in enumerate(Screw._fields)),
    ),
)
_sclerp: One = elementwise("dual_screw_interpolation", DUAL_QUATERNION, DUAL_QUATERNION, SCALAR)
_blend: One = fit(
    "fit_blend",
    *(DUAL_QUATERNION, WEIGHT),
    faults=(no_weight, no_sum("real part of blended dual quaternion")),
)
