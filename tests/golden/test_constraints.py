"""Node constraints of a real file, against three-vrm."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import bunraku
from bunraku.posing import global_transforms
from bunraku.posing.constraints import constrain


def test_constraints_agree_with_three_vrm(corpus: Path, golden: Path):
    results = np.load(golden / "vrm_constraints_constraints_vrm.npz")
    meta = json.loads(str(results["meta"]))
    character = bunraku.load(corpus / meta["source"])
    assert len(character.rig.constraints) == len(meta["constraints"])
    rest = character.rest_pose()
    for sample in meta["samples"]:
        rotations, translations = np.array(rest.rotations), np.array(rest.translations)
        for node, turn in sample["set_local_xyzw"].items():
            rotations[0, int(node)] = turn
        for node, place in sample["set_local_pos"].items():
            translations[0, int(node)] = place
        pose = replace(rest, rotations=rotations, translations=translations)
        done = constrain(character.skeleton, character.rig, pose)
        expected = results[f"{sample['key']}/local_rot"]
        sign = np.sign((expected * done.rotations[0]).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(done.rotations[0], sign * expected, rtol=0, atol=1e-9)
        world = global_transforms(character.skeleton, done)[0]
        expected = results[f"{sample['key']}/world"][:, :3]
        np.testing.assert_allclose(world, expected, rtol=0, atol=1e-9)
