"""What only a glTF or VRM has a place for, counted for who is written as something else."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bunraku.errors import Note
from bunraku.formats.gltf import GltfFile

_SHADINGS = {"VRMC_materials_mtoon": "MToon", "KHR_materials_unlit": "unlit"}
_MAPS = {
    "normalTexture": "normal maps",
    "occlusionTexture": "occlusion maps",
    "emissiveTexture": "emission maps",
}


def stays_in_gltf(file: GltfFile) -> tuple[Note, ...]:
    """A note for each kind of what no model of MMD holds: shading, first person, cameras.

    >>> tree = {"asset": {"version": "2.0"}, "materials": [{"normalTexture": {"index": 0}}]}
    >>> [str(note) for note in stays_in_gltf(GltfFile(tree))]
    ['materials: 1 normal maps are left out [shading-dropped]']
    """
    tree = file.json
    extensions = tree.get("extensions", {})
    shadings = Counter(kind for each in tree.get("materials", ()) for kind in _shading(each))
    old = _object(extensions.get("VRM"))
    shadings["MToon"] += sum(
        _object(each).get("shader") == "VRM/MToon" for each in _array(old.get("materialProperties"))
    )
    notes = []
    if there := ", ".join(f"{count} {what}" for what, count in shadings.items() if count):
        notes.append(Note("shading-dropped", f"{there} are left out", "materials"))
    first = [_object(extensions.get(name)).get("firstPerson") for name in ("VRMC_vrm", "VRM")]
    annotations = sum(len(_array(_object(each).get("meshAnnotations"))) for each in first)
    if annotations:
        message = f"{annotations} meshes that say who sees them in first person do so no more"
        notes.append(Note("first-person-dropped", message))
    if cameras := len(tree.get("cameras", ())):
        notes.append(Note("cameras-dropped", f"{cameras} cameras are left out", "cameras"))
    return tuple(notes)


def _shading(material: dict[str, Any]) -> list[str]:
    """What a material has beside base colour, alpha and their texture."""
    found = [kind for name, kind in _SHADINGS.items() if name in material.get("extensions", {})]
    found += [what for key, what in _MAPS.items() if key in material]
    if any(material.get("emissiveFactor", ())):
        found.append("emission colours")
    if "metallicRoughnessTexture" in material.get("pbrMetallicRoughness", {}):
        found.append("metal and roughness maps")
    return found


def _object(value: Any) -> dict[str, Any]:
    """An extension is only carried: whatever stands where an object should counts as none."""
    return value if isinstance(value, dict) else {}


def _array(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
