from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku.errors import UnsupportedError
from bunraku.formats.mmd import (
    BONE_KEY,
    CAMERA_KEY,
    IK_STATE,
    LIGHT_KEY,
    LINEAR,
    MORPH_KEY,
    PropertyKey,
    VmdFile,
    bone_curves,
    character_from_pmx,
    clip_from_vmd,
    encode_bone_curves,
    physics_switch,
    pmx_from_character,
    read_vmd,
    vmd_bytes,
    vmd_from_clip,
    vpd_from_clip,
)
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Geometry,
    Humanoid,
    Mesh,
    MorphTarget,
    Rig,
    Skeleton,
    Track,
    differences,
)
from bunraku.motion import bind
from bunraku.rotation import quaternion
from bunraku.stage import Stage
from tests.formats.mmd.sketch import vmd_sections

TURN = [0.0, 0, 0, 1]
STRAIGHT = (LINEAR,) * 4


def key(
    name: str,
    frame: int,
    move: tuple[float, ...] = (0, 0, 0),
    turn: tuple[float, ...] = (0, 0, 0, 1),
    curves: tuple[Any, ...] = STRAIGHT,
) -> np.ndarray[Any, Any]:
    record = np.zeros(1, BONE_KEY)
    record["name"], record["frame"] = name.encode("cp932")[:15], frame
    record["translation"], record["rotation"] = move, turn
    record["interpolation"] = encode_bone_curves([curves])
    return record


def motion(*keys: np.ndarray[Any, Any], **parts: Any) -> VmdFile:
    return VmdFile(bones=np.concatenate([np.empty(0, BONE_KEY), *keys]), source="m.vmd", **parts)


def track(clip: Clip, path: str, target: str = "") -> Track:
    (found,) = [each for each in clip.tracks if (each.target, each.path) == (target, path)]
    return found


ODD: dict[str, tuple[VmdFile, str]] = {
    "a number that is none": (motion(key("a", 0, (math.nan, 1, 0))), "numbers-repaired"),
    "a key for nobody": (motion(key("", 0), key("a", 0)), "unnamed-keys"),
    "two keys for one frame": (motion(key("a", 3), key("a", 3)), "duplicate-keys"),
    "a camera": (motion(key("a", 0), cameras=np.zeros(2, CAMERA_KEY)), "carried"),
    "a light": (motion(key("a", 0), lights=np.zeros(2, LIGHT_KEY)), "carried"),
}


@pytest.mark.parametrize(("file", "code"), ODD.values(), ids=ODD.keys())
def test_motions_that_are_odd(file: VmdFile, code: str):
    clip = clip_from_vmd(file)
    assert [note.code for note in clip.notes] == [code]
    assert {each.target for each in clip.tracks} == {"a"}
    assert clip.document is file


def test_curves_beyond_their_end_are_cut():
    file = motion(key("a", 0), key("a", 9, (1, 0, 0)))
    file.bones["interpolation"][1, 0] = 200
    clip = clip_from_vmd(file)
    assert [note.code for note in clip.notes] == ["curve-out-of-range"]
    assert track(clip, "translation", "a").curves[1, 0, 0] == 1


UNWRITABLE: dict[str, Track] = {
    "between frames": Track("a", "rotation", [0, 0.01], [TURN, TURN]),
    "before the first frame": Track("a", "rotation", [-1, 0], [TURN, TURN]),
    "too late": Track("a", "rotation", [0, 2e8], [TURN, TURN]),
    "two in a frame": Track("a", "rotation", [0, 1e-6], [TURN, TURN]),
    "a cubic spline": Track("a", "rotation", [0], [[TURN] * 3], "CUBICSPLINE"),
    "a morph by curves": Track(
        "m", "expression", [0, 1], [[0], [1]], "BEZIER", [[[0, 0.5, 1, 1]]] * 2
    ),
    "a place without a character": Track("a", "translation", [0], [[1, 2, 3]]),
}


@pytest.mark.parametrize("given", UNWRITABLE.values(), ids=UNWRITABLE.keys())
def test_keys_that_a_motion_cannot_have(given: Track):
    with pytest.raises(UnsupportedError, match=r"bake|needs the character"):
        vmd_from_clip(Clip("c", (given,)))


