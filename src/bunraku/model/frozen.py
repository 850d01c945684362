"""What all data of a model has in common: it is shown on one line, and stays as it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np


class Plain:
    """Base of data classes whose single numbers are Python's, which every format can write.

    >>> from bunraku.model import MorphBind
    >>> MorphBind(np.int64(0), np.uint8(3), np.float32(0.5))
    MorphBind(attachment=0, target=3, weight=0.5)
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            self.__dict__[name] = plain(value)


class Shown(Plain):
    """Base of data classes of which `repr` says how much there is, not what.

    Arrays appear with their shape, tuples with their length, and what was left out not at all.

    >>> from bunraku.model import Geometry
    >>> Geometry([[0, 0, 0], [1, 0, 0], [0, 1, 0]], uvs=[[[0, 0], [1, 0], [0, 1]]])
    Geometry(positions (3, 3), 1 uvs)
    """

    def __repr__(self) -> str:
        said = [
            _said(field.name, value)
            for field in sorted(fields(self), key=lambda field: field.name != "name")  # type: ignore[arg-type]
            if field.repr and not _same(value := getattr(self, field.name), field.default)
        ]
        return f"{type(self).__name__}({', '.join(said)})"


class Frozen(Shown):
    """Base of the model's data classes: arrays are read-only in copies too.

    Also in those that come out of a pickle, or from another process.

    >>> from copy import deepcopy
    >>> from bunraku.model import Skin
    >>> deepcopy(Skin([0, 1])).joints.flags.writeable
    False
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _freeze(tuple(state.values()))


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python, also in a tuple; all else as it is."""
    if isinstance(value, tuple) and any(isinstance(each, np.generic) for each in value):
        return tuple(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _said(name: str, value: object) -> str:
    if name == "name":
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"{name} {value.shape}"
    if isinstance(value, tuple | Mapping | bytes) and not _numbers(value):
        return f"{len(value)} {'bytes' if isinstance(value, bytes) else name}"
    return f"{name}={value!r}"


def _numbers(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], float)


def _same(value: object, default: object) -> bool:
    return value is default or (not isinstance(value, np.ndarray) and value == default)


def _freeze(value: object) -> None:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for each in value:
            _freeze(each)
