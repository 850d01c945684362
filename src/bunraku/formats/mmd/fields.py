"""Plain fields of a record, described once for reading and for writing."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError

Array = npt.NDArray[Any]


class Fields:
    """Consecutive little-endian fields without padding.

    Args:
        layout: `name:code` of each field; a code is that of `struct`, with a count for tuples.

    >>> fields = Fields("group:B size:3f")
    >>> fields.columns(b"..\\x05" + bytes(12), np.array([2]))
    [[5], [(0.0, 0.0, 0.0)]]
    """

    __slots__ = ("_dtype", "_spans", "_struct")

    def __init__(self, layout: str) -> None:
        self._spans: list[tuple[str, bool]] = []
        codes, types = [], []
        for item in layout.split():
            name, code = item.split(":")
            self._spans.append((name, len(code) > 1))
            codes.append(code)
            types.append((name, "<" + code[-1], *([(int(code[:-1]),)] if len(code) > 1 else [])))
        self._struct = struct.Struct("<" + "".join(codes))
        self._dtype = np.dtype(types)

    @property
    def size(self) -> int:
        """Bytes of the fields together."""
        return self._struct.size

    def columns(self, data: npt.ArrayLike | bytes, starts: Array) -> list[list[Any]]:
        """Values of each field, tuples where the layout has a count.

        Args:
            starts: (N,) where the fields of each record are in the bytes, all inside of them.
        """
        taken = gather(data, starts, self._dtype)
        return [
            list(map(tuple, taken[name].tolist())) if several else taken[name].tolist()
            for name, several in self._spans
        ]

    def write(self, record: object, what: str) -> bytes:
        """Bytes of the attributes of `record` that the layout names."""
        values: list[Any] = []
        for name, several in self._spans:
            value = getattr(record, name)
            if several:
                values.extend(value)
            else:
                values.append(value)
        try:
            return self._struct.pack(*values)
        except (struct.error, OverflowError) as error:
            names = ", ".join(name for name, _ in self._spans)
            raise FormatError(f"{what}: cannot be written ({names}): {error}") from None


def gather(data: Any, starts: Array, record: np.dtype[Any]) -> Array:
    """(N,) records that start at any bytes of `data`, copied.

    >>> gather(bytes([7, 0, 1, 2]), np.array([1, 2]), np.dtype("<u2")).tolist()
    [256, 513]
    """
    if not len(starts):
        return np.empty(0, record)
    # every byte could be the start of a record
    anywhere = np.ndarray(
        len(data) - record.itemsize + 1, f"V{record.itemsize}", data, strides=(1,)
    )
    return anywhere[starts].view(record)
