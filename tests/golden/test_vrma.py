"""VRM animations on VRM characters, against three-vrm-animation.

The engine leaves out what a bone does that the character has not, here that of the upper chest
(2.4 mrad in idle_loop). Ours hands it on to neck and shoulders, which then stand in the world as on
the figure of the animation. So tracks of missing bones are taken out before results are compared.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.motion import bind, sample
from bunraku.posing import global_transforms
from bunraku.retargeting import retarget
from tests.conftest import shared_folder

FOLDER = shared_folder("golden")
FILES = sorted(FOLDER.glob("vrma_*.npz")) if FOLDER is not None else []


@pytest.mark.skipif(not FILES, reason="no golden data: set BUNRAKU_CORPUS")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_agrees_with_three_vrm_animation(file: Path, corpus: Path):
    results = np.load(file)
    meta = json.loads(str(results["meta"]))
    target = bunraku.load(corpus / meta["source"])
    source = bunraku.load(corpus / meta["vrma"])
    missing = [n for b, n in source.humanoid.bones.items() if b not in target.humanoid.bones]
    clip = source.clips[0]
    clip = replace(clip, tracks=[track for track in clip.tracks if track.target not in missing])
    bound = bind(retarget(clip, source, target), target)
    assert bound.notes == ()
    for sampled in meta["samples"]:
        pose = sample(bound, sampled["t"])
        world = global_transforms(target.skeleton, pose)[0]
        expected = results[f"{sampled['key']}/world"][:, :3]
        np.testing.assert_allclose(world, expected, rtol=0, atol=1e-6)


def test_what_a_missing_bone_does_turns_the_bones_below(corpus: Path):
    target = bunraku.load(corpus / "vrm_mmd/madjin__vrm-samples__cryptovoxels.vrm")
    source = bunraku.load(corpus / "vrm_mmd/pixiv__ChatVRM__idle_loop.vrma")
    assert "upperChest" not in target.humanoid.bones
    bones = source.humanoid.bones.values()
    given = source.clips[0]  # it also moves nodes that are no bones, which nobody is to look at
    given = replace(given, tracks=[track for track in given.tracks if track.target in bones])
    clip = retarget(given, source, target)
    for time in (0.0, 1.23456, 7.0):
        worlds, rests = [], []
        for character, motion in ((source, given), (target, clip)):
            pose = sample(bind(motion, character), time)
            worlds.append(global_transforms(character.skeleton, pose)[0, :, :, :3])
            rests.append(global_transforms(character.skeleton, character.rest_pose())[0, :, :, :3])
        for bone in ("neck", "head", "leftShoulder", "rightHand"):
            there, here = source.humanoid.bones[bone], target.humanoid.bones[bone]
            turned = worlds[0][there] @ np.linalg.inv(rests[0][there])
            facing = np.diag([-1.0, 1, -1])  # the target is a VRM 0.x
            expected = facing @ turned @ facing @ rests[1][here]
            # Keys lie at 30 a second and at the animation's own times: between them, slerps of
            # products and products of slerps differ.
            np.testing.assert_allclose(worlds[1][here], expected, rtol=0, atol=2e-5)
