"""A character out of a glTF document.

Everything the model has a place for is read; what it has none for stays in the document,
and a note says so where it would be missed. Specification: glTF 2.0, section 3.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from bunraku.errors import FormatError, RigError
from bunraku.formats.gltf.accessors import AccessorReader
from bunraku.formats.gltf.context import KINDS, Context
from bunraku.formats.gltf.document import GltfFile
from bunraku.formats.gltf.node_rules import TRS, hidden_nodes, parents_of
from bunraku.formats.gltf.read_animations import AnimationReader
from bunraku.formats.gltf.read_meshes import MORPHED, MeshReader
from bunraku.formats.gltf.read_surfaces import read_image, read_material
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Geometry,
    Scene,
    Skeleton,
    Skin,
)
from bunraku.model.arrays import Float64
from bunraku.rotation import quaternion

Tree = dict[str, Any]

# Matrices are stored as float32: a product of rotation and scale is off by a few of its steps.
SHEAR_TOLERANCE = 1e-5


# Numbers out of range are found by their values, not by warnings on the way.
@np.errstate(all="ignore")
def character_from_gltf(file: GltfFile) -> Character:
    """The character a document describes; `document` of the result is the file itself.

    Nodes, meshes, skins, materials, images and animations keep their indices.

    Raises:
        FormatError: data that contradict themselves (indices out of range, times that run
            back, positions that are not numbers, more data than the file may ask for).
        UnsupportedError: compressed data for which this installation has no decoder.

    >>> from bunraku.formats.gltf import read_gltf
    >>> file = read_gltf(b'{"asset": {"version": "2.0"}, "nodes": [{"translation": [0, 1, 0]}]}')
    >>> character_from_gltf(file).skeleton.translations
    array([[0., 1., 0.]])
    """
    reader = AccessorReader(file)
    context = _context(file)
    tree = file.json
    meshes = MeshReader(reader, context)
    animations = AnimationReader(reader, context)
    try:
        skeleton = read_skeleton(tree, context)
        model_meshes = tuple(meshes.mesh(i) for i in range(context.counts["meshes"]))
        skins = tuple(_skin(reader, i, context) for i in range(context.counts["skins"]))
        attachments = _attachments(tree, context)
        for attachment in attachments:
            if attachment.skin is not None:
                joints = len(skins[attachment.skin].joints)
                for geometry in model_meshes[attachment.mesh].geometries:
                    if meshes.highest_slot(geometry) >= joints:
                        mesh = f"meshes[{attachment.mesh}]"
                        if name := model_meshes[attachment.mesh].name:
                            mesh += f" ({name[:80]!r})"
                        vertex, slot = _first_beyond(geometry, joints)
                        raise FormatError(
                            reader.where(
                                f"nodes[{attachment.node}]: its mesh uses joint slot {slot}, but"
                                f" skins[{attachment.skin}] has {joints} joints; first at vertex"
                                f" {vertex} of {mesh}"
                            )
                        )
        materials = tuple(
            read_material(tree, material, ("materials", i), context)
            for i, material in enumerate(tree.get("materials", ()))
        )
        images = tuple(read_image(reader, i, context) for i in range(context.counts["images"]))
        clips = tuple(animations.clip(i) for i in range(context.counts["animations"]))
        scenes = tuple(
            Scene(
                np.array([*dict.fromkeys(scene.get("nodes", ()))], np.int32), scene.get("name", "")
            )
            for scene in tree.get("scenes", ())
        )
        _note_carried(tree, context)
        return Character(
            skeleton,
            model_meshes,
            skins,
            attachments,
            materials,
            images,
            scenes,
            tree.get("scene", 0) if scenes else None,
            clips,
            name=PurePath(file.source).stem,
            notes=(*file.notes, *context.all_notes()),
            document=file,
        )
    except RigError as error:
        raise FormatError(f"{file.source}: {error}") from None


@np.errstate(all="ignore")
def clips_from_gltf(file: GltfFile) -> tuple[Clip, ...]:
    """Only the animations of a document.

    They leave their file: targets are the names of nodes, as far as a name is there and tells
    which, and else their indices.
    """
    animations = AnimationReader(AccessorReader(file), _context(file))
    clips = [animations.clip(i) for i in range(len(file.json.get("animations", ())))]
    names = [node.get("name", "") for node in file.json.get("nodes", ())]
    count = Counter(names)
    targets: list[int | str] = [
        name if name and count[name] == 1 else node for node, name in enumerate(names)
    ]
    return tuple(
        replace(
            clip,
            tracks=tuple(
                replace(track, target=targets[int(track.target)]) for track in clip.tracks
            ),
        )
        for clip in clips
    )


def _context(file: GltfFile) -> Context:
    return Context(file.source, {kind: len(file.json.get(kind, ())) for kind in KINDS})


def read_skeleton(tree: Tree, context: Context) -> Skeleton:
    """All nodes; matrices are split into translation, rotation and scale."""
    nodes = tree.get("nodes", [])
    count = len(nodes)
    translations = np.zeros((count, 3))
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    scales = np.ones((count, 3))
    matrices = []
    for i, node in enumerate(nodes):
        if "matrix" in node and node.keys().isdisjoint(TRS):
            matrices.append(i)
        if "translation" in node:
            translations[i] = node["translation"]
        if "rotation" in node:
            rotations[i] = node["rotation"]
        if "scale" in node:
            scales[i] = node["scale"]
    if matrices:
        columns = np.array([nodes[i]["matrix"] for i in matrices], np.float64)
        parts = decompose(columns.reshape(-1, 4, 4).transpose(0, 2, 1))
        translations[matrices], rotations[matrices], scales[matrices], errors = parts
        for i, error in zip(matrices, errors.tolist(), strict=True):
            if error > SHEAR_TOLERANCE:
                message = (
                    "has shear or a projection that translation, rotation and scale cannot"
                    f" express ({error:.2g} of its size is left out); the nearest is used"
                )
                context.note("matrix-not-trs", ("nodes", i, "matrix"), message)
    lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
    off = np.abs(lengths[:, 0] - 1) > 1e-9
    rotations[off] /= lengths[off]
    names = tuple(node.get("name", "") for node in nodes)
    return Skeleton(names, np.array(parents_of(tree), np.int32), translations, rotations, scales)


def decompose(
    matrices: Float64,
) -> tuple[Float64, Float64, Float64, Float64]:
    """Translation, rotation and scale (N, ·) nearest to matrices (N, 4, 4).

    A mirror goes into the x scale. The last array (N,) says what is lost: the largest element
    of matrix − product, relative to the largest element of its upper 3×3 block.

    >>> t, r, s, lost = decompose(np.diag([-2.0, 2, 2, 1])[None])
    >>> s.tolist(), float(lost[0])
    ([[-2.0, 2.0, 2.0]], 0.0)
    """
    block = matrices[:, :3, :3]
    scales: Float64 = np.sqrt((block * block).sum(axis=1))
    scales[np.linalg.det(block) < 0, 0] *= -1
    directions = block / np.where(scales == 0, 1, scales)[:, None, :]
    gram = directions.transpose(0, 2, 1) @ directions
    if not np.isfinite(gram).all():
        raise RigError("a node matrix holds numbers out of range")
    askew = np.abs(gram - np.eye(3)).max(axis=(1, 2)) > 1e-6
    if askew.any():
        u, _, vt = np.linalg.svd(directions[askew])
        u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
        directions[askew] = u @ vt
        scales[askew] = np.einsum("nij,nij->nj", directions[askew], block[askew])
    product = matrices.copy()
    product[:, :3, :3] = directions * scales[:, None, :]
    product[:, 3] = [0, 0, 0, 1]
    size = np.abs(block).max(axis=(1, 2))
    lost: Float64 = np.abs(matrices - product).max(axis=(1, 2)) / np.where(size == 0, 1, size)
    rotations = quaternion.from_matrix(directions).astype(np.float64, copy=False)
    return matrices[:, :3, 3].copy(), rotations, scales, lost


def _skin(reader: AccessorReader, index: int, context: Context) -> Skin:
    skin = reader.file.json["skins"][index]
    joints = np.array(skin["joints"], np.int32)
    reader.budget.spend(3 * 128 * len(joints), f"skins[{index}]")
    matrices = None
    if "inverseBindMatrices" in skin:
        stored = reader.raw(skin["inverseBindMatrices"])[: len(joints)]
        matrices = stored.astype(np.float64)
        off = np.abs(matrices[:, 3] - [0, 0, 0, 1]).max(axis=1)
        bad = np.flatnonzero(~(off <= 1e-6))
        if bad.size and np.isfinite(matrices).all():
            row = matrices[bad[0], 3].tolist()
            message = (
                f"the last row of {bad.size} matrices is not 0 0 0 1 (slot {bad[0]}: {row});"
                " it is ignored"
            )
            context.note("inverse-bind-last-row", ("skins", index), message)
            matrices[:, 3] = [0, 0, 0, 1]
    return Skin(joints, matrices, skin.get("name", ""))


def _attachments(tree: Tree, context: Context) -> tuple[Attachment, ...]:
    """Which node shows which mesh; default weights: the node's, else the mesh's, else 0."""
    attachments = []
    hidden = hidden_nodes(tree)
    for i, node in enumerate(tree.get("nodes", ())):
        if "mesh" not in node:
            continue
        weights = None
        if "weights" in node:
            primitives = tree["meshes"][node["mesh"]]["primitives"]
            weights = np.zeros(max(len(primitive.get("targets", ())) for primitive in primitives))
            given = node["weights"][: len(weights)]
            weights[: len(given)] = given
        attachments.append(Attachment(i, node["mesh"], node.get("skin"), weights, i not in hidden))
    return tuple(attachments)


def _first_beyond(geometry: Geometry, joints: int) -> tuple[int, int]:
    """The first vertex that a slot from `joints` on holds, and that slot."""
    assert geometry.joints is not None
    assert geometry.weights is not None
    beyond = (geometry.joints >= joints) & (geometry.weights > 0)
    vertex, column = np.argwhere(beyond)[0]
    return int(vertex), int(geometry.joints[vertex, column])


def _note_carried(tree: Tree, context: Context) -> None:
    """Say what is in the file but not in the character."""
    cameras = len(tree.get("cameras", ()))
    if cameras:
        message = f"{cameras} cameras are kept in the document, not in the character"
        context.note("carried", ("cameras",), message)
    for i, node in enumerate(tree.get("nodes", ())):
        if "EXT_mesh_gpu_instancing" in node.get("extensions", {}):
            message = "its mesh is drawn once; the instances are kept in the document"
            context.note("instances-carried", ("nodes", i), message)
    for i, mesh in enumerate(tree.get("meshes", ())):
        names = sorted(
            {name for p in mesh["primitives"] for name in p["attributes"] if name.startswith("_")}
        )
        if names:
            message = f"the attributes {', '.join(names)[:120]} are kept in the document"
            context.note("attributes-carried", ("meshes", i), message)
        targets = [target for p in mesh["primitives"] for target in p.get("targets", ())]
        names = sorted({name for target in targets for name in target if name not in MORPHED})
        if names:
            message = (
                f"displacements of {', '.join(names)[:120]} are kept in the document, not shown"
            )
            context.note("displacements-carried", ("meshes", i), message)
