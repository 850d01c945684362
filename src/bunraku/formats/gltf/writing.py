"""Documents back into files.

An unchanged document is written bit for bit; otherwise only the JSON is written anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from bunraku.errors import BunrakuError, FormatError, Note
from bunraku.formats.binary import Buffer, write_files
from bunraku.formats.gltf.container import (
    BIN_CHUNK,
    JSON_CHUNK,
    Chunk,
    dump_json,
    join_glb,
    pad,
    parse_json,
)
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.rules import MESHOPT, check_rules
from bunraku.formats.gltf.schema import check
from bunraku.formats.gltf.uri import encode_data_uri, is_data_uri, local_path, read_local

Tree = dict[str, Any]


def write_gltf(
    file: GltfFile, path: str | os.PathLike[str], *, embed: bool = False
) -> tuple[Note, ...]:
    """Write a document; returns what could not be carried over.

    Args:
        file: the document.
        path: `.gltf` writes JSON with buffers and images beside it; any other suffix (`.glb`,
            `.vrm`, `.vrma`) a single binary file.
        embed: put buffers and images of a `.gltf` into data URIs.

    Raises:
        FormatError: the document contradicts itself; nothing is written.
    """
    target = Path(path)
    check_rules(file.json, check(file.json, file.source))
    files: dict[Path, list[Buffer]] = {}
    notes: list[Note] = []
    tree = dict(file.json)
    if target.suffix.lower() != ".gltf":
        if file.chunks:
            _place_files(file, tree, target, files, notes)
            files[target] = join_glb(_repack(file, tree))
        else:
            files[target] = join_glb(_gather(file, tree, notes))
    else:
        for chunk in file.chunks[1:]:
            if chunk.kind != BIN_CHUNK:
                message = f"a .gltf has no room for the GLB chunk of type {chunk.kind:#010x}"
                notes.append(Note("chunk-dropped", message))
        if embed:
            _embed_files(file, tree, notes)
        else:
            _place_files(file, tree, target, files, notes)
        files[target] = [_text(file, tree)]
    write_files(files)
    return tuple(notes)


def _text(file: GltfFile, tree: Tree) -> bytes:
    """The JSON to write: as it was read if it still says the same."""
    if file.text and parse_json(file.text, file.source)[0] == tree:
        return file.text
    multiline = not file.text or b"\n" in file.text[:256]
    return dump_json(tree, indent=2 if multiline and not file.chunks else None)


def _repack(file: GltfFile, tree: Tree) -> tuple[Chunk, ...]:
    """Chunks of a document that was a GLB, in their order."""
    own = bool(file.buffers) and "uri" not in tree["buffers"][0]
    chunks = [Chunk(JSON_CHUNK, pad(_text(file, tree), b" "))]
    written = False
    for chunk in file.chunks[1:]:
        if chunk.kind == BIN_CHUNK and own:
            written = True
            if chunk.data[: len(file.buffers[0])] != file.buffers[0]:
                chunk = Chunk(BIN_CHUNK, pad(file.buffers[0], b"\0"))
        chunks.append(chunk)
    if own and not written and len(file.buffers[0]):
        chunks.insert(1, Chunk(BIN_CHUNK, pad(file.buffers[0], b"\0")))
    return tuple(chunks)


def _gather(file: GltfFile, tree: Tree, notes: list[Note]) -> tuple[Chunk, ...]:
    """Chunks of a GLB that holds all buffers, and the images beside the file, in one BIN."""
    pieces: list[Buffer] = []
    size = 0
    moved: dict[int, int] = {}
    kept: dict[int, int] = {}
    others: list[Tree] = []

    def append(data: Buffer) -> int:
        nonlocal size
        # eight: element sizes the source was aligned to stay aligned
        gap = -size % 8
        pieces.extend((b"\0" * gap, data))
        size += gap + len(data)
        return size - len(data)

    for i, (buffer, data) in enumerate(zip(tree.get("buffers", []), file.buffers, strict=True)):
        if len(data):
            moved[i] = append(data)
        else:
            kept[i] = 1 + len(others)
            others.append(buffer)

    def rebased(part: Tree) -> Tree:
        old = part["buffer"]
        if old in kept:
            return {**part, "buffer": kept[old]}
        return {**part, "buffer": 0, "byteOffset": part.get("byteOffset", 0) + moved[old]}

    views = []
    for view in tree.get("bufferViews", []):
        view = rebased(view)
        for name in MESHOPT:
            if name in view.get("extensions", {}):
                inner = {**view["extensions"], name: rebased(view["extensions"][name])}
                view = {**view, "extensions": inner}
        views.append(view)
    images = []
    for i, image in enumerate(tree.get("images", [])):
        picture = _image_file(file, image, i, notes)
        if picture is not None:
            image = {key: value for key, value in image.items() if key != "uri"}
            image["bufferView"] = len(views)
            image.setdefault("mimeType", _image_type(picture))
            views.append({"buffer": 0, "byteOffset": append(picture), "byteLength": len(picture)})
        images.append(image)
    if views:
        tree["bufferViews"] = views
    if images:
        tree["images"] = images
    first: list[Tree] = [{"byteLength": size}] if size else []
    if kept and not size:  # nothing but missing buffers: they keep their places
        return (Chunk(JSON_CHUNK, pad(dump_json(file.json), b" ")),)
    if size:
        old_first = tree.get("buffers", [{}])[0]
        extra = {k: v for k, v in old_first.items() if k not in ("uri", "byteLength")}
        first = [{**extra, "byteLength": size}] if 0 in moved else first
        tree["buffers"] = first + others
    chunks = [Chunk(JSON_CHUNK, pad(dump_json(tree), b" "))]
    if size:
        chunks.append(Chunk(BIN_CHUNK, pad(b"".join(pieces), b"\0")))
    return tuple(chunks)


def _image_file(file: GltfFile, image: Tree, index: int, notes: list[Note]) -> bytes | None:
    """Content of an image that lies beside the file; None for others and missing ones."""
    uri = image.get("uri")
    if uri is None or is_data_uri(uri):
        return None
    try:
        return read_local(uri, file.folder, f"{file.source}: images[{index}].uri")
    except BunrakuError as error:
        notes.append(Note("image-missing", str(error), f"images[{index}]"))
        return None


def _image_type(data: bytes) -> str:
    """Media type by magic number; PNG and JPEG are the two glTF knows."""
    return "image/jpeg" if data[:3] == b"\xff\xd8\xff" else "image/png"


def _embed_files(file: GltfFile, tree: Tree, notes: list[Note]) -> None:
    if "buffers" in tree:
        tree["buffers"] = [
            {**buffer, "uri": encode_data_uri("application/octet-stream", data)}
            if len(data) and not is_data_uri(buffer.get("uri", ""))
            else buffer
            for buffer, data in zip(tree["buffers"], file.buffers, strict=True)
        ]
    images = []
    for i, image in enumerate(tree.get("images", [])):
        data = _image_file(file, image, i, notes)
        if data is not None:
            image = {
                **image,
                "uri": encode_data_uri(image.get("mimeType") or _image_type(data), data),
            }
        images.append(image)
    if images:
        tree["images"] = images


def _place_files(
    file: GltfFile, tree: Tree, target: Path, files: dict[Path, list[Buffer]], notes: list[Note]
) -> None:
    """Decide where buffers and images beside the target go; their URIs follow."""
    binary = target.suffix.lower() != ".gltf"
    buffers = []
    for i, (buffer, data) in enumerate(zip(tree.get("buffers", []), file.buffers, strict=True)):
        if len(data) and "uri" not in buffer and not binary:
            number = f"-{i}" if i else ""
            buffer = {**buffer, "uri": quote(f"{target.stem}{number}.bin")}
        if len(data) and not is_data_uri(buffer.get("uri", "data:")):
            buffer = {**buffer, "uri": _place(buffer["uri"], data, target, files)}
        buffers.append(buffer)
    same_folder = file.folder is not None and file.folder.resolve() == target.parent.resolve()
    images = []
    for i, image in enumerate(tree.get("images", [])):
        picture = None if same_folder else _image_file(file, image, i, notes)
        if picture is not None:
            image = {**image, "uri": _place(image["uri"], picture, target, files)}
        images.append(image)
    if buffers:
        tree["buffers"] = buffers
    if images:
        tree["images"] = images


def _place(uri: str, data: Buffer, target: Path, files: dict[Path, list[Buffer]]) -> str:
    """Stage a file beside the target unless it is there already; returns its URI.

    A different file of that name that does not belong to the target is left alone.
    """
    path = local_path(uri, target.parent, f"{target.name}: uri")

    def taken() -> bool:
        if path in files:
            return b"".join(files[path]) != data
        return path.exists() and path.read_bytes() != data

    if taken() and not re.fullmatch(re.escape(target.stem) + r"([-_].*)?\..*", path.name):
        uri = quote(f"{target.stem}_{Path(unquote(uri)).name}")
        path = local_path(uri, target.parent, f"{target.name}: uri")
    if path in files and taken():
        raise FormatError(f"{target.name}: two files are called {path.name!r}")
    if path not in files and (not path.exists() or path.read_bytes() != data):
        path.parent.mkdir(parents=True, exist_ok=True)
        files[path] = [data]
    return uri
