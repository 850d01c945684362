"""A character into a glTF document that is a VRM.

The glTF bridge writes nodes, meshes, skins, materials and clips; this patches the extensions:
what did not change stays as it was, down to properties Bunraku does not know.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bunraku.errors import Note, UnsupportedError
from bunraku.formats.gltf.context import KINDS, Context
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.to_gltf import gltf_from_character
from bunraku.formats.vrm.appends import rotation_constraints
from bunraku.formats.vrm.descent import bones_apart
from bunraku.formats.vrm.fields import Tree
from bunraku.formats.vrm.from_vrm import VRM_0, VRM_1, character_from_vrm
from bunraku.formats.vrm.licence import LICENCE
from bunraku.formats.vrm.read_rig import CONSTRAINT
from bunraku.formats.vrm.read_springs import EXTENDED, SPRINGS
from bunraku.formats.vrm.to_vrma import vrma_from_character
from bunraku.formats.vrm.vrma import is_vrma
from bunraku.formats.vrm.write_expressions import ExpressionWriter, with_presets
from bunraku.formats.vrm.write_rig import (
    nested,
    same,
    write_constraints,
    write_humanoid_0,
    write_humanoid_1,
    write_look_at_0,
    write_look_at_1,
)
from bunraku.formats.vrm.write_springs import springs_0, springs_1, uses_extended
from bunraku.model import Character, Constraint, Humanoid, Rig, Skeleton
from bunraku.model.arrays import Float64
from bunraku.model.material import to_display
from bunraku.rotation import quaternion

# How far arms may hang before it is worth saying, radians: 10°.
T_POSE_TOLERANCE = 0.175


def vrm_from_character(
    character: Character, *, meta: Mapping[str, Any] | None = None
) -> tuple[GltfFile, tuple[Note, ...]]:
    """The VRM document of a character, and notes on what it cannot hold.

    A character facing "+Z" becomes a VRM 1.0, one facing "-Z" a VRM 0.x. One that was read from
    a VRM keeps everything of its document that did not change.

    Args:
        meta: title, authors and licence terms as the version spells them; the document's own if
            omitted. A character without either gets VRM's defaults, which allow next to nothing.

    Raises:
        UnsupportedError: the character turned round since it was read: bones, springs and terms
            of one version are not those of the other.
    """
    base = character.document
    if isinstance(base, GltfFile) and is_vrma(base):
        base, character = None, replace(character, document=None)
    file, notes = gltf_from_character(_plain(character))
    kept = isinstance(base, GltfFile) and "document-dropped" not in {note.code for note in notes}
    old = Character(character.skeleton) if not kept else character_from_vrm(base)  # type: ignore[arg-type]
    context = Context(character.name, dict.fromkeys(KINDS, 0))
    if meta is None and isinstance(base, GltfFile) and not kept:
        meta = _terms(base, VRM_0 if character.facing == "-Z" else VRM_1)
    patched = _Writer(file, old, character, context).document(meta)
    return patched, (*notes, *context.all_notes())


def _terms(base: GltfFile, version: str) -> Tree | None:
    """The meta of a document that is not carried over, without the image it points to."""
    extensions = base.json.get("extensions", {})
    meta = extensions.get(version, {}).get("meta")
    if not isinstance(meta, dict):
        return None
    return {key: value for key, value in meta.items() if key not in ("texture", "thumbnailImage")}


def gltf_from_any(character: Character) -> tuple[GltfFile, tuple[Note, ...]]:
    """The document of a character for a plain glTF file.

    A character that was read from a VRM or a VRM animation stays one; the humanoid, expressions
    and rig of any other have no place in glTF (noted).
    """
    base = character.document
    if isinstance(base, GltfFile) and is_vrma(base) and character.humanoid is not None:
        return vrma_from_character(character)
    if isinstance(base, GltfFile) and is_vrm(base):
        return vrm_from_character(character)
    file, notes = gltf_from_character(_plain(character))
    kept = character_from_vrm(base) if isinstance(base, GltfFile) else Character(character.skeleton)
    lost = [
        name
        for name in ("humanoid", "expressions")
        if not same(getattr(kept, name), getattr(character, name))
    ]
    if not same(_rules(kept.rig), _rules(character.rig)):
        lost.append("rig")
    if not lost:
        return file, notes
    message = f"{', '.join(lost)} cannot be said in glTF; what VRM knows of them fits a .vrm"
    return file, (*notes, Note("vrm-dropped", message))


def _rules(rig: Rig | None) -> Rig:
    """What a rig does: the order in which nothing is done does not count."""
    rig = rig or Rig()
    if rig.appends or rig.fixed_axes or rig.chains:
        return rig
    return replace(rig, layers=None, after_physics=None)


def _plain(character: Character) -> Character:
    """What the glTF bridge knows of a character."""
    return replace(character, expressions=(), rig=None, humanoid=None, facing="+Z")


def is_vrm(file: GltfFile) -> bool:
    """Whether a document has an extension of VRM."""
    extensions = file.json.get("extensions", {})
    return VRM_0 in extensions or VRM_1 in extensions


def arms_off_t_pose(character: Character) -> float:
    """The larger angle, radians, between an upper arm at rest and its side; 0 without arms."""
    skeleton, humanoid = character.skeleton, character.humanoid
    if humanoid is None:
        return 0.0
    angles = [0.0]
    for side, x in (("left", 1.0), ("right", -1.0)):
        shoulder, elbow = (humanoid.bones.get(f"{side}{b}") for b in ("UpperArm", "LowerArm"))
        if shoulder is None or elbow is None:
            continue
        place = np.zeros(3)
        node = elbow
        while node >= 0 and node != shoulder:
            place = _in_parent(skeleton, node, place)
            node = int(skeleton.parents[node])
        arm = place
        while node >= 0:
            arm = _in_parent(skeleton, node, arm) - skeleton.translations[node]
            node = int(skeleton.parents[node])
        length = float(np.linalg.norm(arm))
        outwards = x * arm[0] * (-1 if character.facing == "-Z" else 1)
        angles.append(float(np.arccos(np.clip(outwards / length, -1, 1))) if length > 0 else 0.0)
    return max(angles)


def _in_parent(skeleton: Skeleton, node: int, place: Float64) -> Float64:
    turned = quaternion.rotate(skeleton.rotations[node], skeleton.scales[node] * place)
    return np.asarray(skeleton.translations[node] + turned, np.float64)


class _Writer:
    def __init__(self, file: GltfFile, old: Character, new: Character, context: Context) -> None:
        self.file, self.old, self.new, self.context = file, old, new, context
        self.tree: Tree = copy.deepcopy(file.json)
        self.extensions: Tree = dict(self.tree.get("extensions") or {})
        self.version = VRM_0 if new.facing == "-Z" else VRM_1
        known = [n for n in (VRM_1, VRM_0) if isinstance(self.extensions.get(n), dict)]
        if known and known[0] != self.version:
            raise UnsupportedError(
                f"{new.name}: faces {new.facing!r}, but was read from a file whose {known[0]} faces"
                f" {old.facing!r}; drop its document to write it as the other version"
            )
        self.is_new = not known
        if self.is_new:
            self.new = replace(new, expressions=with_presets(new.expressions, context))

    def document(self, meta: Mapping[str, Any] | None) -> GltfFile:
        extension: Tree = dict(self.extensions.get(self.version) or {})
        self._start(extension, meta)
        self._humanoid(extension)
        writer = ExpressionWriter(self.old, self.new, self.context)
        (writer.write_0 if self.version == VRM_0 else writer.write_1)(extension)
        self._rig(extension)
        if self.version == VRM_0:
            self._shading_0(extension)
        self.extensions[self.version] = extension
        self.tree["extensions"] = self.extensions
        if self.is_new:
            self._use(self.version)
        if self.tree == self.file.json:
            return self.file
        return replace(self.file, json=self.tree)

    def _use(self, name: str) -> None:
        used = self.tree.get("extensionsUsed", [])
        if name not in used:
            self.tree["extensionsUsed"] = [*used, name]

    def _start(self, extension: Tree, meta: Mapping[str, Any] | None) -> None:
        if self.is_new:
            extension["specVersion"] = "0.0" if self.version == VRM_0 else "1.0"
        if meta is not None:
            extension["meta"] = dict(meta)
        elif self.is_new:
            name = self.new.name or "character"
            if self.version == VRM_0:
                extension["meta"] = {"title": name, "licenseName": "Redistribution_Prohibited"}
            else:
                extension["meta"] = {"name": name, "authors": ["unknown"], "licenseUrl": LICENCE}
            message = (
                "nothing is known of authors and licence: written as unknown, with VRM's defaults,"
                " which allow next to nothing"
            )
            self.context.note("licence-assumed", ("extensions", self.version, "meta"), message)

    def _humanoid(self, extension: Tree) -> None:
        old, new = self.old.humanoid, self.new.humanoid
        if not self.is_new and old == new:
            return
        humanoid = new or Humanoid({})
        if self.is_new and self.new.rig is not None and self.new.rig.layers is not None:
            humanoid = nested(humanoid, self.new.skeleton, self.context)
        (write_humanoid_0 if self.version == VRM_0 else write_humanoid_1)(extension, humanoid)
        if humanoid.missing:
            message = f"nobody plays {', '.join(humanoid.missing)}, which VRM requires"
            self.context.note("humanoid-incomplete", ("humanoid",), message)
        for message in bones_apart(humanoid, self.new.skeleton):
            self.context.note("bone-apart", ("humanoid",), message)
        hanging = arms_off_t_pose(self.new)
        if hanging > T_POSE_TOLERANCE:
            message = (
                f"the arms rest {np.degrees(hanging):.0f}° off the T-pose that VRM requires; other"
                " programs will be that much off in every motion"
            )
            self.context.note("not-in-t-pose", ("skeleton",), message)

    def _rig(self, extension: Tree) -> None:
        old, new = self.old.rig or Rig(), self.new.rig or Rig()
        nodes: list[Tree] = self.tree.get("nodes", [])
        if write_constraints(nodes, old.constraints, self._constraints(new)):
            self._use(CONSTRAINT)
        if not same(old.look_at, new.look_at):
            if self.version == VRM_0:
                write_look_at_0(extension, old.look_at, new.look_at)
            else:
                write_look_at_1(extension, new.look_at)
                # three-vrm has no gaze where there is no object of expressions
                extension.setdefault("expressions", {"preset": {}})
        if same((old.springs, old.colliders), (new.springs, new.colliders)):
            return
        if self.version == VRM_0 and SPRINGS not in self.extensions:
            before = dict(extension.get("secondaryAnimation") or {})
            skeleton = self.new.skeleton
            extension["secondaryAnimation"] = springs_0(before, new, skeleton, self.context)
            return
        count = len(nodes)
        before = dict(self.extensions.get(SPRINGS) or {})
        self.extensions[SPRINGS] = springs_1(before, new, nodes)
        self._use(SPRINGS)
        if uses_extended(new):
            self._use(EXTENDED)
        if len(nodes) > count:
            message = f"{len(nodes) - count} nodes were added for spring tails that are no nodes"
            self.context.note("nodes-added", ("nodes", count), message)

    def _constraints(self, rig: Rig) -> tuple[Constraint, ...]:
        """All that VRM has of a rig's rules for nodes; the rest is noted."""
        said, unsaid = rotation_constraints(self.new, rig)
        if self.version == VRM_0:  # which has no constraints of its own
            said, unsaid = (), Counter({"in VRM 0.x": len(rig.appends)} if rig.appends else {})
        lost = [f"{len(rig.fixed_axes)} fixed axes"] if rig.fixed_axes else []
        lost += [f"{len(rig.chains)} IK chains"] if rig.chains else []
        if unsaid:
            why = ", ".join(f"{reason}: {count}" for reason, count in unsaid.items())
            lost.append(f"{unsaid.total()} of {len(rig.appends)} appends ({why})")
        if lost:
            message = f"VRM has no place for {', '.join(lost)}; left out"
            self.context.note("rig-dropped", ("rig",), message)
        return (*rig.constraints, *said)

    def _shading_0(self, extension: Tree) -> None:
        """Material properties of 0.x, which programs heed before those of glTF."""
        if self.is_new:
            extension.setdefault("firstPerson", {})
            extension.setdefault("blendShapeMaster", {"blendShapeGroups": []})
            extension.setdefault("secondaryAnimation", {"boneGroups": [], "colliderGroups": []})
            extension.setdefault("materialProperties", [])
        before = extension.get("materialProperties")
        if not isinstance(before, list) or not all(isinstance(each, dict) for each in before):
            return  # only carried so far, whatever it is
        properties = list(before)
        for i, material in enumerate(self.new.materials):
            if i >= len(self.old.materials) and len(properties) == i:
                properties.append({**_PLAIN_MATERIAL, "name": material.name})
            if i >= min(len(self.old.materials), len(properties)):
                continue
            was = self.old.materials[i]
            if was.name != material.name:
                properties[i] = {**properties[i], "name": material.name}
            vectors = properties[i].get("vectorProperties")
            said = dict(vectors) if isinstance(vectors, dict) else {}
            if was.base_color != material.base_color and "_Color" in said:
                red, green, blue, alpha = material.base_color
                said["_Color"] = [*to_display((red, green, blue)).tolist(), alpha]
            (x, y), (across, down) = material.uv_offset, material.uv_scale
            if (was.uv_offset, was.uv_scale) != ((x, y), (across, down)) and "_MainTex" in said:
                said["_MainTex"] = [x, 1.0 - y - down, across, down]  # Unity's v runs up
            if said != vectors and said:
                properties[i] = {**properties[i], "vectorProperties": said}
        if properties != before:
            extension["materialProperties"] = properties


_PLAIN_MATERIAL: Tree = {
    "shader": "VRM_USE_GLTFSHADER",
    "renderQueue": -1,
    "floatProperties": {},
    "vectorProperties": {},
    "textureProperties": {},
    "keywordMap": {},
    "tagMap": {},
}
