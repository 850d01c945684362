"""A stage with springs: simulated once, then at hand at any time."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.errors import RigError
from bunraku.model import (
    Character,
    Clip,
    Rig,
    RotationConstraint,
    Skeleton,
    Spring,
    SpringJoint,
    Track,
)
from bunraku.posing import global_transforms
from bunraku.posing.springs import STEP, Springs, swing

SKELETON = Skeleton(
    ("hips", "hair", "curl", "tip", "lead"),
    [-1, 0, 1, 2, -1],
    [[0, 1, 0], [0, 0.5, 0], [0, -0.1, 0.02], [0, -0.1, 0], [1, 0, 0]],
)
JOINTS = (SpringJoint(1, 2, stiffness=0.6, gravity_power=0.2), SpringJoint(2, 3, drag=0.3))
PUPPET = Character(SKELETON, rig=Rig(springs=(Spring("hair", JOINTS),)))
SWAY = Track("hips", "translation", np.arange(25) / 12, [[np.sin(i), 1, 0] for i in range(25)])
CURL = Track("hair", "rotation", [0, 2], [[0, 0, 0, 1], [0, 0, 1, 0]])
CLIP = Clip("sway", (SWAY, CURL))


def test_times_that_run_backwards_are_refused():
    stage = bunraku.Stage(PUPPET, CLIP)
    for times in ([], [1, 0.5]):
        with pytest.raises(RigError, match="times: expected"):
            stage.simulate(times)
    for start, end in ((1, 0), (0, np.inf), (np.nan, 1)):
        with pytest.raises(RigError, match=r"expected (a start before an end|one finite)"):
            stage.simulated(start, end)
    with pytest.raises(RigError, match="steps"):
        stage.simulated(0, 1e9)


def test_without_springs_nothing_is_made():
    stage = bunraku.Stage(replace(PUPPET, rig=None), CLIP)
    assert stage.simulated() is stage


def test_steps_are_those_of_the_springs():
    stage = bunraku.Stage(PUPPET, CLIP)
    times = np.arange(121) * STEP
    expected = swing(Springs(SKELETON, PUPPET.rig), stage.pose(times)).pose
    for pose in (stage.simulate(times), stage.simulated().pose(times)):
        np.testing.assert_allclose(pose.rotations, expected.rotations, atol=1e-7)
        np.testing.assert_array_equal(pose.translations, expected.translations)
    assert np.abs(expected.rotations[:, 1, 2]).max() > 0.05


def test_answers_depend_on_the_start_alone():
    stage = bunraku.Stage(PUPPET, CLIP)
    long = stage.simulate([0.5, 0.6, 1.234, 2.0])
    for i, times in ((1, [0.5, 0.55, 0.6]), (2, [0.5, 1.234])):
        short = stage.simulate(times)
        np.testing.assert_allclose(long.rotations[i], short.rotations[-1], atol=2e-7)
    other = stage.simulate([0.0, 0.6])
    assert np.abs(other.rotations[-1] - long.rotations[1]).max() > 1e-3


def test_simulation_goes_on_over_block_seams():
    slow = Clip("slow", (replace(SWAY, times=SWAY.times * 8),))
    stage = bunraku.Stage(PUPPET, slow)
    times = np.arange(900) * STEP
    expected = swing(Springs(SKELETON, PUPPET.rig), stage.pose(times)).pose
    np.testing.assert_allclose(stage.simulate(times).rotations, expected.rotations, atol=1e-7)


def test_the_length_of_the_clip_stays():
    stage = bunraku.Stage(PUPPET, CLIP).simulated()
    assert stage.clip.end == CLIP.end
    assert len(stage.frame_times(30)) == 61
    assert not stage.notes


def test_springs_hang_on_what_constraints_turn():
    rig = replace(PUPPET.rig, constraints=(RotationConstraint(0, 4),))
    turn = Track("lead", "rotation", [0, 1], [[0, 0, 0, 1], [0.7071068, 0, 0, 0.7071068]])
    stage = bunraku.Stage(replace(PUPPET, rig=rig), Clip("turn", (turn,)))
    assert np.abs(stage.simulate([0, 1]).rotations[1, 1, 0]) > 0.05


def test_every_character_of_the_corpus_swings(corpus):
    """On its rest pose for a second: nothing blows up, chains keep their lengths."""
    seen = 0
    for file in sorted((corpus / "vrm_mmd").glob("*.vrm")):
        try:
            character = bunraku.load(file)
        except bunraku.FormatError:
            continue
        if character.rig is None or not character.rig.springs:
            continue
        seen += 1
        skeleton = character.skeleton
        stage = bunraku.Stage(character).simulated(0, 1)
        world = stage.global_transforms([0, 0.5, 1])[..., 3]
        rest = global_transforms(skeleton, character.rest_pose())[0, :, :, 3]
        for joint in (joint for spring in character.rig.springs for joint in spring.joints):
            if joint.child is not None:
                length = np.linalg.norm(rest[joint.child] - rest[joint.node])
                now = np.linalg.norm(world[:, joint.child] - world[:, joint.node], axis=1)
                np.testing.assert_allclose(now, length, atol=1e-5 * max(1, length))
    assert seen >= 6


def test_the_command_line_turns_physics_on(corpus, tmp_path):
    from bunraku.cli import app

    file = corpus / "vrm_mmd/arkavo-org__VRMMetalKit__smoke_spring.vrm"
    motion = tmp_path / "sway.glb"
    character = bunraku.load(file)
    hips = character.humanoid.bones["hips"]
    height = character.skeleton.translations[hips, 1]
    way = [[0.2 * np.sin(i), height, 0] for i in range(13)]
    sway = Clip("sway", (Track(hips, "translation", np.arange(13) / 12, way),))
    bunraku.save(replace(character, clips=(sway,)), motion)
    shapes = []
    for flags in ([], ["--physics"]):
        out = tmp_path / "out.glb"
        run = CliRunner().invoke(app, ["bake", str(motion), "-o", str(out), "--json", *flags])
        assert json.loads(run.stdout)["frames"] == 31
        stage = bunraku.Stage(bunraku.load(out), 0)
        shapes.append(stage.pose(0.5).rotations[0])
    moved = np.abs(shapes[1] - shapes[0]).max(axis=1)
    swinging = Springs(character.skeleton, character.rig).nodes
    assert (moved[swinging] > 1e-3).all()
    assert moved[[i for i in range(len(moved)) if i not in swinging]].max() < 1e-6
