from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError, UnsupportedError
from bunraku.formats import load, save
from bunraku.formats.gltf import read_gltf
from bunraku.formats.vrm import character_from_vrm, vrm_from_character
from bunraku.model import (
    AimConstraint,
    Append,
    Character,
    Collider,
    Expression,
    GroupBind,
    Humanoid,
    LookAt,
    MaterialBind,
    MorphBind,
    RangeMap,
    Rig,
    RollConstraint,
    RotationConstraint,
    Scene,
    Skeleton,
    Spring,
    SpringJoint,
    differences,
)
from tests.formats.same import changed
from tests.formats.sketch import Sketch, triangle
from tests.formats.validator import errors, validate
from tests.formats.vrm.figures import (
    FACE,
    HAIR,
    META,
    NODES,
    bare_figure,
    constrained,
    figure_0,
    figure_1,
    loaded,
    read,
)
from tests.formats.vrm.three_vrm import seen

HEAD = NODES["head"]


def json_of(character: Character) -> dict[str, Any]:
    """The tree of what is written, which reads back as the same character."""
    file, _ = vrm_from_character(character)
    again = character_from_vrm(file)
    assert changed(again, character) == []
    return file.json


def rich_1() -> Sketch:
    """A VRM 1.0 with some of everything, and with what Bunraku does not know."""
    sketch = figure_1(
        springs={
            "colliders": [
                {"node": HEAD, "shape": {"sphere": {"radius": 0.1}}, "extras": "round"},
                {"node": HEAD, "shape": {"capsule": {"radius": 0.1, "tail": [0, 1, 0]}}},
            ],
            "colliderGroups": [{"name": "head", "colliders": [0, 1]}],
            "springs": [
                {
                    "name": "hair",
                    "joints": [{"node": HAIR, "stiffness": 2, "extras": 1}, {"node": HAIR + 1}],
                    "colliderGroups": [0],
                    "extensions": {"UNKNOWN": {}},
                }
            ],
        },
        expressions={
            "preset": {
                "aa": {
                    "morphTargetBinds": [{"node": FACE, "index": 0, "weight": 1}],
                    "extras": {"maker": "me"},
                },
                "happy": {"isBinary": False, "overrideMouth": "none"},
            },
            "custom": {"wink": {"morphTargetBinds": [{"node": FACE, "index": 1, "weight": 0.5}]}},
        },
        lookAt={
            "type": "bone",
            "offsetFromHeadBone": [0, 0.06, 0],
            "rangeMapVerticalUp": {"inputMaxValue": 90, "outputScale": 12, "extras": 2},
            "extras": 3,
        },
        firstPerson={"meshAnnotations": [{"node": FACE, "type": "auto"}]},
    )
    sketch.tree["nodes"][HAIR]["extensions"] = {
        "VRMC_node_constraint": {
            "specVersion": "1.0",
            "constraint": {"rotation": {"source": HEAD, "weight": 0.5}},
        },
        "UNKNOWN": {},
    }
    return sketch


def test_unchanged_files_are_written_bit_for_bit(tmp_path: Path):
    for name, sketch in (("1.vrm", rich_1()), ("0.vrm", figure_0()), ("c.glb", constrained())):
        path = tmp_path / name
        path.write_bytes(sketch.glb())
        assert save(load(path), tmp_path / f"again-{name}") == ()
        assert (tmp_path / f"again-{name}").read_bytes() == path.read_bytes()


