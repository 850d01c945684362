"""Rules for meshes: attributes, morph targets, indices.

Specification: glTF 2.0, section 3.7.2; KHR_mesh_quantization.
"""

from __future__ import annotations

import re
from typing import Any

from bunraku.errors import FormatError
from bunraku.formats.gltf.context import Context, Place, spell

Tree = dict[str, Any]

# Attribute semantics: (types, component types without / with KHR_mesh_quantization,
# whether sets are numbered). Section 3.7.2.1 and the extension's tables.
_FLOAT, _U8, _I8, _U16, _I16, _U32 = 5126, 5121, 5120, 5123, 5122, 5125
_SMALL = (_I8, _U8, _I16, _U16)
SEMANTICS: dict[str, tuple[tuple[str, ...], tuple[int, ...], bool]] = {
    "POSITION": (("VEC3",), (_FLOAT, *_SMALL), False),
    "NORMAL": (("VEC3",), (_FLOAT, _I8, _I16), False),
    "TANGENT": (("VEC4",), (_FLOAT, _I8, _I16), False),
    "TEXCOORD": (("VEC2",), (_FLOAT, *_SMALL), True),
    "COLOR": (("VEC3", "VEC4"), (_FLOAT, _U8, _U16), True),
    # u32 slots are outside the specification but leave nothing in doubt
    "JOINTS": (("VEC4",), (_U8, _U16, _U32), True),
    "WEIGHTS": (("VEC4",), (_FLOAT, _U8, _U16), True),
}
TARGET_SEMANTICS = {
    "POSITION": (_FLOAT, *_SMALL),
    "NORMAL": (_FLOAT, _I8, _I16),
    "TANGENT": (_FLOAT, _I8, _I16),
    "TEXCOORD": (_FLOAT, *_SMALL),
    "COLOR": (_FLOAT, *_SMALL),
}


def semantic(name: str) -> tuple[str, int] | None:
    """Base name and set number of an attribute glTF defines, else None.

    >>> semantic("JOINTS_1"), semantic("TEXCOORD_00")
    (('JOINTS', 1), None)
    """
    base, _, number = name.partition("_")
    known = SEMANTICS.get(base)
    if known is None:
        return None
    if not known[2]:
        return (base, 0) if name == base else None
    return (base, int(number)) if re.fullmatch(r"0|[1-9]\d{0,3}", number) else None


def check_meshes(tree: Tree, context: Context) -> None:
    accessors = tree.get("accessors", [])
    for i, mesh in enumerate(tree.get("meshes", [])):
        place: Place = ("meshes", i)
        targets = [len(primitive.get("targets", ())) for primitive in mesh["primitives"]]
        if len(set(targets)) > 1:
            message = f"its primitives have {min(targets)} to {max(targets)} morph targets;"
            context.note("targets-unequal", place, message + " missing ones displace nothing")
        _check_weights(mesh, max(targets), place, context)
        for j, primitive in enumerate(mesh["primitives"]):
            _check_primitive(accessors, primitive, (*place, "primitives", j), context)
            _check_texture_sets(tree, primitive, (*place, "primitives", j), context)


def _check_weights(holder: Tree, count: int, place: Place, context: Context) -> None:
    weights = holder.get("weights")
    if weights is not None and len(weights) != count:
        message = f"{len(weights)} weights for {count} morph targets;"
        context.note("weights-miscounted", (*place, "weights"), message + " missing ones are 0")


