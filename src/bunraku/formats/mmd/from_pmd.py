"""A PMD model as the PMX that says the same, and the character it describes.

What PMD leaves to convention is written down: knees bend one way only, a twist bone turns
about the way to its tail, followers have their ratio, IK is solved in the order of its list
after the bones it turns (as babylon-mmd converts it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.from_pmx import character_from_pmx
from bunraku.formats.mmd.pmd import NONE, PmdFile, PmdIk
from bunraku.formats.mmd.pmx import (
    BoneFlag,
    MaterialFlag,
    PmxBone,
    PmxFile,
    PmxFrame,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
    Vec3,
)
from bunraku.formats.mmd.pmx_morphs import OFFSETS, MorphKind, PmxMorph
from bunraku.formats.mmd.pmx_physics import PmxBody, PmxJoint
from bunraku.formats.mmd.pmx_rules import check_references
from bunraku.formats.mmd.pmx_vertices import Deform, PmxVertices
from bunraku.formats.mmd.text import decode_field
from bunraku.model import Character

Array = npt.NDArray[Any]

_ROTATE_AND_MOVE, _IK, _FOLLOWS, _IK_TARGET, _HIDDEN, _TWIST, _FOLLOWS_TAIL = 1, 2, 5, 6, 7, 8, 9
_KNEE = ((-math.pi, 0.0, 0.0), (-math.radians(0.5), 0.0, 0.0))
_SPHERES = {".sph": 1, ".spa": 2}


def character_from_pmd(file: PmdFile) -> Character:
    """The character a document describes, as `character_from_pmx` reads it.

    Raises:
        FormatError: as there, or materials that claim parts of a face.
    """
    return character_from_pmx(pmx_from_pmd(file), document=file)


def pmx_from_pmd(file: PmdFile) -> PmxFile:
    """The PMX 2.0 that says what the PMD says.

    A bone that is the goal of several IK chains keeps the first; each other gets a hidden bone
    of its own, after all others, that moves with the goal.

    >>> import numpy as np
    >>> from bunraku.formats.mmd.pmd import BONE
    >>> knee = np.array([("左ひざ".encode("cp932"), NONE, 0, 1, 0, (0, 4, 0))], BONE)
    >>> pmx_from_pmd(PmdFile("ミク", bones=knee)).bones[0].name
    '左ひざ'
    """
    notes = list(file.notes)
    textures = _Textures()
    english = file.english
    materials = tuple(_material(file, i, textures) for i in range(len(file.materials)))
    made = PmxFile(
        str(file.name),
        str(english.name) if english else "",
        str(file.comment),
        str(english.comment) if english else "",
        vertices=_vertices(file),
        faces=file.faces.astype(np.int32),
        materials=materials,
        textures=tuple(textures.paths),
        bones=_bones(file),
        morphs=_morphs(file, notes),
        frames=_frames(file),
        bodies=tuple(_body(file, record) for record in file.bodies),
        joints=tuple(_joint(record) for record in file.joints),
        source=file.source,
        folder=file.folder,
    )
    return replace(made, notes=(*notes, *check_references(made)))


def _vertices(file: PmdFile) -> PmxVertices:
    records = file.vertices
    first = records["weight"] / np.float32(100)
    bones = np.zeros((len(records), 4), np.int32)
    bones[:, :2] = np.where(records["bones"] == NONE, -1, records["bones"].astype(np.int32))
    single = (first == 1) | (bones[:, 0] == bones[:, 1])
    weights = np.zeros((len(records), 4), np.float32)
    weights[:, 0] = np.where(single, 1, first)
    weights[:, 1] = 1 - weights[:, 0]
    bones[single, 1] = 0
    bones[(weights == 0) | (bones >= len(file.bones))] = (
        0  # of no weight: any number may stand there
    )
    return PmxVertices(
        np.ascontiguousarray(records["position"]),
        np.ascontiguousarray(records["normal"]),
        np.ascontiguousarray(records["uv"]),
        np.zeros((len(records), 0, 4), np.float32),
        np.where(single, Deform.BDEF1, Deform.BDEF2).astype(np.uint8),
        bones,
        weights,
        np.zeros((0, 3, 3), np.float32),
        np.where(records["edge_off"], 0, 1).astype(np.float32),
    )


@dataclass
class _Textures:
    """The textures that materials name, each once."""

    paths: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, path: str) -> int:
        if not path:
            return -1
        if path not in self.numbers:
            self.numbers[path] = len(self.paths)
            self.paths.append(path)
        return self.numbers[path]


def _material(file: PmdFile, index: int, textures: _Textures) -> PmxMaterial:
    record = file.materials[index]
    texture, sphere, mode = "", "", 0
    for path in str(decode_field(record["texture"])).split("*"):
        kind = _SPHERES.get(path[-4:].lower())
        if kind:
            sphere, mode = path, kind
        else:
            texture = path
    flags = 0 if record["diffuse"][3] == 1 else MaterialFlag.DOUBLE_SIDED
    flags |= MaterialFlag.CASTS_SHADOW | MaterialFlag.RECEIVES_SHADOW
    if record["edge"]:
        flags |= MaterialFlag.EDGE | MaterialFlag.GROUND_SHADOW
    number = int(record["toon"])
    toon = str(decode_field(file.toons[number])) if 0 <= number < len(file.toons) else ""
    shared = number >= 0 and toon in ("", f"toon{number + 1:02}.bmp")
    return PmxMaterial(
        f"材質{index + 1}",
        diffuse=tuple(record["diffuse"].tolist()),
        specular=tuple(record["specular"].tolist()),
        specular_power=float(record["specular_power"]),
        ambient=tuple(record["ambient"].tolist()),
        flags=int(flags),
        texture=textures.number(texture),
        sphere_texture=textures.number(sphere),
        sphere_mode=mode,
        shared_toon=shared,
        toon=number if shared else textures.number(toon),
        index_count=int(record["index_count"]),
    )


def _bones(file: PmdFile) -> tuple[PmxBone, ...]:
    names = [str(decode_field(raw)) for raw in file.bones["name"].tolist()]
    english = (
        [str(decode_field(raw)) for raw in file.english.bones.tolist()] if file.english else []
    )
    parents = np.where(file.bones["parent"] == NONE, -1, file.bones["parent"].astype(np.int32))
    chains: dict[int, PmxIk] = {}
    further: list[tuple[int, PmxIk]] = []
    layers, layer, last = np.zeros(len(names), np.int32), 1, -1
    for ik in file.iks:
        layer, last = layer + (ik.bone < last), ik.bone
        layers[ik.bone] = layer
        if ik.bone in chains:
            further.append((ik.bone, _ik(ik, names)))
        else:
            chains[ik.bone] = _ik(ik, names)
    _raise_children(layers, parents.tolist())
    bones = [
        replace(
            _bone(file, i, english[i] if english else "", chains.get(i)),
            parent=int(parents[i]),
            layer=int(layers[i]),
        )
        for i in range(len(names))
    ]
    flags = int(BoneFlag.ROTATABLE | BoneFlag.MOVABLE | BoneFlag.IK)
    for goal, chain in further:
        of = bones[goal]
        extra = PmxBone(
            f"{of.name}+", of.name_english, of.position, goal, of.layer, flags, ik=chain
        )
        bones.append(extra)
    return tuple(bones)


def _raise_children(layers: Array, parents: list[int]) -> None:
    """Put no bone into an earlier layer than its parent."""
    children: list[list[int]] = [[] for _ in parents]
    waiting: list[int] = []
    for bone, parent in enumerate(parents):
        (waiting if parent < 0 else children[parent]).append(bone)
    for bone in waiting:  # grows while it is walked; what hangs on a cycle is not reached
        layers[children[bone]] = np.maximum(layers[children[bone]], layers[bone])
        waiting += children[bone]


def _ik(ik: PmdIk, names: list[str]) -> PmxIk:
    links = tuple(
        PmxIkLink(bone, _KNEE if names[bone].endswith("ひざ") else None)
        for bone in ik.links.tolist()
    )
    return PmxIk(ik.target, ik.iterations, 4 * ik.weight, links)


def _bone(file: PmdFile, index: int, english: str, ik: PmxIk | None) -> PmxBone:
    record = file.bones[index]
    kind, link, tail = (int(record[what]) for what in ("kind", "link", "tail"))
    count = len(file.bones)
    flags = int(BoneFlag.ROTATABLE)
    if kind in (_ROTATE_AND_MOVE, _IK):
        flags |= BoneFlag.MOVABLE
    if kind not in (_IK_TARGET, _HIDDEN, _FOLLOWS_TAIL):
        flags |= BoneFlag.VISIBLE | BoneFlag.OPERABLE
    append, axis = None, None
    if kind == _FOLLOWS and link < count:
        append = (link, 1.0)
    elif kind == _FOLLOWS_TAIL and tail < count:
        append = (tail, int(np.int16(np.uint16(link))) / 100)
    elif kind == _TWIST and tail < count:
        way = file.bones["position"][tail].astype(np.float64) - record["position"]
        length = float(np.linalg.norm(way))
        axis = _triple(way / length if length > 0 else way)
        flags |= BoneFlag.FIXED_AXIS
    if append is not None:
        flags |= BoneFlag.APPEND_ROTATION
    if ik is not None:
        flags |= BoneFlag.IK
    points = 0 < tail < count and kind != _FOLLOWS_TAIL
    return PmxBone(
        str(decode_field(record["name"])),
        english,
        _triple(record["position"]),
        flags=flags | (BoneFlag.TAIL_IS_BONE if points else 0),
        tail=tail if points else (0.0, 0.0, 0.0),
        append=append,
        fixed_axis=axis,
        ik=ik,
    )


def _morphs(file: PmdFile, notes: list[Note]) -> tuple[PmxMorph, ...]:
    """All skins but the base, whose vertices the others refer to."""
    if not file.skins:
        return ()
    base = file.skins[0].offsets["vertex"].astype(np.int64)
    base = np.where(base < len(file.vertices), base, -1).astype(np.int32)
    morphs = []
    for i, skin in enumerate(file.skins[1:]):
        there = skin.offsets["vertex"] < len(base)
        if not there.all():
            message = f"{int((~there).sum())} offsets lead beyond the base skin; left out"
            notes.append(Note("morph-offsets-dropped", message, f"skins[{i + 1}]"))
        offsets = np.empty(int(there.sum()), OFFSETS[MorphKind.VERTEX])
        offsets["vertex"] = base[skin.offsets["vertex"][there]]
        offsets["offset"] = skin.offsets["offset"][there]
        english = str(decode_field(file.english.skins[i])) if file.english else ""
        morphs.append(PmxMorph(str(skin.name), english, skin.panel, offsets=offsets))
    return tuple(morphs)


def _frames(file: PmdFile) -> tuple[PmxFrame, ...]:
    """`Root`, `表情`, and those of the file."""
    morphs = file.skin_frame[file.skin_frame > 0].astype(np.int32) - 1
    root = PmxFrame("Root", "Root", 1, np.zeros((min(len(file.bones), 1), 2), np.int32))
    faces = PmxFrame("表情", "Exp", 1, np.stack([np.ones_like(morphs), morphs], axis=1))
    frames = [root, faces]
    for i, raw in enumerate(file.frame_names.tolist()):
        bones = file.frame_bones["bone"][file.frame_bones["frame"] == i + 1].astype(np.int32)
        elements = np.stack([np.zeros_like(bones), bones], axis=1)
        english = str(decode_field(file.english.frames[i])) if file.english else ""
        frames.append(PmxFrame(str(decode_field(raw)).strip(), english.strip(), 0, elements))
    return tuple(frames)


def _body(file: PmdFile, record: Any) -> PmxBody:
    bone = int(record["bone"])
    held = bone < len(file.bones)
    position = record["position"].astype(np.float64)
    if held:
        position = position + file.bones["position"][bone]
    numbers = ("mass", "linear_damping", "angular_damping", "restitution", "friction")
    fields: dict[str, Any] = {name: float(record[name]) for name in numbers}
    return PmxBody(
        str(decode_field(record["name"])),
        bone=bone if held else -1,
        group=int(record["group"]),
        mask=int(record["mask"]),
        shape=int(record["shape"]),
        size=_triple(record["size"]),
        position=_triple(position),
        rotation=_triple(record["rotation"]),
        mode=int(record["mode"]),
        **fields,
    )


def _joint(record: Any) -> PmxJoint:
    first, second = record["bodies"].astype(np.int64).tolist()
    names = [name for name in record.dtype.names if name not in ("name", "bodies")]
    vectors: dict[str, Any] = {name: _triple(record[name]) for name in names}
    bodies = [body if body < 2**31 else -1 for body in (first, second)]
    return PmxJoint(
        str(decode_field(record["name"])), body_a=bodies[0], body_b=bodies[1], **vectors
    )


def _triple(values: Array) -> Vec3:
    x, y, z = values.tolist()
    return (x, y, z)
