"""Turning what a caller hands over into a checked, read-only array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


def checked(
    value: npt.ArrayLike,
    dtype: type[np.generic],
    shape: Sequence[int | None],
    place: str,
    *,
    finite: bool = True,
) -> npt.NDArray[Any]:
    """Return `value` as a C-contiguous, read-only array of `dtype` and `shape`.

    `None` in `shape` stands for any length. An array that already fits is not copied (the
    caller's own array stays writable); integers are never made from numbers with a fraction.

    Raises:
        RigError: wrong shape, numbers that do not fit the type, or NaN/infinity in `finite` data.

    >>> checked([[1, 2, 3]], np.float32, (None, 3), "positions")
    array([[1., 2., 3.]], dtype=float32)
    >>> checked([[1, 2]], np.float32, (None, 3), "positions")
    Traceback (most recent call last):
      ...
    bunraku.errors.RigError: positions: expected shape (any, 3), found (1, 2)
    """
    array = regular(value, place)
    if array.size == 0 and array.dtype == np.float64 and array.ndim == 1 and len(shape) > 1:
        array = array.reshape([0 if length is None else length for length in shape])
    if array.ndim != len(shape) or any(
        want is not None and want != have for want, have in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise RigError(f"{place}: expected shape ({wanted}), found {array.shape}")
    if array.dtype.kind not in "iuf":
        raise RigError(f"{place}: expected numbers, found {array.dtype}")
    if np.issubdtype(dtype, np.integer):
        array = _integers(array, dtype, place)
    else:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, dtype=dtype)
        if finite and not np.isfinite(array).all():
            at = np.argwhere(~np.isfinite(array))[0].tolist()
            raise RigError(f"{place}{at}: expected finite numbers, found {array[tuple(at)]}")
    return frozen(array)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view of an array, which itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def regular(value: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """Return `value` as an array of whatever type and shape.

    Raises:
        RigError: rows of different lengths.
    """
    try:
        return np.asarray(value)
    except ValueError as error:
        raise RigError(f"{place}: expected a regular array, found {error}") from None


def _integers(array: npt.NDArray[Any], dtype: type[np.generic], place: str) -> npt.NDArray[Any]:
    if array.size == 0:
        return np.ascontiguousarray(array, dtype=dtype)
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    if array.dtype.kind == "f" and not (array == np.floor(array)).all():
        raise RigError(f"{place}: expected whole numbers, found {array.dtype} with fractions")
    if array.min() < limits.min or array.max() > limits.max:
        raise RigError(f"{place}: expected {limits.min} … {limits.max}, found {array.max()}")
    return np.ascontiguousarray(array, dtype=dtype)


def in_range(indices: Int32, count: int, place: str, what: str, *, none: bool = False) -> None:
    """Raise RigError unless every index lies in [0, count), or is -1 where `none` is allowed.

    >>> in_range(np.array([0, 3], np.int32), 3, "skins[0].joints", "node")
    Traceback (most recent call last):
      ...
    bunraku.errors.RigError: skins[0].joints[1]: node 3, but there are 3
    """
    if indices.size == 0:
        return
    bad = (indices < (-1 if none else 0)) | (indices >= count)
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        raise RigError(f"{place}{at}: {what} {indices[tuple(at)]}, but there are {count}")
