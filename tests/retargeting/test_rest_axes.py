"""VMD on figures with axes of their own: what was written comes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.formats.mmd import clip_from_vmd, vmd_from_clip
from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, clip_from_pose, sample
from bunraku.retargeting.rest_axes import on_rest_axes
from tests.retargeting.figures import dance, figure

TIMES = np.arange(6) / 30


@pytest.mark.parametrize("facing", ["+Z", "-Z"])
@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("scale", [1, 0.01])
def test_a_motion_comes_back_from_a_vmd(facing, seed, scale):
    character = figure(facing=facing, seed=seed)
    scales = np.ones((len(character.skeleton), 3))
    scales[0] = scale  # of the root: files in centimetres
    character = replace(character, skeleton=replace(character.skeleton, scales=scales))
    clip = clip_from_pose(dance(character, 6, 1), TIMES, character, "dance")
    file, notes = vmd_from_clip(clip, character)
    assert [note.code for note in notes] == ["bones-not-standard"]
    back = on_rest_axes(clip_from_vmd(file), character)
    expected, found = (sample(bind(each, character), TIMES) for each in (clip, back))
    np.testing.assert_allclose(found.translations, expected.translations, atol=1e-6)
    same = np.abs((found.rotations * expected.rotations).sum(axis=-1))
    np.testing.assert_allclose(same, 1, atol=1e-6)


def test_a_figure_that_stands_as_mmd_does_keeps_the_very_clip():
    clip = Clip("c", (Track("hips", "rotation", [0], [[0, 0, 0, 1]]),))
    assert on_rest_axes(clip, figure()) is clip


def test_what_the_character_has_not_and_what_is_no_bone_stays_as_it_is():
    tracks = (
        Track("tail", "rotation", [0], [[0.6, 0, 0, 0.8]]),
        Track("smile", "expression", [0], [[0.5]]),
        Track("hips", "translation", [0], [[0, 1, 0]]),
    )
    done = on_rest_axes(Clip("c", tracks), figure(seed=1))
    assert all(a is b for a, b in zip(done.tracks, tracks, strict=True))


AXES = {
    "a quarter": ([0, np.sqrt(0.5), 0, np.sqrt(0.5)], "BEZIER", 2),
    "askew": ([0, np.sin(0.3), 0, np.cos(0.3)], "LINEAR", 31),
}


@pytest.mark.parametrize(("turn", "kind", "keys"), AXES.values(), ids=AXES)
def test_a_way_with_a_curve_for_each_axis_stays_the_same_way(turn, kind, keys):
    skeleton = Skeleton(("root", "hips"), [-1, 0], rotations=[turn, [0, 0, 0, 1]])
    curves = np.tile(np.array([[0.9, 0.1, 0.9, 0.3], [0.2, 0.2, 0.8, 0.8], [0.1, 0.9, 0.5, 1]]), 1)
    way = Track(
        "hips", "translation", [0, 1], [[0, 0, 0], [1, 2, 3]], "BEZIER", [curves] * 2, relative=True
    )
    done = on_rest_axes(Clip("c", (way,)), Character(skeleton))
    assert (done.tracks[0].interpolation, done.tracks[0].key_count) == (kind, keys)
    plain = Character(Skeleton(("root", "hips"), [-1, 0]))
    times = np.arange(31) / 30
    wanted = sample(bind(Clip("c", (way,)), plain), times).translations[:, 1]
    found = sample(bind(done, Character(skeleton)), times).translations[:, 1]
    y, w = turn[1], turn[3]
    back = np.array([[w * w - y * y, 0, -2 * y * w], [0, 1, 0], [2 * y * w, 0, w * w - y * y]])
    np.testing.assert_allclose(found, wanted @ back.T, atol=2e-6)
