"""How a function of this room reaches its kernel in the core.

The core reads contiguous float32 and float64 arrays itself, broadcast or not, and answers with
None for anything else. Only then is the input converted here, or refused with a message. A kernel
that finds an element it has no answer for names it; what is wrong with it is found out here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bunraku import _core
from bunraku.errors import RigError
from bunraku.rotation import _arrays
from bunraku.rotation._arrays import QUATERNION, Floats, Layout, read

One: TypeAlias = Callable[..., Floats]
Two: TypeAlias = Callable[..., tuple[Floats, Floats]]

# What is wrong with the element at an index, given its part of every input; None if nothing is.
Fault: TypeAlias = Callable[[tuple[int, ...], list[Floats]], str | None]


def elementwise(
    name: str, *layouts: Layout, faults: tuple[Fault, ...] = (), option: int = 0
) -> Callable[..., Any]:
    """Return a function of as many arrays as there are layouts: float32 in, float32 out.

    It raises RigError for input of the wrong shape or type, and, in the words of the first fault
    that it has, for the first element without an answer.
    """
    kernel: Callable[..., Any] = getattr(_core.rotation, name)

    def run(*inputs: ArrayLike, option: int = option) -> Any:
        try:
            result = kernel(*inputs, option)
            if result is None:
                result = kernel(*read(*zip(inputs, layouts, strict=True)), option)
        except _core.rotation.NoAnswerError as refused:
            index, elements = element(refused.args[0], inputs, layouts)
            found = (fault(index, elements) for fault in faults)
            raise RigError(next(filter(None, found))) from None
        return result

    return run


def element(
    position: int, inputs: tuple[ArrayLike, ...], layouts: tuple[Layout, ...], trailing: int = 0
) -> tuple[tuple[int, ...], list[Floats]]:
    """Index and parts of the element at a position in C order of the broadcast inputs.

    The last `trailing` of the leading axes are parts of the element.
    """
    arrays = read(*zip(inputs, layouts, strict=True))
    leading = [a.shape[: a.ndim - len(b.shape)] for a, b in zip(arrays, layouts, strict=True)]
    shape = np.broadcast_shapes(*leading)
    outer = shape[: len(shape) - trailing]
    index = tuple(int(i) for i in np.unravel_index(position, outer)) if outer else ()
    wide = (np.broadcast_to(a, shape + b.shape) for a, b in zip(arrays, layouts, strict=True))
    return index, [array[index] for array in wide]


def no_direction(of: int, layout: Layout = QUATERNION, part: slice = slice(None)) -> Fault:
    """The fault that input `of` is zero, subnormal, infinite or NaN where it needs a direction."""

    def fault(index: tuple[int, ...], elements: list[Floats]) -> str | None:
        v = elements[of][..., part]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            size = float(np.linalg.norm(v.astype(np.longdouble).ravel()))
        if np.all(np.isfinite(v)) and size >= np.finfo(v.dtype).tiny:
            return None
        return (
            f"{_arrays.place(layout.noun, index)}: expected a finite, non-zero length, "
            f"found {layout.order} = {_arrays.listed(v)}"
        )

    return fault


def not_finite(of: int, noun: str) -> Fault:
    """The fault that a number of input `of` is infinite or NaN."""

    def fault(index: tuple[int, ...], elements: list[Floats]) -> str | None:
        bad = elements[of][~np.isfinite(elements[of])]
        if not bad.size:
            return None
        return f"{_arrays.place(noun, index)}: expected finite numbers, found {bad.flat[0]}"

    return fault
