"""Quaternions (x, y, z, w), scalar last, as glTF, SciPy and shaders store them.

A *unit* quaternion is a rotation, and q and -q are the same one. Functions that need unit
quaternions say so and do not normalise behind the caller's back: `normalize` once, where the
data comes in. Products follow Hamilton and read like matrices: ``multiply(a, b)`` is b first,
then a. Angles are radians; rotations are active and right-handed.

Scalar-first data must pass through `from_wxyz`. The identity stored scalar first, (1, 0, 0, 0),
is a half turn about X here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from bunraku.errors import RigError
from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, ROTATION_MATRIX, SCALAR, VECTOR, Floats, read

# Largest entry of |M^T M - I| that still counts as rounding. Measured: a thousand float32 products
# reach 3e-6 and five-digit text 2e-5; four-digit text (2e-4) and half floats (8e-4) do not pass.
_ORTHONORMAL_TOLERANCE = 1e-4


def identity(shape: int | tuple[int, ...] = (), dtype: DTypeLike = np.float64) -> Floats:
    """Return identity rotations of shape (*shape, 4).

    >>> identity()
    array([0., 0., 0., 1.])
    >>> identity((2, 5)).shape
    (2, 5, 4)
    """
    leading = (shape,) if isinstance(shape, int) else shape
    result = np.zeros((*leading, 4), dtype=dtype)
    result[..., 3] = 1
    return result


def multiply(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the Hamilton product a b: as rotations, b first and then a.

    Shapes (..., 4) and (..., 4), any length; the lengths multiply.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> i, j = [1, 0, 0, 0], [0, 1, 0, 0]
    >>> multiply(i, j)  # = k
    array([0., 0., 1., 0.])
    """
    p, q = read((a, QUATERNION), (b, QUATERNION))
    px, py, pz, pw = np.moveaxis(p, -1, 0)
    qx, qy, qz, qw = np.moveaxis(q, -1, 0)
    return np.stack(
        (
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
            pw * qw - px * qx - py * qy - pz * qz,
        ),
        axis=-1,
    )


def conjugate(q: ArrayLike) -> Floats:
    """Return (-x, -y, -z, w): the inverse rotation, when q (..., 4) is a unit quaternion.

    Raises:
        RigError: q is not (..., 4).

    >>> conjugate([0.1, 0.2, 0.3, 0.9])
    array([-0.1, -0.2, -0.3,  0.9])
    """
    (q_,) = read((q, QUATERNION))
    return q_ * np.array((-1, -1, -1, 1), dtype=q_.dtype)


