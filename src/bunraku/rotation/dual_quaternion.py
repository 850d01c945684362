"""Rigid transforms (rotation and translation) as dual quaternions, the kind that blend well.

LAYOUT: the last axis has 8 numbers, the REAL quaternion (x, y, z, w) FIRST, then the DUAL
quaternion (x, y, z, w). Many papers write both scalar first.

A *unit* dual quaternion has a real part of length 1 (the rotation r) and a dual part
perpendicular to it: (t, 0) r / 2 for a translation t that is applied after the rotation.
dq and -dq are the same transform. Kavan, Collins, Zara, O'Sullivan: "Geometric Skinning with
Approximate Dual Quaternion Blending" (2008).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import RigError
from bunraku.rotation import _arrays, quaternion
from bunraku.rotation._arrays import DUAL_QUATERNION, QUATERNION, SCALAR, VECTOR, Floats, read


def from_rotation_translation(rotation: ArrayLike, translation: ArrayLike) -> Floats:
    """Return dual quaternions (..., 8) that rotate by unit quaternions, then translate.

    Rotation (..., 4), translation (..., 3) in metres.

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> from_rotation_translation([0, 0, 0, 1], [2, 0, 0])
    array([0., 0., 0., 1., 1., 0., 0., 0.])
    """
    real, t = read((rotation, QUATERNION), (translation, VECTOR))
    pure = np.concatenate((t / 2, np.zeros_like(t[..., :1])), axis=-1)
    return _join(real, quaternion.multiply(pure, real))


def to_rotation_translation(dq: ArrayLike) -> tuple[Floats, Floats]:
    """Return the rotations (..., 4) and translations (..., 3) of unit dual quaternions (..., 8).

    Raises:
        RigError: dq is not (..., 8).

    >>> to_rotation_translation([0, 0, 0, 1, 1, 0, 0, 0])
    (array([0., 0., 0., 1.]), array([2., 0., 0.]))
    """
    real, dual = _parts(dq)
    return real.copy(), _translation(real, dual)


def from_matrix(matrix: ArrayLike) -> Floats:
    """Return dual quaternions (..., 8) from rigid matrices (..., 3, 4) or (..., 4, 4).

    Raises:
        RigError: the left 3x3 block is no rotation (scaled, sheared, mirrored), a translation is
            not finite, the last row of a 4x4 matrix is not (0, 0, 0, 1), or the shape is wrong.

    >>> from_matrix([[1, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0]])
    array([0., 0., 0., 1., 1., 0., 0., 0.])
    """
    shape = np.shape(matrix)
    rows = 4 if shape[-2:-1] == (4,) else 3
    (m,) = read((matrix, _arrays.Layout("rigid matrix", (rows, 4))))
    if rows == 4:
        affine = np.all(m[..., 3, :] == (0, 0, 0, 1), axis=-1)
        if not np.all(affine):
            index = _arrays.first_index(~affine)
            raise RigError(
                f"{_arrays.place('matrix', index)}: expected a last row of (0, 0, 0, 1), "
                f"found {_arrays.listed(m[index][3])}"
            )
    translation = m[..., :3, 3]
    _arrays.require_finite(translation, "translation")
    return from_rotation_translation(quaternion.from_matrix(m[..., :3, :3]), translation)


def to_matrix(dq: ArrayLike) -> Floats:
    """Return rigid matrices (..., 4, 4) of unit dual quaternions (..., 8), for column vectors.

    The (..., 3, 4) rows of a palette are ``to_matrix(dq)[..., :3, :]``.

    Raises:
        RigError: dq is not (..., 8).

    >>> to_matrix([0, 0, 0, 1, 1, 0, 0, 0])[0]
    array([1., 0., 0., 2.])
    """
    real, dual = _parts(dq)
    matrix = np.zeros((*real.shape[:-1], 4, 4), dtype=real.dtype)
    matrix[..., :3, :3] = quaternion.to_matrix(real)
    matrix[..., :3, 3] = _translation(real, dual)
    matrix[..., 3, 3] = 1
    return matrix


def multiply(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the product a b of dual quaternions (..., 8): as transforms, b first and then a.

    Raises:
        RigError: an input is not (..., 8), or leading axes do not broadcast.

    >>> move = from_rotation_translation([0, 0, 0, 1], [1, 0, 0])
    >>> to_rotation_translation(multiply(move, move))[1]
    array([2., 0., 0.])
    """
    p, q = read((a, DUAL_QUATERNION), (b, DUAL_QUATERNION))
    p_real, p_dual, q_real, q_dual = p[..., :4], p[..., 4:], q[..., :4], q[..., 4:]
    return _join(
        quaternion.multiply(p_real, q_real),
        quaternion.multiply(p_real, q_dual) + quaternion.multiply(p_dual, q_real),
    )


