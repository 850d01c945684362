"""Springs and colliders of both versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.formats.vrm.figures import HAIR, HEAD, NODES, chain, figure_0, figure_1, read

HIPS = NODES["hips"]


def test_springs_of_1_0_by_pairs():
    joint = {
        "node": HAIR,
        "stiffness": 2,
        "gravityPower": 0.5,
        "gravityDir": [1, 0, 0],
        "dragForce": 0.25,
        "hitRadius": 0.125,
    }
    sphere = {"node": HEAD, "shape": {"sphere": {"offset": [0, 0.1, 0], "radius": 0.25}}}
    capsule = {"node": HEAD, "shape": {"capsule": {"radius": 0.5, "tail": [0, 1, 0]}}}
    character = read(
        figure_1(
            springs={
                "colliders": [{"node": 99, "shape": {"sphere": {}}}, sphere, capsule],
                "colliderGroups": [{"colliders": [2, 0]}, {"colliders": [1]}],
                "springs": [
                    {
                        "name": "fringe",
                        "joints": [joint, {"node": HAIR + 2}],
                        "colliderGroups": [1, 0],
                        "center": HIPS,
                    }
                ],
            }
        )
    )
    (spring,) = character.rig.springs
    (found,) = spring.joints  # the node between is passive, the last is a tail only
    assert (found.node, found.child, found.tail) == (HAIR, HAIR + 2, None)
    assert (found.stiffness, found.gravity_power, found.gravity_direction) == (2, 0.5, (1, 0, 0))
    assert (found.drag, found.hit_radius) == (0.25, 0.125)
    assert (spring.name, spring.center, spring.colliders) == ("fringe", HIPS, (0, 1))
    ball, rod = character.rig.colliders
    assert (ball.shape, ball.offset.tolist(), ball.radius) == ("sphere", [0, 0.1, 0], 0.25)
    assert (rod.shape, rod.tail.tolist(), rod.inside) == ("capsule", [0, 1, 0], False)


def test_extended_colliders_replace_their_stand_ins():
    def extended(shape: dict[str, Any]) -> dict[str, Any]:
        return {
            "node": HEAD,
            "shape": {"sphere": {"radius": 0, "offset": [0, -10000, 0]}},
            "extensions": {
                "VRMC_springBone_extended_collider": {"specVersion": "1.0", "shape": shape}
            },
        }

    shell, plane = read(
        figure_1(
            springs={
                "colliders": [
                    extended({"sphere": {"radius": 0.5, "inside": True}}),
                    extended({"plane": {"offset": [0, 1, 0], "normal": [0, 1, 0]}}),
                ]
            }
        )
    ).rig.colliders
    assert (shell.shape, shell.radius, shell.inside) == ("sphere", 0.5, True)
    assert (plane.shape, plane.normal.tolist()) == ("plane", [0, 1, 0])


def test_springs_of_0_x_reach_to_the_ends_and_seven_centimetres_beyond():
    group = {
        "comment": "hair",
        "bones": [HAIR, -1],
        "stiffiness": 3,
        "gravityPower": 1,
        "gravityDir": {"x": 0, "y": -1, "z": 0},
        "dragForce": 0.3,
        "hitRadius": 0.02,
        "center": -1,
        "colliderGroups": [0],
    }
    ball = {"offset": {"x": 0.1, "y": 0.2, "z": 0.3}, "radius": 0.4}
    character = read(
        figure_0(
            secondaryAnimation={
                "boneGroups": [group],
                "colliderGroups": [{"node": HEAD, "colliders": [ball]}],
            }
        )
    )
    (spring,) = character.rig.springs
    assert [(j.node, j.child) for j in spring.joints] == [
        (HAIR, HAIR + 1),
        (HAIR + 1, HAIR + 2),
        (HAIR + 2, None),
    ]
    np.testing.assert_allclose(spring.joints[2].tail, [0, -0.07, 0])
    assert {(j.stiffness, j.drag, j.hit_radius) for j in spring.joints} == {(3, 0.3, 0.02)}
    assert (spring.name, spring.center, spring.colliders) == ("hair", None, (0,))
    (collider,) = character.rig.colliders
    assert collider.offset.tolist() == [0.1, 0.2, -0.3]


def test_a_branch_of_0_x_swings_towards_its_first_child_in_the_file():
    sketch = figure_0(secondaryAnimation={"boneGroups": [{"bones": [HAIR]}]})
    sketch.tree["nodes"][HAIR]["children"] = [HAIR + 2, HAIR + 1]
    sketch.tree["nodes"][HAIR + 1].pop("children")
    joints = read(sketch).rig.springs[0].joints
    assert [(j.node, j.child) for j in joints] == [
        (HAIR, HAIR + 2),
        (HAIR + 2, None),
        (HAIR + 1, None),
    ]


def test_springs_without_a_vrm_are_read_too():
    sketch = figure_1(springs=chain(HAIR, HAIR + 1))
    del sketch.tree["extensions"]["VRMC_vrm"]
    assert len(read(sketch).rig.springs) == 1
