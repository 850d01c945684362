from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BunrakuError, UnsupportedError
from bunraku.formats import load, save
from bunraku.formats.gltf import read_gltf
from bunraku.formats.vrm import character_from_vrm, vrm_from_character
from bunraku.model import (
    Append,
    Character,
    Collider,
    Expression,
    Humanoid,
    LookAt,
    MaterialBind,
    MorphBind,
    RangeMap,
    Rig,
    RotationConstraint,
    Scene,
    Skeleton,
    Spring,
    SpringJoint,
    differences,
)
from bunraku.stage import Stage
from tests.formats.same import changed
from tests.formats.sketch import triangle
from tests.formats.validator import errors, validate
from tests.formats.vrm.figures import (
    FACE,
    HAIR,
    HEAD,
    META,
    NODES,
    bare_figure,
    constrained,
    figure_0,
    figure_1,
    json_of,
    loaded,
    read,
    rich_0,
    rich_1,
)
from tests.formats.vrm.three_vrm import seen


def test_unchanged_files_are_written_bit_for_bit(tmp_path: Path):
    for name, sketch in (("1.vrm", rich_1()), ("0.vrm", figure_0()), ("c.glb", constrained())):
        path = tmp_path / name
        path.write_bytes(sketch.glb())
        assert save(load(path), tmp_path / f"again-{name}") == ()
        assert (tmp_path / f"again-{name}").read_bytes() == path.read_bytes()


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
        {
            "name": name,
            "shader": "VRM/MToon",
            "vectorProperties": {"_Color": [1, 1, 1, 1], "_MainTex": [0, 0, 1, 1]},
        }
        for name in ("skin", "eyes")
    ]
    sketch.tree["extensions"]["VRM"]["materialProperties"] = properties
    sketch.tree["images"] = [{"uri": "data:image/png;base64,iVBORw0KGgo="}]
    sketch.tree["textures"] = [{"source": 0}]
    sketch.tree["materials"][0]["pbrMetallicRoughness"] = {"baseColorTexture": {"index": 0}}
    character = read(sketch)
    skin = replace(
        character.materials[0],
        name="fur",
        base_color=(0.5, 0.0, 1.0, 0.25),
        uv_offset=(0.5, -3.25),
        uv_scale=(2.0, 4.0),
    )
    hat = replace(skin, name="hat")
    materials = (skin, *character.materials[1:], hat)
    after = json_of(replace(character, materials=materials))["extensions"]["VRM"]
    (group,) = after["blendShapeMaster"]["blendShapeGroups"]
    assert group["materialValues"][0]["materialName"] == "fur"
    fur, eyes = after["materialProperties"]
    assert (fur["name"], fur["shader"]) == ("fur", "VRM/MToon")
    np.testing.assert_allclose(fur["vectorProperties"]["_Color"], [0.735357, 0, 1, 0.25], atol=1e-6)
    assert fur["vectorProperties"]["_MainTex"] == [0.5, 0.25, 2, 4]  # 1 + 3.25 − 4: v runs up
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
    assert [note for note in again.notes if note.code == "bone-apart"] == []
    bones = dict(character.humanoid.bones)
    for toes in ("leftToes", "rightToes"):  # 足先EX hang on the bone that follows the foot
        del bones[toes]
    bones["hips"] = character.skeleton.index("腰")
    assert dict(again.humanoid.bones) == bones
    assert again.facing == "+Z"
    (report,) = seen([tmp_path / "x.vrm"])
    assert "error" not in report, report
    assert report["bones"] == bones
    (report,) = validate([tmp_path / "x.vrm"])
    assert errors(report) == []


def test_the_legs_of_a_model_of_mmd_bend_as_they_did(corpus: Path, tmp_path: Path):
    """The skin hangs on bones that append those of the humanoid."""
    name = "yohawing__unity-mmd-loader__HumanoidSampleModel.pmx"
    character = load(corpus / "vrm_mmd" / name)
    save(character, tmp_path / "x.vrm")
    again = load(tmp_path / "x.vrm")
    turns = np.random.default_rng(7).normal([0, 0, 0, 3], 0.5, (len(character.skeleton), 4))
    shapes = []
    for each in (character, again):
        pose = each.rest_pose()
        rotations = np.array(pose.rotations)
        for bone in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm"):
            for node in (each.humanoid.bones[f"left{bone}"], each.humanoid.bones[f"right{bone}"]):
                rotations[0, node] = turns[node] / np.linalg.norm(turns[node])
        off = {"ik": np.zeros((1, 4), bool)} if each is character else {}
        shapes.append(Stage(each).deform_pose(replace(pose, rotations=rotations, **off)))
    moved = np.abs(shapes[0].positions - character.meshes[0].geometries[0].positions)
    assert moved.max() > 0.4
    np.testing.assert_allclose(shapes[1].positions, shapes[0].positions, atol=1e-6)


FOLLOWER = HAIR + 1
APPENDS = {
    "half a turn": (Append(HAIR, HEAD, 0.5), ()),
    "a turn and a way": (Append(HAIR, HEAD, 0.5, translation=True), "moves"),
    "a way": (Append(HAIR, HEAD, 0.5, rotation=False, translation=True), "moves"),
    "local": (Append(HAIR, HEAD, 0.5, local=True), "in the character's space"),
    "the other way": (Append(HAIR, HEAD, -1.0), "share outside 0 … 1"),
    "too much": (Append(HAIR, HEAD, 1.5), "share outside 0 … 1"),
    "a bone of the humanoid": (Append(NODES["leftEye"], HEAD, 1.0), "of a humanoid bone"),
    "a source below": (Append(HAIR, HAIR + 2, 1.0), "source hangs on it"),
    "itself": (Append(HAIR, HAIR, 1.0), "source hangs on it"),
}