def test_curves_cannot_be_cut():
    curves = [[[0, 0.5, 1, 1]]] * 2
    bent = Track("a", "rotation", [0, 1], [TURN, TURN], "BEZIER", curves)
    moved = Track("a", "translation", [0, 0.5], [[0] * 3, [1] * 3], relative=True)
    with pytest.raises(UnsupportedError, match="curves of 'a' would have to be cut"):
        vmd_from_clip(Clip("c", (bent, moved)))


# ------------------------------------------------------------------------- reading


def test_keys_in_the_models_space():
    clip = clip_from_vmd(motion(key("左腕", 30, (1, 2, 3), (0.1, 0.3, 0.3, 0.9))))
    move, turn = track(clip, "translation", "左腕"), track(clip, "rotation", "左腕")
    assert move.relative
    assert move.times.tolist() == [1.0]
    np.testing.assert_allclose(move.values, [[0.08, 0.16, -0.24]], rtol=1e-6)
    np.testing.assert_allclose(turn.values, [[-0.1, -0.3, 0.3, 0.9]], rtol=1e-6)
    assert clip.name == "m"


def test_keys_come_in_order_of_time_and_the_last_of_a_frame_counts():
    clip = clip_from_vmd(motion(key("a", 9, (9, 0, 0)), key("a", 0), key("a", 9, (1, 0, 0))))
    move = track(clip, "translation", "a")
    np.testing.assert_allclose(move.times, [0, 0.3])
    np.testing.assert_allclose(move.values[:, 0], [0, 0.08])


def test_curves_of_every_channel():
    curves = ((1, 2, 3, 4), (5, 6, 7, 8), LINEAR, (9, 10, 11, 127))
    clip = clip_from_vmd(motion(key("a", 0, (1, 1, 1), curves=curves)))
    move, turn = track(clip, "translation", "a"), track(clip, "rotation", "a")
    np.testing.assert_allclose(move.curves[0] * 127, curves[:3], rtol=1e-6)
    np.testing.assert_allclose(turn.curves[0] * 127, curves[3:], rtol=1e-6)


def test_what_does_not_bend_is_linear_and_what_does_not_move_has_no_translation():
    clip = clip_from_vmd(motion(key("a", 0), key("a", 5, turn=(0, 1, 0, 0))))
    assert [(each.path, each.interpolation) for each in clip.tracks] == [("rotation", "LINEAR")]


def test_a_rotation_of_zeros_is_none():
    clip = clip_from_vmd(motion(key("a", 0, turn=(0, 0, 0, 0))))
    assert track(clip, "rotation", "a").values.tolist() == [TURN]


def test_morphs_are_expressions():
    keys = np.array([(b"\x82\xa0", 3, 0.25), (b"\x82\xa0", 0, 1.0)], MORPH_KEY)
    clip = clip_from_vmd(motion(morphs=keys))
    weights = track(clip, "expression", "あ")
    np.testing.assert_allclose(weights.times, [0, 0.1])
    assert weights.values.tolist() == [[1.0], [0.25]]


def states(**switches: int) -> np.ndarray[Any, Any]:
    return np.array([(name.encode(), on) for name, on in switches.items()], IK_STATE)


def test_switches_hold_until_they_are_named_again():
    properties = (
        PropertyKey(10, 1, states(left=0)),
        PropertyKey(0, 0, states(left=1)),
        PropertyKey(20, 1, states(right=1)),
        PropertyKey(20, 0, states(right=1, late=0)),
    )
    clip = clip_from_vmd(motion(properties=properties))
    switched = {each.target: each for each in clip.tracks}
    seen = switched[""]
    assert (seen.path, seen.interpolation) == ("visible", "STEP")
    assert (seen.times * 30).round().tolist() == [0, 10, 20]
    assert seen.values[:, 0].tolist() == [0, 1, 0]
    assert (switched["left"].times * 30).round().tolist() == [0, 10]
    assert switched["left"].values[:, 0].tolist() == [1, 0]
    # off before the first key that names it
    assert switched["right"].values[:, 0].tolist() == [0, 1]
    assert switched["late"].values[:, 0].tolist() == [0, 0]
    assert switched["left"].path == "ik"


