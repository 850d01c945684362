"""What the accessors of a document hold, whatever their numbers."""

from __future__ import annotations

from typing import Any

from bunraku.formats.gltf import GltfFile


def contents(file: Any) -> dict[str, tuple[Any, ...]]:
    """By place of the reference: accessor and bytes, without indices and offsets."""
    assert isinstance(file, GltfFile)
    return {place: content(file, index) for place, index in references(file.json).items()}


def content(file: GltfFile, index: int) -> tuple[Any, ...]:
    accessor = dict(file.json["accessors"][index])
    sparse = accessor.pop("sparse", {})
    inner = [accessor, sparse.get("indices", {}), sparse.get("values", {})]
    views = [held(file, part.get("bufferView")) for part in inner]
    accessor.pop("bufferView", None)
    return (accessor, sparse.get("count"), *views)


def held(file: GltfFile, index: int | None) -> tuple[Any, ...] | None:
    """Bytes of a bufferView, the compressed ones too, and what else it says."""
    if index is None:
        return None
    view = dict(file.json["bufferViews"][index])
    packed = view.pop("extensions", {}).get("EXT_meshopt_compression", {})
    parts = []
    for part in (view, dict(packed)):
        buffer, start = part.pop("buffer", None), part.pop("byteOffset", 0)
        data = b"" if buffer is None else file.buffers[buffer]
        parts.append((part, bytes(data[start : start + part.get("byteLength", 0)])))
    return tuple(parts)


def references(tree: dict[str, Any]) -> dict[str, int]:
    """All indices of accessors by the place where they stand."""
    found = {}
    for m, mesh in enumerate(tree.get("meshes", [])):
        for p, primitive in enumerate(mesh["primitives"]):
            place = f"meshes/{m}/{p}"
            groups = {"": primitive["attributes"]} | dict(enumerate(primitive.get("targets", ())))
            for g, group in groups.items():
                found |= {f"{place}/{g}/{name}": index for name, index in group.items()}
            if "indices" in primitive:
                found[f"{place}/indices"] = primitive["indices"]
    for s, skin in enumerate(tree.get("skins", [])):
        if "inverseBindMatrices" in skin:
            found[f"skins/{s}"] = skin["inverseBindMatrices"]
    for a, animation in enumerate(tree.get("animations", [])):
        for c, channel in enumerate(animation["channels"]):
            sampler = animation["samplers"][channel["sampler"]]
            for key in ("input", "output"):
                found[f"animations/{a}/{c}/{key}"] = sampler[key]
    return found


def unread(tree: dict[str, Any]) -> tuple[set[int], set[int]]:
    """Accessors and bufferViews that nothing glTF knows refers to."""
    accessors, views = (set(range(len(tree.get(k, ())))) for k in ("accessors", "bufferViews"))
    for accessor in tree.get("accessors", ()):
        sparse = accessor.get("sparse", {})
        for part in (accessor, sparse.get("indices", {}), sparse.get("values", {})):
            views.discard(part.get("bufferView", -1))
    for image in tree.get("images", ()):
        views.discard(image.get("bufferView", -1))
    for mesh in tree.get("meshes", ()):
        for primitive in mesh["primitives"]:
            draco = primitive.get("extensions", {}).get("KHR_draco_mesh_compression", {})
            views.discard(draco.get("bufferView", -1))
    return accessors - set(references(tree).values()), views
