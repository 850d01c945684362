"""Characters and clips of real files, against what other loaders wrote down of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.formats import load, load_clips
from bunraku.model import Character, Clip, differences
from bunraku.motion import bind

PREFIX = "yohawing__unity-mmd-loader__"
MODELS = ("1bone_cube", "append_bone", "basic_bone", "fix_axis", "semi_basic_bone")
MODELS += ("given_bone_comprehensive",)
INSIDE_OUT = ("ik_multi_axis", "bdef2", "bdef4", "qdef-", "sdef-")
MIRROR = np.array([1, 1, -1])
METRES = 0.08


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def world_places(character: Character) -> np.ndarray[Any, Any]:
    """Where nodes stand at rest; none of them turns."""
    skeleton = character.skeleton
    places = np.zeros((len(skeleton), 3))
    for node in skeleton.order.tolist():
        parent = skeleton.parents[node]
        places[node] = skeleton.translations[node] + (places[parent] if parent >= 0 else 0)
    return places


def test_every_model_of_the_corpus_is_a_character(corpus: Path):
    known = {"image-missing", "licence-comment", "physics-carried", "trailing-bytes"}
    paths = sorted((corpus / "vrm_mmd").glob("*.pmx"))
    assert len(paths) > 40
    for path in paths:
        character = load(path)
        assert {note.code for note in character.notes} <= known, path.name
        for mesh in character.meshes:
            (geometry,) = mesh.geometries
            faces = np.concatenate([part.faces for part in mesh.parts])
            corners = geometry.positions[faces].astype(np.float64)
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            along = (normals * geometry.normals[faces].sum(axis=1)).sum(axis=1)
            # corners turn the way the normals say, but in fixtures that are inside out
            inside_out = any(name in path.name for name in INSIDE_OUT)
            assert ((along < 0) == inside_out).all(), path.name


@pytest.mark.parametrize("name", MODELS)
def test_characters_agree_with_unity_mmd_loader(corpus: Path, name: str):
    folder = corpus / "vrm_mmd"
    expected = read(folder / f"{PREFIX}test_{name}_model.json")
    character = load(folder / f"{PREFIX}test_{name}.pmx")
    bones, rig = expected["bones"], character.rig
    assert rig is not None
    assert list(character.skeleton.names) == [bone["name"] for bone in bones]
    assert character.skeleton.parents.tolist() == [bone["parentIndex"] for bone in bones]
    assert rig.layers.tolist() == [bone["transformOrder"] for bone in bones]
    origins = np.array([bone["origin"] for bone in bones]) * MIRROR * METRES
    np.testing.assert_allclose(world_places(character), origins, atol=1e-12)
    appends = [
        (i, bone["appendParentIndex"], bone["appendRatio"], bone["appendRotation"])
        for i, bone in enumerate(bones)
        if bone["appendRotation"] or bone["appendTranslation"]
    ]
    assert [(each.node, each.source, each.ratio, each.rotation) for each in rig.appends] == appends
    axes = [(i, bone["fixedAxisVector"]) for i, bone in enumerate(bones) if bone.get("fixedAxis")]
    assert [axis.node for axis in rig.fixed_axes] == [i for i, _ in axes]
    for axis, (_, vector) in zip(rig.fixed_axes, axes, strict=True):
        length = np.linalg.norm(vector)
        np.testing.assert_allclose(axis.axis * length, np.array(vector) * MIRROR, atol=1e-7)
    for chain, there in zip(rig.chains, expected["ik"], strict=True):
        assert (chain.goal, chain.effector) == (there["boneIndex"], there["targetBoneIndex"])
        assert (chain.loops, chain.step) == (there["iterationCount"], there["angleLimit"])
        for link, its in zip(chain.links, there["links"], strict=True):
            assert link.node == its["boneIndex"]
            assert (link.limits is not None) is its["hasLimit"]
            if link.limits is not None:
                low, high = np.array(its["minimumAngle"]), np.array(its["maximumAngle"])
                np.testing.assert_allclose(link.limits[0], [-high[0], -high[1], low[2]])
                np.testing.assert_allclose(link.limits[1], [-low[0], -low[1], high[2]])
    for mesh in character.meshes:
        (geometry,) = mesh.geometries
        places = np.array([vertex["position"] for vertex in expected["vertices"]])
        np.testing.assert_allclose(geometry.positions, places * MIRROR * METRES, atol=1e-7)
        faces = np.array(expected["indices"]).reshape(-1, 3)[:, [0, 2, 1]]
        assert np.concatenate([part.faces for part in mesh.parts]).tolist() == faces.tolist()


@pytest.mark.parametrize(
    ("model", "motion"), [("1bone_cube", "1bone_cube_motion"), ("append_bone",) * 2]
)
def test_clips_agree_with_unity_mmd_loader(corpus: Path, model: str, motion: str):
    folder = corpus / "vrm_mmd"
    expected = read(folder / f"{PREFIX}test_{model}_motion.json")
    (clip,) = load_clips(folder / f"{PREFIX}test_{motion}.vmd")
    assert round(clip.end * 30) == expected["maxFrame"]
    turns = {each.target: each for each in clip.tracks if each.path == "rotation"}
    moves = {each.target: each for each in clip.tracks if each.path == "translation"}
    for there in expected["boneKeyframes"]:
        turn, move = turns[there["boneName"]], moves.get(there["boneName"])
        key = int(np.flatnonzero(np.rint(turn.times * 30) == there["frame"])[0])
        expected_turn = np.array(there["rotation"]) * [-1, -1, 1, 1]
        np.testing.assert_allclose(turn.values[key], expected_turn, atol=1e-7)
        place = np.array(there["translation"]) * MIRROR * METRES
        found = np.zeros(3) if move is None else move.values[key]
        np.testing.assert_allclose(found, place, atol=1e-7)
        if turn.curves is not None:  # x1 is missing in what it read, see test_mmd_corpus
            rotation = np.array(there["interpolation"]["rotation"]) / 127
            np.testing.assert_allclose(turn.curves[key, 0, 1:], rotation[1:], atol=1e-7)
        if move is not None and move.curves is not None:
            across = np.array(there["interpolation"]["translationX"]) / 127
            np.testing.assert_allclose(move.curves[key, 0], across, atol=1e-7)


def test_a_character_agrees_with_mmd_anim(corpus: Path):
    path = corpus / "vrm_mmd" / "yohawing__mmd-anim__ik_multi_axis_limit.pmx"
    character, expected = load(path), read(path.with_name(path.name + ".json"))
    geometry = character.meshes[0].geometries[0]
    there = expected["geometry"]
    places = np.array(there["positions"]).reshape(-1, 3) * MIRROR * METRES
    np.testing.assert_allclose(geometry.positions, places, atol=1e-7)
    normals = np.array(there["normals"]).reshape(-1, 3) * MIRROR
    np.testing.assert_array_equal(geometry.normals, normals)
    weights = np.array(there["skinWeights"]).reshape(-1, 4)
    np.testing.assert_array_equal(geometry.weights, weights[:, : geometry.weights.shape[1]])
    assert [(group["materialIndex"], group["count"]) for group in there["materialGroups"]] == [
        (part.material, 3 * len(part.faces)) for part in character.meshes[0].parts
    ]


@pytest.mark.parametrize("name", ["humanoid_ik", "append_axis"])
def test_old_and_current_layout_give_the_same_tracks(golden: Path, name: str):
    (current,) = load_clips(golden / f"synth_{name}.vmd")
    (old,) = load_clips(golden / f"synth_{name}_oldlayout.vmd")
    assert differences(current.tracks, old.tracks) == []
    assert any(each.interpolation == "BEZIER" for each in current.tracks)


def test_every_motion_is_a_clip(corpus: Path, golden: Path):
    paths = sorted([*corpus.rglob("*.vmd"), *golden.rglob("*.vmd")])
    assert len(paths) > 10
    for path in paths:
        (clip,) = load_clips(path)
        assert isinstance(clip, Clip)
        assert {note.code for note in clip.notes} <= {"carried"}, path.name
        assert bool(clip.tracks) is ("camera" not in path.name)


def test_motions_find_every_bone_of_their_models(corpus: Path, golden: Path):
    folder = corpus / "vrm_mmd"
    humanoid = load(folder / f"{PREFIX}HumanoidSampleModel.pmx")
    assert humanoid.humanoid is not None
    assert humanoid.humanoid.missing == ()
    pairs = {
        humanoid: golden / "synth_humanoid_ik.vmd",
        load(folder / f"{PREFIX}test_append_bone.pmx"): folder / f"{PREFIX}test_append_bone.vmd",
        load(folder / f"{PREFIX}test_vertex_morph.pmx"): (
            folder / f"{PREFIX}test_vertex_morph_motion.vmd"
        ),
    }
    for character, path in pairs.items():
        (clip,) = load_clips(path)
        assert bind(clip, character).notes == (), path.name
