"""Rules between the objects of a glTF document; `schema.py` has those within one.

Specification: glTF 2.0, section 3; the places mirror the glTF-Validator's.
"""

from __future__ import annotations

import re
from typing import Any

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats.gltf.context import Context, Place, spell
from bunraku.formats.gltf.layout import INDICES, VERTICES, Layout
from bunraku.formats.gltf.mesh_rules import check_meshes
from bunraku.formats.gltf.node_rules import check_animations, check_nodes, check_skins

Tree = dict[str, Any]

MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
DRACO = "KHR_draco_mesh_compression"

# Extensions a file may require: geometry extensions that are decoded, and those that touch
# only what Bunraku carries without interpreting it.
DECODED = frozenset({"KHR_mesh_quantization", DRACO, *MESHOPT})
CARRIED = frozenset(
    {
        "EXT_lights_image_based",
        "EXT_mesh_gpu_instancing",
        "EXT_texture_avif",
        "EXT_texture_webp",
        "KHR_animation_pointer",
        "KHR_lights_punctual",
        "KHR_node_visibility",
        "KHR_texture_basisu",
        "KHR_texture_transform",
        "KHR_xmp",
        "KHR_xmp_json_ld",
        "MSFT_texture_dds",
        "VRM",
    }
)
CARRIED_PREFIXES = ("KHR_materials_", "VRMC_")


def check_rules(tree: Tree, context: Context) -> None:
    """All rules; problems that leave the content in doubt raise, the rest become notes."""
    check_version(tree, context)
    check_buffer_views(tree, context)
    check_accessors(tree, context)
    check_meshes(tree, context)
    check_nodes(tree, context)
    check_skins(tree, context)
    check_animations(tree, context)
    check_view_uses(tree, context)


def check_version(tree: Tree, context: Context) -> None:
    version = tree["asset"].get("minVersion", tree["asset"]["version"])
    match = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", version)
    if match is None:
        raise context.fail(("asset", "version"), 'a version like "2.0"', version)
    newer = match[1] == "2" and match[2] != "0" and "minVersion" in tree["asset"]
    if match[1] != "2" or newer:
        raise UnsupportedError(
            f"{context.source}: asset: expected glTF 2.0, found version {version}"
        )
    required = tree.get("extensionsRequired", [])
    unknown = [
        name
        for name in required
        if name not in DECODED | CARRIED and not name.startswith(CARRIED_PREFIXES)
    ]
    if unknown:
        names = ", ".join(name[:80] for name in unknown[:10])
        raise UnsupportedError(
            f"{context.source}: extensionsRequired: the file cannot be read without {names}"
        )
    used = set(tree.get("extensionsUsed", []))
    if "KHR_mesh_quantization" in used - set(required):
        message = "KHR_mesh_quantization is used and must be listed as required"
        context.note("extension-not-declared", ("extensionsUsed",), message)
    for name in required:
        if name not in used:
            message = f"{name[:80]} is required but not listed in extensionsUsed"
            context.note("extension-not-declared", ("extensionsRequired",), message)


def check_buffer_views(tree: Tree, context: Context) -> None:
    buffers = tree.get("buffers", [])
    for i, view in enumerate(tree.get("bufferViews", [])):
        place: Place = ("bufferViews", i)
        _check_range(view, buffers[view["buffer"]]["byteLength"], place, "its buffer", context)
        stride = view.get("byteStride")
        if stride is not None and not (4 <= stride <= 252 and stride % 4 == 0):
            message = f"is {stride}, expected a multiple of 4 from 4 to 252"
            context.note("stride-irregular", (*place, "byteStride"), message)
        for name in MESHOPT:
            packed = view.get("extensions", {}).get(name)
            if packed is None:
                continue
            inner = (*place, "extensions", name)
            _check_range(
                packed, buffers[packed["buffer"]]["byteLength"], inner, "its buffer", context
            )
            size = packed["count"] * packed["byteStride"]
            if size != view["byteLength"]:
                raise context.fail(inner, f"count × byteStride = {view['byteLength']} bytes", size)


def _check_range(part: Tree, size: int, place: Place, whole: str, context: Context) -> None:
    end = part.get("byteOffset", 0) + part["byteLength"]
    if end > size:
        raise FormatError(
            f"{context.source}: {spell(place)}: ends at byte {end}, but {whole} has {size} bytes"
        )


def check_accessors(tree: Tree, context: Context) -> None:
    for i, accessor in enumerate(tree.get("accessors", [])):
        place: Place = ("accessors", i)
        layout = Layout.of(accessor)
        if layout is None:
            message = f"type {accessor['type'][:40]!r} is unknown; it cannot be used"
            context.note("accessor-type-unknown", (*place, "type"), message)
            continue
        if accessor.get("normalized") and accessor["componentType"] in (5125, 5126):
            message = "floats and 32-bit integers cannot be normalized; ignored"
            context.note("normalized-ignored", (*place, "normalized"), message)
        for bound in ("min", "max"):
            if bound in accessor and len(accessor[bound]) != layout.rows * layout.columns:
                message = f"has {len(accessor[bound])} numbers for a {accessor['type']}; ignored"
                context.note("bounds-ignored", (*place, bound), message)
        if "bufferView" in accessor:
            _check_fit(tree, accessor, layout, accessor["count"], place, context)
        elif "byteOffset" in accessor:
            context.note("offset-ignored", place, "has a byteOffset but no bufferView")
        if "sparse" in accessor:
            _check_sparse(tree, accessor, layout, place, context)