def _check_primitive(
    accessors: list[Tree], primitive: Tree, place: Place, context: Context
) -> None:
    attributes = primitive["attributes"]
    if "POSITION" not in attributes:
        context.note("primitive-without-position", place, "has no POSITION and shows nothing")
    count: int | None = None
    for name, index in attributes.items():
        inner = (*place, "attributes", name)
        accessor = accessors[index]
        if count is not None and accessor["count"] != count:
            raise context.fail(inner, f"{count} vertices like its siblings", accessor["count"])
        count = accessor["count"]
        known = semantic(name)
        if known is None:
            if not name.startswith("_"):
                message = "is no attribute of glTF 2.0; carried as it is"
                context.note("attribute-unknown", inner, message)
        else:
            types, components, _ = SEMANTICS[known[0]]
            _check_format(accessor, types, components, inner, context)
        if accessor["componentType"] == _U32:
            message = "glTF 2.0 has no vertex attributes of 32-bit integers; read all the same"
            context.note("attribute-32-bit", inner, message)
        if name == "POSITION":
            _check_bounds(accessor, inner, context)
    _check_sets(attributes, place, context)
    for t, target in enumerate(primitive.get("targets", ())):
        for name, index in target.items():
            inner = (*place, "targets", t, name)
            if count is not None and accessors[index]["count"] != count:
                raise context.fail(inner, f"{count} vertices", accessors[index]["count"])
            base = name.partition("_")[0]
            if semantic(name) is None or base not in TARGET_SEMANTICS:
                if not name.startswith("_"):
                    message = "is no morph attribute of glTF 2.0; carried as it is"
                    context.note("attribute-unknown", inner, message)
                continue
            if name not in attributes:
                message = f"displaces {name}, which the primitive does not have; ignored"
                context.note("morph-without-base", inner, message)
            # deltas of tangents have no handedness
            types = ("VEC3",) if base == "TANGENT" else SEMANTICS[base][0]
            _check_format(accessors[index], types, TARGET_SEMANTICS[base], inner, context)
            if base == "POSITION":
                _check_bounds(accessors[index], inner, context)
    if "indices" in primitive:
        inner = (*place, "indices")
        _check_format(
            accessors[primitive["indices"]], ("SCALAR",), (_U8, _U16, _U32), inner, context
        )


def _check_bounds(accessor: Tree, place: Place, context: Context) -> None:
    if "min" not in accessor or "max" not in accessor:
        context.note("bounds-missing", place, "has no min and max, which are required")


def _check_texture_sets(tree: Tree, primitive: Tree, place: Place, context: Context) -> None:
    """The material's core textures read texture coordinates the primitive has."""
    if "material" not in primitive:
        return
    material = tree["materials"][primitive["material"]]
    surface = material.get("pbrMetallicRoughness", {})
    for holder, name in (
        (surface, "baseColorTexture"),
        (surface, "metallicRoughnessTexture"),
        (material, "normalTexture"),
        (material, "occlusionTexture"),
        (material, "emissiveTexture"),
    ):
        if name in holder:
            wanted = f"TEXCOORD_{holder[name].get('texCoord', 0)}"
            if wanted not in primitive["attributes"]:
                message = f"{name} of its material reads {wanted}, which it does not have"
                context.note("texture-coordinates-missing", (*place, "material"), message)


def _check_sets(attributes: Tree, place: Place, context: Context) -> None:
    """JOINTS_n and WEIGHTS_n come in pairs, sets without gaps (section 3.7.3.3)."""
    found: dict[str, set[int]] = {base: set() for base in SEMANTICS}
    for name in attributes:
        if (known := semantic(name)) is not None:
            found[known[0]].add(known[1])
    if found["JOINTS"] != found["WEIGHTS"]:
        odd = min(found["JOINTS"] ^ found["WEIGHTS"])
        present = "JOINTS" if odd in found["JOINTS"] else "WEIGHTS"
        missing = "WEIGHTS" if present == "JOINTS" else "JOINTS"
        raise FormatError(
            f"{context.source}: {spell((*place, 'attributes'))}: {present}_{odd} has no"
            f" {missing}_{odd}"
        )
    for base in ("TEXCOORD", "COLOR", "JOINTS"):
        if found[base] and max(found[base]) != len(found[base]) - 1:
            message = f"{base} sets {sorted(found[base])[:8]} have gaps; read in this order"
            context.note("sets-with-gaps", (*place, "attributes"), message)


def _check_format(
    accessor: Tree,
    types: tuple[str, ...],
    components: tuple[int, ...],
    place: Place,
    context: Context,
) -> None:
    if accessor["type"] not in types:
        raise context.fail(place, f"{' or '.join(types)} data", accessor["type"])
    if accessor["componentType"] not in components:
        names = ", ".join(map(str, components))
        raise context.fail(place, f"component type {names}", accessor["componentType"])
