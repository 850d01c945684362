"""The mean of rotations."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bunraku.rotation._arrays import QUATERNION, Floats
from bunraku.rotation._elementwise import One
from bunraku.rotation._fits import WEIGHT, fit, negative_weight, no_sum


def mean(q: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the weighted mean (..., 4) of unit quaternions (..., N, 4), weights (..., N) >= 0.

    The rotation with the least weighted sum of squared (Frobenius) distances to the others
    (Markley, Cheng, Crassidis, Oshman 2007): the dominant eigenvector of the weighted sum of the
    matrices q q^T. Signs and order do not matter, and weights need not sum to 1. The largest
    component comes out positive. Two rotations half a turn apart with equal weights have a circle
    of means; one of it is returned.

    Raises:
        RigError: no rotations, a negative or not finite weight, weights that are all 0, or shapes
            that do not fit.

    >>> mean([[0, 0, 0, 1], [0, 0, -0.6, -0.8]]).round(4)  # the sign does not matter
    array([0.    , 0.    , 0.3162, 0.9487])
    """
    return _mean(q, 1.0 if weights is None else weights)


_mean: One = fit(
    "fit_mean", QUATERNION, WEIGHT, faults=(negative_weight, no_sum("sum of weighted rotations"))
)
