"""Tracks of other formats that glTF has only a part of the words for."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.gltf import character_from_gltf, gltf_from_character
from bunraku.model import Character, Clip, Skeleton, Track

CURVE = np.tile(np.float32([0.2, 0.8, 0.4, 1.0]), (2, 3, 1))


def written(*tracks: Track) -> tuple[Character, list[str]]:
    skeleton = Skeleton(("root", "tip"), [-1, 0], [[0, 0, 0], [0, 2, 0]])
    file, notes = gltf_from_character(Character(skeleton, clips=(Clip("c", tracks),)))
    return character_from_gltf(file), [str(note) for note in notes]


UNSAYABLE = {
    "an expression": Track("blink", "expression", [0], [[1]]),
    "a switch of IK": Track("tip", "ik", [0], [[1]]),
    "being seen": Track("tip", "visible", [0], [[1]]),
}


@pytest.mark.parametrize("track", UNSAYABLE.values(), ids=UNSAYABLE.keys())
def test_paths_gltf_does_not_know_are_left_out_with_a_note(track: Track):
    move = Track("tip", "translation", [0], [[1, 0, 0]])
    again, (note,) = written(move, track)
    assert len(again.clips[0].tracks) == 1
    assert note == (
        f"animations[0]: {track.path} of {track.target!r}: glTF has no such path [track-dropped]"
    )


def test_offsets_from_rest_become_absolute():
    again, notes = written(
        Track("tip", "translation", [0, 1], [[0, 0, 0], [1, 0, 0]], relative=True)
    )
    assert again.clips[0].tracks[0].values.tolist() == [[0, 2, 0], [1, 2, 0]]
    assert notes == []


def test_curves_become_straight_lines_with_a_note():
    values = [[0, 0, 0], [1, 0, 0]]
    again, (note,) = written(Track("tip", "translation", [0, 1], values, "BEZIER", CURVE))
    (track,) = again.clips[0].tracks
    assert (track.interpolation, track.curves) == ("LINEAR", None)
    assert track.values.tolist() == values
    assert note.endswith("(bake the clip to keep the curves) [curves-dropped]")