def test_a_changed_expression_keeps_what_nobody_touched():
    character = read(rich_1())
    aa, happy, wink = character.expressions
    louder = replace(aa, binds=(MorphBind(0, 0, 0.75),), binary=True, override_look="blend")
    tree = json_of(replace(character, expressions=(louder, happy, wink)))
    before = character.document.json["extensions"]["VRMC_vrm"]
    after = tree["extensions"]["VRMC_vrm"]
    assert after["expressions"]["preset"]["aa"] == {
        "morphTargetBinds": [{"node": FACE, "index": 0, "weight": 0.75}],
        "extras": {"maker": "me"},
        "isBinary": True,
        "overrideLookAt": "blend",
    }
    assert after["expressions"]["preset"]["happy"] == before["expressions"]["preset"]["happy"]
    assert after["expressions"]["custom"] == before["expressions"]["custom"]
    rest = [key for key in after if key != "expressions"]
    assert {k: after[k] for k in rest} == {k: before[k] for k in before if k != "expressions"}
    assert (
        tree["extensions"]["VRMC_springBone"]
        == (character.document.json["extensions"]["VRMC_springBone"])
    )
    # nothing was changed in the document the character came with
    assert "isBinary" not in before["expressions"]["preset"]["aa"]


def test_expressions_that_are_gone_and_new_ones():
    character = read(rich_1())
    binds = (MaterialBind(1, "uv_scale", (1.0, 1.0)), MaterialBind(1, "uv_offset", (0.5, 0.0)))
    new = Expression("smirk", binds)
    tree = json_of(replace(character, expressions=(character.expressions[0], new)))
    groups = tree["extensions"]["VRMC_vrm"]["expressions"]
    assert list(groups["preset"]) == ["aa"]
    transform = {"material": 1, "scale": [1, 1], "offset": [0.5, 0]}
    assert groups["custom"] == {"smirk": {"textureTransformBinds": [transform]}}


def test_custom_names_that_are_presets_or_taken_get_a_number():
    character = read(figure_1())
    three = tuple(Expression(name) for name in ("blink", "x", "x"))
    file, notes = vrm_from_character(replace(character, expressions=three))
    custom = file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"]
    assert list(custom) == ["blink 2", "x", "x 2"]
    assert [note.code for note in notes] == 2 * ["expression-renamed"]


def test_binds_vrm_cannot_say_are_noted():
    character = read(figure_1())
    both = Expression("x", (GroupBind(0), MaterialBind(0, "base_color", (1, 1, 1, 1), "add")))
    file, notes = vrm_from_character(replace(character, expressions=(both,)))
    assert file.json["extensions"]["VRMC_vrm"]["expressions"]["custom"] == {"x": {}}
    assert [note.code for note in notes] == ["bind-dropped"]
    assert "1 of kind GroupBind, 1 of kind MaterialBind" in notes[0].message


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


def rich_0() -> Sketch:
    ball = {"offset": {"x": 0.1, "y": 0.2, "z": 0.3}, "radius": 0.4}
    return figure_0(
        blendShapeMaster={
            "blendShapeGroups": [
                {
                    "name": "A",
                    "presetName": "a",
                    "binds": [{"mesh": 0, "index": 0, "weight": 100}],
                    "materialValues": [
                        {
                            "materialName": "skin",
                            "propertyName": "_MainTex_ST",
                            "targetValue": [1, 2, 3, 4],
                        }
                    ],
                    "isBinary": False,
                    "extras": 1,
                }
            ]
        },
        firstPerson={
            "firstPersonBone": HEAD,
            "lookAtTypeName": "Bone",
            "lookAtVerticalUp": {"curve": [0, 0, 0, 0, 1, 1, 0, 0], "xRange": 80, "yRange": 9},
        },
        secondaryAnimation={
            "boneGroups": [
                {"comment": "hair", "bones": [HAIR], "colliderGroups": [0], "extras": 2}
            ],
            "colliderGroups": [{"node": HEAD, "colliders": [ball]}],
        },
    )


