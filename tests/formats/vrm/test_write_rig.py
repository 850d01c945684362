"""Changed bones, gaze, constraints and springs, written."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bunraku.formats.vrm import vrm_from_character
from bunraku.model import AimConstraint, Collider, Humanoid, RangeMap, RollConstraint
from tests.formats.vrm.figures import HAIR, HEAD, NODES, figure_0, figure_1, json_of, read, rich_1


def test_a_changed_humanoid():
    character = read(rich_1())
    bones = {**character.humanoid.bones, "jaw": HAIR}
    del bones["leftEye"]
    tree = json_of(replace(character, humanoid=Humanoid(bones)))
    human = tree["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]
    assert human["jaw"] == {"node": HAIR}
    assert "leftEye" not in human


def test_a_changed_gaze_keeps_whole_degrees():
    character = read(rich_1())
    gaze = replace(character.rig.look_at, outer=RangeMap(math.radians(60), math.radians(12)))
    tree = json_of(replace(character, rig=replace(character.rig, look_at=gaze)))
    after = tree["extensions"]["VRMC_vrm"]["lookAt"]
    assert after["rangeMapHorizontalOuter"] == {"inputMaxValue": 60, "outputScale": 12}
    assert after["rangeMapVerticalUp"] == {"inputMaxValue": 90, "outputScale": 12, "extras": 2}
    assert after["extras"] == 3


def test_changed_constraints():
    character = read(rich_1())
    left, right = NODES["leftHand"], NODES["rightHand"]
    constraints = (
        RollConstraint(left, HEAD, "Z"),
        AimConstraint(right, HEAD, "-Y", 0.5),
    )
    tree = json_of(replace(character, rig=replace(character.rig, constraints=constraints)))
    assert tree["nodes"][HAIR]["extensions"] == {"UNKNOWN": {}}
    assert tree["nodes"][left]["extensions"]["VRMC_node_constraint"]["constraint"] == {
        "roll": {"source": HEAD, "rollAxis": "Z"}
    }
    assert tree["nodes"][right]["extensions"]["VRMC_node_constraint"]["constraint"] == {
        "aim": {"source": HEAD, "aimAxis": "NegativeY", "weight": 0.5}
    }
    assert "VRMC_node_constraint" in tree["extensionsUsed"]


def test_changed_springs_keep_what_they_know_of_joints():
    character = read(rich_1())
    (spring,) = character.rig.springs
    stiffer = replace(spring, joints=(replace(spring.joints[0], stiffness=3.0),))
    inside = Collider(HEAD, "sphere", np.array([0, 0.5, 0.0]), 1.0, inside=True)
    rig = replace(character.rig, springs=(stiffer,), colliders=(*character.rig.colliders, inside))
    tree = json_of(replace(character, rig=rig))
    after = tree["extensions"]["VRMC_springBone"]
    (written,) = after["springs"]
    assert written["joints"][0]["stiffness"] == 3
    assert written["joints"][0]["extras"] == 1
    assert written["joints"][1] == {"node": HAIR + 1}
    assert written["extensions"] == {"UNKNOWN": {}}
    assert after["colliders"][2]["extensions"]["VRMC_springBone_extended_collider"]["shape"] == {
        "sphere": {"offset": [0, 0.5, 0], "radius": 1, "inside": True}
    }
    assert "VRMC_springBone_extended_collider" in tree["extensionsUsed"]


def test_springs_of_0_x_become_chains_with_ends_in_1_0():
    old = read(figure_0(secondaryAnimation={"boneGroups": [{"bones": [HAIR]}]}))
    new = read(figure_1())
    file, notes = vrm_from_character(replace(new, rig=replace(old.rig, look_at=None)))
    (spring,) = file.json["extensions"]["VRMC_springBone"]["springs"]
    count = len(new.skeleton)
    assert [joint["node"] for joint in spring["joints"]] == [HAIR, HAIR + 1, HAIR + 2, count]
    assert file.json["nodes"][count]["name"] == "hair end_end"
    np.testing.assert_allclose(file.json["nodes"][count]["translation"], [0, -0.07, 0])
    assert [note.code for note in notes] == ["nodes-added"]


def test_branches_become_springs_of_their_own_in_1_0():
    sketch = figure_0(secondaryAnimation={"boneGroups": [{"bones": [HAIR]}]})
    sketch.tree["nodes"][HAIR]["children"] = [HAIR + 1, HAIR + 2]
    sketch.tree["nodes"][HAIR + 1].pop("children")
    rig = replace(read(sketch).rig, look_at=None)
    branched = figure_1()
    branched.tree["nodes"][HAIR]["children"] = [HAIR + 1, HAIR + 2]
    branched.tree["nodes"][HAIR + 1].pop("children")
    file, _ = vrm_from_character(replace(read(branched), rig=rig))
    chains = file.json["extensions"]["VRMC_springBone"]["springs"]
    assert [[joint["node"] for joint in chain["joints"]][:-1] for chain in chains] == [
        [HAIR, HAIR + 1],
        [HAIR + 2],
    ]
