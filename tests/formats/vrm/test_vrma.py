from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats import load, load_clips, save, save_clip
from bunraku.formats.gltf import read_gltf
from bunraku.formats.vrm import character_from_vrma, clips_from_vrma, vrma_from_character
from bunraku.formats.vrm.vrma import LOOK_AT
from bunraku.model import Character, Clip, Expression, Humanoid, Skeleton, Track, differences
from tests.formats.same import changed
from tests.formats.sketch import Sketch, triangle
from tests.formats.validator import errors, validate
from tests.formats.vrm.figures import BONES, FACE, NODES, bare_figure, figure_0, figure_1, noted
from tests.formats.vrm.figures import read as read_vrm

MOOD, GAZE = len(BONES), len(BONES) + 1
TURN = [[0, 0, 0, 1], [0, 0.6, 0, 0.8]]


def motion(*channels: tuple[int, str, Any], cubic: bool = False, **extension: Any) -> Sketch:
    """A VRM animation of the figure: bones, a node for a mood and one for the gaze."""
    sketch = Sketch(nodes=bare_figure().tree["nodes"][: len(BONES)])
    sketch.tree["scenes"] = [{"nodes": [0, MOOD, GAZE]}]
    sketch.tree["nodes"][NODES["head"]]["children"].pop()  # the hair
    sketch.tree["nodes"] += [{"name": "mood"}, {"name": "gaze"}]
    bones = {name: {"node": node} for name, node in NODES.items()}
    whole = {"specVersion": "1.0", "humanoid": {"humanBones": bones}, **extension}
    sketch.tree["extensionsUsed"] = ["VRMC_vrm_animation"]
    sketch.tree["extensions"] = {"VRMC_vrm_animation": whole}
    samplers, targets = [], []
    for i, (node, path, values) in enumerate(channels):
        keys = len(values) // (3 if cubic else 1)
        sampler = {"input": sketch.add(np.arange(keys)), "output": sketch.add(values)}
        if cubic:
            sampler["interpolation"] = "CUBICSPLINE"  # type: ignore[assignment]
        samplers.append(sampler)
        targets.append({"sampler": i, "target": {"node": node, "path": path}})
    if channels:
        sketch.tree["animations"] = [{"name": "wave", "channels": targets, "samplers": samplers}]
    return sketch


def read(sketch: Sketch) -> Character:
    return character_from_vrma(read_gltf(sketch.glb(), name="x.vrma"))


MOODS = {"expressions": {"preset": {"happy": {"node": MOOD}}}}

INVALID = {
    "no extension": (triangle(), "x.vrma: extensions: VRMC_vrm_animation is missing"),
    "an extension that is a string": (
        Sketch(extensions={"VRMC_vrm_animation": "x"}),
        "VRMC_vrm_animation: expected an object, found 'x'",
    ),
    "two expressions on one node": (
        motion(expressions={"preset": {"aa": {"node": MOOD}}, "custom": {"b": {"node": MOOD}}}),
        f"custom.b: expected one expression for each node, found node {MOOD} for 'aa' as well",
    ),
    "a node that is an array": (
        motion(lookAt={"node": []}),
        "lookAt.node: expected an index into nodes, found an array of 0",
    ),
}


@pytest.mark.parametrize(("sketch", "message"), INVALID.values(), ids=INVALID.keys())
def test_invalid_motions(sketch: Sketch, message: str):
    with pytest.raises(FormatError) as caught:
        read(sketch)
    assert message in str(caught.value)


def test_the_figure_and_its_clip():
    figure = read(motion((NODES["head"], "rotation", TURN), (0, "translation", [[0, 1, 0]] * 2)))
    assert dict(figure.humanoid.bones) == NODES
    assert figure.meshes == ()
    (clip,) = figure.clips
    assert clip.name == "wave"
    assert [(t.target, t.path) for t in clip.tracks] == [
        (NODES["head"], "rotation"),
        (0, "translation"),
    ]
    assert clip.document is figure.document
    assert noted(figure) == {}


def test_weights_are_the_x_of_their_nodes():
    values = [[-0.5, 9, 9], [0.25, 0, 0], [2, 0, 0]]
    figure = read(motion((MOOD, "translation", values), **MOODS))
    (track,) = figure.clips[0].tracks
    assert (track.target, track.path) == ("happy", "expression")
    assert track.values.tolist() == [[0], [0.25], [1]]
    assert noted(figure) == {"weight-clamped": "animations[0]"}


def test_tangents_of_weights_are_left_alone():
    values = [[0, 0, 0], [0.5, 0, 0], [3, 0, 0], [-3, 0, 0], [1.5, 0, 0], [0, 0, 0]]
    figure = read(motion((MOOD, "translation", values), cubic=True, **MOODS))
    (track,) = figure.clips[0].tracks
    assert track.interpolation == "CUBICSPLINE"
    assert track.values[..., 0].tolist() == [[0, 0.5, 3], [-3, 1, 0]]


