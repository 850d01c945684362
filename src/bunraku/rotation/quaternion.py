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
from bunraku.rotation._arrays import (
    QUATERNION,
    RIGID_MATRIX,
    ROTATION_MATRIX,
    SCALAR,
    VECTOR,
    Floats,
    shape_of,
)
from bunraku.rotation._elementwise import One, Two, elementwise, no_direction, not_finite


def identity(shape: int | tuple[int, ...] = (), dtype: DTypeLike = np.float64) -> Floats:
    """Return identity rotations of shape (*shape, 4), in float32 or float64.

    Raises:
        RigError: no shape, or another dtype.

    >>> identity()
    array([0., 0., 0., 1.])
    >>> identity((2, 5)).shape
    (2, 5, 4)
    """
    return _arrays.identities(QUATERNION, shape, dtype)


# ---------------------------------------------------------------- algebra


def multiply(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the Hamilton product a b: as rotations, b first and then a.

    Shapes (..., 4) and (..., 4), any length; the lengths multiply.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> i, j = [1, 0, 0, 0], [0, 1, 0, 0]
    >>> multiply(i, j)  # = k
    array([0., 0., 1., 0.])
    """
    return _multiply(a, b)


def conjugate(q: ArrayLike) -> Floats:
    """Return (-x, -y, -z, w): the inverse rotation, when q (..., 4) is a unit quaternion.

    Raises:
        RigError: q is not (..., 4).

    >>> conjugate([0.1, 0.2, 0.3, 0.9])
    array([-0.1, -0.2, -0.3,  0.9])
    """
    return _conjugate(q)


def inverse(q: ArrayLike) -> Floats:
    """Return the quaternions whose product with q (..., 4) is 1: conjugate over length squared.

    For unit quaternions `conjugate` is the same and cheaper.

    Raises:
        RigError: a quaternion has no direction (zero, infinite or NaN), or is not (..., 4).

    >>> inverse([0, 0, 2, 0])
    array([-0. , -0. , -0.5,  0. ])
    """
    return _inverse(q)


def dot(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the inner product of quaternions (..., 4) as (...): the cosine of *half* their angle.

    Negative means that a and b lie on different sides of the double cover.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> float(dot([0, 0, 0, 1], [0, 0, 0, -1]))
    -1.0
    """
    return _dot(a, b)


def normalize(q: ArrayLike) -> Floats:
    """Return quaternions (..., 4) scaled to length 1.

    Raises:
        RigError: a quaternion has no direction (zero, infinite or NaN); the message says which.

    >>> normalize([0, 0, 3, 4])
    array([0. , 0. , 0.6, 0.8])
    """
    return _normalize(q)


def angle_between(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the angle (...) in [0, pi] of the rotation that leads from a to b, both unit (..., 4).

    By the arctangent of |a - b| over |a + b| (Kahan), which keeps its digits where the arccosine
    of the dot product loses half of them.

    Raises:
        RigError: an input is not (..., 4), or leading axes do not broadcast.

    >>> float(angle_between([0, 0, 0, 1], [0, 0, 0, -1]))
    0.0
    """
    return _angle_between(a, b)


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
    return _rotate(q, v)


def exp(q: ArrayLike) -> Floats:
    """Return e^q for quaternions (..., 4): e^w (v sin|v| / |v|, cos|v|) with v = (x, y, z).

    For a pure quaternion (w = 0) it is the rotation by *twice* |v| about v; `from_rotation_vector`
    takes the whole angle.

    Raises:
        RigError: a vector part is infinite or NaN, or q is not (..., 4).

    >>> exp([0, 0, np.pi / 4, 0]).round(4)  # a quarter turn about Z
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    return _exp(q)


def log(q: ArrayLike) -> Floats:
    """Return the logarithm (..., 4) of quaternions (..., 4), any length but zero: exp(log q) = q.

    (v / |v| arctan(|v| / w), ln|q|), the arctangent in [0, pi]: q and -q have different logarithms,
    while `to_rotation_vector` is the same for both. A negative number, whose vector part has no
    direction, gets X.

    Raises:
        RigError: a quaternion is zero or not finite, or not (..., 4).

    >>> log([0, 0, 2, 0]).round(4)
    array([0.    , 0.    , 1.5708, 0.6931])
    """
    return _log(q)


def power(q: ArrayLike, exponent: ArrayLike) -> Floats:
    """Return rotations (..., 4) that turn `exponent` (...) times the angle of q about its axis.

    Of q and -q the one with the shorter turn counts, so ``power(q, t)`` is
    ``slerp(identity(), q, t)`` and ``power(q, -1)`` the inverse rotation. Any length but zero;
    the result is a unit quaternion.

    Raises:
        RigError: a quaternion has no direction, an exponent is not finite, or shapes do not fit.

    >>> power([0, 0, 1, 0], 0.5).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    return _power(q, exponent)


# ---------------------------------------------------------------- axes, angles, vectors


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Return unit quaternions (..., 4) that turn by angle (...) radians about axis (..., 3).

    The axis may have any length but zero.

    Raises:
        RigError: an axis has no direction, an angle is not finite, or shapes do not fit.

    >>> from_axis_angle([0, 0, 2], np.pi / 2).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    return _from_axis_angle(axis, angle)


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
    return _to_axis_angle(q)


def from_rotation_vector(vector: ArrayLike) -> Floats:
    """Return unit quaternions (..., 4) from rotation vectors (..., 3): axis times angle in radians.

    Also called the exponential map; exact down to the zero vector, which is the identity.

    Raises:
        RigError: a vector or the square of its length is not finite, or it is not (..., 3).

    >>> from_rotation_vector([0, 0, np.pi / 2]).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    return _from_rotation_vector(vector)


def to_rotation_vector(q: ArrayLike) -> Floats:
    """Return rotation vectors (..., 3) of quaternions (..., 4), any length but zero.

    Lengths are in [0, pi]: the shorter of the two turns.

    Raises:
        RigError: a quaternion is zero or not finite, or not (..., 4).

    >>> to_rotation_vector([0, 0, 1, 1]) / np.pi
    array([0. , 0. , 0.5])
    """
    return _to_rotation_vector(q)


# ---------------------------------------------------------------- matrices


def from_matrix(matrix: ArrayLike, *, nearest: bool = False) -> Floats:
    """Return unit quaternions (..., 4) from rotation matrices (..., 3, 3), columns convention.

    Rigid matrices (..., 3, 4) and (..., 4, 4) give their rotation; their translation is left out.
    Branches on the largest of the four components (Shepperd 1978), so no rotation is near a
    singularity; that component comes out positive. Rounding in the matrix (up to 1e-4 in M^T M - I)
    is averaged away.

    With ``nearest=True`` the matrix may be noisy, scaled or sheared: the result is the rotation R
    with the smallest sum of squares of R - M (Davenport 1968), a unique one where M has a positive
    determinant.

    Raises:
        RigError: a matrix is a reflection, is not orthonormal (with ``nearest``: has no positive
            determinant), is not finite, has a last row other than (0, 0, 0, 1), or has another
            shape.

    >>> from_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    size = shape_of(matrix)[-2:]
    if size == (3, 4):
        matrix = np.asarray(matrix)[..., :3]
    rigid = size == (4, 4)
    if nearest:
        return _nearest_rotation4(matrix) if rigid else _nearest_rotation(matrix)
    return _from_matrix4(matrix) if rigid else _from_matrix(matrix)


def to_matrix(q: ArrayLike, *, size: int = 3) -> Floats:
    """Return rotation matrices (..., 3, 3) of unit quaternions (..., 4), for column vectors.

    With ``size=4`` rigid matrices (..., 4, 4) without translation. q and -q give the same matrix,
    bit for bit.

    Raises:
        RigError: q is not (..., 4), or the size is neither 3 nor 4.

    >>> to_matrix([0.5, 0.5, 0.5, 0.5])
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    if size == 3:
        return _to_matrix(q)
    if size == 4:
        return _to_matrix4(q)
    raise RigError(f"expected matrices of size 3 or 4, found {size}")


# ---------------------------------------------------------------- the order of storage


def to_wxyz(q: ArrayLike) -> Floats:
    """Return the components of (x, y, z, w) quaternions (..., 4) in scalar-first order.

    Raises:
        RigError: q is not (..., 4).

    >>> to_wxyz([0, 0, 0, 1])
    array([1., 0., 0., 0.])
    """
    return _to_wxyz(q)


def from_wxyz(wxyz: ArrayLike) -> Floats:
    """Return (x, y, z, w) quaternions (..., 4) from scalar-first ones (w, x, y, z).

    Raises:
        RigError: the input is not (..., 4).

    >>> from_wxyz([1, 0, 0, 0])
    array([0., 0., 0., 1.])
    """
    return _from_wxyz(wxyz)


# ---------------------------------------------------------------- kernels


def no_rotation(index: tuple[int, ...], elements: list[Floats]) -> str:
    """The fault that a matrix (3, 3), (3, 4) or (4, 4) has no rotation in it."""
    m = elements[0][:3, :3]
    start = f"{_arrays.place('matrix', index)}: expected "
    with np.errstate(over="ignore", invalid="ignore"):
        determinant = np.linalg.det(m)
        error = np.abs(m.T @ m - np.eye(3)).max()
    if determinant < 0:
        return (
            f"{start}a rotation, found a reflection (determinant {determinant:.6g}): "
            "move the mirror into the scale first"
        )
    if elements[0].shape == (4, 4) and not np.array_equal(elements[0][3], (0, 0, 0, 1)):
        return f"{start}a last row of (0, 0, 0, 1), found {_arrays.listed(elements[0][3])}"
    return (
        f"{start}a rotation, found columns that are not orthonormal "
        f"(largest |M^T M - I| is {error:.3g}): split scale and shear off first"
    )


def _no_nearest(index: tuple[int, ...], elements: list[Floats]) -> str:
    with np.errstate(over="ignore", invalid="ignore"):
        determinant = np.linalg.det(elements[0][:3, :3])
    return (
        f"{_arrays.place('matrix', index)}: expected a matrix near a rotation, "
        f"found determinant {determinant:.6g}"
    )


def _too_long(index: tuple[int, ...], elements: list[Floats]) -> str:
    return (
        f"{_arrays.place('rotation vector', index)}: expected a length whose square is finite, "
        f"found {_arrays.listed(elements[0])}"
    )


_quaternion = no_direction(0)

_multiply: One = elementwise("multiply", QUATERNION, QUATERNION)
_conjugate: One = elementwise("conjugate", QUATERNION)
_inverse: One = elementwise("inverse", QUATERNION, faults=(_quaternion,))
_dot: One = elementwise("dot", QUATERNION, QUATERNION)
_normalize: One = elementwise("normalize", QUATERNION, faults=(_quaternion,))
_angle_between: One = elementwise("angle_between", QUATERNION, QUATERNION)
_rotate: One = elementwise("rotate", QUATERNION, VECTOR)
_exp: One = elementwise("exp", QUATERNION, faults=(not_finite(0, "quaternion"), _too_long))
_log: One = elementwise("log", QUATERNION, faults=(_quaternion,))
_power: One = elementwise(
    "power", QUATERNION, SCALAR, faults=(_quaternion, not_finite(1, "exponent"))
)
_from_axis_angle: One = elementwise(
    "from_axis_angle", VECTOR, SCALAR, faults=(no_direction(0, VECTOR), not_finite(1, "angle"))
)
_to_axis_angle: Two = elementwise("to_axis_angle", QUATERNION, faults=(_quaternion,))
_from_rotation_vector: One = elementwise(
    "from_rotation_vector",
    VECTOR,
    faults=(not_finite(0, "rotation vector"), _too_long),
)
_to_rotation_vector: One = elementwise("to_rotation_vector", QUATERNION, faults=(_quaternion,))
_from_matrix: One = elementwise("from_matrix", ROTATION_MATRIX, faults=(no_rotation,))
_from_matrix4: One = elementwise("from_matrix4", RIGID_MATRIX, faults=(no_rotation,))
_nearest_rotation: One = elementwise("nearest_rotation", ROTATION_MATRIX, faults=(_no_nearest,))
_nearest_rotation4: One = elementwise("nearest_rotation4", RIGID_MATRIX, faults=(_no_nearest,))
_to_matrix: One = elementwise("to_matrix", QUATERNION)
_to_matrix4: One = elementwise("to_matrix4", QUATERNION)
_to_wxyz: One = elementwise("to_wxyz", QUATERNION)
_from_wxyz: One = elementwise("from_wxyz", QUATERNION._replace(order="(w, x, y, z)"))
