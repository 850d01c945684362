from __future__ import annotations

from typing import Any

import pytest

from bunraku.errors import FormatError
from tests.formats.sketch import triangle
from tests.formats.vrm.figures import (
    FACE,
    HAIR,
    HEAD,
    NODES,
    bones_1,
    chain,
    constrained,
    expressions_1,
    figure_0,
    figure_1,
    group_0,
    noted,
    read,
)


def not_an_object(name: str, sketch: Any) -> Any:
    sketch.tree["extensions"][name] = []
    return sketch


INVALID = {
    "an extension that is an array": (
        not_an_object("VRMC_vrm", figure_1()),
        "extensions.VRMC_vrm: expected an object, found an array of 0",
    ),
    "springs that are an array": (
        not_an_object("VRMC_springBone", figure_1()),
        "extensions.VRMC_springBone: expected an object, found an array of 0",
    ),
    "a humanoid that is a string": (figure_1(humanoid="tall"), "VRMC_vrm.humanoid: expected an ob"),
    "a bone that is a number": (
        figure_1(**bones_1(head=4)),
        "humanoid.humanBones.head: expected an object, found 4",
    ),
    "one node for two bones": (
        figure_1(**bones_1(jaw={"node": HEAD})),
        "humanBones.jaw: expected one bone for each node, found node 4 for head and jaw",
    ),
    "a bone twice": (
        figure_0(humanoid={"humanBones": [{"bone": "hips", "node": n} for n in (0, 1)]}),
        "humanBones[1]: expected one node for hips, found another one, after node 0",
    ),
    "a node that is a string": (
        figure_1(**bones_1(head={"node": "4"})),
        "humanBones.head.node: expected an index into nodes, found '4'",
    ),
    "a weight that is true": (
        figure_1(**expressions_1("aa", morphTargetBinds=[{"node": FACE, "weight": True}])),
        "preset.aa.morphTargetBinds[0].weight: expected a finite number, found True",
    ),
    "a weight beyond doubles": (
        figure_1(**expressions_1("aa", morphTargetBinds=[{"node": FACE, "weight": 10**400}])),
        "weight: expected a finite number, found a huge integer",
    ),
    "isBinary as a number": (
        figure_1(**expressions_1("aa", isBinary=1)),
        "preset.aa.isBinary: expected true or false, found 1",
    ),
    "binds that are an object": (
        figure_1(**expressions_1("aa", morphTargetBinds={})),
        "morphTargetBinds: expected an array, found an object",
    ),
    "a colour of two numbers": (
        figure_1(
            **expressions_1("aa", materialColorBinds=[{"type": "color", "targetValue": [1, 1]}])
        ),
        "targetValue: expected an array of 4 numbers, found an array of 2",
    ),
    "an offset of strings": (
        figure_1(lookAt={"offsetFromHeadBone": ["a", "b", "c"]}),
        "lookAt.offsetFromHeadBone[0]: expected a finite number, found 'a'",
    ),
    "two constraints in a circle": (
        constrained(
            ("leftHand", {"rotation": {"source": NODES["rightHand"]}}),
            ("rightHand", {"roll": {"source": NODES["leftHand"], "rollAxis": "X"}}),
        ),
        "constraints wait for each other in a circle: nodes",
    ),
    "a node that follows itself": (
        constrained(("leftHand", {"rotation": {"source": NODES["leftHand"]}})),
        f"in a circle: nodes {NODES['leftHand']} 'leftHand'",
    ),
    "a node that aims at its own child": (
        constrained(("leftLowerArm", {"aim": {"source": NODES["leftHand"]}})),
        f"in a circle: nodes {NODES['leftLowerArm']} 'leftLowerArm'",
    ),
    "a plane without direction": (
        figure_1(
            springs={
                "colliders": [
                    {
                        "node": HEAD,
                        "extensions": {
                            "VRMC_springBone_extended_collider": {
                                "shape": {"plane": {"normal": [0, 0, 0]}}
                            }
                        },
                    }
                ]
            }
        ),
        "shape.plane.normal: expected a direction, found (0, 0, 0)",
    ),
}


@pytest.mark.parametrize(("sketch", "message"), INVALID.values(), ids=INVALID.keys())
def test_what_leaves_the_content_in_doubt_is_an_error(sketch, message: str):
    with pytest.raises(FormatError) as caught:
        read(sketch)
    assert str(caught.value).startswith("x.vrm: ")
    assert message in str(caught.value)


