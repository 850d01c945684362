"""Meshes of a character into a document: what differs from the baseline is written anew.

Specification: glTF 2.0, sections 3.7.2 (meshes) and 3.7.3.3 (joints and weights).
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.encoding import BufferBuilder, put
from bunraku.formats.gltf.layout import INDICES, VERTICES
from bunraku.formats.gltf.mesh_rules import semantic
from bunraku.formats.gltf.pairing import paired_parts, paired_targets
from bunraku.formats.gltf.read_meshes import MORPHED
from bunraku.formats.gltf.rules import DRACO
from bunraku.model import Geometry, Mesh, MorphTarget, Part, differences

Array = npt.NDArray[Any]
Tree = dict[str, Any]

# The validator's limit for vectors that must have unit length.
UNIT_TOLERANCE = 5e-4
MODES = {"points": 0, "lines": 1, "triangles": 4}
_TARGET_FIELDS = (("POSITION", "positions"), ("NORMAL", "normals"), ("TANGENT", "tangents"))


class MeshWriter:
    """Writes meshes through one buffer builder; arrays that parts share are written once."""

    def __init__(self, builder: BufferBuilder, context: Context) -> None:
        self.builder = builder
        self.context = context
        self._attributes: dict[tuple[int, str], dict[str, int]] = {}
        self._targets: dict[tuple[int, str], int] = {}
        self._faces: dict[int, int] = {}

    def can_write(self, mesh: Mesh) -> bool:
        """Whether any part has faces: glTF knows no empty primitives or meshes."""
        return any(_has_faces(mesh, part) for part in mesh.parts)

    def patch(self, tree: Tree, old: Mesh | None, mesh: Mesh, place: Place) -> None:
        """Bring a mesh object from `old` (None: it is new) to `mesh`."""
        if old is not None and not differences(old, mesh):
            return
        if old is None or old.name != mesh.name:
            put(tree, "name", mesh.name, "")
        if old is None or differences(old.morph_weights, mesh.morph_weights):
            weights = mesh.morph_weights.tolist()
            put(tree, "weights", weights if any(weights) else [], [])
        if old is None or old.morph_names != mesh.morph_names:
            _write_names(tree, mesh.morph_names)
        before: list[Tree] = tree.get("primitives", [])
        partners = [None] * len(mesh.parts) if old is None else paired_parts(old, mesh)
        written: dict[int, Tree] = {}
        for i, k in enumerate(partners):
            if old is None or k is None:
                continue
            if _has_faces(mesh, mesh.parts[i]):
                here = (*place, "primitives", k)
                self._patch_primitive(before[k], (old, k), (mesh, i), here)
                written[i] = before[k]
            elif not _has_faces(old, old.parts[k]):
                written[i] = before[k]
        for i, part in enumerate(mesh.parts):
            if i in written:
                continue
            if not _has_faces(mesh, part):
                message = "has no faces or no vertices, which glTF cannot say; left out"
                self.context.note("part-dropped", (*place, "parts", i), message)
                continue
            beside = (w for j, w in written.items() if mesh.parts[j].geometry == part.geometry)
            written[i] = self._added(mesh, part, next(beside, {}))
        tree["primitives"] = [written[i] for i in sorted(written)]
        if None in partners:
            for k in sorted(set(range(len(before))).difference(partners)):
                self._note_left_out(before[k], (*place, "primitives", k))

    def _added(self, mesh: Mesh, part: Part, beside: Tree) -> Tree:
        """A new primitive; `beside` is one with the same vertices, if there is any."""
        primitive: Tree = {}
        if not beside or DRACO in beside.get("extensions", {}):
            self._rewrite(primitive, mesh, part)
            return primitive
        primitive |= {key: copy.deepcopy(beside[key]) for key in _VERTICES if key in beside}
        put(primitive, "material", part.material, None)
        self._write_faces(primitive, part, mesh.geometries[part.geometry])
        return primitive

    def _note_left_out(self, primitive: Tree, place: Place) -> None:
        """Say what goes with an old primitive that none of the parts written anew continues."""
        lost = _own(primitive)
        lost += ["extras"] if "extras" in primitive else []
        lost += [name for name in primitive.get("extensions", {}) if name != DRACO]
        if lost:
            message = f"no part continues it: its {', '.join(lost)[:120]} are left out"
            self.context.note("primitive-dropped", place, message)

    def _patch_primitive(
        self, primitive: Tree, old: tuple[Mesh, int], new: tuple[Mesh, int], place: Place
    ) -> None:
        """Bring a primitive from a part of the old mesh to one of the new."""
        (was, k), (mesh, i) = old, new
        old_part, part = was.parts[k], mesh.parts[i]
        before, after = was.geometries[old_part.geometry], mesh.geometries[part.geometry]
        reshaped = before.vertex_count != after.vertex_count
        faces = old_part.topology != part.topology or differences(old_part.faces, part.faces)
        changed = differences(before, after)
        if (changed or faces) and reshaped:
            self._note_dropped(_own(primitive), place)
            self._rewrite(primitive, mesh, part)
            return
        if (changed or faces) and DRACO in primitive.get("extensions", {}):
            # the displacements are beside the packed data
            self._note_dropped(_own(primitive | {"targets": []}), place)
            self._rewrite_base(primitive, mesh, part)
            self._patch_targets(primitive, (was, before), (mesh, after), place)
            return
        if changed:
            self._patch_attributes(primitive["attributes"], before, after)
            self._patch_targets(primitive, (was, before), (mesh, after), place)
        if faces:
            self._write_faces(primitive, part, after)
        if old_part.material != part.material:
            put(primitive, "material", part.material, None)

    def _note_dropped(self, names: list[str], place: Place) -> None:
        if names:
            message = f"the attributes {', '.join(names)[:120]} no longer fit; left out"
            self.context.note("attributes-dropped", place, message)

    def _patch_attributes(self, attributes: Tree, before: Geometry, after: Geometry) -> None:
        for base, field in _FIELDS.items():
            if not differences(_fields(before, field), _fields(after, field)):
                continue
            for name in [name for name in attributes if (semantic(name) or ("",))[0] in base]:
                del attributes[name]
            attributes.update(self._attribute(after, field))

    def _patch_targets(
        self,
        primitive: Tree,
        old: tuple[Mesh, Geometry],
        new: tuple[Mesh, Geometry],
        place: Place,
    ) -> None:
        (was, before), (mesh, after) = old, new
        if not differences(before.morphs, after.morphs):
            return
        names = was.morph_names, mesh.morph_names
        partners = paired_targets(names[0], before.morphs, names[1], after.morphs)
        targets = primitive.get("targets", [])
        targets += [{} for _ in range(len(before.morphs) - len(targets))]
        written = []
        for morph, t in zip(after.morphs, partners, strict=True):
            target = {} if t is None else targets[t]
            if t is None or differences(before.morphs[t], morph) or not target:
                own = {key: target[key] for key in _carried(target)}
                target = own | self._target(morph, after)
            written.append(target)
        if None in partners:
            left = set(range(len(targets))).difference(partners)
            lost = {name for t in left for name in _carried(targets[t])}
            self._note_dropped(sorted(lost), (*place, "targets"))
        put(primitive, "targets", written, [])

    def _rewrite(self, primitive: Tree, mesh: Mesh, part: Part) -> None:
        """All of a primitive from the model; nothing of its former data is left."""
        self._rewrite_base(primitive, mesh, part)
        geometry = mesh.geometries[part.geometry]
        targets = [self._target(morph, geometry) for morph in geometry.morphs]
        put(primitive, "targets", targets, [])

    def _rewrite_base(self, primitive: Tree, mesh: Mesh, part: Part) -> None:
        """All but the morph targets, unpacked."""
        geometry = mesh.geometries[part.geometry]
        if DRACO in primitive.get("extensions", {}):
            extensions = {k: v for k, v in primitive["extensions"].items() if k != DRACO}
            put(primitive, "extensions", extensions, {})
        primitive["attributes"] = {}
        for field in _FIELDS.values():
            primitive["attributes"].update(self._attribute(geometry, field))
        put(primitive, "material", part.material, None)
        self._write_faces(primitive, part, geometry)

    def _write_faces(self, primitive: Tree, part: Part, geometry: Geometry) -> None:
        key = id(part.faces)
        if key not in self._faces:
            # the largest value of a type is reserved (primitive restart)
            kind = np.uint16 if geometry.vertex_count <= 65535 else np.uint32
            corners = part.faces.reshape(-1).astype(kind)
            self._faces[key] = self.builder.accessor(corners, target=INDICES)
        primitive["indices"] = self._faces[key]
        put(primitive, "mode", MODES[part.topology], 4)

    def _attribute(self, geometry: Geometry, field: tuple[str, ...]) -> dict[str, int]:
        key = (id(geometry), field[0])
        if key not in self._attributes:
            self._attributes[key] = self._write_attribute(geometry, field[0])
        return self._attributes[key]

    def _write_attribute(self, geometry: Geometry, field: str) -> dict[str, int]:
        write = self.builder.accessor
        if field == "positions":
            return {"POSITION": write(geometry.positions, target=VERTICES, bounds=True)}
        if field == "normals" and geometry.normals is not None:
            return {"NORMAL": write(self._unit(geometry.normals, "normals"), target=VERTICES)}
        if field == "tangents" and geometry.tangents is not None:
            tangents = geometry.tangents.copy()
            tangents[:, :3] = self._unit(tangents[:, :3], "tangents")
            tangents[:, 3] = np.where(tangents[:, 3] < 0, -1, 1)
            return {"TANGENT": write(tangents, target=VERTICES)}
        if field == "uvs":
            return {
                f"TEXCOORD_{i}": write(uv, target=VERTICES) for i, uv in enumerate(geometry.uvs)
            }
        if field == "colors":
            return {
                f"COLOR_{i}": write(color, target=VERTICES)
                for i, color in enumerate(geometry.colors)
            }
        if field == "joints" and geometry.joints is not None and geometry.weights is not None:
            return self._influences(geometry.joints, geometry.weights)
        return {}

    def _unit(self, vectors: Array, what: str) -> Array:
        """Vectors of unit length; only those off by more than the validator allows are touched."""
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        off = np.flatnonzero(np.abs(lengths - 1) > UNIT_TOLERANCE)
        if not off.size:
            return vectors
        result = vectors.copy()
        zero = off[lengths[off] < 1e-20]
        if zero.size:
            message = f"{zero.size} {what} of length 0 are written as +Z: glTF has no zero {what}"
            self.context.note(f"{what}-replaced", (), message)
        result[off] = vectors[off] / np.maximum(lengths[off], 1e-20)[:, None]
        result[zero] = (0, 0, 1)
        return result

    def _influences(self, joints: Array, weights: Array) -> dict[str, int]:
        width = max(4, joints.shape[1] + -joints.shape[1] % 4)
        slots = np.zeros((len(joints), width), np.int32)
        shares = np.zeros((len(joints), width), np.float32)
        slots[:, : joints.shape[1]] = joints
        shares[:, : weights.shape[1]] = weights
        empty = int((shares.sum(axis=1) == 0).sum())
        if empty:
            message = f"{empty} vertices follow no joint; glTF has no way to say so and validators"
            self.context.note("weights-zero-sum", (), message + " object")
        slots[shares == 0] = 0  # glTF wants unused slots to be 0 (section 3.7.3.3)
        for a in range(width):
            for b in range(a + 1, width):
                twice = (slots[:, a] == slots[:, b]) & (shares[:, a] > 0) & (shares[:, b] > 0)
                if twice.any():  # no joint may hold a vertex twice
                    shares[twice, a] += shares[twice, b]
                    shares[twice, b] = 0
                    slots[twice, b] = 0
        kind = np.uint8 if not slots.size or slots.max() < 256 else np.uint16
        written = {}
        for n in range(width // 4):
            four = slice(4 * n, 4 * n + 4)
            written[f"JOINTS_{n}"] = self.builder.accessor(
                slots[:, four].astype(kind), target=VERTICES
            )
            written[f"WEIGHTS_{n}"] = self.builder.accessor(shares[:, four], target=VERTICES)
        return written

    def _target(self, morph: MorphTarget, geometry: Geometry) -> dict[str, int]:
        """Displacements as sparse accessors over nothing; a target cannot be empty."""
        target = {}
        for name, field in _TARGET_FIELDS:
            values = getattr(morph, field)
            if values is None and (name != "POSITION" or morph.normals is not None):
                continue
            key = (id(morph), name)
            if key not in self._targets:
                if values is None:
                    values = np.zeros((len(morph.indices), 3), np.float32)
                self._targets[key] = self.builder.sparse(
                    geometry.vertex_count, morph.indices, values
                )
            target[name] = self._targets[key]
        return target


_VERTICES = ("attributes", "targets")
# Attribute semantics and the fields of a geometry that say the same.
_FIELDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("POSITION",): ("positions",),
    ("NORMAL",): ("normals",),
    ("TANGENT",): ("tangents",),
    ("TEXCOORD",): ("uvs",),
    ("COLOR",): ("colors",),
    ("JOINTS", "WEIGHTS"): ("joints", "weights"),
}


def _fields(geometry: Geometry, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(getattr(geometry, name) for name in names)


def _has_faces(mesh: Mesh, part: Part) -> bool:
    return len(part.faces) > 0 and mesh.geometries[part.geometry].vertex_count > 0


def _carried(target: Tree) -> list[str]:
    """What a morph target displaces beside what the model holds."""
    return [name for name in target if name not in MORPHED]


def _own(primitive: Tree) -> list[str]:
    """Attributes and displacements of a primitive that the model does not hold."""
    own = [name for name in primitive["attributes"] if semantic(name) is None]
    moved = {name for target in primitive.get("targets", ()) for name in _carried(target)}
    return own + [f"displacements of {name}" for name in sorted(moved)]


def _write_names(tree: Tree, names: tuple[str, ...]) -> None:
    """Names of morph targets where everyone looks for them: `extras.targetNames`."""
    extras = tree.get("extras", {})
    if not isinstance(extras, dict):
        if not any(names):
            return
        extras = {}
    extras = dict(extras)
    put(extras, "targetNames", list(names) if any(names) else [], [])
    put(tree, "extras", extras, {})
