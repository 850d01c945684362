"""Motions of any file, made to fit a character."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.errors import FormatError, RigError
from bunraku.model import Character, Clip, Humanoid, Skeleton, Track
from bunraku.render.renderer import Renderer

VMD = "peterljq__OpenMMD__output_20180923_200704.vmd"
PMX = "yohawing__unity-mmd-loader__HumanoidSampleModel.pmx"
VRM = "V-Sekai__godot-vrm__Godette_vrm_v4.vrm"
VRMA = "pixiv__ChatVRM__idle_loop.vrma"


@pytest.fixture
def folder(corpus: Path) -> Path:
    return corpus / "vrm_mmd"


def joints(character: Character, clip: Clip, time: float) -> np.ndarray:
    places = bunraku.Stage(character, clip).global_transforms(time)[0, :, :, 3]
    assert character.humanoid is not None
    return np.array([places[character.humanoid.bones[b]] for b in ("leftHand", "rightFoot")])


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.vmd").write_bytes(b"Vocaloid Motion Data 0002")
    character = Character(Skeleton(("root",), [-1]))
    with pytest.raises(FormatError, match=r"a\.vmd"):
        bunraku.load_motions(tmp_path / "a.vmd", character)


def test_a_humanoid_without_legs_cannot_dance(folder: Path) -> None:
    character = Character(Skeleton(("hips",), [-1]), humanoid=Humanoid({"hips": 0}))
    with pytest.raises(RigError, match="the humanoid has no head"):
        bunraku.load_motions(folder / VMD, character)


def test_a_motion_of_mmd_on_its_own_model_is_left_alone(folder: Path) -> None:
    model = bunraku.load(folder / PMX)
    [clip] = bunraku.load_motions(folder / VMD, model)
    assert {track.target for track in clip.tracks} == {
        track.target for [given] in [bunraku.load_clips(folder / VMD)] for track in given.tracks
    }


def test_a_motion_of_mmd_on_an_avatar_is_carried_over(folder: Path) -> None:
    avatar = bunraku.load(folder / VRM)
    [clip] = bunraku.load_motions(folder / VMD, avatar)
    assert not bunraku.Stage(avatar, clip).notes
    still = joints(avatar, Clip("", ()), 0)
    assert np.linalg.norm(joints(avatar, clip, 2.0)[0] - still[0]) > 0.1  # a hand is raised
    # The same dance by way of a model that it fits.
    model = bunraku.load(folder / PMX)
    [dance] = bunraku.load_clips(folder / VMD)
    other = bunraku.retarget(dance, model, avatar)
    np.testing.assert_allclose(joints(avatar, clip, 2), joints(avatar, other, 2), atol=0.15)


def test_a_vrm_animation_is_carried_over_even_between_equal_names(folder: Path) -> None:
    avatar = bunraku.load(folder / VRM)
    [clip] = bunraku.load_motions(folder / VRMA, avatar)
    assert not bunraku.Stage(avatar, clip).notes
    left = joints(avatar, clip, 1.0)[0]
    assert 0.2 < np.linalg.norm(left - joints(avatar, Clip("", ()), 0)[0]) < 1.0  # arms hang


def test_files_with_the_same_bones_share_motions_as_they_are(tmp_path: Path) -> None:
    puppet = bunraku.make_puppet()
    bunraku.save(puppet, tmp_path / "puppet.glb")
    clips = bunraku.load_motions(tmp_path / "puppet.glb", puppet)
    assert [clip.name for clip in clips] == [clip.name for clip in puppet.clips]
    assert all(isinstance(track, Track) for track in clips[0].tracks)


def test_a_figure_that_faces_backwards_is_seen_from_its_front(folder: Path) -> None:
    stage = bunraku.Stage(bunraku.load(folder / VRM))
    assert stage.character.facing == "-Z"
    camera = Renderer(stage, view="front").camera(0.0)
    [east, west] = camera.project([[0.2, 1, 0], [-0.2, 1, 0]], (640, 480))
    assert east[0] < west[0]  # from −Z, +X is on the left


def test_a_motion_of_mmd_stays_as_it_is_on_a_model_it_names_nothing_of(folder: Path) -> None:
    model = bunraku.load(folder / PMX)
    count = len(model.skeleton)
    strange = replace(model.skeleton, names=tuple(f"bone {i}" for i in range(count)))
    [clip] = bunraku.load_motions(folder / VMD, replace(model, skeleton=strange))
    [given] = bunraku.load_clips(folder / VMD)
    assert [track.target for track in clip.tracks] == [track.target for track in given.tracks]


def test_a_stage_says_what_reading_and_carrying_over_lost(folder: Path) -> None:
    avatar = bunraku.load(folder / VRM)
    name = "noname0310__babylon-mmd__physics_toggle_test_v2_yyb10th.vmd"
    [clip] = bunraku.load_motions(folder / name, avatar)
    codes = {note.code for note in bunraku.Stage(avatar, clip).notes}
    assert codes >= {"carried", "unbound-track"}