def test_custom_expressions_by_their_names():
    moods = {"expressions": {"custom": {"smirk": {"node": MOOD}}}}
    (clip,) = read(motion((MOOD, "translation", [[1, 0, 0]]), **moods)).clips
    assert clip.tracks[0].target == "smirk"


def test_the_gaze_is_a_rotation_with_a_name():
    (clip,) = read(motion((GAZE, "rotation", TURN), lookAt={"node": GAZE})).clips
    (track,) = clip.tracks
    assert (track.target, track.path) == (LOOK_AT, "rotation")


def test_what_a_vrm_animation_must_not_move_is_left_out():
    figure = read(motion((NODES["head"], "translation", [[0, 1, 0]]), (0, "scale", [[2, 2, 2]])))
    assert figure.clips[0].tracks == ()
    assert [n.message for n in figure.notes] == [
        "translation of head, which a VRM animation must not move so; left out",
        "scale of hips, which a VRM animation must not move so; left out",
    ]


def test_only_the_first_animation_counts():
    sketch = motion((0, "translation", [[0, 1, 0]]))
    sketch.tree["animations"] *= 2
    figure = read(sketch)
    assert len(figure.clips) == 1
    assert noted(figure) == {"animations-carried": "animations"}


def test_a_figure_without_motion():
    assert read(motion()).clips == ()
    assert clips_from_vrma(read_gltf(motion().glb())) == ()


HEAD = NODES["head"]


def full() -> Sketch:
    return motion(
        (HEAD, "rotation", TURN),
        (0, "translation", [[0, 1, 0], [0, 1.1, 0]]),
        (MOOD, "translation", [[0.25, 7, 0], [0.5, 0, 0]]),
        (GAZE, "rotation", TURN),
        **MOODS,
        lookAt={"node": GAZE, "extras": 1},
    )


def test_unchanged_motions_are_written_bit_for_bit(tmp_path: Path):
    (tmp_path / "a.vrma").write_bytes(full().glb())
    figure = load(tmp_path / "a.vrma")
    assert save(figure, tmp_path / "b.vrma") == ()
    assert save_clip(figure.clips[0], tmp_path / "c.vrma") == ()
    for name in ("b.vrma", "c.vrma"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "a.vrma").read_bytes()


def test_a_changed_motion_keeps_its_figure():
    figure = read(full())
    (clip,) = figure.clips
    mood = replace(clip.tracks[2], values=np.array([[1], [0]], np.float32))
    smirk = Track("smirk", "expression", [0, 1], [[0], [1]])
    tracks = (*clip.tracks[:2], mood, clip.tracks[3], smirk)
    file, notes = vrma_from_character(replace(figure, clips=(replace(clip, tracks=tracks),)))
    assert notes == ()
    extension = file.json["extensions"]["VRMC_vrm_animation"]
    assert extension["expressions"] == {
        "preset": {"happy": {"node": MOOD}},
        "custom": {"smirk": {"node": len(BONES) + 2}},
    }
    assert extension["lookAt"] == {"node": GAZE, "extras": 1}
    again = character_from_vrma(file)
    assert [differences(a, b) for a, b in zip(again.clips[0].tracks, tracks, strict=True)] == [
        [],
        [],
        [],
        [],
        [],
    ]


def wave(*more: Track) -> Clip:
    turn = Track(HEAD, "rotation", [0, 1], TURN)
    move = Track(0, "translation", [0, 1], [[0, 0.9, 0], [0, 1, 0]])
    return Clip("wave", (turn, move, *more))


def test_a_clip_of_a_vrm_becomes_a_motion_for_all(tmp_path: Path):
    expressions = {"preset": {"aa": {}}, "custom": {"smirk": {}}}
    character = read_vrm(figure_1(expressions=expressions))
    clip = wave(
        Track("aa", "expression", [0, 1], [[0], [1]]),
        Track(1, "expression", [0, 1], [[0], [0.5]]),
        Track(LOOK_AT, "rotation", [0, 1], TURN),
    )
    (note,) = save_clip(clip, tmp_path / "x.vrma", character)
    assert note.code == "bone-dropped"
    figure = load(tmp_path / "x.vrma")
    bones = {bone: node for bone, node in NODES.items() if not bone.endswith("Eye")}
    assert dict(figure.humanoid.bones) == bones
    found = figure.clips[0].tracks
    assert [(t.target, t.path) for t in found] == [
        (HEAD, "rotation"),
        (0, "translation"),
        ("aa", "expression"),
        ("smirk", "expression"),
        (LOOK_AT, "rotation"),
    ]
    assert [t.values.tolist() for t in found[:2]] == [t.values.tolist() for t in clip.tracks[:2]]
    assert found[3].values.tolist() == [[0], [0.5]]


