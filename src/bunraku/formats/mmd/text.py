"""Names and comments: UTF-16 or UTF-8 in PMX, fixed cp932 fields in the older formats.

Nothing guarantees that such bytes are valid, or that what follows a terminating NUL is empty.
A text that its own letters would not bring back carries its bytes along (`Text`). Motions
find their bones and morphs by the *bytes* of a name, cut to the width of the field and
possibly through the middle of a letter (`model.names.name_key`).
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from typing import Any

import numpy.typing as npt

from bunraku.errors import FormatError, Note
from bunraku.model.names import CP932

Array = npt.NDArray[Any]


class Text(str):
    """A text and the bytes it was read from, which encoding it would not give.

    >>> name = decode_text(b"\\xffA", "utf-8")
    >>> name, name.raw
    ('\\ufffdA', b'\\xffA')
    """

    __slots__ = ("raw",)
    raw: bytes

    def __new__(cls, text: str, raw: bytes) -> Text:
        self = super().__new__(cls, text)
        self.raw = raw
        return self

    def __getnewargs__(self) -> tuple[str, bytes]:  # type: ignore[override]
        return str(self), self.raw


def decode_text(raw: bytes, encoding: str) -> str:
    """Letters of `raw`; a `Text` where they do not determine the bytes."""
    if not raw:
        return ""
    try:
        if encoding == "utf-16-le":  # by its name, half of the time goes into finding the codec
            return codecs.utf_16_le_decode(raw, "strict", True)[0]
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return Text(raw.decode(encoding, "replace"), raw)
    # cp932 has several codes for some letters; the Unicode encodings have one
    return Text(text, raw) if encoding == CP932 and text.encode(encoding) != raw else text


def encode_text(text: str, encoding: str, place: str) -> bytes:
    """Bytes of `text`: those it was read from, as long as they still say the same."""
    if isinstance(text, Text) and text.raw.decode(encoding, "replace") == text:
        return text.raw
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        letter = text[error.start : error.start + 1]
        raise FormatError(f"{place}: {letter!r} cannot be written as {encoding}") from None


def decode_field(raw: bytes) -> str:
    """Letters of a NUL-terminated cp932 field; a `Text` where junk or odd codes are in it.

    >>> decode_field(b"miku\\0\\xfd\\xfd").raw
    b'miku\\x00\\xfd\\xfd'
    """
    text = decode_text(raw.partition(b"\0")[0], CP932)
    if isinstance(text, Text) or text.encode(CP932).ljust(len(raw), b"\0") != raw:
        return Text(text, raw)
    return text


def encode_field(text: str, size: int, place: str) -> bytes:
    """A field of `size` bytes, NUL-padded; a longer text is cut by bytes, as MMD does."""
    if isinstance(text, Text) and len(text.raw) == size and decode_field(text.raw) == text:
        return text.raw
    plain = str(text) if isinstance(text, Text) else text
    return encode_text(plain, CP932, place)[:size].ljust(size, b"\0")


def name_keys(fields: Array) -> list[bytes]:
    """Keys of fixed-width names (an array of dtype S): everything from the first NUL on is junk.

    >>> import numpy as np
    >>> name_keys(np.array([b"a\\0\\xfd", b"ab\\xfd"]))
    [b'a', b'ab\\xfd']
    """
    return [raw.partition(b"\0")[0] for raw in fields.tolist()]


def note_undecoded(texts: Mapping[str, Iterable[str]], encoding: str) -> list[Note]:
    """A note on texts whose bytes are not all letters, if there are such, counted by kind.

    >>> [str(note) for note in note_undecoded({"bones": [decode_text(b"\\x8d", "utf-8")]}, "utf-8")]
    ["1 bones have names that are no utf-8, as '�'; their bytes are kept [names-undecoded]"]
    """
    broken = {
        kind: [text for text in found if isinstance(text, Text) and "\ufffd" in text]
        for kind, found in texts.items()
    }
    counts = ", ".join(f"{len(found)} {kind}" for kind, found in broken.items() if found)
    if not counts:
        return []
    first = next(text for found in broken.values() for text in found)
    message = f"{counts} have names that are no {encoding}, as {str(first)[:60]!r}"
    return [Note("names-undecoded", f"{message}; their bytes are kept")]
