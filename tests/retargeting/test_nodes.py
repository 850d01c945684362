"""Which node is which in another file, and the motion that goes there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.model import Clip, Skeleton, Track
from bunraku.retargeting.nodes import counterparts, led

ARMS = Skeleton(("root", "left", "right", "hand", "hand"), [-1, 0, 0, 1, 2])
SPLIT = Skeleton(("hand", "right", "root", "left", "hand"), [1, 2, -1, 2, 3])
CASES = {
    "the same, without names": (
        Skeleton(("", "", ""), [-1, 0, 0]),
        Skeleton(("", "", ""), [-1, 0, 0]),
        [0, 1, 2],
    ),
    "one more in front": (
        Skeleton(("a", "b"), [-1, 0]),
        Skeleton(("", "a", "b"), [-1, 0, 1]),
        [1, 2],
    ),
    "shared names by their parents": (ARMS, SPLIT, [2, 3, 1, 4, 0]),
    "nameless by their place": (
        Skeleton(("a", "", ""), [-1, 0, 0]),
        Skeleton(("", "a", "", ""), [-1, -1, 1, 1]),
        [1, 2, 3],
    ),
    "another number of nameless": (
        Skeleton(("a", "", ""), [-1, 0, 0]),
        Skeleton(("a", "", "", ""), [-1, 0, 0, 0]),
        [0, -1, -1],
    ),
    "nameless roots": (Skeleton(("", "a"), [-1, 0]), Skeleton(("", "b"), [-1, 0]), [-1, -1]),
    "once here, twice there": (
        Skeleton(("a", "b"), [-1, 0]),
        Skeleton(("a", "b", "b"), [-1, 0, 0]),
        [0, -1],
    ),
}


@pytest.mark.parametrize(("source", "target", "expected"), CASES.values(), ids=CASES)
def test_nodes_are_known_by_name_or_by_place(source, target, expected):
    assert counterparts(source, target) == expected


@given(st.data())
def test_the_order_of_a_file_does_not_count(data):
    count = data.draw(st.integers(1, 12))
    parents = [data.draw(st.integers(-1, i - 1)) for i in range(count)]
    order = data.draw(st.permutations(range(count)))
    names = [f"node {i}" for i in range(count)]
    one = Skeleton(tuple(names), parents)
    place = {node: i for i, node in enumerate(order)} | {-1: -1}
    other = Skeleton(tuple(names[i] for i in order), [place[parents[i]] for i in order])
    assert counterparts(one, other) == [place[i] for i in range(count)]


def turn(target, path="rotation", values=((0, 0, 0, 1),)) -> Track:
    return Track(target, path, [0.0], np.array(values, np.float32))


def test_tracks_go_where_the_nodes_are():
    clip = Clip("c", (turn(3), turn("left"), turn(0, "expression", [[1]]), turn(2, "ik", [[0]])))
    done = led(clip, ARMS, SPLIT, counterparts(ARMS, SPLIT))
    assert [track.target for track in done.tracks] == [4, "left", 0, 1]


def test_tracks_of_nodes_that_are_not_there_keep_the_name_or_are_noted():
    target = Skeleton(("root", "hand"), [-1, 0])
    clip = Clip("c", (turn(0), turn(1), turn(3), turn(4)))
    done = led(clip, ARMS, target, counterparts(ARMS, target))
    assert [track.target for track in done.tracks] == [0, "left"]
    (note,) = done.notes
    assert note.code == "unbound-track"
    assert note.message.startswith("2 of 4 tracks move nodes that the character has not, or whose")