NOTED = {
    "no humanoid": (figure_1(humanoid=None), "humanoid-missing", "extensions.VRMC_vrm"),
    "a bone nobody knows": (
        figure_1(**bones_1(tail={"node": HAIR})),
        "unknown-bone",
        "extensions.VRMC_vrm.humanoid.humanBones.tail",
    ),
    "a bone on a node that is not there": (
        figure_1(**bones_1(jaw={"node": 999})),
        "dangling-reference",
        "extensions.VRMC_vrm.humanoid.humanBones.jaw.node",
    ),
    "a required bone that nobody plays": (
        figure_1(**bones_1(head={"node": -1})),
        "humanoid-incomplete",
        "extensions.VRMC_vrm.humanoid",
    ),
    "a bone that does not hang on the one above": (
        figure_1(**bones_1(leftToes={"node": HAIR})),
        "bone-apart",
        "extensions.VRMC_vrm.humanoid",
    ),
    "thumbs named as in drafts": (
        figure_1(**bones_1(leftThumbIntermediate={"node": HAIR})),
        "thumbs-renamed",
        "extensions.VRMC_vrm.humanoid",
    ),
    "a morph that is not there": (
        figure_1(**expressions_1("aa", morphTargetBinds=[{"node": FACE, "index": 7}])),
        "dangling-reference",
        "extensions.VRMC_vrm.expressions.preset.aa.morphTargetBinds[0].index",
    ),
    "a bind to a node without a mesh": (
        figure_1(**expressions_1("aa", morphTargetBinds=[{"node": HEAD, "index": 0}])),
        "bind-without-mesh",
        "extensions.VRMC_vrm.expressions.preset.aa.morphTargetBinds[0].node",
    ),
    "a preset nobody knows": (
        figure_1(**expressions_1("grin")),
        "unknown-preset",
        "extensions.VRMC_vrm.expressions.preset.grin",
    ),
    "an override nobody knows": (
        figure_1(**expressions_1("aa", overrideBlink="maybe")),
        "unknown-value",
        "extensions.VRMC_vrm.expressions.preset.aa.overrideBlink",
    ),
    "a 0.x preset twice": (
        figure_0(
            blendShapeMaster={
                "blendShapeGroups": [{"name": n, "presetName": "a"} for n in ("A", "B")]
            }
        ),
        "preset-twice",
        "expressions[1]",
    ),
    "a 0.x bind to a mesh that is not there": (
        figure_0(**group_0(name="A", presetName="a", binds=[{"mesh": 3, "index": 0}])),
        "dangling-reference",
        "extensions.VRM.blendShapeMaster.blendShapeGroups[0].binds[0].mesh",
    ),
    "a 0.x material that is not there": (
        figure_0(**group_0(materialValues=[{"materialName": "hat", "propertyName": "_Color"}])),
        "dangling-reference",
        "extensions.VRM.blendShapeMaster.blendShapeGroups[0].materialValues[0].materialName",
    ),
    "a 0.x material property without counterpart": (
        figure_0(**group_0(materialValues=[{"materialName": "skin", "propertyName": "_Cutoff"}])),
        "material-value-carried",
        "extensions.VRM.blendShapeMaster.blendShapeGroups[0].materialValues[0].propertyName",
    ),
    "a gaze with a curve": (
        figure_0(firstPerson={"lookAtVerticalUp": {"curve": [0, 0, 0, 0, 1, 1, 0, 0]}}),
        "gaze-curve-carried",
        "extensions.VRM.firstPerson.lookAtVerticalUp.curve",
    ),
    "a constraint without source": (
        constrained(("leftHand", {"rotation": {"source": 999}})),
        "constraint-without-source",
        f"nodes[{NODES['leftHand']}].extensions.VRMC_node_constraint.constraint.rotation",
    ),
    "a constraint of no known kind": (
        constrained(("leftHand", {"position": {"source": 1}})),
        "constraint-unknown",
        f"nodes[{NODES['leftHand']}].extensions.VRMC_node_constraint.constraint",
    ),
    "a weight above 1": (
        constrained(("leftHand", {"rotation": {"source": 1, "weight": 1.5}})),
        "weight-clamped",
        f"nodes[{NODES['leftHand']}].extensions.VRMC_node_constraint.constraint.rotation.weight",
    ),
    "a collider group that is not there": (
        figure_1(springs=chain(HAIR, HAIR + 1, colliderGroups=[5])),
        "dangling-reference",
        "extensions.VRMC_springBone.springs[0].colliderGroups[0]",
    ),
    "a tail that is not below its joint": (
        figure_1(springs=chain(HAIR + 1, HAIR)),
        "spring-apart",
        "extensions.VRMC_springBone.springs[0].joints[0]",
    ),
    "a node in two springs": (
        figure_1(springs={"springs": 2 * chain(HAIR, HAIR + 1)["springs"]}),
        "spring-twice",
        "extensions.VRMC_springBone.springs[1].joints[0]",
    ),
    "a collider of no known shape": (
        figure_1(springs={"colliders": [{"node": HEAD, "shape": {"box": {}}}]}),
        "collider-unknown",
        "extensions.VRMC_springBone.colliders[0].shape",
    ),
    "a 0.x chain that ends where it starts": (
        figure_0(secondaryAnimation={"boneGroups": [{"bones": [FACE]}]}),
        "spring-without-tail",
        "extensions.VRM.secondaryAnimation.boneGroups[0].bones",
    ),
}


@pytest.mark.parametrize(("sketch", "code", "place"), NOTED.values(), ids=NOTED.keys())
def test_what_is_only_irregular_is_noted_and_left_out(sketch, code: str, place: str):
    character = read(sketch)
    assert [n.place for n in character.notes if n.code == code] == [place]


def test_a_file_without_extensions_is_a_plain_gltf():
    character = read(triangle())
    assert (character.humanoid, character.expressions, character.rig) == (None, (), None)
    assert character.facing == "+Z"
    assert character.notes == ()


def test_both_versions_in_one_file():
    sketch = figure_1()
    sketch.tree["extensions"] |= figure_0().tree["extensions"]
    character = read(sketch)
    assert character.facing == "+Z"
    assert noted(character) == {"vrm-twice": "extensions.VRM"}


def test_shading_stays_in_the_document():
    sketch = figure_1()
    sketch.tree["materials"][0]["extensions"] = {
        "VRMC_materials_mtoon": {"specVersion": "1.0"},
        "KHR_materials_unlit": {},
    }
    sketch.tree["materials"][0]["pbrMetallicRoughness"] = {"baseColorFactor": [1, 0.5, 0, 1]}
    character = read(sketch)
    assert character.materials[0].base_color == (1, 0.5, 0, 1)
    assert [n.message.split(":")[0] for n in character.notes if n.code == "shading-carried"] == [
        "1 are MToon"
    ]