def test_names_cut_within_a_letter_find_their_bones():
    full = "スカート_左前1長い"
    other = "スカート_左前1あい"
    cut = full.encode("cp932")[:15]
    with pytest.raises(UnicodeDecodeError):
        cut.decode("cp932")
    keys = np.zeros(2, BONE_KEY)
    keys["name"] = [cut, b"\xff\xfe\x81"]
    keys["rotation"] = [0.6, 0, 0, 0.8]
    clip = clip_from_vmd(VmdFile(bones=keys))
    character = Character(Skeleton((other, full), [-1, 0]))
    bound = bind(clip, character)
    assert [note.code for note in bound.notes] == ["unbound-track"]
    again = vmd_from_clip(replace(clip, document=None))[0]
    assert again.bones["name"].tolist() == keys["name"].tolist()


# ------------------------------------------------------------------------- writing


def test_an_unchanged_motion_is_its_document():
    file = read_vmd(b"".join(vmd_sections()))
    clip = clip_from_vmd(file)
    assert vmd_from_clip(clip)[0] is file
    assert vmd_from_clip(replace(clip, name="other"))[0] is file


def test_a_changed_motion_keeps_camera_light_and_shadow():
    file = read_vmd(b"".join(vmd_sections()))
    clip = clip_from_vmd(file)
    made, notes = vmd_from_clip(replace(clip, tracks=clip.tracks[:1]))
    assert notes == ()
    assert physics_switch(made.bones["interpolation"]).tolist() == [False, False]
    assert made.model_name == file.model_name
    for section in ("cameras", "lights", "shadows"):
        np.testing.assert_array_equal(getattr(made, section), getattr(file, section))
    assert len(made.morphs) == len(made.properties) == 0


def switched(name: str, *switches: tuple[int, bool]) -> np.ndarray[Any, Any]:
    """Keys that do nothing but switch the physics of a bone."""
    keys = np.concatenate([key(name, frame, (frame + 1, 0, 0)) for frame, _ in switches])
    on = [each for _, each in switches]
    keys["interpolation"] = encode_bone_curves([STRAIGHT] * len(keys), on)
    return keys


def test_a_changed_motion_keeps_the_switches_of_physics():
    file = motion(
        switched("髪", (0, True), (10, False), (20, False), (30, True)),
        switched("頭", (0, True), (30, True)),
    )
    clip = clip_from_vmd(file)

    def saved(times: list[float]) -> tuple[list[bool], list[str]]:
        moves = [Track(n, "rotation", times, [TURN] * len(times)) for n in ("髪", "頭", "腰")]
        made, notes = vmd_from_clip(replace(clip, tracks=tuple(moves)))
        again = read_vmd(vmd_bytes(made)).bones
        on = physics_switch(again["interpolation"])
        assert (bone_curves(again["interpolation"]) == LINEAR).all()
        names = again["name"]
        found = {n: on[names == n.encode("cp932")].tolist() for n in ("髪", "頭", "腰")}
        assert all(found["頭"] + found["腰"])
        return found["髪"], [str(note) for note in notes]

    # a key in between has what the last one said
    assert saved([0, 0.5 / 3, 10 / 30, 0.5, 1, 2]) == ([True, True, False, False, True, True], [])
    moved = "2 keys that switch a bone's physics are gone; its next key does, if there is one"
    assert saved([0, 0.5]) == ([True, False], [f"{moved} [physics-switch-moved]"])
    assert saved([1 / 30])[0] == [True]
    nobody = replace(clip, tracks=(Track("頭", "rotation", [0], [TURN]),))
    assert [note.code for note in vmd_from_clip(nobody)[1]] == ["physics-switch-moved"]


def test_the_switch_in_one_frame_is_that_of_its_last_key():
    file = motion(switched("髪", (0, False), (0, True), (5, False), (5, True), (5, False)))
    clip = clip_from_vmd(file)
    made, notes = vmd_from_clip(replace(clip, tracks=(replace(clip.tracks[1]),), notes=()))
    assert notes == ()
    assert made.bones["frame"].tolist() == [0, 5]
    assert physics_switch(made.bones["interpolation"]).tolist() == [True, False]


def test_a_motion_made_anew_says_the_same():
    curves = ((1, 2, 3, 4), (5, 6, 7, 8), LINEAR, (9, 10, 11, 12))
    file = motion(
        key("左腕", 0, (1, 2, 3), (0, 0, 0, 1)),
        key("左腕", 7, (4, 5, 6), (0, 0.6, 0, 0.8), curves),
        key("頭", 3, turn=(0, 0, 1, 0)),
        morphs=np.array([(b"\x82\xa0", 3, 0.25)], MORPH_KEY),
        properties=(PropertyKey(0, 1, states(left=1)), PropertyKey(5, 0, states(left=0))),
    )
    clip = clip_from_vmd(file)
    made, notes = vmd_from_clip(replace(clip, document=None))
    assert notes == ()
    again = clip_from_vmd(read_vmd(vmd_bytes(made), name="m.vmd"))
    assert differences(clip, again) == []
    rows = made.bones["interpolation"].reshape(-1, 4, 16)
    assert rows.any(axis=2).all()  # all four rows are there
    np.testing.assert_array_equal(bone_curves(made.bones["interpolation"])[1], curves)


