"""A character out of a PMX document.

The only place, with its siblings read_*.py, where MMD's units and handedness become the
model's: z is mirrored (`space`), faces are wound the other way, a unit is 0.08 m. Bones and
morphs keep their indices, as nodes and expressions; a PMX is one mesh of one geometry with a
part for each material. What the model has no place for stays in the document.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note, RigError
from bunraku.formats.mmd.left_behind import quoted_comment
from bunraku.formats.mmd.pmx import PmxFile
from bunraku.formats.mmd.read_influences import read_dual, read_influences, read_spherical
from bunraku.formats.mmd.read_morphs import read_expressions, read_targets
from bunraku.formats.mmd.read_rig import read_parents, read_rig
from bunraku.formats.mmd.space import metres, mirrored
from bunraku.formats.mmd.surfaces import read_materials
from bunraku.formats.mmd.textures import read_images
from bunraku.model import (
    Attachment,
    Character,
    Geometry,
    Mesh,
    MorphTarget,
    Part,
    Rig,
    Skeleton,
    Skin,
)
from bunraku.model.humanoid_names import MMD_NAMES, humanoid_by_names

Array = npt.NDArray[Any]


# Numbers out of range are found by their values, not by warnings on the way.
@np.errstate(all="ignore")
def character_from_pmx(file: PmxFile, *, document: object | None = None) -> Character:
    """The character a document describes.

    Bones are nodes without rest rotation; every bone is a joint of the one skin. Textures are
    read from the folder of the file. Rigid bodies, joints and soft bodies are carried, not
    simulated; a note says so.

    Args:
        file: the model.
        document: what the character keeps as its document; the file itself if omitted.

    Raises:
        FormatError: positions that are no numbers, or more than one way to say what is meant.

    >>> from bunraku.formats.mmd import PmxBone, PmxFile
    >>> miku = character_from_pmx(PmxFile("ミク", bones=(PmxBone("頭", position=(0, 20, -1)),)))
    >>> miku.skeleton.translations.tolist()
    [[0.0, 1.6, 0.08]]
    """
    notes = list(file.notes)
    try:
        return _character(file, notes, file if document is None else document)
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None


def _character(file: PmxFile, notes: list[Note], document: object) -> Character:
    name = file.name or PurePath(file.source).stem
    count = len(file.vertices)
    positions = np.array([bone.position for bone in file.bones], np.float64).reshape(-1, 3)
    points = metres(positions)
    skeleton = _skeleton(file, points, notes)
    rig: Rig | None = read_rig(file.bones, notes)
    if not file.bones:
        rig = None
        points = np.zeros((len(skeleton), 3))
    images = read_images(file.textures, file.folder, notes)
    materials = read_materials(file, images, notes)
    numbers, targets = read_targets(file, notes)
    meshes: tuple[Mesh, ...] = ()
    skins: tuple[Skin, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    if count:
        morph_names = tuple(file.morphs[i].name for i in numbers)
        geometry = _geometry(file, tuple(targets), notes)
        meshes = (Mesh(name, (geometry,), _parts(file), morph_names),)
        skins = (_skin(points),)
        attachments = (Attachment(0, 0, 0),)
    _note_carried(file, notes)
    return Character(
        skeleton,
        meshes,
        skins,
        attachments,
        materials,
        images,
        expressions=read_expressions(file, numbers, bool(count), notes),
        rig=rig,
        humanoid=humanoid_by_names(skeleton.names, MMD_NAMES),
        name=name,
        notes=tuple(notes),
        document=document,
    )


def _skeleton(file: PmxFile, points: Array, notes: list[Note]) -> Skeleton:
    if not file.bones:
        if not len(file.vertices):
            return Skeleton((), np.zeros(0, np.int32))
        message = "a model without bones is shown by a node of its own"
        notes.append(Note("node-added", message))
        return Skeleton((file.name,), np.array([-1], np.int32))
    parents = read_parents(file.bones, notes)
    rest = np.where(parents[:, None] >= 0, points - points[parents], points)
    return Skeleton(tuple(bone.name for bone in file.bones), parents, rest)


def _skin(points: Array) -> Skin:
    matrices = np.tile(np.eye(4), (len(points), 1, 1))
    matrices[:, :3, 3] = -points
    return Skin(np.arange(len(points), dtype=np.int32), matrices)


def _geometry(file: PmxFile, targets: tuple[MorphTarget, ...], notes: list[Note]) -> Geometry:
    vertices = file.vertices
    joints, weights = read_influences(vertices, notes)
    normals, uvs = mirrored(vertices.normals).astype(np.float32), vertices.uvs
    extra = vertices.additional_uvs
    for what, array in (("normals", normals), ("uvs", uvs), ("additional_uvs", extra)):
        if not np.isfinite(array).all():
            message = (
                f"{int((~np.isfinite(array)).sum())} numbers of the {what} are none; 0 is used"
            )
            notes.append(Note("numbers-repaired", message, "vertices"))
    if np.nan_to_num(extra[..., 2:]).any():
        message = "the third and fourth numbers of additional UVs are kept in the document only"
        notes.append(Note("uv-components", message, "vertices"))
    sets = (uvs, *(extra[:, i, :2] for i in range(extra.shape[1])))
    return Geometry(
        metres(vertices.positions).astype(np.float32),
        _numbers(normals),
        None,
        tuple(_numbers(each) for each in sets),
        joints=joints,
        weights=weights,
        morphs=targets,
        spherical=read_spherical(vertices, notes),
        dual=read_dual(vertices),
    )


def _numbers(array: Array) -> Array:
    """The array with 0 for what is no number."""
    finite = np.isfinite(array)
    return array if finite.all() else np.where(finite, array, 0)


def _parts(file: PmxFile) -> tuple[Part, ...]:
    """The faces of each material, corners turned round; a last part for those of none."""
    faces = np.ascontiguousarray(file.faces[:, [0, 2, 1]])
    ends = np.cumsum([0] + [material.index_count // 3 for material in file.materials])
    parts = [Part(0, faces[a:b], i) for i, (a, b) in enumerate(pairwise(ends.tolist()))]
    if ends[-1] < len(faces):
        parts.append(Part(0, faces[ends[-1] :]))
    return tuple(parts)


def _note_carried(file: PmxFile, notes: list[Note]) -> None:
    """Say what is in the file but not in the character, its terms of use first."""
    comment = quoted_comment(file)
    if comment:
        notes.append(Note("licence-comment", f"the comment says: {comment}", "comment"))
    bodies = [(len(file.bodies), "rigid bodies"), (len(file.joints), "joints")]
    bodies.append((len(file.soft_bodies), "soft bodies"))
    there = ", ".join(f"{count} {what}" for count, what in bodies if count)
    if there:
        message = f"{there} are kept in the document and not simulated"
        notes.append(Note("physics-carried", message))
