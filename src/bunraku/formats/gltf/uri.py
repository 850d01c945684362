"""Where a glTF's buffers and images are: data URIs, and files beside it, never elsewhere.

Specification: glTF 2.0, section 2.8 (URIs); RFC 2397 (data), RFC 3986 (percent-encoding).
"""

from __future__ import annotations

import binascii
import re
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.binary import Buffer

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_data_uri(uri: str) -> bool:
    return uri[:5].lower() == "data:"


def decode_data_uri(uri: str, where: str) -> tuple[str, bytes]:
    """Media type and content of a data URI.

    Args:
        uri: the whole URI.
        where: file and place, for the error.

    >>> decode_data_uri("data:application/octet-stream;base64,AAEC", "x.gltf: buffers[0].uri")
    ('application/octet-stream', b'\\x00\\x01\\x02')
    """
    header, comma, payload = uri[5:].partition(",")
    if not comma:
        raise FormatError(f"{where}: a data URI needs a comma, found {uri[:40]!r}")
    media, *parameters = header.split(";")
    if "base64" not in (parameter.strip().lower() for parameter in parameters):
        return media, unquote_to_bytes(payload)
    text = unquote(payload) if "%" in payload else payload
    try:
        return media, binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{where}: malformed base64: {error}") from None


def encode_data_uri(media: str, data: Buffer) -> str:
    """The data URI that holds `data`.

    >>> encode_data_uri("application/octet-stream", b"\\x00\\x01\\x02")
    'data:application/octet-stream;base64,AAEC'
    """
    return f"data:{media};base64," + binascii.b2a_base64(data, newline=False).decode("ascii")


def local_path(uri: str, folder: Path | None, where: str) -> Path:
    """The file a relative URI names; it must lie in `folder`, also after following links.

    Raises `UnsupportedError` for URIs that are not files here, `FormatError` for ones that leave.
    """
    shown = repr(uri if len(uri) <= 120 else uri[:120] + "…")
    if folder is None:
        raise UnsupportedError(f"{where}: {shown} is a file, but the glTF was read from bytes")
    if _SCHEME.match(uri):
        raise UnsupportedError(f"{where}: {shown} is not a file beside the glTF")
    relative = unquote(uri).replace("\\", "/")
    if not relative or "\0" in relative or relative.startswith("/") or _SCHEME.match(relative):
        raise FormatError(f"{where}: {shown} is not a relative path")
    try:
        root = folder.resolve()
        target = (root / relative).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise FormatError(f"{where}: {shown} cannot be resolved: {error}") from None
    if not target.is_relative_to(root):
        raise FormatError(f"{where}: {shown} leaves the folder of the glTF")
    return target


def read_local(uri: str, folder: Path | None, where: str, size: int | None = None) -> bytes:
    """Content (at most `size` bytes) of the file a relative URI names."""
    path = local_path(uri, folder, where)
    try:
        if not path.is_file():
            raise FormatError(f"{where}: file {path.name[:120]!r} does not exist")
        with open(path, "rb") as handle:
            if size is None:
                return handle.read()
            # read(size) would allocate a declared size before looking at the file
            return handle.read(min(size, path.stat().st_size))
    except OSError as error:
        raise FormatError(f"{where}: cannot read {path.name[:120]!r}: {error.strerror}") from None
