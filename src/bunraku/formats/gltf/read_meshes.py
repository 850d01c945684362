"""Meshes of a document as meshes of a character.

Specification: glTF 2.0, section 3.7 (geometry).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, RigError
from bunraku.formats.gltf.accessors import AccessorReader, Float32
from bunraku.formats.gltf.context import Context, Place, spell
from bunraku.formats.gltf.mesh_rules import semantic
from bunraku.model import Geometry, Mesh, MorphTarget, Part, Topology

Int32 = npt.NDArray[np.int32]
Tree = dict[str, Any]

# Weights are meant to sum to 1 within this for each that is not zero (section 3.7.3.3).
SUM_TOLERANCE = 2e-7
# A float sum this close to 1 was rounded somewhere on its way (8-bit sources, lossy codecs).
ROUNDING = 4e-3
MORPHED = ("POSITION", "NORMAL", "TANGENT")


class MeshReader:
    """Turns the meshes of one document into model meshes.

    Primitives that share all their attribute accessors and targets share one `Geometry`, also
    between meshes: exporters write twenty primitives over one buffer.
    """

    def __init__(self, reader: AccessorReader, context: Context) -> None:
        self.reader = reader
        self.context = context
        self._geometries: dict[Any, Geometry] = {}
        self._faces: dict[tuple[int, int], tuple[Int32, Topology]] = {}
        self._slots: dict[int, int] = {}

    def mesh(self, index: int) -> Mesh:
        tree = self.reader.file.json["meshes"][index]
        targets = max(len(primitive.get("targets", ())) for primitive in tree["primitives"])
        geometries: dict[int, Geometry] = {}  # by identity, in order of first use
        parts = []
        for i, primitive in enumerate(tree["primitives"]):
            place: Place = ("meshes", index, "primitives", i)
            try:
                geometry, part = self._primitive(primitive, targets, place)
                geometries.setdefault(id(geometry), geometry)
                number = list(geometries).index(id(geometry))
                parts.append(Part(number, part[0], primitive.get("material"), part[1]))
            except RigError as error:
                raise FormatError(self.reader.where(f"{spell(place)}: {error}")) from None
        weights = np.zeros(targets)
        given = tree.get("weights", [])[:targets]
        weights[: len(given)] = given
        return Mesh(
            tree.get("name", ""),
            tuple(geometries.values()),
            tuple(parts),
            _target_names(tree, targets),
            weights,
        )

    def highest_slot(self, geometry: Geometry) -> int:
        """Highest joint slot that carries weight, −1 when none does."""
        if geometry.joints is None or geometry.weights is None:
            return -1
        key = id(geometry)
        if key not in self._slots:
            used = geometry.joints[geometry.weights > 0]
            self._slots[key] = int(used.max()) if used.size else -1
        return self._slots[key]

    def _primitive(
        self, primitive: Tree, targets: int, place: Place
    ) -> tuple[Geometry, tuple[Int32, Topology]]:
        where = spell(place)
        draco = self.reader.open_draco(primitive, where)
        attributes = {
            name: index
            for name, index in primitive["attributes"].items()
            if semantic(name) is not None
        }
        morphs = [
            {name: target[name] for name in MORPHED if name in target and name in attributes}
            for target in primitive.get("targets", ())
        ]
        key = (
            targets,
            tuple(sorted(attributes.items())),
            tuple(tuple(morph.items()) for morph in morphs),
        )
        geometry = self._geometries.get(key)
        if geometry is None:
            morphs += [{}] * (targets - len(morphs))
            geometry = self._geometries[key] = self._geometry(attributes, morphs, place)
        if draco is not None:
            # a decoder hands out triangles, whatever mode they were encoded from
            return geometry, (self._checked(draco, geometry, where), "triangles")
        return geometry, self._topology(primitive, geometry, place)

    def _geometry(
        self, attributes: dict[str, int], morphs: list[dict[str, int]], place: Place
    ) -> Geometry:
        if "POSITION" not in attributes:
            empty = MorphTarget(np.zeros(0, np.int32))
            return Geometry(np.zeros((0, 3), np.float32), morphs=(empty,) * len(morphs))
        sets: dict[str, list[Float32]] = {"TEXCOORD": [], "COLOR": [], "NORMAL": [], "TANGENT": []}
        for name in sorted(attributes, key=lambda name: semantic(name) or ("", 0)):
            base = name.partition("_")[0]
            if base in sets:
                values = self._finite(attributes[name], (*place, "attributes", name))
                sets[base].append(_rgba(values) if base == "COLOR" else values)
        joints, weights = self._influences(attributes, place)
        return Geometry(
            self.reader.floats(attributes["POSITION"]),
            sets["NORMAL"][0] if sets["NORMAL"] else None,
            sets["TANGENT"][0] if sets["TANGENT"] else None,
            tuple(sets["TEXCOORD"]),
            tuple(sets["COLOR"]),
            joints,
            weights,
            tuple(self._morph(morph, (*place, "targets", i)) for i, morph in enumerate(morphs)),
        )

    def _finite(self, index: int, place: Place) -> Float32:
        """Values of an attribute that is not the shape itself: NaN and infinity become 0."""
        values = self.reader.floats(index)
        good = np.isfinite(values)
        if good.all():
            return values
        rows = int((~good.all(axis=1)).sum())
        message = f"{rows} of {len(values)} elements are not finite; zero is used instead"
        self.context.note("not-finite", place, message)
        return np.where(good, values, np.float32(0))

    def _morph(self, target: dict[str, int], place: Place) -> MorphTarget:
        rows: list[Int32] = []
        deltas: dict[str, tuple[Int32, Float32]] = {}
        for name, index in target.items():
            moved, values = self.reader.nonzero_rows(index)
            if name != "POSITION" and not np.isfinite(values).all():
                self.context.note("not-finite", (*place, name), "zero is used instead")
                values = np.where(np.isfinite(values), values, np.float32(0))
            deltas[name] = (moved, values)
            rows.append(moved)
        if not rows:
            return MorphTarget(np.zeros(0, np.int32))
        union = rows[0]
        for other in rows[1:]:
            if len(other) != len(union) or (other != union).any():
                union = np.union1d(union, other)
        fields: dict[str, Float32] = {}
        for name, (moved, values) in deltas.items():
            if len(moved) != len(union):
                spread = np.zeros((len(union), 3), np.float32)
                spread[np.searchsorted(union, moved)] = values
                values = spread
            fields[name.lower() + "s"] = values
        return MorphTarget(union, **fields)

    def _influences(
        self, attributes: dict[str, int], place: Place
    ) -> tuple[Int32 | None, Float32 | None]:
        numbers = sorted(int(name[7:]) for name in attributes if name.startswith("JOINTS_"))
        if not numbers:
            return None, None
        slots = [self.reader.raw(attributes[f"JOINTS_{n}"]) for n in numbers]
        parts = [self.reader.floats(attributes[f"WEIGHTS_{n}"]) for n in numbers]
        joints = slots[0] if len(slots) == 1 else np.concatenate(slots, axis=1)
        weights = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        self.reader.budget.spend(20 * weights.size, spell(place))
        if joints.dtype == np.uint32 and joints.size and joints.max() > 2**31 - 1:
            raise FormatError(
                self.reader.where(f"{spell(place)}: joint slot {joints.max()} is out of range")
            )
        stored = [self.reader.raw(attributes[f"WEIGHTS_{n}"]).dtype for n in numbers]
        steps = [0.5 / np.iinfo(kind).max if kind.kind == "u" else 0.0 for kind in stored]
        rounding = max(ROUNDING, joints.shape[1] * max(steps))
        return joints.astype(np.int32), self._normalized(weights, rounding, (*place, "attributes"))

    def _normalized(self, weights: Float32, rounding: float, place: Place) -> Float32:
        """Rows that sum to 1; the rest stays at 0. What was changed is noted."""
        note, count = self.context.note, len(weights)
        for bad, code, message in (
            (~np.isfinite(weights), "weights-not-finite", "are not finite; 0 is used instead"),
            (weights < 0, "weights-negative", "are negative; 0 is used instead"),
        ):
            if bad.any():
                note(code, place, f"{int(bad.sum())} weights {message}")
                weights = np.where(bad, np.float32(0), weights)
        sums = weights.sum(axis=1, dtype=np.float64)
        empty = int((sums == 0).sum())
        if empty:
            message = f"{empty} of {count} vertices have no weight at all and follow no joint"
            note("weights-zero-sum", place, message)
        off = np.abs(sums - 1)
        rows = np.flatnonzero((off > SUM_TOLERANCE * (weights > 0).sum(axis=1)) & (sums > 0))
        if not rows.size:
            return weights
        if off[rows].max() <= rounding:
            message = (
                f"{rows.size} of {count} rows of weights sum to 1 within rounding"
                f" ({off[rows].max():.2g} at most); evened out"
            )
            note("weights-rounded", place, message)
        else:
            message = (
                f"{rows.size} of {count} rows of weights do not sum to 1 (from"
                f" {sums[rows].min():.4g} to {sums[rows].max():.4g}); renormalised"
            )
            note("weights-renormalised", place, message)
        result = weights.copy()
        result[rows] = weights[rows] / sums[rows, None]
        return result

    def _topology(
        self, primitive: Tree, geometry: Geometry, place: Place
    ) -> tuple[Int32, Topology]:
        mode = primitive.get("mode", 4)
        source = primitive.get("indices", -1 - geometry.vertex_count)
        key = (source, mode)
        where = spell((*place, "indices"))
        if geometry.vertex_count == 0:  # no POSITION: noted by the rules, nothing to show
            return _faces(np.zeros(0, np.int32), mode)
        if key not in self._faces:
            if source >= 0:
                corners = self.reader.raw(source)[:, 0]
            else:
                corners = np.arange(geometry.vertex_count, dtype=np.int32)
            unit = {4: 3, 1: 2}.get(mode, 1)
            if len(corners) % unit:
                message = f"{len(corners)} corners are no multiple of {unit}; the rest is ignored"
                self.context.note("primitive-incomplete", place, message)
            self.reader.budget.spend(28 * len(corners), where)
            faces, topology = _faces(corners, mode)
            self._faces[key] = (self._checked(faces, geometry, where), topology)
        faces, topology = self._faces[key]
        # spent again for every primitive: each of them walks the faces
        self.reader.budget.spend(faces.nbytes, where)
        return self._checked(faces, geometry, where), topology

    def _checked(self, faces: npt.NDArray[Any], geometry: Geometry, where: str) -> Int32:
        """Faces as int32, all corners of which exist."""
        if faces.size and faces.max() >= geometry.vertex_count:
            raise FormatError(
                self.reader.where(
                    f"{where}: expected vertices below {geometry.vertex_count}, found {faces.max()}"
                )
            )
        return faces.astype(np.int32, copy=False)


def _faces(corners: npt.NDArray[Any], mode: int) -> tuple[npt.NDArray[Any], Topology]:
    """Corners of a primitive as separate points, lines or triangles (section 3.7.2.1).

    >>> _faces(np.arange(4), 5)[0].tolist()
    [[0, 1, 2], [1, 3, 2]]
    """
    n = len(corners)
    if mode == 0:
        return corners[:, None], "points"
    if mode == 1:
        return corners[: n - n % 2].reshape(-1, 2), "lines"
    if mode in (2, 3):
        pairs = np.stack([corners[:-1], corners[1:]], axis=1)
        if mode == 2 and n > 1:
            pairs = np.concatenate([pairs, [[corners[-1], corners[0]]]]).astype(corners.dtype)
        return pairs, "lines"
    if mode == 4:
        return corners[: n - n % 3].reshape(-1, 3), "triangles"
    if n < 3:
        return np.zeros((0, 3), np.int32), "triangles"
    if mode == 5:
        faces = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
        faces[1::2, 1:] = faces[1::2, :0:-1]
        return faces, "triangles"
    hub = np.full(n - 2, corners[0], corners.dtype)
    return np.stack([corners[1:-1], corners[2:], hub], axis=1), "triangles"


def _rgba(values: Float32) -> Float32:
    """Colours without alpha are opaque."""
    if values.shape[1] == 4:
        return values
    return np.concatenate([values, np.ones((len(values), 1), np.float32)], axis=1)


def _target_names(mesh: Tree, count: int) -> tuple[str, ...]:
    """Names of morph targets: `extras.targetNames` of the mesh, or of its first primitive."""
    for holder in (mesh, mesh["primitives"][0]):
        extras = holder.get("extras")
        names = extras.get("targetNames") if isinstance(extras, dict) else None
        if isinstance(names, list):
            known = [name if isinstance(name, str) else "" for name in names[:count]]
            return tuple(known + [""] * (count - len(known)))
    return ("",) * count
