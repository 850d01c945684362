"""The puppet itself: shells put together to a character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from bunraku.demo import atlas, costume, hair, head, limbs, weights
from bunraku.demo.figure import MESHES, make_skeleton, make_skin
from bunraku.demo.forms import Detail
from bunraku.demo.motion import make_clips
from bunraku.demo.shells import Shell
from bunraku.errors import RigError
from bunraku.model.arrays import Float64, Int32
from bunraku.model.character import Attachment, Character
from bunraku.model.material import Image, Material
from bunraku.model.mesh import Geometry, Mesh, MorphTarget, Part

MORPHS = ("blink", "smile")


def figure_shells(detail: float = 1.0) -> list[Shell]:
    """Every shell but the limbs: costume, head, hands, feet."""
    fine = _detail(detail)
    eye = head.eye(fine)
    shells = [
        costume.trunk(fine),
        costume.skirt(fine),
        *_both([costume.sleeve(fine)]),
        costume.sash(fine),
        *costume.bow(fine),
        *costume.collars(fine),
        head.neck(fine),
        head.head(fine),
        eye,
        eye.mirror("rightEye"),
        head.lips(fine),
        *hair.hair(fine),
        *hair.ornaments(fine),
    ]
    return shells + _both(limbs.fingers(fine)) + _both(limbs.foot(fine))


def limb_shells(detail: float = 1.0) -> list[Shell]:
    """Arms and legs, in the order of `MESHES[1:]`."""
    fine = _detail(detail)
    return _both([limbs.arm(fine), limbs.leg(fine)])


def make_puppet(detail: float = 1.0) -> Character:
    """Make the puppet: 1.6 m tall, T-pose, facing +Z with its left at +X, feet on y = 0.

    Joints have VRM humanoid names and identity rest rotations. The meshes are "figure" (with
    the morph targets "blink" and "smile") and the limbs "leftArm", "rightArm", "leftLeg" and
    "rightLeg", each limb one closed shell. The result is the same, bit for bit, at every call.

    Args:
        detail: 1 gives about 6,400 vertices; the count grows with its square.

    Raises:
        RigError: detail is not between 0.5 and 8.

    >>> puppet = make_puppet(0.5)
    >>> [mesh.name for mesh in puppet.meshes]
    ['figure', 'leftArm', 'rightArm', 'leftLeg', 'rightLeg']
    """
    figure = figure_shells(detail)
    meshes = [_mesh("figure", figure, MORPHS, (_blink(figure), _smile(figure)))]
    meshes += [_mesh(shell.name, [shell]) for shell in limb_shells(detail)]
    skeleton = make_skeleton()
    return Character(
        skeleton,
        tuple(meshes),
        (make_skin(),),
        tuple(Attachment(skeleton.index(name), i, 0) for i, name in enumerate(MESHES)),
        (Material("painted", image=0),),
        (Image(atlas.paint(), "image/png", "atlas"),),
        clips=make_clips(),
        name="puppet",
    )


def _detail(detail: float) -> Detail:
    if not 0.5 <= detail <= 8:
        raise RigError(f"puppet: expected a detail of 0.5 … 8, found {detail}")
    return partial(_even, detail)


def _even(detail: float, count: int) -> int:
    return max(4, 2 * round(count * detail / 2))


def _both(left: Sequence[Shell]) -> list[Shell]:
    """Left shells, each followed by its mirror image."""
    return [
        shell
        for one in left
        for shell in (one, one.mirror("right" + one.name.removeprefix("left")))
    ]


def _mesh(
    name: str,
    shells: Sequence[Shell],
    morph_names: tuple[str, ...] = (),
    morphs: tuple[MorphTarget, ...] = (),
) -> Mesh:
    """One geometry of all shells, in order, and one part."""
    starts = _starts(shells)
    positions = np.concatenate([shell.positions for shell in shells])
    faces = np.concatenate(
        [shell.faces + start for shell, start in zip(shells, starts, strict=True)]
    )
    slots, values = weights.influences(np.concatenate([shell.weights for shell in shells]))
    geometry = Geometry(
        positions.astype(np.float32),
        vertex_normals(positions, faces).astype(np.float32),
        uvs=(np.concatenate([shell.uvs for shell in shells]).astype(np.float32),),
        joints=slots,
        weights=values,
        morphs=morphs,
    )
    return Mesh(name, (geometry,), (Part(0, faces, 0),), morph_names)


def vertex_normals(positions: Float64, faces: Int32) -> Float64:
    """Unit normals (V, 3): the sum of the adjoining faces' normals, weighted by their areas."""
    corners = positions[faces]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.stack(
        [
            np.bincount(faces.ravel(), np.repeat(areas[:, axis], 3), len(positions))
            for axis in range(3)
        ],
        -1,
    )
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


def _starts(shells: Sequence[Shell]) -> list[int]:
    return [0, *np.cumsum([len(shell.positions) for shell in shells])[:-1].tolist()]


def _moved(shells: Sequence[Shell], moves: dict[str, Float64]) -> MorphTarget:
    """A morph target of the vertices that move, with the change of their normals."""
    indices, deltas, turns = [], [], []
    for shell, start in zip(shells, _starts(shells), strict=True):
        if shell.name not in moves:
            continue
        delta = moves[shell.name]
        before = vertex_normals(shell.positions, shell.faces)
        after = vertex_normals(shell.positions + delta, shell.faces)
        indices.append(np.arange(start, start + len(delta)))
        deltas.append(delta)
        turns.append(after - before)
    return MorphTarget(
        np.concatenate(indices), positions=np.concatenate(deltas), normals=np.concatenate(turns)
    )


def _blink(shells: Sequence[Shell]) -> MorphTarget:
    """The almonds close to a line that hangs down a little, like lashes."""
    moves = {}
    for shell in shells:
        if shell.name in ("leftEye", "rightEye"):
            side = 1 if shell.name == "leftEye" else -1
            x = shell.positions[:, 0] - side * head.EYE[0]
            y = shell.positions[:, 1] - head.EYE[1]
            line = -0.0062 + 0.004 * (x / 0.0205) ** 2 + 0.05 * side * x
            delta = np.zeros_like(shell.positions)
            delta[:, 1] = line + 0.16 * y - y
            moves[shell.name] = delta
    return _moved(shells, moves)


def _smile(shells: Sequence[Shell]) -> MorphTarget:
    """The corners of the mouth go out and up, following the cheeks back."""
    lips = next(shell for shell in shells if shell.name == "lips")
    x, y = lips.positions[:, 0], lips.positions[:, 1]
    share = np.abs(x) / 0.0135
    after_x, after_y = x * 1.3, y + 0.0048 * share**1.6 - 0.0012 * (1 - share)
    delta = np.stack(
        [
            after_x - x,
            after_y - y,
            head.face_depth(after_x, after_y) - head.face_depth(x, y),
        ],
        -1,
    )
    return _moved(shells, {"lips": delta})
