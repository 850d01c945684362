"""The rotation, or the rigid motion, that brings one set of vectors nearest to another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.rotation import _arrays
from bunraku.rotation._arrays import VECTOR, Floats
from bunraku.rotation._elementwise import One, Two
from bunraku.rotation._fits import WEIGHT, fit, negative_weight, no_sum


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
    return _vectors(source, target, 1.0 if weights is None else weights)


def align_points(
    source: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the rotation (..., 4) and translation (..., 3) that bring points nearest to targets.

    Points (..., N, 3), weights (..., N) >= 0: `align_vectors` about the weighted centroids. The
    moved points are ``rotate(rotation, source) + translation``. Points that all coincide are only
    translated.

    Raises:
        RigError: no points, weights that are all 0, or as `align_vectors`.

    >>> from bunraku.rotation import quaternion
    >>> corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> turned = [[1, 1, 0], [1, 2, 0], [0, 1, 0], [1, 1, 1]]
    >>> rotation, translation = align_points(corner, turned)
    >>> (quaternion.rotate(rotation, corner) + translation).round(4).tolist() == turned
    True
    """
    return _points(source, target, 1.0 if weights is None else weights)


def _not_finite(index: tuple[int, ...], elements: list[Floats]) -> str | None:
    if all(np.isfinite(vectors).all() for vectors in elements[:2]):
        return None
    return f"{_arrays.place('row', index)}: expected finite vectors, found inf or nan"


def _no_weights(index: tuple[int, ...], elements: list[Floats]) -> str | None:
    if elements[2].any():
        return None
    return f"{_arrays.place('row', index)}: expected weights that are not all 0"


_PAIRS = (VECTOR, VECTOR, WEIGHT)
_NO_SUM = no_sum("sum of weighted products")
_vectors: One = fit("fit_vectors", *_PAIRS, faults=(negative_weight, _not_finite, _NO_SUM))
_points: Two = fit(
    "fit_points", *_PAIRS, faults=(negative_weight, _not_finite, _no_weights, _NO_SUM)
)
