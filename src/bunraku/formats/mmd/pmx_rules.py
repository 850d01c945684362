"""Which references of a PMX must lead somewhere, and which may not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import FormatError, Note
from bunraku.formats.mmd.pmx import PmxBone, PmxFile
from bunraku.formats.mmd.pmx_morphs import index_of
from bunraku.formats.mmd.pmx_vertices import Deform

Array = npt.NDArray[Any]


def check_references(file: PmxFile) -> list[Note]:
    """Notes on indices beyond the end of their list; -1 always means none.

    Raises:
        FormatError: faces, weights, bones (parent, append, IK) or the faces materials claim
            lead beyond the end: without those a model has no shape or no skeleton.
    """
    _check_faces(file)
    _check_weights(file)
    bones = len(file.bones)
    for i, bone in enumerate(file.bones):
        for what, index in _bone_references(bone):
            if not -1 <= index < bones:
                raise FormatError(
                    f"{file.source}: bone {i}: {what} {index}, but the model has {bones} bones"
                )
    claimed = 0
    for i, material in enumerate(file.materials):
        claimed += material.index_count
        if material.index_count < 0 or material.index_count % 3 or claimed > file.faces.size:
            raise FormatError(
                f"{file.source}: material {i}: claims {material.index_count} of"
                f" {file.faces.size} indices, expected a multiple of 3 that is still there"
            )
    notes: list[Note] = []
    if claimed < file.faces.size:
        left = (file.faces.size - claimed) // 3
        notes.append(Note("faces-without-material", f"no material claims the last {left} faces"))
    for place, what, indices, count in _other_references(file):
        wrong = [index for index in indices if not -1 <= index < count]
        if wrong:
            message = f"{len(wrong)} × {what} beyond the {count} there are: {wrong[0]}"
            notes.append(Note("index-out-of-range", message, place))
    return notes


def _check_faces(file: PmxFile) -> None:
    count = len(file.vertices)
    if not file.faces.size or (file.faces.min() >= 0 and file.faces.max() < count):
        return
    face = int(np.argmax(((file.faces < 0) | (file.faces >= count)).any(axis=1)))
    raise FormatError(
        f"{file.source}: face {face}: vertices {file.faces[face].tolist()}, but there are {count}"
    )


def _check_weights(file: PmxFile) -> None:
    # slots that a deform type does not have are 0, and no bone if there is none
    bones, deform = file.vertices.bones, file.vertices.deform
    if not bones.size or (bones.min() >= -1 and bones.max() < len(file.bones)):
        return
    used = np.array([1, 2, 4, 2, 4], np.int8)[deform]
    wrong = (bones < -1) | (bones >= len(file.bones))
    wrong &= np.arange(4) < used[:, None]
    if wrong.any():
        i = int(np.argmax(wrong.any(axis=1)))
        raise FormatError(
            f"{file.source}: vertex {i}: {Deform(int(deform[i])).name} by bones"
            f" {bones[i, : used[i]].tolist()}, but the model has {len(file.bones)} bones"
        )


def _bone_references(bone: PmxBone) -> Iterator[tuple[str, int]]:
    yield "parent", bone.parent
    if bone.append is not None:
        yield "append parent", bone.append[0]
    if bone.ik is not None:
        yield "IK target", bone.ik.target
        for link in bone.ik.links:
            yield "IK link", link.bone


def _other_references(file: PmxFile) -> Iterator[tuple[str, str, Sequence[int], int]]:
    """Place, what is referred to, indices and how many of that there are.

    Without the morphs of a kind of which all indices are right: looking at each takes longer.
    """
    counts = {
        "vertex": len(file.vertices),
        "bone": len(file.bones),
        "morph": len(file.morphs),
        "material": len(file.materials),
        "body": len(file.bodies),
    }
    for i, material in enumerate(file.materials):
        textures = [material.texture, material.sphere_texture]
        if not material.shared_toon:
            textures.append(material.toon)
        yield f"materials[{i}]", "texture", textures, len(file.textures)
    tails = [bone.tail for bone in file.bones if isinstance(bone.tail, int)]
    yield "bones", "tail", tails, counts["bone"]
    indices: dict[str, list[tuple[int, Array]]] = {}
    for i, morph in enumerate(file.morphs):
        kind = index_of(morph.kind)
        indices.setdefault(kind, []).append((i, morph.offsets[kind]))
    for kind, morphs in indices.items():
        together = np.concatenate([each for _, each in morphs])
        if together.size and (together.min() < -1 or together.max() >= counts[kind]):
            for i, each in morphs:
                yield f"morphs[{i}]", kind, each.tolist(), counts[kind]
    for i, frame in enumerate(file.frames):
        for number, kind in enumerate(("bone", "morph")):
            listed = [index for each, index in frame.elements.tolist() if each == number]
            yield f"frames[{i}]", kind, listed, counts[kind]
    for i, body in enumerate(file.bodies):
        yield f"bodies[{i}]", "bone", [body.bone], counts["bone"]
    for i, joint in enumerate(file.joints):
        yield f"joints[{i}]", "body", [joint.body_a, joint.body_b], counts["body"]
    for i, soft in enumerate(file.soft_bodies):
        yield f"soft_bodies[{i}]", "material", [soft.material], counts["material"]
        yield f"soft_bodies[{i}]", "body", soft.anchors["body"].tolist(), counts["body"]
        yield f"soft_bodies[{i}]", "vertex", soft.anchors["vertex"].tolist(), counts["vertex"]
        yield f"soft_bodies[{i}]", "vertex", soft.pins.tolist(), counts["vertex"]
