"""The mean of rotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import RigError
from bunraku.rotation._arrays import QUATERNION, Floats, Layout, read
from bunraku.rotation._elementwise import One, elementwise, no_direction


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
    q_, w = read((q, QUATERNION), (1.0 if weights is None else weights, Layout("weight", ())))
    if q_.ndim < 2 or not q_.shape[-2]:
        raise RigError(f"expected quaternions (..., N, 4) with N >= 1, found {q_.shape}")
    if not np.all((w >= 0) & np.isfinite(w)):
        raise RigError(f"expected finite weights >= 0, found {w.min()} to {w.max()}")
    weighted = np.broadcast_to(w, q_.shape[:-1] if not w.ndim else w.shape)[..., np.newaxis] * q_
    return _dominant_eigenvector(np.swapaxes(weighted, -1, -2) @ q_)


_SUM = Layout("sum of weighted rotations", (4, 4), "rows")
_dominant_eigenvector: One = elementwise(
    "dominant_eigenvector", _SUM, faults=(no_direction(0, _SUM),)
)
