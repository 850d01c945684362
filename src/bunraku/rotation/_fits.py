"""How a function of rows of slots reaches its kernel in the core, as `_elementwise` does.

The last leading axis of the broadcast inputs, (..., N), is that of the slots; the kernel gives one
result for each row of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku import _core
from bunraku.errors import RigError
from bunraku.rotation import _arrays
from bunraku.rotation._arrays import SCALAR, Floats, Layout, read
from bunraku.rotation._elementwise import Fault, element

WEIGHT = SCALAR._replace(noun="weight")


def fit(name: str, *layouts: Layout, faults: tuple[Fault, ...]) -> Callable[..., Any]:
    """Return a function of rows of as many arrays as there are layouts, the last the weights.

    It raises RigError where there are no slots, and, in the words of the first fault that it has,
    for the first row without an answer. A fault gets all of a row: elements (N, ...).
    """
    kernel: Callable[..., Any] = getattr(_core.rotation, name)

    def run(*inputs: ArrayLike) -> Any:
        try:
            result = kernel(*inputs)
            if result is None:
                result = kernel(*_read(inputs, layouts))
        except _core.rotation.NoAnswerError as refused:
            index, elements = element(refused.args[0], inputs, layouts, trailing=1)
            raise RigError(next(filter(None, (f(index, elements) for f in faults)))) from None
        return result

    return run


def _read(inputs: tuple[ArrayLike, ...], layouts: tuple[Layout, ...]) -> list[Floats]:
    arrays = read(*zip(inputs, layouts, strict=True))
    pairs = list(zip(arrays, layouts, strict=True))[:-1]
    if any(a.ndim == len(b.shape) or not a.shape[-len(b.shape) - 1] for a, b in pairs):
        numbers = ", ".join(map(str, layouts[0].shape))
        found = " and ".join(str(array.shape) for array in arrays)
        raise RigError(
            f"expected {layouts[0].nouns} (..., N, {numbers}) with N >= 1, found {found}"
        )
    return arrays


def negative_weight(index: tuple[int, ...], elements: list[Floats]) -> str | None:
    """The fault that a weight is negative, infinite or NaN."""
    return _first(elements[-1], elements[-1] >= 0, index, "expected finite weights >= 0")


def no_weight(index: tuple[int, ...], elements: list[Floats]) -> str | None:
    """The fault that a weight is infinite or NaN."""
    return _first(elements[-1], np.isfinite(elements[-1]), index, "expected finite weights")


def _first(weights: Floats, fine: Any, index: tuple[int, ...], expected: str) -> str | None:
    wrong = np.flatnonzero(~(fine & np.isfinite(weights)))
    if not wrong.size:
        return None
    slot = int(wrong[0])
    return f"{_arrays.place('weight', (*index, slot))}: {expected}, found {weights[slot]}"


def no_sum(noun: str) -> Fault:
    """The fault that what the slots add up to is zero or not finite."""

    def fault(index: tuple[int, ...], elements: list[Floats]) -> str:
        *values, weights = elements
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            sizes = [np.abs(v).sum(axis=-1, dtype=np.longdouble) for v in values]
            total = (np.prod(sizes, axis=0) * weights).sum()
        return (
            f"{_arrays.place(noun, index)}: expected a finite, non-zero length, "
            f"found components that add up to {float(total):.6g}"
        )

    return fault