def test_changes_of_0_x():
    character = read(rich_0())
    (a,) = character.expressions
    (spring,) = character.rig.springs
    softer = replace(spring, joints=tuple(replace(j, drag=0.25) for j in spring.joints))
    gaze = replace(character.rig.look_at, outer=RangeMap(math.radians(60), math.radians(12)))
    rig = replace(character.rig, springs=(softer,), look_at=gaze)
    louder = replace(a, binds=(MorphBind(0, 0, 0.5), *a.binds[1:]))
    tree = json_of(replace(character, rig=rig, expressions=(louder,)))
    after = tree["extensions"]["VRM"]
    (group,) = after["blendShapeMaster"]["blendShapeGroups"]
    assert group["binds"] == [{"mesh": 0, "index": 0, "weight": 50}]
    assert group["materialValues"][0]["targetValue"] == [1, 2, 3, 4]
    assert (group["presetName"], group["extras"]) == ("a", 1)
    (bones,) = after["secondaryAnimation"]["boneGroups"]
    assert (bones["dragForce"], bones["bones"], bones["extras"]) == (0.25, [HAIR], 2)
    assert (
        after["secondaryAnimation"]["colliderGroups"]
        == (character.document.json["extensions"]["VRM"]["secondaryAnimation"]["colliderGroups"])
    )
    first = after["firstPerson"]
    assert first["lookAtHorizontalOuter"]["xRange"] == 60
    assert first["lookAtVerticalUp"]["curve"] == [0, 0, 0, 0, 1, 1, 0, 0]
    assert first["firstPersonBone"] == HEAD


def test_what_0_x_cannot_say_is_noted():
    character = read(figure_0())
    face = Expression("x", (MaterialBind(0, "matcap_color", (1, 1, 1, 1)),), override_blink="block")
    joints = (SpringJoint(HAIR, HAIR + 2), SpringJoint(HAIR + 1, HAIR + 2, stiffness=2.0))
    shell = Collider(HEAD, "plane", np.zeros(3), normal=np.array([0, 1.0, 0]))
    rig = Rig(springs=(Spring("hair", joints, (0,)),), colliders=(shell,))
    _, notes = vrm_from_character(replace(character, expressions=(face,), rig=rig))
    assert [note.code for note in notes] == [
        "override-dropped",
        "bind-dropped",
        "collider-dropped",
        "spring-extended",
        "spring-setting",
    ]


def test_a_gltf_with_a_humanoid_becomes_a_vrm_of_its_facing(tmp_path: Path):
    path = tmp_path / "figure.glb"
    path.write_bytes(bare_figure().glb())
    plain = replace(load(path), humanoid=Humanoid(NODES))
    for facing, name, version in (("+Z", "VRMC_vrm", "1.0"), ("-Z", "VRM", "0.0")):
        notes = save(replace(plain, facing=facing), tmp_path / "out.vrm")
        codes = ["licence-assumed"]
        if facing == "-Z":  # whose left arm points to its right
            codes.append("not-in-t-pose")
        assert [note.code for note in notes] == codes
        again = load(tmp_path / "out.vrm")
        assert (again.facing, dict(again.humanoid.bones)) == (facing, NODES)
        extensions = again.document.json["extensions"]
        assert extensions[name]["specVersion"] == version
        assert again.document.json["extensionsUsed"] == [name]
        licence = [n.message for n in again.notes if n.code == "licence-redistribution"]
        assert licence[0].startswith("prohibited")


def test_terms_can_be_given():
    character = replace(read(bare_figure()), humanoid=Humanoid(NODES), document=None)
    file, notes = vrm_from_character(character, meta={**META, "allowRedistribution": True})
    assert notes == ()
    assert file.json["extensions"]["VRMC_vrm"]["meta"]["allowRedistribution"] is True


def test_terms_survive_a_document_that_does_not():
    character = read(figure_1(meta={**META, "modification": "allowModification"}))
    fewer = replace(character, meshes=(), attachments=(), expressions=())
    file, notes = vrm_from_character(fewer)
    assert "document-dropped" in {note.code for note in notes}
    assert "licence-assumed" not in {note.code for note in notes}
    assert file.json["extensions"]["VRMC_vrm"]["meta"]["modification"] == "allowModification"