def test_steps_hold_their_value_until_the_frame_before():
    given = Track("a", "rotation", [0, 0.5, 16 / 30], [TURN, [0, 1, 0, 0], TURN], "STEP")
    blink = Track("m", "expression", [0, 1], [[1], [0]], "STEP")
    made, _ = vmd_from_clip(Clip("c", (given, blink)))
    assert made.bones["frame"].tolist() == [0, 14, 15, 16]
    assert made.bones["rotation"][:, 3].tolist() == [1, 1, 0, 1]
    assert made.morphs["frame"].tolist() == [0, 29, 30]
    assert made.morphs["weight"].tolist() == [1, 1, 0]


def test_keys_of_one_track_only_lie_on_the_line_of_the_other():
    half = math.sqrt(0.5)
    turn = Track("a", "rotation", [0, 1], [TURN, [0, 0, 1, 0]])
    move = Track("a", "translation", [0, 0.5], [[0] * 3, [0.8, 0, 0]], relative=True)
    made, _ = vmd_from_clip(Clip("c", (turn, move)))
    assert made.bones["frame"].tolist() == [0, 15, 30]
    np.testing.assert_allclose(made.bones["translation"][:, 0], [0, 10, 10], rtol=1e-6)
    np.testing.assert_allclose(made.bones["rotation"][1], [0, 0, half, half], atol=1e-7)


LEFT_OUT = {
    "a scale": (Track("a", "scale", [0], [[2, 2, 2]]), "track-dropped"),
    "a name that cp932 does not know": (Track("骨龙", "rotation", [0], [TURN]), "track-dropped"),
    "a node that is not there": (Track(7, "rotation", [0], [TURN]), "track-dropped"),
    "weights of nobody": (Track("a", "weights", [0], [[1.0]]), "track-dropped"),
}


