"""Motions of any file, made to fit a character."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.errors import FormatError, RigError
from bunraku.model import Character, Clip, Humanoid, Skeleton, Track
from bunraku.motion import clip_from_pose
from bunraku.render.renderer import Renderer
from tests.retargeting.figures import dance, figure

VMD = "peterljq__OpenMMD__output_20180923_200704.vmd"
PMX = "yohawing__unity-mmd-loader__HumanoidSampleModel.pmx"
VRM = "V-Sekai__godot-vrm__Godette_vrm_v4.vrm"
DANCE = "synth_humanoid_ik.vmd"
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


# ---------------------------------------------------------------- nodes with other numbers


def shifted(character: Character) -> Character:
    """The skeleton and the motions of a character, with a lamp in front of all nodes."""
    skeleton = character.skeleton
    parents = np.where(skeleton.parents < 0, -1, skeleton.parents + 1)
    rest = (
        np.concatenate([[first], values])
        for first, values in (
            ([0, 3, 0], skeleton.translations),
            ([0, 0, 0, 1], skeleton.rotations),
            ([1, 1, 1], skeleton.scales),
        )
    )
    clips = tuple(
        replace(
            clip,
            tracks=tuple(
                replace(track, target=int(track.target) + 1)
                for track in clip.tracks
                if track.path != "weights"
            ),
        )
        for clip in character.clips
    )
    humanoid = character.humanoid
    if humanoid is not None:
        humanoid = Humanoid({bone: node + 1 for bone, node in humanoid.bones.items()})
    names = ("lamp", *skeleton.names)
    return Character(
        Skeleton(names, np.array([-1, *parents]), *rest),
        clips=clips,
        humanoid=humanoid,
        facing=character.facing,
    )


@pytest.mark.parametrize("read", [bunraku.load_motions, lambda path, _: bunraku.load_clips(path)])
def test_a_motion_finds_the_nodes_that_have_other_numbers_in_its_file(read, tmp_path: Path) -> None:
    puppet = bunraku.make_puppet(0.5)
    bunraku.save(shifted(puppet), tmp_path / "lit.glb")
    [clip] = read(tmp_path / "lit.glb", puppet)
    stage = bunraku.Stage(puppet, clip)
    assert stage.notes == ()
    expected = bunraku.Stage(puppet, 0).global_transforms([0.7, 1.9])
    assert (stage.global_transforms([0.7, 1.9]) == expected).all()


def test_a_motion_of_other_nodes_moves_nothing(tmp_path: Path) -> None:
    bunraku.save(shifted(bunraku.make_puppet(0.5)), tmp_path / "lit.glb")
    rod = Character(Skeleton(("rod",) * 40, [-1] * 40))
    [clip] = bunraku.load_motions(tmp_path / "lit.glb", rod)
    stage = bunraku.Stage(rod, clip)
    (note,) = stage.notes
    assert note.code == "unbound-track"
    assert note.message.startswith("none of the ")
    assert (stage.global_transforms(1.0) == bunraku.Stage(rod).global_transforms(1.0)).all()


def test_a_fox_moves_as_another_writer_s_fox(corpus: Path) -> None:
    folder = corpus / "gltf_usd_fbx_bvh"
    fox = bunraku.load(folder / "khronos-sample-assets/Models/Fox/glTF-Binary/Fox.glb")
    clips = bunraku.load_motions(folder / "generated/Fox.gltfpack-cc.glb", fox)
    [run] = [clip for clip in clips if clip.name == "Run"]
    stage = bunraku.Stage(fox, run)
    expected = bunraku.Stage(fox, "Run").deform(0.3).positions
    assert stage.notes == ()
    np.testing.assert_allclose(stage.deform(0.3).positions, expected, atol=0.1)  # of 150


def test_a_vrm_animation_is_for_humanoids(folder: Path, tmp_path: Path) -> None:
    rod = Character(Skeleton(("rod",), [-1]), name="rod")
    with pytest.raises(RigError, match="moves a humanoid, which rod has not; give it one with"):
        bunraku.load_motions(folder / VRMA, rod)
    # but the very figure takes it, humanoid or not
    dancer = replace(figure(seed=2), clips=(Clip("c", (turn("leftUpperArm"),)),))
    bunraku.save(dancer, tmp_path / "a.vrma")
    [clip] = bunraku.load_motions(tmp_path / "a.vrma", replace(dancer, humanoid=None))
    same = bunraku.Stage(dancer, clip).global_transforms(0)
    np.testing.assert_allclose(same, bunraku.Stage(dancer, 0).global_transforms(0), atol=1e-6)


# ---------------------------------------------------------------- the same names


def turn(name: str) -> Track:
    return Track(name, "rotation", [0.0], [[0.6, 0, 0, 0.8]])


def danced(character: Character) -> Character:
    """The character with a dance of half a second."""
    clip = clip_from_pose(dance(character, 16, 5, 0.3), np.arange(16) / 30, character, "dance")
    return replace(character, clips=(clip,))


def transforms(character: Character, clip: Clip | int) -> np.ndarray:
    return bunraku.Stage(character, clip).global_transforms(np.arange(0, 16, 3) / 30)


@pytest.mark.parametrize("name", ["own.vmd", "own.vrm", "own.bvh"])
@pytest.mark.parametrize("facing", ["+Z", "-Z"])
def test_the_motion_of_a_figure_comes_back_to_it(name: str, facing: str, tmp_path: Path) -> None:
    seed = None if name == "own.bvh" else 4  # a BVH has no rest rotations
    character = danced(figure(facing=facing, seed=seed))
    if name == "own.vrm":
        bunraku.save(shifted(character), tmp_path / name)
    else:
        bunraku.bake(bunraku.Stage(character, 0), tmp_path / name)
    [clip] = bunraku.load_motions(tmp_path / name, character)
    assert bunraku.Stage(character, clip).notes == ()
    np.testing.assert_allclose(transforms(character, clip), transforms(character, 0), atol=1e-5)
    assert bunraku.load_motions(tmp_path / name, character)[0].tracks[0].key_count == 16


def test_a_figure_without_a_humanoid_takes_its_motion_back_from_a_vmd(tmp_path: Path) -> None:
    character = replace(danced(figure(facing="-Z", seed=4)), humanoid=None)
    bunraku.bake(bunraku.Stage(character, 0), tmp_path / "own.vmd")
    [clip] = bunraku.load_motions(tmp_path / "own.vmd", character)
    np.testing.assert_allclose(transforms(character, clip), transforms(character, 0), atol=1e-5)


OTHERS = {
    "larger": {"size": 1.5},
    "on longer legs": {"legs": 1.2},
    "with hanging arms": {"lowered": 40},
    "with other axes": {"seed": 8},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("suffix", [".vrm", ".bvh"])
def test_a_motion_of_another_figure_of_the_same_names_is_carried_over(
    other: dict[str, float], suffix: str, tmp_path: Path
) -> None:
    source, target = danced(figure()), figure(**other)
    path = tmp_path / f"source{suffix}"
    bunraku.save(source, path)
    [clip] = bunraku.load_motions(path, target)
    done = bunraku.retarget(bunraku.load(path).clips[0], bunraku.load(path), target)
    np.testing.assert_allclose(transforms(target, clip), transforms(target, done), atol=1e-6)
    feet = transforms(target, clip)[:, target.humanoid.bones["leftFoot"], 1, 3]
    assert feet.min() > -0.2


def test_captures_of_two_actors_are_carried_over(corpus: Path) -> None:
    folder = corpus / "gltf_usd_fbx_bvh"
    one = folder / "assimp/test/models/BVH/01_01.bvh"
    actor = bunraku.load(folder / "bvh-toolbox/tests/example_files/source/walk01.bvh")
    [clip] = bunraku.load_motions(one, actor)
    source = bunraku.load(one)
    assert source.humanoid is not None
    assert actor.humanoid is not None
    there, here = (
        bunraku.Stage(who, what).global_transforms([0.5, 1.0])[..., 3]
        for who, what in ((source, 0), (actor, clip))
    )
    for near, far in (("leftUpperLeg", "leftLowerLeg"), ("leftUpperArm", "leftLowerArm")):
        ways = [
            places[:, who.humanoid.bones[far]] - places[:, who.humanoid.bones[near]]
            for who, places in ((source, there), (actor, here))
        ]
        cosine = (ways[0] * ways[1]).sum(1) / np.prod([np.linalg.norm(w, axis=1) for w in ways], 0)
        assert cosine.min() > np.cos(np.radians(4))


# ---------------------------------------------------------------- MMD's motions and names


def renamed(character: Character, names: dict[int, str]) -> Character:
    skeleton = character.skeleton
    spelled = tuple(names.get(i, name) for i, name in enumerate(skeleton.names))
    return replace(character, skeleton=replace(skeleton, names=spelled))


def test_one_name_of_mmd_s_does_not_make_a_model(folder: Path, golden: Path) -> None:
    avatar = bunraku.load(folder / VRM)
    assert avatar.humanoid is not None
    named = renamed(avatar, {avatar.humanoid.bones["head"]: "頭"})
    clips = [bunraku.load_motions(golden / DANCE, each)[0] for each in (avatar, named)]
    expected = transforms(avatar, clips[0])
    np.testing.assert_allclose(transforms(named, clips[1]), expected, atol=1e-9)


def test_its_own_motion_plays_back_on_an_avatar(folder: Path, golden: Path, tmp_path: Path) -> None:
    avatar = bunraku.load(folder / VRM)
    assert avatar.humanoid is not None
    for each in (avatar, renamed(avatar, {avatar.humanoid.bones["head"]: "頭"})):
        [clip] = bunraku.load_motions(golden / DANCE, each)
        bunraku.bake(bunraku.Stage(each, clip), tmp_path / "own.vmd")
        [back] = bunraku.load_motions(tmp_path / "own.vmd", each)
        np.testing.assert_allclose(transforms(each, back), transforms(each, clip), atol=1e-5)


def test_an_mmd_model_that_became_a_vrm_dances_on_bent_legs(
    folder: Path, golden: Path, tmp_path: Path
) -> None:
    model = bunraku.load(folder / PMX)
    bunraku.save(model, tmp_path / "model.vrm")
    avatar = bunraku.load(tmp_path / "model.vrm")
    [clip] = bunraku.load_motions(golden / DANCE, avatar)
    [own] = bunraku.load_motions(golden / DANCE, model)
    times = np.arange(0, 3, 0.25)
    knees = []
    for who, what in ((avatar, clip), (model, own)):
        places = bunraku.Stage(who, what).global_transforms(times)[..., 3]
        thigh, shin = (
            places[:, who.humanoid.bones[f"left{far}"]]
            - places[:, who.humanoid.bones[f"left{near}"]]
            for near, far in (("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))
        )
        lengths = np.linalg.norm(thigh, axis=1) * np.linalg.norm(shin, axis=1)
        knees.append(np.degrees(np.arccos((thigh * shin).sum(1) / lengths)))
    assert knees[1].max() > 30
    # its legs are longer than most motions expect
    np.testing.assert_allclose(knees[0], knees[1], atol=20)
    # its own motion, which has no IK and bears its name, is left alone
    bunraku.bake(bunraku.Stage(avatar, clip), tmp_path / "own.vmd")
    [back] = bunraku.load_motions(tmp_path / "own.vmd", avatar)
    np.testing.assert_allclose(transforms(avatar, back), transforms(avatar, clip), atol=1e-5)


@pytest.mark.parametrize("without", [("leftFoot",), ("head", "leftHand")])
def test_an_incomplete_humanoid_plays_what_has_its_names(without, tmp_path: Path) -> None:
    whole = danced(figure(seed=6))
    bunraku.bake(bunraku.Stage(whole, 0), tmp_path / "own.vmd")
    character = figure(seed=6, without=without)
    [clip] = bunraku.load_motions(tmp_path / "own.vmd", character)
    np.testing.assert_allclose(transforms(character, clip), transforms(whole, 0), atol=1e-5)


def test_a_motion_for_another_build_of_no_humanoid_is_noted(tmp_path: Path) -> None:
    source = replace(danced(figure()), humanoid=None)
    bunraku.save(source, tmp_path / "a.glb")
    for target, said in (
        (figure(size=1.5), " joints stand elsewhere at rest than in a: 'spine', "),
        (figure(legs=1.3), "4 of 26 joints stand elsewhere at rest than in a: 'leftLowerLeg', "),
        (figure(lowered=0.1), ""),
    ):
        [clip] = bunraku.load_motions(tmp_path / "a.glb", replace(target, humanoid=None))
        notes = bunraku.Stage(target, clip).notes
        assert [note.code for note in notes] == (["rest-differs"] if said else [])
        assert all(said in note.message for note in notes)


def test_takes_of_one_actor_are_played_as_they_are(tmp_path: Path) -> None:
    text = (
        "HIERARCHY ROOT Hips {{ OFFSET {0} CHANNELS 6 Xposition Yposition Zposition Zrotation"
        " Xrotation Yrotation JOINT Spine {{ OFFSET 0 {1} 0 CHANNELS 3 Zrotation Xrotation"
        " Yrotation JOINT Head {{ OFFSET 0 30 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site"
        " {{ OFFSET 0 9 0 }} }} }} }}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.04\n5 90 5 0 0 9 0 8 0 0 0 7\n"
    )
    (tmp_path / "a.bvh").write_text(text.format("0 0 0", 20))
    (tmp_path / "b.bvh").write_text(text.format("5 90 5", 20))
    (tmp_path / "c.bvh").write_text(text.format("5 90 5", 21))
    actor = bunraku.load(tmp_path / "a.bvh")
    for name, same in (("b.bvh", True), ("c.bvh", False)):
        [clip] = bunraku.load_motions(tmp_path / name, actor)
        assert (clip.tracks[0].target == "Hips") == same
