"""Where two pieces of a model differ."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def differences(
    a: object, b: object, *, ignore: frozenset[str] = frozenset({"notes", "document"})
) -> list[str]:
    """List the places where two values of the model differ; empty when they are equal.

    Arrays are equal when dtype, shape and all numbers are (NaN equals NaN, and 0 equals −0).
    Fields named in `ignore` are passed over at any depth.

    >>> from bunraku.model import Skin
    >>> differences(Skin([0, 1]), Skin([0, 2]))
    ['.joints']
    """
    found: list[str] = []
    _compare(a, b, "", ignore, found)
    return found


def _compare(a: Any, b: Any, place: str, ignore: frozenset[str], found: list[str]) -> None:
    if a is b:
        return
    if type(a) is not type(b):
        found.append(place)
    elif isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape or not _same_numbers(a, b):
            found.append(place)
    elif is_dataclass(a):
        for field in fields(a):
            if field.name not in ignore:
                inner = f"{place}.{field.name}"
                _compare(getattr(a, field.name), getattr(b, field.name), inner, ignore, found)
    elif isinstance(a, tuple):
        if len(a) != len(b):
            found.append(place)
        else:
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                _compare(x, y, f"{place}[{i}]", ignore, found)
    elif a != b:
        found.append(place)


def _same_numbers(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