@pytest.mark.parametrize(("given", "code"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_tracks_that_a_motion_has_no_place_for(given: Track, code: str):
    character = Character(Skeleton(("a",), [-1]))
    made, notes = vmd_from_clip(Clip("c", (given,)), character)
    assert [note.code for note in notes] == [code]
    assert len(made.bones) == len(made.morphs) == 0


def test_targets_of_one_name_on_two_meshes_are_one_morph():
    point = Geometry([[0, 0, 0]], morphs=(MorphTarget([0], [[0, 1, 0]]),))
    mesh = Mesh("m", (point,), (), ("smile",))
    character = Character(
        Skeleton(("a", "b", "c"), [-1, 0, 0]),
        (mesh, mesh),
        attachments=(Attachment(1, 0), Attachment(2, 1)),
    )
    one, same = (Track(node, "weights", [0, 1], [[0], [1]]) for node in (1, 2))
    made, notes = vmd_from_clip(Clip("c", (one, same)), character)
    assert notes == ()
    assert made.morphs["weight"].tolist() == [0, 1]
    other = Track(2, "weights", [0, 1], [[0], [0.5]])
    made, notes = vmd_from_clip(Clip("c", (one, other)), character)
    assert [note.code for note in notes] == ["track-dropped"]
    assert made.morphs["weight"].tolist() == [0, 1]


def test_names_that_are_the_same_in_fifteen_bytes_are_noted():
    names = ("左袖ひらひら_上_1_先", "左袖ひらひら_上_2_先")
    clip = Clip("c", tuple(Track(name, "rotation", [0], [TURN]) for name in names))
    assert [note.code for note in vmd_from_clip(clip)[1]] == ["names-collide"]


def test_rest_rotations_are_taken_out():
    rng = np.random.default_rng(3)
    rest = quaternion.normalize(rng.normal(size=(2, 4)))
    turn = quaternion.normalize(rng.normal(size=4))
    character = Character(Skeleton(("a", "b"), [-1, 0], [[0, 0, 0], [1, 2, 3]], rest))
    tracks = (
        Track(1, "rotation", [0], turn[None]),
        Track("b", "translation", [0], [[1.5, 2, 3]]),
    )
    made, notes = vmd_from_clip(Clip("c", tracks), character)
    assert notes == ()
    again = clip_from_vmd(made)
    world = quaternion.multiply(rest[0], turn)
    bound = quaternion.multiply(rest[0], rest[1])
    expected = quaternion.multiply(world, quaternion.conjugate(bound))
    found = track(again, "rotation", "b").values[0]
    assert abs(float(np.dot(found, expected))) == pytest.approx(1)
    moved = quaternion.rotate(rest[0], [0.5, 0, 0])
    np.testing.assert_allclose(track(again, "translation", "b").values[0], moved, rtol=1e-5)


def test_a_figure_that_faces_backwards_moves_as_its_model_does():
    """Model and motion are turned half way round together."""
    rng = np.random.default_rng(4)
    rest, turns = (quaternion.normalize(rng.normal(size=(2, 4))) for _ in range(2))
    places = rng.normal(size=(2, 3))
    tracks = (
        Track(0, "rotation", [0], turns[:1]),
        Track(1, "rotation", [0], turns[1:]),
        Track(1, "translation", [0], places[1:] + 1),
    )
    clip = Clip("c", tracks)
    figure = Character(Skeleton(("a", "b"), [-1, 0], places, rest), facing="-Z")
    model = character_from_pmx(pmx_from_character(figure)[0])
    motion = clip_from_vmd(vmd_from_clip(clip, figure)[0])
    expected = Stage(figure, clip).global_transforms(0)[0, :, :, 3] * [-1, 1, -1]
    found = Stage(model, motion).global_transforms(0)[0, :, :, 3]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("write", [vmd_from_clip, vpd_from_clip])
def test_a_humanoid_s_motion_that_moves_no_mmd_model_is_noted(write):
    def codes(hips: str, **more) -> list[str]:
        character = Character(Skeleton((hips,), [-1]), name="walker", **more)
        notes = write(Clip("c", (Track(0, "rotation", [0], [TURN]),)), character)[1]
        assert all("bones of walker; for another, play" in note.message for note in notes)
        return [note.code for note in notes]

    walker = {"humanoid": Humanoid({"hips": 0})}
    assert codes("Hips", **walker) == ["bones-not-standard"]
    assert codes("センター", **walker) == []
    assert codes("Hips", **walker, rig=Rig(layers=[0])) == []  # an MMD model
    assert codes("Hips") == []


def test_offsets_are_written_in_the_size_of_the_world():
    skeleton = Skeleton(("root", "hips"), [-1, 0], scales=[[0.01] * 3, [1, 1, 1]])
    move = Track("hips", "translation", [0], [[0, 8, 0]])  # centimetres
    made, _ = vmd_from_clip(Clip("c", (move,)), Character(skeleton))
    np.testing.assert_allclose(made.bones["translation"], [[0, 1, 0]], rtol=1e-6)


BENT = [[[0.9, 0.1, 0.9, 0.3], [0.2, 0.2, 0.8, 0.8], [0.1, 0.9, 0.5, 1]]] * 2


def test_curves_follow_their_axes():
    quarter = [0, np.sqrt(0.5), 0, np.sqrt(0.5)]  # the root's z is the world's x
    skeleton = Skeleton(("root", "hips"), [-1, 0], rotations=[quarter, TURN])
    move = Track("hips", "translation", [0, 1], [[0, 0, 0], [1, 2, 3]], "BEZIER", BENT)
    made, _ = vmd_from_clip(Clip("c", (move,)), Character(skeleton))
    (back, *_) = clip_from_vmd(made).tracks
    np.testing.assert_allclose(back.values[1], [3, 2, -1], atol=1e-6)
    np.testing.assert_allclose(back.curves[1, :, 0], [0.1, 0.2, 0.9], atol=0.005)


def test_curves_of_axes_that_mix_are_refused():
    skeleton = Skeleton(("root", "hips"), [-1, 0], rotations=[[0, 0.6, 0, 0.8], TURN])
    move = Track("hips", "translation", [0, 1], [[0, 0, 0], [1, 2, 3]], "BEZIER", BENT)
    with pytest.raises(UnsupportedError, match="are for axes that are none of the world's; a bake"):
        vmd_from_clip(Clip("c", (move,)), Character(skeleton))
