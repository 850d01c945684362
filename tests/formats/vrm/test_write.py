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
