"""How the rotation room reads its input: one dtype rule, one shape rule, one error style."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bunraku.errors import RigError

Floats: TypeAlias = NDArray[np.floating[Any]]


class Layout(NamedTuple):
    """What one element of an array is: its name, its trailing axes, the order of its numbers.

    Numbers are real, and float32 or float64 is found out from all inputs, unless a type is given.
    """

    noun: str
    shape: tuple[int, ...]
    order: str = ""
    dtype: type[np.unsignedinteger[Any]] | None = None

    @property
    def nouns(self) -> str:
        """The name of many: `rotation matrices`."""
        *first, last = self.noun.split()
        return " ".join((*first, _IRREGULAR.get(last, f"{last}s")))


_IRREGULAR = {"matrix": "matrices", "pitch": "pitches"}
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

SCALAR = Layout("number", ())
VECTOR = Layout("vector", (3,), "(x, y, z)")
QUATERNION = Layout("quaternion", (4,), "(x, y, z, w)")
DUAL_QUATERNION = Layout("dual quaternion", (8,), "(real x, y, z, w, dual x, y, z, w)")
ROTATION_MATRIX = Layout("rotation matrix", (3, 3))
RIGID_MATRIX = Layout("rigid matrix", (4, 4))


def read(*inputs: tuple[ArrayLike, Layout]) -> list[Floats]:
    """Return the inputs as contiguous arrays of one float type that broadcast together.

    The type is float32 when every array is float32, else float64. Python numbers are weak, as
    in NumPy itself, so ``slerp(a, b, 0.5)`` keeps float32.

    Raises:
        RigError: an input is not numeric, has the wrong trailing axes, or its leading axes do
            not broadcast with the others'.
    """
    arrays = [_as_real_array(value, layout) for value, layout in inputs]
    strong = [
        array.dtype.newbyteorder("=")
        for array, (value, _) in zip(arrays, inputs, strict=True)
        if type(value) not in (int, float)
    ]
    single = bool(strong) and all(dtype == np.float32 for dtype in strong)
    dtype = np.float32 if single else np.float64
    try:
        np.broadcast_shapes(
            *(
                array.shape[: array.ndim - len(layout.shape)]
                for array, (_, layout) in zip(arrays, inputs, strict=True)
            )
        )
    except ValueError:
        shapes = ", ".join(
            f"{layout.noun} {array.shape}"
            for array, (_, layout) in zip(arrays, inputs, strict=True)
        )
        raise RigError(
            f"expected leading axes that broadcast together, found shapes {shapes}"
        ) from None
    return [
        np.require(array, layout.dtype or dtype, ("C", "A"))
        for array, (_, layout) in zip(arrays, inputs, strict=True)
    ]


def _as_real_array(value: ArrayLike, layout: Layout) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged nesting
        raise RigError(f"expected an array of {layout.nouns}: {error}") from error
    if layout.dtype is not None and array.dtype.newbyteorder("=") != layout.dtype:
        raise RigError(
            f"expected {layout.nouns} of type {layout.dtype.__name__}, found {array.dtype}"
        )
    if array.dtype.kind not in "fiu":
        raise RigError(f"expected an array of {layout.nouns}, found dtype {array.dtype}")
    axes = len(layout.shape)
    if array.ndim < axes or array.shape[array.ndim - axes :] != layout.shape:
        trailing = ", ".join(map(str, layout.shape))
        order = f" {layout.order}" if layout.order else ""
        raise RigError(
            f"expected {layout.nouns}{order} of shape (..., {trailing}), found {array.shape}"
        )
    if array.ndim - axes > 32:
        raise RigError(f"expected at most 32 leading axes, found {array.ndim - axes}")
    return array


def shape_of(value: ArrayLike) -> tuple[int, ...]:
    """The shape; of an array without the half microsecond that `numpy.shape` thinks about it."""
    try:
        return value.shape if isinstance(value, np.ndarray) else np.shape(value)
    except ValueError:  # ragged nesting, which `read` refuses in its own words
        return ()


def float_type(dtype: DTypeLike) -> np.dtype[np.floating[Any]]:
    """The dtype float32 or float64 by any of its names; RigError for any other."""
    if dtype is np.float64:
        return _DOUBLE
    with suppress(TypeError, ValueError):  # what is no dtype at all
        for kind in (_DOUBLE, _SINGLE):
            if np.dtype(dtype) == kind:
                return kind
    raise RigError(f"expected a dtype of float32 or float64, found {dtype!r}")


def identities(layout: Layout, shape: int | tuple[int, ...], dtype: DTypeLike) -> Floats:
    """Elements of a shape whose fourth number is 1 and the others 0.

    Raises:
        RigError: no shape, or a dtype other than float32 and float64.
    """
    kind = float_type(dtype)
    try:
        axes = shape if isinstance(shape, tuple) else np.atleast_1d(shape)
        result = np.zeros((*axes, *layout.shape), kind)
    except (TypeError, ValueError):
        raise RigError(f"expected a shape of whole numbers >= 0, found {shape!r}") from None
    result[..., 3] = 1
    return result


def require_finite(v: Floats, noun: str) -> None:
    """Raise a RigError naming the first number (...) that is infinite or NaN."""
    wrong = np.argwhere(~np.isfinite(v))
    if wrong.size:
        index = tuple(int(i) for i in wrong[0])
        raise RigError(f"{place(noun, index)}: expected a finite number, found {v[index]}")


def place(noun: str, index: tuple[int, ...]) -> str:
    """``quaternion [3, 7]``, or the noun alone where there is only one."""
    return f"{noun} {list(index)}" if index else noun


def listed(v: Floats) -> str:
    """The components of one element as ``(0.5, 0, 0, 1)``."""
    return "(" + ", ".join(f"{x:.6g}" for x in v.flat) + ")"
