"""babylon-mmd, a loader of its own lineage, opens what is written here and finds the same in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku.formats import load, load_clips, save, save_clip
from bunraku.formats.mmd import (
    Deform,
    MorphKind,
    PmxFile,
    bone_curves,
    decode_field,
    pmx_from_pmd,
    read_pmd,
    read_pmx,
    read_vmd,
    read_vpd,
    write_pmx,
)
from bunraku.model import Character, Clip, Expression, Track
from tests.formats.mmd.babylon import seen
from tests.formats.mmd.sketch import VPD, pmd_sections, vmd_sections, whole_pmx


def agree(path: Path, there: dict[str, Any]) -> PmxFile:
    """Our document of a model and theirs: counts, names, positions, weights, bones, morphs."""
    file = read_pmx(path)
    assert there.get("said") == [], (path.name, there)
    assert there["name"] == file.name
    vertices = file.vertices
    assert len(there["vertices"]) == len(vertices)
    for i, vertex in enumerate(there["vertices"]):
        assert vertex["position"] == vertices.positions[i].tolist()
        assert vertex["normal"] == vertices.normals[i].tolist()
        assert vertex["uv"] == vertices.uvs[i].tolist()
        assert vertex["type"] == vertices.deform[i]
        weights, bones = vertex["weights"], vertex["bones"]
        if vertex["type"] == Deform.BDEF1:
            assert bones == vertices.bones[i, 0]
            continue
        assert bones == vertices.bones[i, : len(bones)].tolist()
        if vertex["type"] == Deform.SDEF:
            weights = weights["boneWeight0"]
        count = 1 if isinstance(weights, float | int) else 4
        assert np.atleast_1d(weights).tolist() == vertices.weights[i, :count].tolist()
    assert there["indices"] == file.faces.reshape(-1).tolist()
    assert there["textures"] == list(file.textures)
    for material, its in zip(file.materials, there["materials"], strict=True):
        found = (its["name"], its["flag"], its["texture"], its["count"])
        assert found == (material.name, material.flags, material.texture, material.index_count)
        assert tuple(its["diffuse"]) == material.diffuse
    for bone, its in zip(file.bones, there["bones"], strict=True):
        found = (its["name"], tuple(its["position"]), its["parent"], its["layer"], its["flag"])
        assert found == (bone.name, bone.position, bone.parent, bone.layer, bone.flags)
        append = its["append"]
        assert (append and (append["parentIndex"], append["ratio"])) == bone.append
        assert (its["axis"] and tuple(its["axis"])) == bone.fixed_axis
        assert (its["ik"] is None) == (bone.ik is None)
        if bone.ik is not None:
            found = (its["ik"]["target"], its["ik"]["iteration"], its["ik"]["rotationConstraint"])
            assert found == (bone.ik.target, bone.ik.loops, bone.ik.step_limit)
            assert [link["target"] for link in its["ik"]["links"]] == [
                link.bone for link in bone.ik.links
            ]
    for morph, its in zip(file.morphs, there["morphs"], strict=True):
        assert (its["name"], its["category"], its["type"]) == (morph.name, morph.panel, morph.kind)
        if morph.kind == MorphKind.VERTEX:
            assert its["indices"] == morph.offsets["vertex"].tolist()
            assert its["positions"] == morph.offsets["offset"].reshape(-1).tolist()
        elif morph.kind == MorphKind.GROUP:
            assert its["indices"] == morph.offsets["morph"].tolist()
            assert its["ratios"] == morph.offsets["weight"].tolist()
    assert there["frames"] == [[frame.name, len(frame.elements)] for frame in file.frames]
    assert (there["bodies"], there["joints"]) == (len(file.bodies), len(file.joints))
    return file


def made_models(folder: Path) -> dict[Path, Character]:
    """Characters of every origin, written as PMX."""
    (folder / "whole.pmx").write_bytes(whole_pmx())
    whole = load(folder / "whole.pmx")
    characters = {
        "puppet": bunraku.make_puppet(),
        "patched": replace(whole, name="patched"),
        "anew": replace(whole, document=None),
    }
    for name, character in characters.items():
        save(character, folder / f"{name}.pmx")
    return {folder / f"{name}.pmx": character for name, character in characters.items()}


def test_written_models(tmp_path: Path):
    made = made_models(tmp_path)
    for (path, character), report in zip(made.items(), seen(made), strict=True):
        file = agree(path, report)
        assert [bone["name"] for bone in report["bones"]] == list(character.skeleton.names)
        stage = bunraku.Stage(replace(character, rig=None))  # at rest IK would reach already
        expected = stage.deform(0).positions[0] * [12.5, 12.5, -12.5]
        found = np.array([vertex["position"] for vertex in report["vertices"]])
        size = float(np.abs(expected).max())
        np.testing.assert_allclose(found, expected, atol=1e-6 * size, err_msg=path.name)
        places = stage.global_transforms(0)[0, :, :3, 3] * [12.5, 12.5, -12.5]
        found = np.array([bone["position"] for bone in report["bones"]])
        np.testing.assert_allclose(found, places, atol=1e-6 * size, err_msg=path.name)
        assert len(file.materials) == len(character.materials)


def test_real_models_made_anew(corpus: Path, tmp_path: Path):
    paths = []
    for source in sorted((corpus / "vrm_mmd").glob("*unity-mmd-loader*.pmx")):
        paths.append(tmp_path / source.name)
        save(replace(load(source), document=None), paths[-1])
    assert len(paths) > 20
    for path, report in zip(paths, seen(paths), strict=True):
        agree(path, report)


def check_motion(path: Path, there: dict[str, Any]) -> None:
    file = read_vmd(path)
    assert there.get("said") == [], there
    assert len(there["bones"]) == len(file.bones)
    curves = bone_curves(file.bones["interpolation"])
    for key, its, own in zip(file.bones, there["bones"], curves, strict=True):
        # theirs cannot spell a letter that was cut in half, nor ours
        assert its["name"].rstrip("\ufffd") == decode_field(bytes(key["name"])).rstrip("\ufffd")
        assert (its["frame"], its["position"]) == (key["frame"], key["translation"].tolist())
        assert its["rotation"] == key["rotation"].tolist()
        blocks = np.array(its["interpolation"]).reshape(4, 4, 4)[:, :, 0]
        assert blocks.tolist() == own.tolist()
    morphs = [[decode_field(bytes(k["name"])), k["frame"], k["weight"]] for k in file.morphs]
    assert there["morphs"] == morphs
    assert there["cameras"] == len(file.cameras)
    for key, its in zip(file.properties, there["properties"], strict=True):
        assert (its["frameNumber"], its["visible"]) == (key.frame, bool(key.visible))
        states = [[decode_field(name), bool(on)] for name, on in key.ik.tolist()]
        assert its["ikStates"] == states


def test_written_motions(tmp_path: Path):
    (tmp_path / "sketch.vmd").write_bytes(b"".join(vmd_sections()))
    (clip,) = load_clips(tmp_path / "sketch.vmd")
    save_clip(replace(clip, document=None), tmp_path / "anew.vmd")
    save_clip(replace(clip, tracks=clip.tracks[:2]), tmp_path / "patched.vmd")
    puppet = bunraku.make_puppet()
    turn = Track("head", "rotation", [0, 1], [[0, 0, 0, 1], [0, 0.6, 0, 0.8]])
    smile = Track(0, "expression", [0, 0.5], [[0], [1]])
    save_clip(Clip("nod", (turn,)), tmp_path / "nod.vmd", puppet)
    expressive = replace(puppet, expressions=(Expression("笑い"),))
    save_clip(Clip("smile", (smile,)), tmp_path / "smile.vmd", expressive)
    paths = sorted(tmp_path.glob("*.vmd"))
    for path, report in zip(paths, seen(paths), strict=True):
        check_motion(path, report)


def test_real_motions_made_anew(corpus: Path, golden: Path, tmp_path: Path):
    paths = []
    for source in sorted([*corpus.rglob("*.vmd"), *golden.rglob("*.vmd")]):
        (clip,) = load_clips(source)
        paths.append(tmp_path / source.name)
        save_clip(replace(clip, document=None), paths[-1])
    assert len(paths) > 10
    for path, report in zip(paths, seen(paths), strict=True):
        check_motion(path, report)


def test_written_poses(tmp_path: Path):
    (tmp_path / "sketch.vpd").write_bytes(VPD)
    (clip,) = load_clips(tmp_path / "sketch.vpd")
    save_clip(replace(clip, document=None), tmp_path / "anew.vpd")
    (report,) = seen([tmp_path / "anew.vpd"])
    pose = read_vpd(tmp_path / "anew.vpd")
    assert list(report["bones"]) == [bone.name for bone in pose.bones]
    for bone in pose.bones:
        there = report["bones"][bone.name]
        assert there["rotation"] == pytest.approx(bone.rotation)
        assert there.get("position", [0, 0, 0]) == pytest.approx(list(bone.translation))
    assert report["morphs"] == {"あ": 0.25}


def test_a_pmd_is_read_alike(tmp_path: Path):
    path = tmp_path / "a.pmd"
    path.write_bytes(b"".join(pmd_sections()))
    write_pmx(pmx_from_pmd(read_pmd(path)), tmp_path / "a.pmx")
    there, ours = seen([path, tmp_path / "a.pmx"])
    for key in ("name", "indices"):
        assert there[key] == ours[key]
    for theirs, own in zip(there["vertices"], ours["vertices"], strict=True):
        assert theirs["position"] == own["position"]
    for theirs, own in zip(there["bones"], ours["bones"], strict=True):
        for key in ("name", "position", "parent"):
            assert theirs[key] == own[key], key
        # ours puts what hangs on a goal into the goal's layer, theirs only in rigs with a loop
        assert theirs["layer"] <= own["layer"]
        assert (theirs["ik"] is None) == (own["ik"] is None)
        if own["ik"] is not None:
            for key in ("target", "iteration", "rotationConstraint"):
                assert theirs["ik"][key] == own["ik"][key]
            for link, its in zip(theirs["ik"]["links"], own["ik"]["links"], strict=True):
                assert link["target"] == its["target"]
                # theirs are degrees where ours are radians
                limits = its.get("limitation")
                assert ("limitation" in link) == (limits is not None)
