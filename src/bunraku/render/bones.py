"""A skeleton in the place of the skin: what a motion looks like before anyone wears it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model import (
    Attachment,
    Character,
    Geometry,
    GroupBind,
    JointBind,
    Material,
    Mesh,
    Part,
    Skin,
)
from bunraku.model.arrays import Float64, Int32

BONE = Material("bone", (0.62, 0.56, 0.44, 1.0))
# A slim octahedron: widest at this share of its length, and so much of its length to each side.
WIDEST, HALF_WIDTH = 0.15, 0.07


def as_bones(character: Character) -> Character:
    """The same character with a slim octahedron for every bone instead of its meshes.

    A bone goes from a node to a child, and both hold their end: it stretches where a motion
    moves the child. All nodes of the shown scene count, or, if there are skins, their joints and
    what lies between joints; of a humanoid not what leads to its hips, which is where it stands
    and no limb. Rig, expressions and clips act on it as on the character itself.

    Raises:
        RigError: no two nodes stand apart.

    >>> import bunraku
    >>> bones = as_bones(bunraku.make_puppet(0.5))
    >>> bones.meshes[-1].name, len(bones.attachments)
    ('bones', 1)
    """
    skeleton = character.skeleton
    shown = _shown(character)
    above = skeleton.parents
    length = np.linalg.norm(skeleton.translations, axis=1)
    tips = np.flatnonzero(shown & (above >= 0) & shown[above] & (length > 0)).astype(np.int32)
    tips = np.setdiff1d(tips, _stand(character))
    if not len(tips):
        nothing = "bones" if character.attachments else "mesh and no bones"
        raise RigError(f"{character.name or 'the character'}: has no {nothing} to show")
    mesh = Mesh(
        "bones",
        (_octahedra(skeleton.translations[tips], above[tips], tips),),
        (Part(0, _faces(len(tips)), len(character.materials)),),
    )
    root = int(next(node for node in skeleton.order if shown[node]))
    return replace(
        character,
        meshes=(*character.meshes, mesh),
        # In the joints' own spaces the inverse bind matrices are 1, whatever the scale above.
        skins=(*character.skins, Skin(np.arange(len(skeleton), dtype=np.int32), name="bones")),
        attachments=(Attachment(root, len(character.meshes), len(character.skins)),),
        materials=(*character.materials, BONE),
        # What changes a mesh or its paint has nothing left to act on.
        expressions=tuple(
            replace(e, binds=tuple(b for b in e.binds if isinstance(b, JointBind | GroupBind)))
            for e in character.expressions
        ),
        clips=tuple(
            replace(clip, tracks=tuple(t for t in clip.tracks if t.path != "weights"))
            for clip in character.clips
        ),
        document=None,
    )


def _shown(character: Character) -> npt.NDArray[np.bool_]:
    """Which nodes may be an end of a bone."""
    skeleton = character.skeleton
    parents, order = skeleton.parents, skeleton.order
    shown = np.zeros(len(skeleton), np.bool_)
    scene = character.default_scene
    if scene is not None:
        shown[character.scenes[scene].roots] = True
    for node in order:
        if parents[node] >= 0:
            shown[node] |= shown[parents[node]]
    if not character.skins:
        return shown
    joint = np.zeros(len(skeleton), np.bool_)
    joint[np.concatenate([skin.joints for skin in character.skins])] = True
    below, carries = joint.copy(), joint.copy()
    for node in order:
        if parents[node] >= 0:
            below[node] |= below[parents[node]]
    for node in order[::-1]:
        if parents[node] >= 0:
            carries[parents[node]] |= carries[node]
    return shown & below & carries


def _stand(character: Character) -> list[int]:
    """The hips of a humanoid and the nodes above them."""
    humanoid, stand = character.humanoid, []
    node = -1 if humanoid is None else humanoid.bones.get("hips", -1)
    while node >= 0:
        stand.append(node)
        node = int(character.skeleton.parents[node])
    return stand


def _octahedra(to: Float64, heads: Int32, tips: Int32) -> Geometry:
    """Six vertices per bone: its head, four around it, its tip; in their joints' own spaces."""
    length = np.linalg.norm(to, axis=1, keepdims=True)
    along = to / length
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    other = np.cross(along, across)
    wide = HALF_WIDTH * length
    ring = [WIDEST * to + wide * side for side in (across, other, -across, -other)]
    corners = np.stack([0 * to, *ring, 0 * to], axis=1)
    joints = np.stack([heads] * 5 + [tips], axis=1)
    return Geometry(
        corners.reshape(-1, 3),
        joints=joints.reshape(-1, 1),
        weights=np.ones((corners.shape[0] * 6, 1)),
    )


def _faces(count: int) -> Int32:
    around = [(i, i % 4 + 1) for i in range(1, 5)]
    faces = [(0, b, a) for a, b in around] + [(5, a, b) for a, b in around]
    return np.asarray(
        (np.array(faces, np.int32) + 6 * np.arange(count)[:, None, None]).reshape(-1, 3), np.int32
    )
