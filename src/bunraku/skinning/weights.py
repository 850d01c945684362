"""Putting influences in order: sums of 1, fewer of them, whole numbers that still add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Int32, checked, whole

_STEPS: dict[str, int] = {"uint8": 255, "uint16": 65535}


def normalize(weights: npt.ArrayLike) -> Float32:
    """Weights (V, K) divided by their row sums; rows that sum to 0 stay 0.

    Raises:
        RigError: weights that are negative or not finite.

    >>> normalize([[2, 2], [0, 0]])
    array([[0.5, 0.5],
           [0. , 0. ]], dtype=float32)
    """
    given = checked(weights, np.float64, (None, None), "weights")
    if given.size and given.min() < 0:
        raise RigError(f"weights: expected none below 0, found {given.min()}")
    largest = given.max(axis=1, initial=0, keepdims=True)
    scaled = given / np.where(largest > 0, largest, 1)  # no sum overflows or vanishes
    total = scaled.sum(axis=1, keepdims=True)
    result: Float32 = (scaled / np.where(total > 0, total, 1)).astype(np.float32)
    return result


def limit(
    joints: npt.ArrayLike, weights: npt.ArrayLike, count: int, *, least: float = 0.0
) -> tuple[Int32, Float32]:
    """Keep the largest `count` influences of each vertex, renormalised.

    Args:
        joints, weights: (V, K) joint slots and weights.
        count: influences to keep, at least 1.
        least: weights below this share of their vertex's sum are dropped, except the largest.

    Returns:
        (V, count) joints and weights in falling order of weight, equal weights in the order
        given; unused places hold joint 0 with weight 0.

    Raises:
        RigError: shapes that differ, negative or non-finite weights, `count` below 1 or no integer.

    >>> limit([[4, 7, 9]], [[0.125, 0.625, 0.25]], 1)
    (array([[7]], dtype=int32), array([[1.]], dtype=float32))
    """
    if (whole(count) or 0) < 1:
        raise RigError(f"count: expected a whole number from 1, found {count!r}")
    shares = normalize(weights)
    slots = checked(joints, np.int32, shares.shape, "joints")
    width = shares.shape[1]
    if width < count:
        shares = np.pad(shares, ((0, 0), (0, count - width)))
        slots = np.pad(slots, ((0, 0), (0, count - width)))
    order = np.argsort(-shares, axis=1, kind="stable")[:, :count]
    kept = np.take_along_axis(shares, order, axis=1)
    kept[:, 1:][kept[:, 1:] < least] = 0
    chosen = np.where(kept > 0, np.take_along_axis(slots, order, axis=1), 0)
    return chosen.astype(np.int32), normalize(kept)


def quantize(weights: npt.ArrayLike, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
    """Weights (V, K) as unsigned integers whose rows sum to exactly 255 or 65535.

    Each weight is rounded to the nearest step; what rounding leaves over goes to the largest
    weight of the row (the first of equals). Rows that sum to 0 stay 0.

    Args:
        weights: (V, K); rows are normalised first.
        dtype: uint8 or uint16.

    Raises:
        RigError: another dtype, weights that are negative or not finite, or a row of so many
            small weights that its largest cannot take what rounding leaves over.

    >>> quantize([[1, 1, 1], [0, 0, 0]])
    array([[85, 85, 85],
           [ 0,  0,  0]], dtype=uint8)
    """
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if name not in _STEPS:
        raise RigError(f"dtype: expected uint8 or uint16, found {name}")
    shares = normalize(weights).astype(np.float64)
    steps = np.rint(shares * _STEPS[name]).astype(np.int64)
    if shares.size:
        rows = np.arange(len(shares))
        largest = shares.argmax(axis=1)
        rest = np.where(shares.any(axis=1), _STEPS[name] - steps.sum(axis=1), 0)
        steps[rows, largest] += rest
        if (steps < 0).any():
            row = int(np.flatnonzero((steps < 0).any(axis=1))[0])
            raise RigError(f"weights[{row}]: too many small weights for {name}; limit them first")
    return steps.astype(dtype)
