from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.gltf import read_gltf
from bunraku.formats.vrm import character_from_vrma, clips_from_vrma
from bunraku.formats.vrm.vrma import LOOK_AT
from bunraku.model import Character
from tests.formats.sketch import Sketch, triangle
from tests.formats.vrm.figures import BONES, NODES, bare_figure, noted

MOOD, GAZE = len(BONES), len(BONES) + 1
TURN = [[0, 0, 0, 1], [0, 0.6, 0, 0.8]]


def motion(*channels: tuple[int, str, Any], cubic: bool = False, **extension: Any) -> Sketch:
    """A VRM animation of the figure: bones, a node for a mood and one for the gaze."""
    sketch = Sketch(nodes=bare_figure().tree["nodes"][: len(BONES)])
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