def test_without_a_humanoid_it_is_no_vrm_for_others(tmp_path: Path):
    path = tmp_path / "x.glb"
    path.write_bytes(triangle().glb())
    notes = save(load(path), tmp_path / "x.vrm")
    assert {note.code for note in notes} == {"licence-assumed", "humanoid-incomplete"}


def test_what_gltf_cannot_say_is_noted(tmp_path: Path):
    path = tmp_path / "x.glb"
    path.write_bytes(bare_figure().glb())
    character = replace(load(path), humanoid=Humanoid(NODES), expressions=(Expression("x"),))
    (note,) = save(character, tmp_path / "y.glb")
    assert note.code == "vrm-dropped"
    assert note.message.startswith("humanoid, expressions cannot be said in glTF")


def test_a_vrm_saved_as_glb_stays_one(tmp_path: Path):
    character = loaded(rich_1(), tmp_path)
    assert save(character, tmp_path / "y.glb") == ()
    assert changed(load(tmp_path / "y.glb"), character) == []


def test_materials_of_0_x_are_told_by_name_and_shaded_by_unity():
    sketch = rich_0()
    properties = [
        {"name": "skin", "shader": "VRM/MToon", "vectorProperties": {"_Color": [1, 1, 1, 1]}},
        {"name": "eyes", "shader": "VRM/MToon", "vectorProperties": {"_Color": [1, 1, 1, 1]}},
    ]
    sketch.tree["extensions"]["VRM"]["materialProperties"] = properties
    character = read(sketch)
    skin = replace(character.materials[0], name="fur", base_color=(0.5, 0.0, 1.0, 0.25))
    hat = replace(skin, name="hat")
    materials = (skin, *character.materials[1:], hat)
    after = json_of(replace(character, materials=materials))["extensions"]["VRM"]
    (group,) = after["blendShapeMaster"]["blendShapeGroups"]
    assert group["materialValues"][0]["materialName"] == "fur"
    fur, eyes = after["materialProperties"]
    assert (fur["name"], fur["shader"]) == ("fur", "VRM/MToon")
    np.testing.assert_allclose(fur["vectorProperties"]["_Color"], [0.735357, 0, 1, 0.25], atol=1e-6)
    assert eyes == properties[1]


@pytest.mark.parametrize("angle", [0, 35, 90])
def test_arms_that_hang_are_noted(angle: int):
    sketch = bare_figure()
    half = math.radians(angle) / 2
    turn = [0, 0, -math.sin(half), math.cos(half)]  # lowers the left arm
    sketch.tree["nodes"][NODES["leftUpperArm"]]["rotation"] = turn
    character = replace(read(sketch), humanoid=Humanoid(NODES))
    _, notes = vrm_from_character(replace(character, document=None))
    hanging = [note.message for note in notes if note.code == "not-in-t-pose"]
    assert len(hanging) == (angle > 0)
    assert not hanging or hanging[0].startswith(f"the arms rest {angle}° off the T-pose")


def test_a_model_of_mmd_becomes_a_vrm(corpus: Path, tmp_path: Path):
    name = "yohawing__unity-mmd-loader__HumanoidSampleModel.pmx"
    character = load(corpus / "vrm_mmd" / name)
    notes = save(character, tmp_path / "x.vrm")
    assert {"licence-assumed", "rig-dropped"} <= {note.code for note in notes}
    again = load(tmp_path / "x.vrm")
    assert again.humanoid == character.humanoid
    assert again.facing == "+Z"
    (report,) = seen([tmp_path / "x.vrm"])
    assert "error" not in report, report
    assert report["bones"] == dict(character.humanoid.bones)
    (report,) = validate([tmp_path / "x.vrm"])
    assert errors(report) == []


def test_mmd_rules_have_no_place():
    character = read(figure_1())
    rig = Rig(appends=(Append(HAIR, HEAD, 0.5),))
    _, notes = vrm_from_character(replace(character, rig=rig))
    assert [note.code for note in notes] == ["rig-dropped"]


