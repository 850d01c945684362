"""The rotation, or the rigid motion, that brings one set of vectors nearest to another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import RigError
from bunraku.rotation import quaternion
from bunraku.rotation._arrays import VECTOR, Floats, Layout, read
from bunraku.rotation._elementwise import One, elementwise, no_direction


def align_vectors(source: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the rotations (..., 4) that turn vectors (..., N, 3) nearest to targets (..., N, 3).

    Wahba's problem (also Kabsch's): the least weighted sum of squared distances, weights (..., N)
    >= 0. Solved for the quaternion (Davenport 1968), so the result is a rotation whatever the
    vectors are, also for mirrored, flat or noisy sets. Where they leave it open (fewer than two
    directions) one of the best is returned.

    Raises:
        RigError: no vectors, or all of them zero or of weight 0, a number that is not finite, a
            negative weight, or shapes that do not fit.

    >>> align_vectors([[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [-1, 0, 0]]).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    a, b, w = _read(source, target, weights)
    return _attitude(np.swapaxes(w * b, -1, -2) @ a)


def align_points(
    source: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the rotation (..., 4) and translation (..., 3) that bring points nearest to targets.

    Points (..., N, 3), weights (..., N) >= 0: `align_vectors` about the weighted centroids. The
    moved points are ``rotate(rotation, source) + translation``. Points that all coincide are only
    translated.

    Raises:
        RigError: no points, weights that are all 0, or as `align_vectors`.

    >>> corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> turned = [[1, 1, 0], [1, 2, 0], [0, 1, 0], [1, 1, 1]]
    >>> rotation, translation = align_points(corner, turned)
    >>> (quaternion.rotate(rotation, corner) + translation).round(4).tolist() == turned
    True
    """
    a, b, w = _read(source, target, weights)
    total = w.sum(axis=-2, keepdims=True)
    if not np.all(total > 0):
        raise RigError("expected weights that are not all 0")
    a_centre = (w * a).sum(axis=-2, keepdims=True) / total
    b_centre = (w * b).sum(axis=-2, keepdims=True) / total
    spread = np.swapaxes(w * (b - b_centre), -1, -2) @ (a - a_centre)
    still = ~np.any(spread, axis=(-2, -1), keepdims=True)
    rotation = _attitude(np.where(still, np.eye(3, dtype=spread.dtype), spread))
    moved = quaternion.rotate(rotation, a_centre[..., 0, :])
    return rotation, b_centre[..., 0, :] - moved


def _read(
    source: ArrayLike, target: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Source and target (..., N, 3) and weights (..., N, 1), broadcast together."""
    a, b, w = read(
        (source, VECTOR),
        (target, VECTOR),
        (1.0 if weights is None else weights, Layout("weight", ())),
    )
    if a.ndim < 2 or b.ndim < 2 or not a.shape[-2] or not b.shape[-2]:
        raise RigError(f"expected vectors (..., N, 3) with N >= 1, found {a.shape} and {b.shape}")
    if not np.all((w >= 0) & np.isfinite(w)):
        raise RigError(f"expected finite weights >= 0, found {w.min()} to {w.max()}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise RigError("expected finite vectors, found inf or nan")
    a, b = np.broadcast_arrays(a, b)
    return a, b, np.broadcast_to(w, a.shape[:-1])[..., np.newaxis]


_SPREAD = Layout("sum of weighted products", (3, 3), "rows")
# Option 1: also where the determinant is not positive.
_attitude: One = elementwise(
    "nearest_rotation", _SPREAD, faults=(no_direction(0, _SPREAD),), option=1
)
