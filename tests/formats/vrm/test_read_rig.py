"""Bones, gaze and node constraints of both versions."""

from __future__ import annotations

import math

from bunraku.model import AimConstraint, RangeMap, RollConstraint, RotationConstraint
from tests.formats.vrm.figures import (
    HAIR,
    HEAD,
    LINEAR,
    NODES,
    bones_1,
    constrained,
    figure_0,
    figure_1,
    noted,
    read,
)

FOLLOW = {"source": NODES["leftLowerArm"], "weight": 0.5}


def test_bones_of_1_0():
    character = read(figure_1())
    assert dict(character.humanoid.bones) == NODES
    assert character.facing == "+Z"
    assert noted(character) == {}


def test_thumbs_of_0_x_start_one_bone_lower():
    named = [
        ("leftThumbProximal", HAIR),
        ("leftThumbIntermediate", HAIR + 1),
        ("leftThumbDistal", HAIR + 2),
    ]
    bones = [{"bone": name, "node": node} for name, node in [*NODES.items(), *named]]
    character = read(figure_0(humanoid={"humanBones": bones}))
    found = character.humanoid.bones
    assert [found[f"leftThumb{part}"] for part in ("Metacarpal", "Proximal", "Distal")] == [
        HAIR,
        HAIR + 1,
        HAIR + 2,
    ]
    assert character.facing == "-Z"


def test_thumbs_of_drafts_are_named_as_in_0_x():
    thumbs = {"leftThumbProximal": {"node": HAIR}, "leftThumbIntermediate": {"node": HAIR + 1}}
    found = read(figure_1(**bones_1(**thumbs))).humanoid.bones
    assert (found["leftThumbMetacarpal"], found["leftThumbProximal"]) == (HAIR, HAIR + 1)


def test_gaze_of_1_0_in_radians():
    gaze = read(
        figure_1(
            lookAt={
                "type": "bone",
                "offsetFromHeadBone": [0, 0.06, 0.1],
                "rangeMapHorizontalInner": {"inputMaxValue": 45, "outputScale": 8},
            }
        )
    ).rig.look_at
    assert gaze.kind == "bone"
    assert gaze.offset.tolist() == [0, 0.06, 0.1]
    assert gaze.inner == RangeMap(math.radians(45), math.radians(8))
    assert gaze.up == RangeMap(math.radians(90), math.radians(10))


def test_gaze_by_expression_keeps_weights():
    maps = {"rangeMapVerticalDown": {"inputMaxValue": 90, "outputScale": 0.8}}
    gaze = read(figure_1(lookAt={"type": "expression", **maps})).rig.look_at
    assert gaze.down == RangeMap(math.radians(90), 0.8)
    assert gaze.up == RangeMap(math.radians(90), 1.0)


def test_gaze_of_0_x_has_its_z_turned():
    first_person = {
        "firstPersonBoneOffset": {"x": 0, "y": 0.1, "z": 0.2},
        "lookAtTypeName": "BlendShape",
        "lookAtHorizontalOuter": {"curve": LINEAR, "xRange": 60, "yRange": 2},
    }
    character = read(figure_0(firstPerson=first_person))
    gaze = character.rig.look_at
    assert gaze.kind == "expression"
    assert gaze.offset.tolist() == [0, 0.1, -0.2]
    assert gaze.outer == RangeMap(math.radians(60), 2.0)
    assert noted(character) == {}


def test_constraints():
    found = read(
        constrained(
            ("leftHand", {"roll": FOLLOW | {"rollAxis": "Y"}}),
            ("rightHand", {"aim": FOLLOW | {"aimAxis": "NegativeZ"}}),
            ("head", {"rotation": FOLLOW}),
        )
    ).rig.constraints
    source = NODES["leftLowerArm"]
    assert found == (
        RotationConstraint(HEAD, source, 0.5),
        RollConstraint(NODES["leftHand"], source, "Y", 0.5),
        AimConstraint(NODES["rightHand"], source, "-Z", 0.5),
    )


def test_a_long_chain_of_constraints_is_no_circle():
    chain_of = ["spine", "chest", "neck", "head"]
    links = [
        (bone, {"aim": {"source": NODES["leftFoot"], "aimAxis": "PositiveZ"}}) for bone in chain_of
    ]
    assert len(read(constrained(*links)).rig.constraints) == 4
