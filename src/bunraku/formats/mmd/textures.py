"""The pictures of a model: files in its own folder, whatever their names' case, never elsewhere."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from bunraku.errors import Note
from bunraku.model import Image

_ABSOLUTE = re.compile(r"[A-Za-z]:|[\\/]")
_SAFE = re.compile(r"(?![\\/])[^\0:*?\"<>|]+\.\w{2,4}")
LISTED = 20  # notes of one kind
_MEDIA = {
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".tga": "image/x-tga",
    ".dds": "image/vnd-ms.dds",
    ".webp": "image/webp",
}


def read_images(
    paths: tuple[str, ...], folder: Path | None, notes: list[Note]
) -> tuple[Image, ...]:
    """One image for each path, in their order; one that cannot be had is empty, and noted.

    A path may have `\\` or `/`, and letters of another case than the file's: models are made
    where that makes no difference. Absolute paths and those that lead out of the folder are
    refused.
    """
    cache = _Folder(folder)
    images: dict[str, Image] = {}  # a path that is listed twice is one picture
    missing = 0
    for i, path in enumerate(paths):
        if path in images:
            continue
        try:
            data = cache.read(path)
        except _MissingError as reason:
            data, missing = b"", missing + 1
            if missing <= LISTED:
                notes.append(Note("image-missing", f"{_shown(path)} {reason}", f"textures[{i}]"))
        images[path] = Image(data, media_type(data, path), path)
    if missing > LISTED:
        notes.append(Note("image-missing", f"{missing - LISTED} more textures are not there"))
    return tuple(images[path] for path in paths)


def media_type(data: bytes, path: str) -> str:
    """Media type by first bytes, else by suffix; "" if unknown.

    MMD's sphere maps (.sph, .spa) are BMP files, or PNG and JPEG under another name.

    >>> media_type(b"BM6", "eye.sph"), media_type(b"\\0\\0\\2", "hair.TGA")
    ('image/bmp', 'image/x-tga')
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"BM"):
        return "image/bmp"
    if data.startswith(b"DDS "):
        return "image/vnd-ms.dds"
    return _MEDIA.get(Path(path.replace("\\", "/")).suffix.lower(), "") if data else ""


def has_alpha(image: Image) -> bool:
    """Whether a picture says of each texel how solid it is, told from its header alone.

    >>> has_alpha(Image(b"BM", "image/bmp"))
    False
    """
    data, media = image.data, image.mime_type
    if media == "image/png":
        return data[25:26] in (b"\x04", b"\x06") or b"tRNS" in data[:1024]
    if media == "image/x-tga":
        return data[16:17] == b"\x20"
    return media in ("image/vnd-ms.dds", "image/gif", "image/webp")


def texture_paths(images: tuple[Image, ...], folder: str) -> tuple[str, ...]:
    """A path for each image: its name where that is one, else one in `folder`, none twice.

    >>> texture_paths((Image(b"", "image/png", "tex/a.png"), Image(b"", "image/png", "b")), "t")
    ('tex/a.png', 't/1_b.png')
    """
    suffixes = {media: suffix for suffix, media in _MEDIA.items()}
    paths = []
    for i, image in enumerate(images):
        name = image.name
        if _SAFE.fullmatch(name) is None or ".." in name:
            stem = re.sub(r"[^\w-]+", "_", Path(name.replace("\\", "/")).stem)[:40]
            suffix = suffixes.get(image.mime_type, ".png")
            name = f"{folder}/{i}_{stem}{suffix}" if stem else f"{folder}/{i}{suffix}"
        paths.append(name)
    return tuple(paths)


def picture_files(
    pictures: dict[str, bytes], target: Path, own: str
) -> tuple[dict[Path, list[bytes]], tuple[Note, ...]]:
    """Which files to write beside a model for its pictures, and notes on those left alone.

    A picture that is there already is not written again. A different file of that name is
    replaced only in the model's own folder of textures.

    Args:
        pictures: content by path in the model.
        target: the model's path.
        own: name of that folder.
    """
    root = Path(os.path.realpath(target)).parent
    cache = _Folder(root)
    files: dict[Path, list[bytes]] = {}
    notes: list[Note] = []
    for path, data in pictures.items():
        plain = path.replace("\\", "/")
        try:
            there = cache.read(path)
        except _MissingError:
            there = None
        place = Path(os.path.normpath(root / plain))
        inside = place.is_relative_to(root) and _ABSOLUTE.match(path) is None
        if there == data:
            continue
        if not inside or (there is not None and not plain.startswith(f"{own}/")):
            reason = "leads out of the folder" if not inside else "is another file there"
            notes.append(Note("texture-not-written", f"{_shown(path)} {reason}"))
            continue
        files[place] = [data]
    return files, tuple(notes)


class _MissingError(Exception):
    """Why there is no picture."""


class _Folder:
    """Files below a folder, each directory listed and each file read once."""

    def __init__(self, root: Path | None) -> None:
        self.root = None if root is None else root.resolve()
        self.listings: dict[Path, dict[str, list[str]]] = {}
        self.contents: dict[Path, bytes] = {}

    def read(self, path: str) -> bytes:
        if self.root is None:
            raise _MissingError("cannot be looked up: the model was read from bytes")
        if _ABSOLUTE.match(path):
            raise _MissingError("is an absolute path, and not looked up")
        try:
            found = self._find(path, self.root)
            if found not in self.contents:
                self.contents[found] = found.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "is no path"
            raise _MissingError(f"cannot be read: {reason}") from None
        return self.contents[found]

    def _find(self, path: str, root: Path) -> Path:
        place = root
        for part in path.replace("\\", "/").split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                place = place.parent
            else:
                names = self._listing(place).get(_folded(part), [])
                if not names:
                    raise _MissingError("does not exist")
                place = (place / (part if part in names else names[0])).resolve()
            if not place.is_relative_to(root):
                raise _MissingError("leads out of the folder of the model")
        if not place.is_file():
            raise _MissingError("is no file")
        return place

    def _listing(self, folder: Path) -> dict[str, list[str]]:
        if folder not in self.listings:
            found: dict[str, list[str]] = {}
            for name in sorted(os.listdir(folder)):
                found.setdefault(_folded(name), []).append(name)
            self.listings[folder] = found
        return self.listings[folder]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _shown(path: str) -> str:
    return repr(path if len(path) <= 120 else path[:120] + "…")