def test_a_motion_of_an_mmd_model_speaks_by_presets_and_says_what_hangs_apart():
    expressions = (Expression("まばたき"), Expression("ウィンク"), Expression("ウィンク２"))
    tracks = [Track(i, "expression", [0], [[1]]) for i in (0, 1)]
    tracks.append(Track("ウィンク２", "expression", [0], [[1]]))
    model = Character(
        Skeleton(("下半身", "上半身"), [-1, -1]),
        humanoid=Humanoid({"hips": 0, "spine": 1}),
        expressions=expressions,
        clips=(Clip("", tuple(tracks)),),
    )
    file, (note,) = vrma_from_character(model)
    assert (note.code, note.message) == ("bone-apart", "spine, node 1, is not below hips, node 0")
    groups = file.json["extensions"]["VRMC_vrm_animation"]["expressions"]
    assert (list(groups["preset"]), list(groups["custom"])) == (
        ["blink", "blinkLeft"],
        ["ウィンク"],
    )


def test_expressions_of_0_x_by_their_names_in_1_0():
    groups = [{"name": "Joy", "presetName": "joy"}]
    character = read_vrm(figure_0(blendShapeMaster={"blendShapeGroups": groups}))
    clip = wave(Track("Joy", "expression", [0], [[1]]))
    file, _ = vrma_from_character(replace(character, clips=(clip,)))
    preset = file.json["extensions"]["VRMC_vrm_animation"]["expressions"]["preset"]
    assert list(preset) == ["happy"]


def test_a_figure_that_faces_back_is_turned():
    character = replace(read_vrm(figure_0()), clips=(wave(),))
    figure = character_from_vrma(vrma_from_character(character)[0])
    (root,) = figure.skeleton.children(-1)[-1:]
    assert figure.skeleton.parents[0] == root
    assert figure.skeleton.rotations[root].tolist() == [0, 1, 0, 0]


DROPPED = {
    "a bone that is moved": Track(HEAD, "translation", [0], [[0, 0, 0]]),
    "an eye": Track(NODES["leftEye"], "rotation", [0], TURN[:1]),
    "a node that is no bone": Track(FACE, "rotation", [0], TURN[:1]),
    "a node nobody has": Track("tail", "rotation", [0], TURN[:1]),
    "a gaze by expression": Track("lookUp", "expression", [0], [[1]]),
    "scale": Track(0, "scale", [0], [[1, 1, 1]]),
    "a switch": Track(0, "visible", [0], [[1]]),
    "weights": Track(FACE, "weights", [0], [[1, 1]]),
}


@pytest.mark.parametrize("track", DROPPED.values(), ids=DROPPED.keys())
def test_what_a_vrm_animation_cannot_say_is_noted(track: Track):
    character = replace(read_vrm(figure_1()), clips=(wave(track),))
    file, notes = vrma_from_character(character)
    assert [(n.code, n.place) for n in notes] == [
        ("bone-dropped", "humanoid"),
        ("track-dropped", "clips[0].tracks[2]"),
    ]
    assert len(character_from_vrma(file).clips[0].tracks) == 2


def test_without_hips_or_figure_there_is_no_motion(tmp_path: Path):
    with pytest.raises(UnsupportedError, match="needs a humanoid with hips"):
        vrma_from_character(replace(read_vrm(bare_figure()), clips=(wave(),)))
    with pytest.raises(UnsupportedError, match="its motion needs the character"):
        save_clip(wave(), tmp_path / "x.vrma")


def test_real_motions_written_from_scratch(corpus: Path, tmp_path: Path):
    targets = []
    for path in sorted((corpus / "vrm_mmd").glob("*.vrma")):
        figure = load(path)
        target = tmp_path / path.name
        assert save(figure, target) == ()
        assert target.read_bytes() == path.read_bytes()
        save(replace(figure, document=None), target)
        again = load(target)
        known = {(t.target, t.path): t for t in figure.clips[0].tracks}
        for track in again.clips[0].tracks:
            assert differences(track, known[track.target, track.path]) == []
        assert changed(replace(again, clips=()), replace(figure, clips=())) in (
            [],
            [".humanoid.bones"],  # no eyes
            [".scenes[0].name"],
            [".scenes", ".default_scene"],
        )
        assert len(load_clips(target)) == 1
        targets.append(target)
    assert len(targets) == 4
    for target, report in zip(targets, validate(targets), strict=True):
        assert errors(report) == [], target.name