def test_turning_round_is_not_a_matter_of_writing():
    with pytest.raises(UnsupportedError, match=r"faces '-Z', but was read from a file whose VRMC"):
        vrm_from_character(replace(read(figure_1()), facing="-Z"))


def test_added_nodes_and_moved_attachments_are_no_changed_expression():
    character = read(rich_1())
    s = character.skeleton
    skeleton = Skeleton(
        (*s.names, "hat"),
        np.append(s.parents, HEAD).astype(np.int32),
        np.vstack([s.translations, [0, 0.3, 0]]),
        np.vstack([s.rotations, [0, 0, 0, 1]]),
        np.vstack([s.scales, [1, 1, 1]]),
    )
    tree = json_of(replace(character, skeleton=skeleton))
    before = character.document.json["extensions"]
    assert tree["extensions"] == before


def test_written_files_are_valid(tmp_path: Path):
    targets = []
    for i, sketch in enumerate((rich_1(), rich_0(), constrained())):
        character = replace(loaded(sketch, tmp_path), document=None)
        targets.append(tmp_path / f"{i}.vrm")
        save(character, targets[-1])
    for report in validate(targets):
        assert errors(report) == []


def test_real_files_written_from_scratch_say_the_same_and_are_valid(corpus: Path, tmp_path: Path):
    targets = []
    for path in sorted((corpus / "vrm_mmd").glob("*.vrm")):
        try:
            character = load(path)
        except BunrakuError:
            continue
        target = tmp_path / path.name
        save(character, target)
        assert target.read_bytes() == path.read_bytes()
        bare = replace(character, document=None)
        save(bare, target)
        again = load(target)
        different = [d for d in changed(again, bare) if not d.endswith(".normals")]
        assert different == [], path.name
        assert again.facing == character.facing
        targets.append(target)
    assert len(targets) > 30
    for target, report in zip(targets, validate(targets), strict=True):
        assert errors(report) == [], target.name


def test_a_whole_vrm_from_nothing(tmp_path: Path):
    count = len(read(bare_figure()).skeleton)
    rotations = np.tile([0, 0, 0, 1.0], (count, 1))
    base = replace(read(bare_figure()), document=None)
    skeleton = Skeleton(
        base.skeleton.names, base.skeleton.parents, base.skeleton.translations, rotations
    )
    turn = RangeMap(math.radians(90), math.radians(10))
    rig = Rig(
        constraints=(RotationConstraint(NODES["leftHand"], NODES["leftLowerArm"], 0.5),),
        look_at=LookAt("bone", np.array([0, 0.06, 0]), turn, turn, turn, turn),
        springs=(Spring("hair", (SpringJoint(HAIR, HAIR + 1, drag=0.4),)),),
    )
    expressions = (Expression("aa", (MorphBind(0, 0),), "aa"),)
    whole = replace(
        base,
        skeleton=skeleton,
        humanoid=Humanoid(NODES),
        rig=rig,
        expressions=expressions,
        scenes=(Scene(np.array([0, FACE], np.int32)),),
    )
    save(whole, tmp_path / "x.vrm")
    again = load(tmp_path / "x.vrm")
    assert differences(replace(again, name="x"), whole) == []
    assert json.dumps(read_gltf(tmp_path / "x.vrm").json).isascii()


def test_an_extension_that_is_no_object_decides_no_version() -> None:
    """Found by the 3256th mutation of test_fuzz_vrm."""
    sketch = bare_figure()
    sketch.tree["extensions"] = {"VRM": None}
    character = read(sketch)
    bones = Humanoid({"hips": NODES["hips"], "head": HEAD})
    file, _ = vrm_from_character(replace(character, humanoid=bones))
    assert set(file.json["extensions"]) == {"VRM", "VRMC_vrm"}
    assert character_from_vrm(file).humanoid == bones