def dot(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the inner product of quaternions (..., 4) as (...): the cosine of *half* their angle.

    Negative means that a and b lie on different sides of the double cover.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> float(dot([0, 0, 0, 1], [0, 0, 0, -1]))
    -1.0
    """
    p, q = read((a, QUATERNION), (b, QUATERNION))
    return _arrays.dot(p, q)


def normalize(q: ArrayLike) -> Floats:
    """Return quaternions (..., 4) scaled to length 1.

    Raises:
        RigError: a quaternion has no direction (zero, infinite or NaN); the message says which.

    >>> normalize([0, 0, 3, 4])
    array([0. , 0. , 0.6, 0.8])
    """
    (q_,) = read((q, QUATERNION))
    return q_ / _arrays.length_of_direction(q_, QUATERNION)[..., np.newaxis]


def rotate(q: ArrayLike, v: ArrayLike) -> Floats:
    """Rotate vectors v (..., 3) by unit quaternions q (..., 4).

    With u = (x, y, z): v + 2 u x (u x v + w v), which equals the product q v q* in 30 operations
    instead of 56. Leading axes broadcast: one rotation per joint on all of a joint's points is
    ``rotate(q[:, None], points)``.

    Raises:
        RigError: wrong trailing axes, or leading axes that do not broadcast.

    >>> rotate([0.5, 0.5, 0.5, 0.5], [1, 0, 0])  # 120 degrees about (1, 1, 1)
    array([0., 1., 0.])
    """
    q_, v_ = read((q, QUATERNION), (v, VECTOR))
    u, w = q_[..., :3], q_[..., 3:]
    return v_ + 2 * np.cross(u, np.cross(u, v_) + w * v_)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Return unit quaternions (..., 4) that turn by angle (...) radians about axis (..., 3).

    The axis may have any length but zero.

    Raises:
        RigError: an axis has no direction, an angle is not finite, or shapes do not fit.

    >>> from_axis_angle([0, 0, 2], np.pi / 2).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    axis_, angle_ = read((axis, VECTOR), (angle, SCALAR))
    _arrays.require_finite(angle_, "angle")
    half = (angle_ / 2)[..., np.newaxis]
    unit = axis_ / _arrays.length_of_direction(axis_, VECTOR)[..., np.newaxis]
    vector = unit * np.sin(half)
    scalar = np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1))
    return np.concatenate((vector, scalar), axis=-1)


def to_axis_angle(q: ArrayLike) -> tuple[Floats, Floats]:
    """Return the unit axes (..., 3) and angles (...) of quaternions (..., 4), any length but zero.

    Angles are in [0, pi]: q and -q give the same answer (at exactly pi, axes of opposite sign).
    The identity, which has no axis, is given (1, 0, 0).

    Raises:
        RigError: a quaternion is zero or not finite, or not (..., 4).

    >>> axis, angle = to_axis_angle([0, 0, 1, 1])
    >>> axis, float(angle) / np.pi
    (array([0., 0., 1.]), 0.5)
    """
    q_ = _on_positive_side(normalize(q))
    sine = _arrays.length(q_[..., :3])[..., np.newaxis]
    turns = sine > 0
    x_axis = np.array((1, 0, 0), dtype=q_.dtype)
    axis = np.where(turns, q_[..., :3] / np.where(turns, sine, 1), x_axis)
    return axis, 2 * np.arctan2(sine[..., 0], q_[..., 3])


def from_rotation_vector(vector: ArrayLike) -> Floats:
    """Return unit quaternions (..., 4) from rotation vectors (..., 3): axis times angle in radians.

    Also called the exponential map; exact down to the zero vector, which is the identity.

    Raises:
        RigError: a vector is not finite, or not (..., 3).

    >>> from_rotation_vector([0, 0, np.pi / 2]).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    (v,) = read((vector, VECTOR))
    angle = _arrays.length(v)[..., np.newaxis]
    _arrays.require_finite(angle[..., 0], "rotation vector length")
    turns = angle > 0
    ratio = np.where(turns, np.sin(angle / 2) / np.where(turns, angle, 1), v.dtype.type(0.5))
    return np.concatenate((v * ratio, np.cos(angle / 2)), axis=-1)


def to_rotation_vector(q: ArrayLike) -> Floats:
    """Return rotation vectors (..., 3) of quaternions (..., 4), any length but zero.

    Also called the logarithm. Lengths are in [0, pi]: the shorter of the two turns.

    Raises:
        RigError: a quaternion is zero or not finite, or not (..., 4).

    >>> to_rotation_vector([0, 0, 1, 1]) / np.pi
    array([0. , 0. , 0.5])
    """
    q_ = _on_positive_side(normalize(q))
    sine = _arrays.length(q_[..., :3])[..., np.newaxis]
    turns = sine > 0
    half_angle = np.arctan2(sine, q_[..., 3:])
    # Where the sine underflows to zero, angle / sine is 2 to the last digit.
    ratio = np.where(turns, 2 * half_angle / np.where(turns, sine, 1), q_.dtype.type(2))
    return q_[..., :3] * ratio


def from_matrix(matrix: ArrayLike) -> Floats:
    """Return unit quaternions (..., 4) from rotation matrices (..., 3, 3), columns convention.

    Branches on the largest of the four components (Shepperd 1978), so no rotation is near a
    singularity; that component comes out positive. Rounding in the matrix (up to 1e-4 in
    M^T M - I) is averaged away; scale and shear must be split off first.

    Raises:
        RigError: a matrix is a reflection, is not orthonormal, is not finite, or not (..., 3, 3).

    >>> from_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    (m,) = read((matrix, ROTATION_MATRIX))
    _require_rotation(m)
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = (m[..., i, j] for i in range(3) for j in range(3))
    # Row k is 4 q_k q: each is the answer up to scale, the one with the largest q_k the best.
    xx, yy, zz, ww = (
        1 + m00 - m11 - m22,
        1 - m00 + m11 - m22,
        1 - m00 - m11 + m22,
        1 + m00 + m11 + m22,
    )
    xy, yz, zx = m10 + m01, m21 + m12, m02 + m20
    xw, yw, zw = m21 - m12, m02 - m20, m10 - m01
    rows = np.stack((xx, xy, zx, xw, xy, yy, yz, yw, zx, yz, zz, zw, xw, yw, zw, ww), axis=-1)
    rows = rows.reshape(*m.shape[:-2], 4, 4)
    largest = np.argmax(np.stack((xx, yy, zz, ww), axis=-1), axis=-1)
    row = np.take_along_axis(rows, largest[..., np.newaxis, np.newaxis], axis=-2)[..., 0, :]
    return row / _arrays.length(row)[..., np.newaxis]


def to_matrix(q: ArrayLike) -> Floats:
    """Return rotation matrices (..., 3, 3) of unit quaternions (..., 4), for column vectors.

    q and -q give the same matrix, bit for bit.

    Raises:
        RigError: q is not (..., 4).

    >>> to_matrix([0.5, 0.5, 0.5, 0.5])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    (q_,) = read((q, QUATERNION))
    x, y, z, w = np.moveaxis(q_, -1, 0)
    entries = (
        *(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (z * x + y * w)),
        *(2 * (x * y + z * w), 1 - 2 * (z * z + x * x), 2 * (y * z - x * w)),
        *(2 * (z * x - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack(entries, axis=-1).reshape(*q_.shape[:-1], 3, 3)


def to_wxyz(q: ArrayLike) -> Floats:
    """Return the components of (x, y, z, w) quaternions (..., 4) in scalar-first order.

    Raises:
        RigError: q is not (..., 4).

    >>> to_wxyz([0, 0, 0, 1])
    array([1., 0., 0., 0.])
    """
    (q_,) = read((q, QUATERNION))
    return np.roll(q_, 1, axis=-1)


def from_wxyz(wxyz: ArrayLike) -> Floats:
    """Return (x, y, z, w) quaternions (..., 4) from scalar-first ones (w, x, y, z).

    Raises:
        RigError: the input is not (..., 4).

    >>> from_wxyz([1, 0, 0, 0])
    array([0., 0., 0., 1.])
    """
    (q_,) = read((wxyz, QUATERNION._replace(order="(w, x, y, z)")))
    return np.roll(q_, -1, axis=-1)


def angle_between(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the angle (...) in [0, pi] of the rotation that leads from a to b, both unit (..., 4).

    By the arctangent of |a - b| over |a + b| (Kahan), which keeps its digits where the arccosine
    of the dot product loses half of them.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> float(angle_between([0, 0, 0, 1], [0, 0, 0, -1]))
    0.0
    """
    p, q = read((a, QUATERNION), (b, QUATERNION))
    apart, together = _arrays.length(p - q), _arrays.length(p + q)
    return 4 * np.arctan2(np.minimum(apart, together), np.maximum(apart, together))


def _on_positive_side(q: Floats) -> Floats:
    """Of q and -q the one with w >= 0."""
    return np.where(q[..., 3:] < 0, -q, q)


def _require_rotation(m: Floats) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        determinant = _arrays.dot(m[..., 0], np.cross(m[..., 1], m[..., 2]))
        gram = np.swapaxes(m, -1, -2) @ m
        error = np.abs(gram - np.eye(3, dtype=m.dtype)).max(axis=(-2, -1))
    mirrored = determinant < 0
    if np.any(mirrored):
        index = _arrays.first_index(mirrored)
        raise RigError(
            f"{_arrays.place('matrix', index)}: expected a rotation, found a reflection "
            f"(determinant {determinant[index]:.6g}): move the mirror into the scale first"
        )
    orthonormal = error <= _ORTHONORMAL_TOLERANCE
    if not np.all(orthonormal):
        index = _arrays.first_index(~orthonormal)
        raise RigError(
            f"{_arrays.place('matrix', index)}: expected a rotation, found columns that are not "
            f"orthonormal (largest |M^T M - I| is {error[index]:.3g}): "
            "split scale and shear off first"
        )
