"""Gaze: where a character looks, and what its eyes do for it (VRM 1.0, lookAt).

Yaw and pitch are radians from straight ahead as the head stands: yaw to the character's left and
pitch downwards are positive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model import Character, LookAt, Pose, RangeMap
from bunraku.model.arrays import Float64, checked, per_frame
from bunraku.posing.kinematics import global_transforms
from bunraku.rotation import quaternion

# Below this a limit would divide by nothing: a thousandth of a degree, the least that files mean.
_LEAST_LIMIT = np.radians(0.001)


def gaze_angles(character: Character, pose: Pose, target: npt.ArrayLike) -> tuple[Float64, Float64]:
    """Return yaw and pitch (F,), radians, that look at a point from between the eyes.

    Args:
        character: with a head and a gaze.
        pose: F frames.
        target: (3,) or (F, 3) metres, world space.

    Raises:
        RigError: no head or no gaze, or a target of another shape.

    >>> from bunraku.model import Humanoid, Rig, Skeleton
    >>> none = RangeMap(1.0, 1.0)
    >>> rig = Rig(look_at=LookAt("bone", np.array([0, 0, 0]), none, none, none, none))
    >>> head = Character(Skeleton(("head",), [-1]), rig=rig, humanoid=Humanoid({"head": 0}))
    >>> yaw, pitch = gaze_angles(head, head.rest_pose(), [1, 0, 1])
    >>> np.degrees(yaw).round(6), np.degrees(pitch).round(6)
    (array([45.]), array([-0.]))
    """
    look, head = _gaze(character), _bone(character, "head")
    if head is None:
        raise RigError("gaze: the character has no head")
    points = checked(np.atleast_2d(target), np.float64, (None, 3), "target")
    if len(points) not in (1, pose.frames):
        raise RigError(f"target: expected one or {pose.frames}, found {len(points)}")
    skeleton = character.skeleton
    now = global_transforms(skeleton, pose)[:, head]
    rest = global_transforms(skeleton, character.rest_pose())[0, head, :, :3]
    # The head's own axes at rest may point anywhere: what counts is how it has turned since.
    turned = now[:, :, :3] @ np.linalg.inv(rest)
    eyes = now[:, :, :3] @ look.offset + now[:, :, 3]
    way = np.linalg.solve(turned, (points - eyes)[..., None])[..., 0]
    x, y, z = np.moveaxis(way * _ahead(character), -1, 0)
    return np.arctan2(x, z), np.arctan2(-y, np.hypot(x, z))


def turn_eyes(character: Character, pose: Pose, yaw: npt.ArrayLike, pitch: npt.ArrayLike) -> Pose:
    """Return the pose with the eyes turned, or the four gaze expressions set, by the gaze's maps.

    To be done before expressions are applied. Eyes that the character does not have and
    expressions that it lacks are passed over.

    Args:
        yaw, pitch: () or (F,) radians.

    Raises:
        RigError: the character has no gaze; angles that are not finite, or neither one nor F.

    >>> from bunraku.model import Expression, Rig, Skeleton
    >>> none, half = RangeMap(1.0, 0.0), RangeMap(2.0, 1.0)
    >>> rig = Rig(look_at=LookAt("expression", np.array([0, 0, 0]), none, half, none, none))
    >>> left = (Expression("left", preset="lookLeft"),)
    >>> face = Character(Skeleton(("head",), [-1]), rig=rig, expressions=left)
    >>> turn_eyes(face, face.rest_pose(), 1.0, 0.0).expressions
    array([[0.5]])
    """
    look = _gaze(character)
    yaws, pitches = per_frame(yaw, pose.frames, "yaw"), per_frame(pitch, pose.frames, "pitch")
    if look.kind == "expression":
        return _with_expressions(character, look, pose, yaws, pitches)
    down = _both(pitches, look.down, look.up)
    rotations = np.array(pose.rotations)
    for bone, left, right in (
        ("leftEye", look.outer, look.inner),
        ("rightEye", look.inner, look.outer),
    ):
        node = _bone(character, bone)
        if node is None:
            continue
        side = _both(yaws, left, right)
        turn = quaternion.multiply(
            quaternion.from_axis_angle([0.0, 1, 0], side),
            quaternion.from_axis_angle([float(_ahead(character)[0]), 0, 0], down),
        )
        above = _rest_rotation(character, int(character.skeleton.parents[node]))
        turn = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(turn, above))
        rotations[:, node] = quaternion.multiply(turn, character.skeleton.rotations[node])
    return replace(pose, rotations=rotations)


def _with_expressions(
    character: Character, look: LookAt, pose: Pose, yaws: Float64, pitches: Float64
) -> Pose:
    weights = np.zeros((pose.frames, len(character.expressions)))
    if pose.expressions.shape[1]:
        weights += pose.expressions
    amounts = {
        "lookLeft": _mapped(np.maximum(yaws, 0), look.outer),
        "lookRight": _mapped(np.maximum(-yaws, 0), look.outer),
        "lookDown": _mapped(np.maximum(pitches, 0), look.down),
        "lookUp": _mapped(np.maximum(-pitches, 0), look.up),
    }
    for i, expression in enumerate(character.expressions):
        if expression.preset in amounts:
            weights[:, i] = amounts[expression.preset]
    return replace(pose, expressions=weights)


def _both(angles: Float64, positive: RangeMap, negative: RangeMap) -> Float64:
    """Angles mapped by one range above zero and by another below, the sign kept."""
    return np.where(angles > 0, _mapped(angles, positive), -_mapped(angles, negative))


def _mapped(angles: Float64, to: RangeMap) -> Float64:
    limit = max(to.limit, _LEAST_LIMIT)
    return np.asarray(np.minimum(np.abs(angles), to.limit) / limit * to.output, np.float64)


def _gaze(character: Character) -> LookAt:
    if character.rig is None or character.rig.look_at is None:
        raise RigError("gaze: the character has none")
    return character.rig.look_at


def _bone(character: Character, bone: str) -> int | None:
    return None if character.humanoid is None else character.humanoid.bones.get(bone)


def _ahead(character: Character) -> Float64:
    """What turns the way a character faces onto +Z: a half turn about Y where it faces −Z."""
    return np.array([1.0, 1, 1] if character.facing == "+Z" else [-1.0, 1, -1])


def _rest_rotation(character: Character, node: int) -> Float64:
    turn = quaternion.identity()
    while node >= 0:
        turn = quaternion.multiply(character.skeleton.rotations[node], turn)
        node = int(character.skeleton.parents[node])
    return turn.astype(np.float64, copy=False)
