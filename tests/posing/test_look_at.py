"""Gaze, against worked angles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.errors import RigError
from bunraku.model import (
    Character,
    Expression,
    Humanoid,
    LookAt,
    RangeMap,
    Rig,
    Skeleton,
)
from bunraku.posing import global_transforms
from bunraku.posing.look_at import gaze_angles, turn_eyes
from bunraku.rotation import quaternion

INNER, OUTER = RangeMap(np.radians(90), np.radians(8)), RangeMap(np.radians(90), np.radians(10))
DOWN, UP = RangeMap(np.radians(60), np.radians(12)), RangeMap(np.radians(60), np.radians(14))
OFFSET = np.array([0, 0.06, 0.1])
PRESETS = ("lookUp", "lookDown", "lookLeft", "lookRight")
BONES = Humanoid({"head": 0, "leftEye": 1, "rightEye": 2})


def head(kind="bone", facing="+Z", seed=None) -> Character:
    sign = 1 if facing == "+Z" else -1
    turns = np.tile([0, 0, 0, 1.0], (3, 1))
    if seed is not None:
        turns = Rotation.random(3, random_state=seed).as_quat()
    return Character(
        Skeleton(
            ("head", "left", "right"),
            [-1, 0, 0],
            np.array(
                [[0, 1.4, 0], [0.03 * sign, 0.06, 0.1 * sign], [-0.03 * sign, 0.06, 0.1 * sign]]
            ),
            turns,
        ),
        expressions=tuple(Expression(name, preset=name) for name in PRESETS),
        rig=Rig(look_at=LookAt(kind, OFFSET * [1, 1, sign], INNER, OUTER, DOWN, UP)),
        humanoid=BONES,
        facing=facing,
    )


def test_characters_without_gaze_or_head_are_refused():
    bare = Character(Skeleton(("root",), [-1]))
    with pytest.raises(RigError, match="the character has none"):
        turn_eyes(bare, bare.rest_pose(), 0, 0)
    headless = replace(head(), humanoid=None)
    with pytest.raises(RigError, match="no head"):
        gaze_angles(headless, headless.rest_pose(), [0, 0, 1])
    with pytest.raises(RigError, match="target"):
        gaze_angles(head(), head().rest_pose(), [0, 0])
    with pytest.raises(RigError, match="target: expected one or 1, found 2"):
        gaze_angles(head(), head().rest_pose(), [[0, 0, 1], [0, 0, 1]])
    with pytest.raises(RigError, match="yaw: expected one or 1, found 2"):
        turn_eyes(head(), head().rest_pose(), [0, 0], 0)
    with pytest.raises(RigError, match="pitch: expected one finite"):
        turn_eyes(head(), head().rest_pose(), 0, np.nan)


@pytest.mark.parametrize(
    ("way", "yaw", "pitch"),
    [
        ((0, 0, 1), 0, 0),
        ((1, 0, 1), 45, 0),
        ((-1, 0, 0), -90, 0),
        ((0, -1, 1), 0, 45),
        ((0, 3, 3), 0, -45),
    ],
)
@pytest.mark.parametrize("facing", ["+Z", "-Z"])
def test_left_and_down_are_positive_whichever_way_the_character_faces(way, yaw, pitch, facing):
    character = head(facing=facing)
    sign = 1 if facing == "+Z" else -1
    eyes = np.array([0, 1.46, 0.1 * sign])
    target = eyes + np.array(way) * [sign, 1, sign]
    angles = gaze_angles(character, character.rest_pose(), target)
    np.testing.assert_allclose(np.degrees(angles)[:, 0], [yaw, pitch], atol=1e-10)


def test_gaze_is_measured_from_how_the_head_has_turned():
    character = head(seed=3)
    rest = character.rest_pose()
    eyes = global_transforms(character.skeleton, rest)[0, 0] @ [*OFFSET, 1]
    nod = quaternion.from_axis_angle([1, 0, 0], 0.3)
    rotations = np.array(rest.rotations)
    rotations[:, 0] = quaternion.multiply(nod, rotations[:, 0])
    nodded = replace(rest, rotations=rotations)
    at_rest = gaze_angles(character, rest, eyes + [0, 0, 2.0])
    np.testing.assert_allclose(at_rest, 0, atol=1e-14)
    moved = global_transforms(character.skeleton, nodded)[0, 0] @ [*OFFSET, 1]
    np.testing.assert_allclose(
        gaze_angles(character, nodded, moved + [0, 0, 2.0]), [[0], [-0.3]], atol=1e-14
    )


def test_eyes_turn_by_their_maps_and_no_further_than_the_limit():
    character = head()
    pose = turn_eyes(character, character.rest_pose(), np.radians(45), np.radians(-90))
    up = quaternion.from_axis_angle([1, 0, 0], np.radians(-14))
    for node, degrees in ((1, 5), (2, 4)):
        side = quaternion.from_axis_angle([0, 1, 0], np.radians(degrees))
        np.testing.assert_allclose(
            pose.rotations[0, node], quaternion.multiply(side, up), atol=1e-15
        )
    pose = turn_eyes(character, character.rest_pose(), np.radians(-45), np.radians(30))
    down = quaternion.from_axis_angle([1, 0, 0], np.radians(6))
    for node, degrees in ((1, -4), (2, -5)):
        side = quaternion.from_axis_angle([0, 1, 0], np.radians(degrees))
        np.testing.assert_allclose(
            pose.rotations[0, node], quaternion.multiply(side, down), atol=1e-15
        )


@pytest.mark.parametrize("facing", ["+Z", "-Z"])
def test_eyes_that_may_turn_all_the_way_look_at_the_target(facing):
    """With maps of 1:1 the eye's forward direction is the gaze, whatever the rest rotations."""
    character = head(facing=facing, seed=7)
    full = RangeMap(np.pi, np.pi)
    look = replace(character.rig.look_at, inner=full, outer=full, down=full, up=full)
    character = replace(character, rig=Rig(look_at=look))
    rest = character.rest_pose()
    target = np.array([0.4, 1.1, 0.9])
    pose = turn_eyes(character, rest, *gaze_angles(character, rest, target))
    world = global_transforms(character.skeleton, pose)[0]
    still = global_transforms(character.skeleton, rest)[0]
    forward = np.array([0, 0, 1.0 if facing == "+Z" else -1.0])
    way = target - still[0] @ [*look.offset, 1]
    for eye in (1, 2):
        looking = world[eye, :, :3] @ still[eye, :, :3].T @ forward
        np.testing.assert_allclose(looking, way / np.linalg.norm(way), atol=1e-14)


def test_expressions_are_set_both_ways_by_the_outer_map():
    character = head("expression")
    look = replace(character.rig.look_at, outer=RangeMap(1.0, 1.0), down=RangeMap(0.5, 0.8))
    character = replace(character, rig=Rig(look_at=look))
    pose = replace(character.rest_pose(), expressions=np.full((1, 4), 0.9))
    np.testing.assert_allclose(
        turn_eyes(character, pose, -0.25, 0.25).expressions, [[0, 0.4, 0, 0.25]]
    )
    np.testing.assert_allclose(turn_eyes(character, pose, 2, 0).expressions, [[0, 0, 1, 0]])


def test_a_limit_of_nothing_moves_nothing():
    character = head()
    none = RangeMap(0.0, 1.0)
    look = replace(character.rig.look_at, inner=none, outer=none, down=none, up=none)
    character = replace(character, rig=Rig(look_at=look))
    rest = character.rest_pose()
    np.testing.assert_array_equal(turn_eyes(character, rest, 1, 1).rotations, rest.rotations)
