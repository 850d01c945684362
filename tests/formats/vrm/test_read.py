from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.model import (
    AimConstraint,
    MaterialBind,
    MorphBind,
    RangeMap,
    RollConstraint,
    RotationConstraint,
)
from bunraku.model.expression import Expression
from tests.formats.sketch import triangle
from tests.formats.vrm.figures import (
    FACE,
    HAIR,
    LINEAR,
    NODES,
    constrained,
    figure_0,
    figure_1,
    noted,
    read,
)

HEAD, HIPS = NODES["head"], NODES["hips"]


def expressions_1(*names: str, **fields: Any) -> dict[str, Any]:
    return {"expressions": {"preset": dict.fromkeys(names, fields)}}


def bones_1(**changes: Any) -> dict[str, Any]:
    bones = {name: {"node": node} for name, node in NODES.items()}
    return {"humanoid": {"humanBones": bones | changes}}


def group_0(**fields: Any) -> dict[str, Any]:
    return {"blendShapeMaster": {"blendShapeGroups": [fields]}}


def chain(*nodes: int, **more: Any) -> dict[str, Any]:
    return {"springs": [{"joints": [{"node": node} for node in nodes], **more}]}


def not_an_object(name: str, sketch: Any) -> Any:
    sketch.tree["extensions"][name] = []
    return sketch


FOLLOW = {"source": NODES["leftLowerArm"], "weight": 0.5}

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


def test_expressions_of_1_0():
    sketch = figure_1(
        expressions={
            "preset": {
                "happy": {
                    "isBinary": True,
                    "overrideMouth": "blend",
                    "overrideBlink": "block",
                    "morphTargetBinds": [{"node": FACE, "index": 1, "weight": 0.5}],
                    "materialColorBinds": [
                        {"material": 0, "type": "emissionColor", "targetValue": [1, 0, 0, 1]}
                    ],
                    "textureTransformBinds": [{"material": 1, "offset": [0.25, 0]}],
                },
                "aa": None,
            },
            "custom": {"wink": {"overrideLookAt": "block"}},
        }
    )
    happy, wink = read(sketch).expressions
    assert happy.binds == (
        MorphBind(0, 1, 0.5),
        MaterialBind(0, "emission", (1, 0, 0, 1)),
        MaterialBind(1, "uv_scale", (1, 1)),
        MaterialBind(1, "uv_offset", (0.25, 0)),
    )
    assert (happy.name, happy.preset, happy.binary) == ("happy", "happy", True)
    overrides = (happy.override_mouth, happy.override_blink, happy.override_look)
    assert overrides == ("blend", "block", "none")
    assert (wink.name, wink.preset, wink.override_look) == ("wink", None, "block")


def test_expressions_of_0_x_move_every_node_that_shows_the_mesh():
    sketch = figure_0(
        **group_0(
            name="Joy",
            presetName="joy",
            binds=[{"mesh": 0, "index": 1, "weight": 25}],
            materialValues=[
                {"materialName": "eyes", "propertyName": "_MainTex_ST", "targetValue": [1, 2, 3, 4]}
            ],
        )
    )
    sketch.tree["nodes"][HAIR]["mesh"] = 0
    (joy,) = read(sketch).expressions
    assert (joy.name, joy.preset) == ("Joy", "happy")
    assert joy.binds == (
        MorphBind(0, 1, 0.25),
        MorphBind(1, 1, 0.25),
        # two materials have the name; v runs down in glTF and up in Unity: 1 − 4 − 2
        MaterialBind(1, "uv_scale", (1, 2)),
        MaterialBind(1, "uv_offset", (3, -5)),
        MaterialBind(2, "uv_scale", (1, 2)),
        MaterialBind(2, "uv_offset", (3, -5)),
    )


PRESETS_OF_0 = "neutral a i u e o blink joy angry sorrow fun lookup lookdown lookleft lookright"
PRESETS_OF_1 = "neutral aa ih ou ee oh blink happy angry sad relaxed lookUp lookDown lookLeft"


def test_presets_of_0_x_by_their_names_in_1_0():
    old = [*PRESETS_OF_0.split(), "blink_l", "blink_r", "unknown"]
    groups = [{"name": name.title(), "presetName": name} for name in old]
    found = read(figure_0(blendShapeMaster={"blendShapeGroups": groups})).expressions
    expected = [*PRESETS_OF_1.split(), "lookRight", "blinkLeft", "blinkRight", None]
    assert [each.preset for each in found] == expected
    assert isinstance(found[0], Expression)


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


def test_both_versions_in_one_file():
    sketch = figure_1()
    sketch.tree["extensions"] |= figure_0().tree["extensions"]
    character = read(sketch)
    assert character.facing == "+Z"
    assert noted(character) == {"vrm-twice": "extensions.VRM"}


def licence(character) -> list[str]:
    return [f"{n.code}: {n.message}" for n in character.notes if n.code.startswith("licence")]


def test_licence_of_1_0_forbids_what_it_does_not_say():
    assert licence(read(figure_1())) == [
        "licence-redistribution: prohibited; licenseUrl https://vrm.dev/licenses/1.0/",
        "licence-modification: prohibited",
        "licence-usage: avatar: onlyAuthor, commercial: personalNonProfit, credit: required,"
        " violent: prohibited, sexual: prohibited, political or religious: prohibited,"
        " antisocial or hate: prohibited",
    ]
    allowed = {"allowRedistribution": True, "modification": "allowModificationRedistribution"}
    first, second, _ = licence(read(figure_1(meta=allowed)))
    assert (first, second) == (
        "licence-redistribution: allowed",
        "licence-modification: allowModificationRedistribution",
    )


def test_licence_of_0_x():
    assert licence(read(figure_0())) == [
        "licence-redistribution: as the licence says; licenseName CC_BY_ND",
        "licence-modification: prohibited; licenseName CC_BY_ND",
        "licence-usage: avatar: Everyone, commercial: not stated, violent: not stated,"
        " sexual: not stated",
    ]
    kept = licence(read(figure_0(meta={"licenseName": "Redistribution_Prohibited"})))
    assert kept[0] == "licence-redistribution: prohibited; licenseName Redistribution_Prohibited"


@pytest.mark.parametrize("meta", [None, [], "free"])
def test_a_licence_that_cannot_be_read_is_said_to_be_missing(meta):
    assert [c.split(":")[0] for c in licence(read(figure_1(meta=meta)))] == ["licence-missing"]


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
