"""MMD's space and the model's: z mirrored, and 0.08 metres to the unit.

MMD is left-handed, +Y up, facing −Z; the model is right-handed, +Y up, facing +Z. A mirror is
its own inverse, so that every function but the scale works in both directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

METRES = 0.08  # per unit: a convention, taken by vroid2pmx and most converters
FRAME_RATE = 30.0
_POINT = np.array([1.0, 1.0, -1.0])
_QUATERNION = np.array([-1.0, -1.0, 1.0, 1.0])


def mirrored(vectors: npt.ArrayLike) -> Array:
    """Points, directions and offsets (…, 3) as float64, z turned round.

    >>> mirrored([1, 2, 3]).tolist()
    [1.0, 2.0, -3.0]
    """
    result: Array = np.asarray(vectors, np.float64) * _POINT + 0.0  # no zero below zero
    return result


def metres(points: npt.ArrayLike) -> Array:
    """Points and offsets (…, 3) of MMD in the model's space."""
    result: Array = np.asarray(points, np.float64) * (METRES * _POINT) + 0.0
    return result


def units(points: npt.ArrayLike) -> Array:
    """Points and offsets (…, 3) of the model in MMD's space."""
    result: Array = np.asarray(points, np.float64) / (METRES * _POINT) + 0.0
    return result


def mirrored_rotations(quaternions: npt.ArrayLike) -> Array:
    """Quaternions (…, 4), x, y, z, w, as float64, in the other space.

    >>> mirrored_rotations([1, 2, 3, 4]).tolist()
    [-1.0, -2.0, 3.0, 4.0]
    """
    result: Array = np.asarray(quaternions, np.float64) * _QUATERNION + 0.0
    return result


def mirrored_limits(limits: npt.ArrayLike) -> Array:
    """Lowest and highest angles (2, 3) about x, y and z: those about x and y change sides.

    >>> mirrored_limits([[-3, -2, -1], [0, 0.5, 1]]).tolist()
    [[0.0, -0.5, -1.0], [3.0, 2.0, 1.0]]
    """
    low, high = np.sort(np.asarray(limits, np.float64), axis=0)
    flip = np.array([True, True, False])
    result: Array = np.where(flip, -np.stack([high, low]), np.stack([low, high])) + 0.0
    return result
