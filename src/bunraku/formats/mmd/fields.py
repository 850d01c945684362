"""Plain fields of a record, described once for reading and for writing."""

from __future__ import annotations

import struct
from typing import Any

from bunraku.errors import FormatError
from bunraku.formats.binary import ByteReader


class Fields:
    """Consecutive little-endian fields without padding.

    Args:
        layout: `name:code` of each field; a code is that of `struct`, with a count for tuples.

    >>> fields = Fields("group:B size:3f")
    >>> fields.read(ByteReader(b"\\x05" + bytes(12), "x.pmx"), "body 0")
    {'group': 5, 'size': (0.0, 0.0, 0.0)}
    """

    __slots__ = ("_spans", "_struct")

    def __init__(self, layout: str) -> None:
        self._spans: list[tuple[str, int, int | None]] = []
        codes, at = [], 0
        for item in layout.split():
            name, code = item.split(":")
            count = int(code[:-1]) if len(code) > 1 else None
            self._spans.append((name, at, count and at + count))
            codes.append(code)
            at += count or 1
        self._struct = struct.Struct("<" + "".join(codes))

    @property
    def size(self) -> int:
        """Bytes of the fields together."""
        return self._struct.size

    def read(self, reader: ByteReader, what: str) -> dict[str, Any]:
        """Values by field name, tuples where the layout has a count."""
        values = self._struct.unpack(reader.take(self._struct.size, what))
        return {
            name: values[start] if end is None else values[start:end]
            for name, start, end in self._spans
        }

    def write(self, record: object, what: str) -> bytes:
        """Bytes of the attributes of `record` that the layout names."""
        values: list[Any] = []
        for name, _, end in self._spans:
            value = getattr(record, name)
            if end is None:
                values.append(value)
            else:
                values.extend(value)
        try:
            return self._struct.pack(*values)
        except (struct.error, OverflowError) as error:
            names = ", ".join(name for name, _, _ in self._spans)
            raise FormatError(f"{what}: cannot be written ({names}): {error}") from None