@pytest.mark.parametrize(("append", "reason"), APPENDS.values(), ids=APPENDS.keys())
def test_appends_become_rotation_constraints_where_they_say_the_same(append: Append, reason: str):
    rig = Rig(appends=(append,))
    file, notes = vrm_from_character(replace(read(figure_1()), rig=rig))
    again = character_from_vrm(file).rig
    if not reason:
        assert again.constraints == (RotationConstraint(append.node, append.source, append.ratio),)
        assert notes == ()
        return
    assert again is None
    message = f"rig: VRM has no place for 1 of 1 appends ({reason}: 1); left out [rig-dropped]"
    assert list(map(str, notes)) == [message]


def test_appends_of_appends_are_handed_on_as_mmd_does():
    """What a source appends before is taken along, what it appends later is not there yet."""
    early = Rig(appends=(Append(HAIR, HEAD, 0.5), Append(FOLLOWER, HAIR, 1.0)))
    late = Rig(layers=[0] * HAIR + [1, 0, 0], appends=early.appends)
    figure = read(figure_1())
    file, _ = vrm_from_character(replace(figure, rig=early))
    assert len(character_from_vrm(file).rig.constraints) == 2
    file, (note,) = vrm_from_character(replace(figure, rig=late))
    assert [each.node for each in character_from_vrm(file).rig.constraints] == [HAIR]
    assert "(source comes later: 1)" in note.message


def test_appends_that_wait_for_each_other_through_parents_are_left_out():
    arms = [NODES[f"{side}{bone}"] for side in ("left", "right") for bone in ("Hand", "Eye")]
    figure = replace(read(figure_1()), humanoid=Humanoid({}))
    parents = np.array(figure.skeleton.parents)
    parents[arms[1]], parents[arms[3]] = arms[0], arms[2]
    figure = replace(figure, skeleton=replace(figure.skeleton, parents=parents))
    rig = Rig(appends=(Append(arms[0], arms[3], 1.0), Append(arms[2], arms[1], 1.0)))
    file, notes = vrm_from_character(replace(figure, rig=rig, document=None))
    assert character_from_vrm(file).rig is None
    assert any("wait for each other: 2" in note.message for note in notes)


def test_appends_of_nodes_that_are_turned_at_rest_are_left_out():
    figure = read(figure_1())
    rotations = np.array(figure.skeleton.rotations)
    rotations[HEAD] = [0, 0.6, 0, 0.8]
    figure = replace(figure, skeleton=replace(figure.skeleton, rotations=rotations))
    rig = Rig(appends=(Append(HAIR, HEAD, 0.5), Append(FOLLOWER, HAIR, 0.5)))
    file, notes = vrm_from_character(replace(figure, rig=rig))
    assert [each.node for each in character_from_vrm(file).rig.constraints] == [FOLLOWER]
    assert any("1 of 2 appends (turned at rest: 1)" in note.message for note in notes)


def test_vrm_0_x_has_no_constraints_to_write_appends_as():
    rig = Rig(appends=(Append(HAIR, HEAD, 0.5),))
    file, (note,) = vrm_from_character(replace(read(figure_0()), rig=rig))
    assert character_from_vrm(file).rig is None
    assert "1 of 1 appends (in VRM 0.x: 1)" in note.message


@pytest.mark.parametrize("toes", ["ankle", "elsewhere"])
def test_bones_of_the_humanoid_hang_below_each_other(toes: str):
    """As in MMD: the lower body, with the legs, stands beside the upper body."""
    names = ["root", "centre", "lower", "upper", "head"]
    parents = [-1, 0, 1, 1, 3]
    bones = {"hips": 2, "spine": 3, "head": 4}
    for side in ("left", "right"):
        for bone, above in (("UpperLeg", "hips"), ("LowerLeg", ""), ("Foot", ""), ("Toes", "")):
            parents.append(bones[above] if above else len(names) - 1)
            bones[f"{side}{bone}"] = len(names)
            names.append(f"{side}{bone}")
    if toes == "elsewhere":
        parents[bones["leftToes"]] = 2
    places = [[0, 0.5, 0] for _ in names]
    skeleton, rig = Skeleton(tuple(names), parents, places), Rig(layers=[0] * len(names))
    file, notes = vrm_from_character(Character(skeleton, humanoid=Humanoid(bones), rig=rig))
    again = character_from_vrm(file)
    assert again.humanoid.bones["hips"] == 1
    assert ("leftToes" in again.humanoid.bones) == (toes == "ankle")
    assert "bone-apart" not in {note.code for note in again.notes}
    said = [note.code for note in notes if note.place == "humanoid"]
    assert said == ["hips-raised", *["bone-apart"] * (toes == "elsewhere"), "humanoid-incomplete"]


def test_required_bones_that_hang_elsewhere_are_noted_when_written():
    figure = replace(read(bare_figure()), humanoid=Humanoid({**NODES, "head": HAIR}), document=None)
    parents = np.array(figure.skeleton.parents)
    parents[HAIR] = -1
    figure = replace(figure, skeleton=replace(figure.skeleton, parents=parents))
    file, notes = vrm_from_character(figure)
    apart = [note.message for note in notes if note.code == "bone-apart"]
    assert f"head, node {HAIR}, is not below neck, node {NODES['neck']}" in apart
    read_back = [n.message for n in character_from_vrm(file).notes if n.code == "bone-apart"]
    assert read_back == apart


def test_turning_round_is_not_a_matter_of_writing():
    with pytest.raises(UnsupportedError, match=r"faces '-Z', but was read from a file whose VRMC"):
        vrm_from_character(replace(read(figure_1()), facing="-Z"))


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
