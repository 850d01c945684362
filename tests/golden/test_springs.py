"""Springs of real files, against three-vrm step by step.

Its stock engine measures a joint's length to where the child was a step ago, which stretches
chains by up to 1.5 cm; golden results named "exactlen" are the same engine with that mended.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.model import Pose
from bunraku.posing import global_transforms
from bunraku.posing.springs import Springs, swing
from bunraku.rotation import quaternion

FILES = (
    "Godette_vrm_v4",
    "smoke_spring",
    "springbone_collider_capsule_x0p02_r0p05",
    "springbone_collider_sphere_x0p02_r0p05",
    "swing_springbone_stiffness_0p8",
)


def swayed(character: bunraku.Character, frames: int) -> Pose:
    """The hips sway sideways and turn, as when the golden results were made."""
    rest = character.rest_pose()
    f = np.arange(frames)
    moves, turns, scales = (
        np.repeat(each, frames, 0) for each in (rest.translations, rest.rotations, rest.scales)
    )
    hips = character.humanoid.bones["hips"]
    moves[:, hips, 0] += 0.15 * np.sin(2 * np.pi * f / 40)
    turn = quaternion.from_axis_angle([0.0, 1, 0], 0.5 * np.sin(2 * np.pi * f / 50))
    turns[:, hips] = quaternion.multiply(turns[:, hips], turn)
    return Pose(moves, turns, scales)


@pytest.mark.parametrize("name", FILES)
def test_sixty_steps_agree_with_three_vrm(name, corpus: Path, golden: Path):
    results = np.load(golden / f"vrm_spring_exactlen_{name}.npz")
    meta = json.loads(str(results["meta"]))
    character = bunraku.load(corpus / meta["source"])
    springs = Springs(character.skeleton, character.rig)
    joints = [joint["bone"] for joint in meta["joints"]]
    assert sorted(springs.nodes.tolist()) == sorted(joints)
    pose = swing(springs, swayed(character, 61)).pose
    positions = global_transforms(character.skeleton, pose)[..., 3]
    for frame in meta["frames"]:
        expected = results[f"f{frame}/world_pos"]
        np.testing.assert_allclose(positions[frame], expected, rtol=0, atol=1e-6)
        turns = quaternion.normalize(results[f"f{frame}/local_rot"][joints].astype(np.float64))
        off = quaternion.angle_between(pose.rotations[frame, joints], turns)
        assert off.max() < 1e-6