def conjugate(dq: ArrayLike) -> Floats:
    """Return both parts conjugated: the inverse transform of a unit dual quaternion (..., 8).

    Of the three conjugates in the literature this is the quaternion one.

    Raises:
        RigError: dq is not (..., 8).

    >>> move = from_rotation_translation([0, 0, 0, 1], [1, 2, 3])
    >>> to_rotation_translation(conjugate(move))[1]
    array([-1., -2., -3.])
    """
    real, dual = _parts(dq)
    return _join(quaternion.conjugate(real), quaternion.conjugate(dual))


def normalize(dq: ArrayLike) -> Floats:
    """Return the unit dual quaternions (..., 8): real part of length 1, dual part perpendicular.

    Both parts are divided by the length of the real one; what is left of the dual part along the
    real one (it moves nothing) is taken away.

    Raises:
        RigError: a real part has no direction (zero, infinite or NaN); the message says which.

    >>> normalize([0, 0, 0, 2, 2, 0, 0, 1])
    array([0., 0., 0., 1., 1., 0., 0., 0.])
    """
    real, dual = _parts(dq)
    noun = QUATERNION._replace(noun="real part of dual quaternion")
    size = _arrays.length_of_direction(real, noun)[..., np.newaxis]
    real, dual = real / size, dual / size
    return _join(real, dual - real * _arrays.dot(real, dual)[..., np.newaxis])


def transform_points(dq: ArrayLike, points: ArrayLike) -> Floats:
    """Rotate, then translate points (..., 3) by unit dual quaternions (..., 8).

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> transform_points([0, 0, 0, 1, 1, 0, 0, 0], [1, 1, 1])
    array([3., 1., 1.])
    """
    q, p = read((dq, DUAL_QUATERNION), (points, VECTOR))
    real, dual = q[..., :4], q[..., 4:]
    return quaternion.rotate(real, p) + _translation(real, dual)


def transform_vectors(dq: ArrayLike, vectors: ArrayLike) -> Floats:
    """Rotate directions (..., 3), such as normals, by unit dual quaternions (..., 8).

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> transform_vectors([0, 0, 0, 1, 1, 0, 0, 0], [1, 1, 1])
    array([1., 1., 1.])
    """
    q, v = read((dq, DUAL_QUATERNION), (vectors, VECTOR))
    return quaternion.rotate(q[..., :4], v)


def blend(dqs: ArrayLike, weights: ArrayLike) -> Floats:
    """Blend K rigid transforms linearly: dqs (..., K, 8), weights (..., K), result (..., 8), unit.

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
    q, w = read((dqs, DUAL_QUATERNION), (weights, SCALAR))
    slots = np.broadcast_shapes(q.shape[:-1], w.shape)
    if not slots or not slots[-1]:
        raise RigError(
            f"expected dual quaternions (..., K, 8) and weights (..., K) with K >= 1, "
            f"found {q.shape} and {w.shape}"
        )
    _arrays.require_finite(w, "weight")
    q = np.broadcast_to(q, (*slots, 8))
    w = np.broadcast_to(w, slots)
    real = q[..., :4]
    heaviest = np.argmax(w, axis=-1)[..., np.newaxis, np.newaxis]
    pivot = np.take_along_axis(real, heaviest, axis=-2)
    signed = np.where(_arrays.dot(real, pivot) < 0, -w, w)
    return normalize((signed[..., np.newaxis] * q).sum(axis=-2))


def _parts(dq: ArrayLike) -> tuple[Floats, Floats]:
    (q,) = read((dq, DUAL_QUATERNION))
    return q[..., :4], q[..., 4:]


def _join(real: Floats, dual: Floats) -> Floats:
    return np.concatenate(np.broadcast_arrays(real, dual), axis=-1)


def _translation(real: Floats, dual: Floats) -> Floats:
    return 2 * quaternion.multiply(dual, quaternion.conjugate(real))[..., :3]