def _check_fit(
    tree: Tree, part: Tree, layout: Layout, count: int, place: Place, context: Context
) -> None:
    view = tree["bufferViews"][part["bufferView"]]
    stride = view.get("byteStride", layout.size)
    offset = part.get("byteOffset", 0)
    if stride < layout.occupied:
        raise FormatError(
            f"{context.source}: {spell(place)}: its elements have {layout.occupied} bytes, but the"
            f" byteStride of bufferViews[{part['bufferView']}] is {stride}"
        )
    end = offset + layout.extent(count, stride)
    if end > view["byteLength"]:
        raise FormatError(
            f"{context.source}: {spell(place)}: {count} elements end at byte {end}, but"
            f" bufferViews[{part['bufferView']}] has {view['byteLength']} bytes"
        )
    item = layout.dtype.itemsize
    unit = 4 if layout.columns > 1 else item
    if offset % unit or (offset + view.get("byteOffset", 0)) % item or stride % item:
        message = f"its elements do not start on multiples of {unit} bytes; read all the same"
        context.note("accessor-unaligned", place, message)


def _check_sparse(
    tree: Tree, accessor: Tree, layout: Layout, place: Place, context: Context
) -> None:
    sparse = accessor["sparse"]
    count = sparse["count"]
    if count > accessor["count"]:
        expected = f"at most the accessor's count of {accessor['count']}"
        raise context.fail((*place, "sparse", "count"), expected, count)
    if count == 0:
        context.note("empty-accessor", (*place, "sparse", "count"), "is 0; nothing is replaced")
    indices = Layout.of({"type": "SCALAR", "componentType": sparse["indices"]["componentType"]})
    assert indices is not None
    for name, part_layout in (("indices", indices), ("values", layout)):
        part = sparse[name]
        view = tree["bufferViews"][part["bufferView"]]
        inner = (*place, "sparse", name)
        if view.get("byteStride", part_layout.size) != part_layout.size:
            expected = "a bufferView without byteStride"
            raise context.fail((*inner, "bufferView"), expected, view["byteStride"])
        _check_fit(tree, part, part_layout, count, inner, context)


def check_view_uses(tree: Tree, context: Context) -> None:
    """A bufferView serves one purpose; only vertex attributes are interleaved (section 3.6.2)."""
    accessors, views = tree.get("accessors", []), tree.get("bufferViews", [])
    vertices: dict[int, set[int]] = {}
    indices: dict[int, set[int]] = {}
    others: dict[int, set[int]] = {}

    def use(index: int, into: dict[int, set[int]]) -> None:
        if "bufferView" in accessors[index]:
            into.setdefault(accessors[index]["bufferView"], set()).add(index)

    for mesh in tree.get("meshes", []):
        for primitive in mesh["primitives"]:
            for group in (primitive["attributes"], *primitive.get("targets", ())):
                for index in group.values():
                    use(index, vertices)
            if "indices" in primitive:
                use(primitive["indices"], indices)
    for skin in tree.get("skins", []):
        if "inverseBindMatrices" in skin:
            use(skin["inverseBindMatrices"], others)
    for animation in tree.get("animations", []):
        for sampler in animation["samplers"]:
            use(sampler["input"], others)
            use(sampler["output"], others)

    for i, users in vertices.items():
        place: Place = ("bufferViews", i)
        if len(users) > 1 and "byteStride" not in views[i]:
            message = f"{len(users)} vertex attributes share it without a byteStride"
            context.note("stride-missing", place, message)
        for index in users:
            if _off_four(accessors[index], views[i]):
                message = "vertex attributes start on multiples of 4 bytes; read all the same"
                context.note("accessor-unaligned", ("accessors", index), message)
    for i in vertices.keys() & (indices.keys() | others.keys()) | indices.keys() & others.keys():
        message = "holds data of different purposes (attributes, indices, other)"
        context.note("view-shared", ("bufferViews", i), message)
    for i in indices.keys() | others.keys():
        if "byteStride" in views[i]:
            message = "has a byteStride but holds no vertex attributes"
            context.note("stride-unexpected", ("bufferViews", i), message)
    for uses, target in ((vertices, VERTICES), (indices, INDICES)):
        for i in uses:
            if views[i].get("target", target) != target:
                message = f"its target is {views[i]['target']}, but it is used as {target}"
                context.note("view-target", ("bufferViews", i), message)


def _off_four(accessor: Tree, view: Tree) -> bool:
    layout = Layout.of(accessor)
    stride = view.get("byteStride", layout.size if layout else 4)
    return bool(accessor.get("byteOffset", 0) % 4 or stride % 4)
