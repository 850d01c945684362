"""Typed access to the JSON objects of an extension.

A value of the wrong type leaves the content in doubt and is a `FormatError`; a reference to
something that is not there is left out with a `Note`. Unity writes null or −1 for "none".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bunraku.formats.gltf.checks import is_finite_number
from bunraku.formats.gltf.context import Context, Place

Tree = dict[str, Any]


@dataclass(frozen=True)
class Fields:
    """One JSON object and where it stands; a property that is null counts as absent.

    >>> Fields({"weight": 50}, ("bind",), Context("x.vrm", {})).number("weight", 100)
    50.0
    """

    tree: Tree
    place: Place
    context: Context

    @classmethod
    def of(cls, value: Any, place: Place, context: Context) -> Fields:
        if not isinstance(value, dict):
            raise context.fail(place, "an object", value)
        return cls(value, place, context)

    def at(self, key: str) -> Place:
        return (*self.place, key)

    def note(self, code: str, message: str, key: str | None = None) -> None:
        self.context.note(code, self.place if key is None else self.at(key), message)

    def fields(self, key: str) -> Fields | None:
        """The object under `key`, or None."""
        value = self.tree.get(key)
        return None if value is None else Fields.of(value, self.at(key), self.context)

    def members(self) -> Iterator[tuple[str, Fields]]:
        """All properties, each of which must be an object."""
        for key, value in self.tree.items():
            if value is not None and key not in ("extensions", "extras"):
                yield key, Fields.of(value, self.at(key), self.context)

    def objects(self, key: str) -> list[Fields]:
        """The array of objects under `key`, empty if absent."""
        place = self.at(key)
        return [
            Fields.of(value, (*place, i), self.context) for i, value in enumerate(self._array(key))
        ]

    def number(self, key: str, default: float) -> float:
        value = self.tree.get(key)
        if value is None:
            return float(default)
        if not is_finite_number(value):
            raise self.context.fail(self.at(key), "a finite number", value)
        return float(value)

    def text(self, key: str, default: str = "") -> str:
        value = self.tree.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.context.fail(self.at(key), "a string", value)
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.tree.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.context.fail(self.at(key), "true or false", value)
        return value

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        """A string of a few known ones; another one is noted and read as the default."""
        value = self.text(key, default)
        if value in known:
            return value
        message = f"expected one of {', '.join(known)}, found {value[:40]!r}; read as {default!r}"
        self.note("unknown-value", message, key)
        return default

    def vector(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Numbers as an array (1.0) or as {x, y, z} (0.x), as many as the default has."""
        value = self.tree.get(key)
        if value is None:
            return default
        if isinstance(value, dict):
            parts = Fields(value, self.at(key), self.context)
            return tuple(parts.number(k, d) for k, d in zip("xyzw", default, strict=False))
        if not isinstance(value, list) or len(value) != len(default):
            raise self.context.fail(self.at(key), f"an array of {len(default)} numbers", value)
        for i, number in enumerate(value):
            if not is_finite_number(number):
                raise self.context.fail((*self.at(key), i), "a finite number", number)
        return tuple(map(float, value))

    def index(self, key: str, kind: str, count: int | None = None) -> int | None:
        """An index into `kind`; None where there is none, or (noted) none such."""
        value = self.tree.get(key)
        return None if value is None else self._index(value, self.at(key), kind, count)

    def indices(self, key: str, kind: str, count: int | None = None) -> list[int]:
        """An array of indices into `kind`, without those that lead nowhere (noted)."""
        place = self.at(key)
        found = [
            self._index(value, (*place, i), kind, count) for i, value in enumerate(self._array(key))
        ]
        return [index for index in found if index is not None]

    def _array(self, key: str) -> list[Any]:
        value = self.tree.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.context.fail(self.at(key), "an array", value)
        return value

    def _index(self, value: Any, place: Place, kind: str, count: int | None) -> int | None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.context.fail(place, f"an index into {kind}", value)
        if value == -1:
            return None
        if count is None:
            count = self.context.counts[kind]
        if not 0 <= value < count:
            shown = value if abs(value) < 10**20 else "a huge number"
            message = f"refers to {kind} {shown}, but there are {count}; left out"
            self.context.note("dangling-reference", place, message)
            return None
        return value
