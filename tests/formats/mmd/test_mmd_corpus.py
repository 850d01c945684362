"""Real files: written back bit for bit, and agreeing with what other readers found in them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.formats.mmd import (
    BoneFlag,
    PmxBone,
    PmxFile,
    PmxOrigin,
    VmdFile,
    bone_curves,
    decode_field,
    physics_switch,
    pmx_bytes,
    read_pmx,
    read_vmd,
    vmd_bytes,
)

PREFIX = "yohawing__unity-mmd-loader__"
MODELS = ("1bone_cube", "append_bone", "basic_bone", "fix_axis", "semi_basic_bone")
MODELS += ("given_bone_comprehensive",)
MOTIONS = {"1bone_cube": "1bone_cube_motion", "append_bone": "append_bone"}


def loaded(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_every_model_is_written_bit_for_bit(corpus: Path):
    paths = sorted(corpus.rglob("*.pmx"))
    assert len(paths) > 40
    for path in paths:
        file = read_pmx(path)
        assert pmx_bytes(file) == path.read_bytes(), path.name
        assert pmx_bytes(replace(file, origin=PmxOrigin())) == path.read_bytes(), path.name


def test_every_motion_is_written_bit_for_bit(corpus: Path, golden: Path):
    paths = sorted([*corpus.rglob("*.vmd"), *golden.rglob("*.vmd")])
    assert len(paths) > 10
    for path in paths:
        assert vmd_bytes(read_vmd(path)) == path.read_bytes(), path.name


def test_nothing_in_the_corpus_leads_nowhere(corpus: Path):
    for path in corpus.rglob("*.pmx"):
        codes = {note.code for note in read_pmx(path).notes}
        # one fixture of version 2.0 counts its soft bodies, which that version does not have
        assert codes == ({"trailing-bytes"} if "descriptor_parity" in path.name else set())


@pytest.mark.parametrize("name", MODELS)
def test_models_agree_with_unity_mmd_loader(corpus: Path, name: str):
    folder = corpus / "vrm_mmd"
    expected = loaded(folder / f"{PREFIX}test_{name}_model.json")
    model = read_pmx(folder / f"{PREFIX}test_{name}.pmx")
    assert model.name == expected["name"]
    assert model.faces.reshape(-1).tolist() == expected["indices"]
    assert len(model.vertices) == len(expected["vertices"])
    for i, vertex in enumerate(expected["vertices"]):
        bones = vertex["boneIndices"]
        assert model.vertices.positions[i].tolist() == vertex["position"]
        assert model.vertices.normals[i].tolist() == vertex["normal"]
        assert model.vertices.uvs[i].tolist() == vertex["uv"]
        assert model.vertices.bones[i, : len(bones)].tolist() == bones
        assert model.vertices.weights[i, : len(bones)].tolist() == vertex["boneWeights"]
    for material, there in zip(model.materials, expected["materials"], strict=True):
        assert (material.name, material.index_count) == (there["name"], there["vertexCount"])
    for bone, there in zip(model.bones, expected["bones"], strict=True):
        compare_bone(bone, there)
    chains = [(i, bone.ik) for i, bone in enumerate(model.bones) if bone.ik]
    for (i, ik), there in zip(chains, expected["ik"], strict=True):
        assert (i, ik.target, ik.loops) == (
            there["boneIndex"],
            there["targetBoneIndex"],
            there["iterationCount"],
        )
        assert ik.step_limit == there["angleLimit"]
        for link, its in zip(ik.links, there["links"], strict=True):
            limits = [its["minimumAngle"], its["maximumAngle"]] if its["hasLimit"] else None
            assert link.bone == its["boneIndex"]
            assert (link.limits and list(map(list, link.limits))) == limits


def compare_bone(bone: PmxBone, there: dict[str, Any]) -> None:
    assert bone.name == there["name"]
    assert (bone.parent, bone.layer) == (there["parentIndex"], there["transformOrder"])
    assert list(bone.position) == there["origin"]
    append = bone.append or (-1, 1.0)
    assert append == (there["appendParentIndex"], there["appendRatio"])
    flags = {
        "isMovable": BoneFlag.MOVABLE,
        "isRotatable": BoneFlag.ROTATABLE,
        "appendRotation": BoneFlag.APPEND_ROTATION,
        "appendTranslation": BoneFlag.APPEND_TRANSLATION,
        "appendLocal": BoneFlag.APPEND_LOCAL,
        "fixedAxis": BoneFlag.FIXED_AXIS,
        "localAxes": BoneFlag.LOCAL_AXES,
        "externalParentTransform": BoneFlag.EXTERNAL_PARENT,
        "deformAfterPhysics": BoneFlag.AFTER_PHYSICS,
    }
    for key, flag in flags.items():
        if key in there:
            assert bool(bone.flags & flag) is there[key], (bone.name, key)
    if bone.fixed_axis and "fixedAxisVector" in there:
        assert list(bone.fixed_axis) == there["fixedAxisVector"]
    if bone.local_axes and "localXAxis" in there:
        assert list(bone.local_axes[0]) == there["localXAxis"]
        assert list(bone.local_axes[1]) == there["localZAxis"]


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_agree_with_unity_mmd_loader(corpus: Path, name: str):
    folder = corpus / "vrm_mmd"
    expected = loaded(folder / f"{PREFIX}test_{name}_motion.json")
    motion = read_vmd(folder / f"{PREFIX}test_{MOTIONS[name]}.vmd")
    # theirs are sorted by time and bone; the file has them as they came
    keys = sorted(expected["boneKeyframes"], key=lambda key: (key["frame"], key["boneName"]))
    assert motion.model_name == expected["targetModelName"]
    assert motion.bones["frame"].max() == expected["maxFrame"]
    names = [decode_field(raw) for raw in motion.bones["name"].tolist()]
    order = sorted(range(len(names)), key=lambda i: (motion.bones["frame"][i], names[i]))
    bones = motion.bones[order]
    assert [names[i] for i in order] == [key["boneName"] for key in keys]
    assert bones["frame"].tolist() == [key["frame"] for key in keys]
    assert bones["translation"].tolist() == [key["translation"] for key in keys]
    assert bones["rotation"].tolist() == [key["rotation"] for key in keys]
    physics = [key["physicsEnabled"] for key in keys]
    assert physics_switch(bones["interpolation"]).tolist() == physics
    curves = bone_curves(bones["interpolation"])
    channels = ("translationX", "translationY", "translationZ", "rotation")
    theirs = np.array([[key["interpolation"][channel] for channel in channels] for key in keys])
    # It reads row 0, where the physics switch has taken the place of x1 of Z and rotation.
    same = np.ones((4, 4), bool)
    same[2:, 0] = False
    np.testing.assert_array_equal(curves[:, same], theirs[:, same])
    assert set(theirs[:, ~same].flat) == {0}
    assert set(curves[:, ~same].flat) <= {20, 42}
    assert len(motion.morphs) == len(expected["morphKeyframes"])
    for key, there in zip(motion.properties, expected.get("modelKeyframes", []), strict=True):
        assert (key.frame, bool(key.visible)) == (there["frame"], there["visible"])


def test_a_model_agrees_with_mmd_anim(corpus: Path):
    path = corpus / "vrm_mmd" / "yohawing__mmd-anim__ik_multi_axis_limit.pmx"
    model, expected = read_pmx(path), loaded(path.with_name(path.name + ".json"))
    compare_metadata(model, expected["metadata"])
    geometry = expected["geometry"]
    for name, array in {
        "positions": model.vertices.positions,
        "normals": model.vertices.normals,
        "uvs": model.vertices.uvs,
        "indices": model.faces,
        "skinIndices": model.vertices.bones,
        "skinWeights": model.vertices.weights,
        "edgeScale": model.vertices.edge_scales,
    }.items():
        np.testing.assert_allclose(array.reshape(-1), geometry[name], rtol=1e-6, err_msg=name)
    material, there = model.materials[0], expected["materials"][0]
    assert (material.name, material.index_count) == (there["name"], 3 * there["faceCount"])
    assert material.diffuse == pytest.approx(there["diffuse"])
    assert material.edge_colour == pytest.approx(there["edgeColor"])
    for bone, its in zip(model.bones, expected["skeleton"]["bones"], strict=True):
        assert (bone.name, bone.parent, bone.layer) == (
            its["name"],
            its["parentIndex"],
            its["layer"],
        )
        assert bone.position == pytest.approx(its["position"])
        if its["flags"]["indexedTail"]:
            assert bone.tail == its["tailIndex"]
        else:
            assert bone.tail == pytest.approx(its["tailPosition"] or (0, 0, 0))
    elements = [
        (item["type"] == "morph", item["index"]) for item in expected["displayFrames"][0]["frames"]
    ]
    assert list(map(tuple, model.frames[0].elements.tolist())) == elements


def compare_metadata(model: PmxFile, expected: dict[str, Any]) -> None:
    assert model.version == expected["version"]
    assert model.encoding == expected["encoding"]
    assert (model.name, model.name_english) == (expected["name"], expected["englishName"])
    assert (model.comment, model.comment_english) == (
        expected["comment"],
        expected["englishComment"],
    )
    counts = {
        "vertices": model.vertices,
        "faces": model.faces,
        "materials": model.materials,
        "bones": model.bones,
        "morphs": model.morphs,
        "displayFrames": model.frames,
        "rigidBodies": model.bodies,
        "joints": model.joints,
        "softBodies": model.soft_bodies,
    }
    assert {name: len(items) for name, items in counts.items()} == expected["counts"]
    sizes = model.index_sizes
    assert list(expected["indexSizes"].values()) == [
        sizes.vertex,
        sizes.texture,
        sizes.material,
        sizes.bone,
        sizes.morph,
        sizes.body,
    ]


def test_a_model_and_its_motion_agree_with_three_mmd_loader(corpus: Path):
    folder = corpus / "vrm_mmd"
    expected = loaded(folder / "yohawing__three-mmd-loader__test_1bone_cube_dump.json")
    model = read_pmx(folder / f"{PREFIX}test_1bone_cube.pmx")
    motion = read_vmd(folder / f"{PREFIX}test_1bone_cube_motion.vmd")
    compare_metadata(model, expected["model"]["metadata"])
    there = expected["model"]["bones"][0]
    assert (model.bones[0].name, model.bones[0].name_english) == (
        there["name"],
        there["englishName"],
    )
    assert motion.model_name == expected["motion"]["modelName"]
    assert count(motion) == expected["motion"]["counts"]


def count(motion: VmdFile) -> dict[str, int]:
    return {
        "bones": len(motion.bones),
        "morphs": len(motion.morphs),
        "cameras": len(motion.cameras),
        "lights": len(motion.lights),
        "selfShadows": len(motion.shadows),
        "properties": len(motion.properties),
    }


@pytest.mark.parametrize("name", ["humanoid_ik", "append_axis"])
def test_old_and_current_layout_hold_the_same_curves(golden: Path, name: str):
    current = read_vmd(golden / f"synth_{name}.vmd").bones
    old = read_vmd(golden / f"synth_{name}_oldlayout.vmd").bones
    assert (current["interpolation"] != old["interpolation"]).any()
    curves = bone_curves(current["interpolation"])
    np.testing.assert_array_equal(curves, bone_curves(old["interpolation"]))
    for field in ("name", "frame", "translation", "rotation"):
        np.testing.assert_array_equal(current[field], old[field], field)


def test_the_physics_switch_is_found(corpus: Path):
    found = set()
    for path in corpus.rglob("*physics_toggle*.vmd"):
        found |= set(physics_switch(read_vmd(path).bones["interpolation"]).tolist())
    assert found == {True, False}
