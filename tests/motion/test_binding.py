"""Binding: what does not fit becomes a note with a defined outcome."""

import numpy as np
import pytest

from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Expression,
    Geometry,
    IkChain,
    Mesh,
    MorphTarget,
    Rig,
    Skeleton,
    Track,
)
from bunraku.motion import bind, sample

KEYS = [[1, 1, 1], [2, 2, 2]]


def puppet() -> Character:
    """Two arms of one name; two faces that share a mesh with two morph targets."""
    skeleton = Skeleton(("root", "arm", "arm", "face", "twin"), [-1, 0, 0, 0, 0])
    raised = MorphTarget([0], positions=[[0, 1, 0]])
    mesh = Mesh(
        "face", (Geometry([[0, 0, 0]], morphs=(raised, raised)),), (), ("a", "b"), [0.1, 0.2]
    )
    faces = (Attachment(3, 0), Attachment(4, 0, morph_weights=[0.3, 0.4]))
    return Character(skeleton, (mesh,), attachments=faces)


def move(target, path="translation", keys=KEYS, **more) -> Track:
    return Track(target, path, [0, 1], keys, **more)


NOTED = [
    # tracks, code of the note, what it must say
    (
        [move("tail")],
        "unbound-track",
        "'c' moves the translation of node 'tail', which there is not",
    ),
    ([move(5)], "unbound-track", "node 5, which there is not"),
    ([move(-1)], "unbound-track", "node -1, which there is not"),
    ([move("arm")], "ambiguous-target", "of 2 nodes with that name the first, 1, is moved"),
    ([move(0), move("root")], "duplicate-track", "node 'root', as an earlier track does"),
    ([move("root", "weights")], "unbound-track", "for 3 morph targets, but it shows 0"),
    ([move("face", "weights")], "unbound-track", "for 3 morph targets, but it shows 2"),
    ([move("root", "weights", np.zeros((2, 0)))], "unbound-track", "for 0 morph targets"),
    ([move(0, "rotation", [[0, 0, 0, 0], [0, 0, 0, 1]])], "zero-rotation", "with 1 quaternions"),
    ([move(0, "rotation", [[0, 0, 0, 2], [0, 0, 0, 1]])], "rotation-normalised", "with 1 quat"),
]


@pytest.mark.parametrize(("tracks", "code", "message"), NOTED)
def test_what_does_not_fit_is_noted(tracks, code, message):
    (note,) = bind(Clip("c", tuple(tracks)), puppet()).notes
    assert (note.code, note.place) == (code, f"tracks[{len(tracks) - 1}]")
    assert message in note.message


def test_what_fits_is_not_noted():
    eight_bit = np.array([[90, 0, 0, 90], [52, -52, 73, 73]]) / 127
    tracks = (move("face"), move(4, "weights", [[0, 1], [1, 0]]), move(0, "rotation", eight_bit))
    assert bind(Clip("c", tracks), puppet()).notes == ()


def test_the_first_of_several_nodes_or_tracks_counts():
    tracks = (move("arm"), move(1, keys=[[9, 9, 9], [9, 9, 9]]), move("tail"))
    pose = sample(bind(Clip("c", tracks), puppet()), 1)
    assert pose.translations[0, :, 0].tolist() == [0, 2, 0, 0, 0]


def test_weights_go_to_the_attachment_of_their_node():
    track = move("twin", "weights", [[0.5, 0.6], [0.7, 0.8]])
    pose = sample(bind(Clip("c", (track,)), puppet()), 1)
    assert [weights[0].tolist() for weights in pose.morph_weights] == [
        [0.1, 0.2],
        [np.float32(0.7), np.float32(0.8)],
    ]


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
def test_rotations_of_length_zero_are_none(interpolation):
    keys = np.zeros((2, 4))
    if interpolation == "CUBICSPLINE":
        keys = np.zeros((2, 3, 4))
    bound = bind(Clip("c", (move(0, "rotation", keys, interpolation=interpolation),)), puppet())
    assert sample(bound, [0, 0.5, 1]).rotations[:, 0].tolist() == [[0, 0, 0, 1]] * 3


def test_start_and_end_are_those_of_the_bound_tracks():
    tracks = (
        Track("arm", "scale", [2, 3], KEYS),
        Track("root", "scale", [1, 2.5], KEYS),
        Track("tail", "scale", [0, 9], KEYS),
    )
    bound = bind(Clip("c", tracks), puppet())
    assert (bound.name, bound.start, bound.end) == ("c", 1, 3)
    empty = bind(Clip("c", tracks[2:]), puppet())
    assert (empty.start, empty.end) == (0, 0)


def test_tracks_with_the_same_times_share_a_timeline():
    tracks = [move(node, path) for node in (0, 1) for path in ("translation", "scale")]
    bound = bind(Clip("c", (*tracks, Track(2, "scale", [0, 2], KEYS))), puppet())
    assert bound.timeline_starts.tolist() == [0, 2, 4]
    assert bound.tracks[:, 0].tolist() == [0, 0, 0, 0, 1]


# ---------------------------------------------------------------- what MMD adds


def doll(*names: str, expressions: tuple[str, ...] = ()) -> Character:
    """Every node is the goal of a chain."""
    count = len(names)
    chains = tuple(IkChain(node, node, (), 1, 1.0) for node in range(count))
    return Character(
        Skeleton(names, np.full(count, -1)),
        expressions=tuple(map(Expression, expressions)),
        rig=Rig(layers=np.zeros(count), chains=chains),
    )


def switch(target, path="ik", value=0) -> Track:
    return Track(target, path, [0], [[value]], "STEP")


def old(name: str, size: int = 15) -> str:
    """What a motion has of a name, read with the bytes of a letter cut in two kept."""
    return name.encode("cp932")[:size].decode("cp932", "surrogateescape")


LONG = "左スカート後ろ１"  # 16 bytes: a motion keeps 7 letters and half of the eighth


def test_names_that_a_motion_cut_find_the_longer_ones():
    character = doll("x", LONG, expressions=("y", LONG))
    assert old(LONG) not in LONG
    tracks = (move(old(LONG)), switch(old(LONG), "expression", 0.5))
    bound = bind(Clip("c", tracks), character)
    assert bound.notes == ()
    pose = sample(bound, 0)
    assert pose.translations[0, :, 0].tolist() == [0, 1]
    assert pose.expressions.tolist() == [[0, 0.5]]


def test_the_chains_of_a_motion_have_names_of_20_bytes():
    long, longer = "あいうえおかきくけこ１", "あいうえおかきくけこ２"
    bound = bind(Clip("c", (switch(old(long, 20)),)), doll("x", long))
    assert (bound.notes, sample(bound, 0).ik.tolist()) == ((), [[True, False]])
    assert bind(Clip("c", (switch(old(long)),)), doll("x", long)).notes[0].code == "unbound-track"
    several = bind(Clip("c", (switch(longer),)), doll("x", long, longer))
    assert sample(several, 0).ik.tolist() == [[True, True, False]]


def test_a_name_that_stands_there_comes_before_one_that_was_cut():
    bound = bind(Clip("c", (move("a" * 15),)), doll("a" * 16, "a" * 15))
    assert sample(bound, 0).translations[0, :, 0].tolist() == [0, 1]
    short = bind(Clip("c", (move("a" * 14),)), doll("a" * 16))
    assert short.notes[0].code == "unbound-track"


def test_expressions_of_one_name_move_together():
    bound = bind(Clip("c", (switch("b", "expression", 0.5),)), doll(expressions=("b", "a", "b")))
    assert sample(bound, 0).expressions.tolist() == [[0.5, 0, 0.5]]


UNBOUND = [
    # tracks, code, what the note must say
    ([switch("tail", "expression")], "unbound-track", "moves expression 'tail', which there is"),
    ([switch(3, "expression")], "unbound-track", "moves expression 3, which there is not"),
    ([switch("tail")], "unbound-track", "switches the IK of node 'tail', which has none"),
    ([switch("x"), switch(0)], "duplicate-track", "the IK of node 0, as an earlier"),
    ([switch("", "visible"), switch(0, "visible")], "duplicate-track", "shows and hides"),
    ([switch(0, "expression"), switch("e", "expression")], "duplicate-track", "expression 'e'"),
]


@pytest.mark.parametrize(("tracks", "code", "message"), UNBOUND)
def test_what_does_not_fit_the_rig_or_face_is_noted(tracks, code, message):
    (note,) = bind(Clip("c", tuple(tracks)), doll("x", expressions=("e",))).notes
    assert (note.code, note.place) == (code, f"tracks[{len(tracks) - 1}]")
    assert message in note.message


def test_a_character_without_a_rig_has_no_ik_to_switch():
    (note,) = bind(Clip("c", (switch("root"),)), puppet()).notes
    assert note.code == "unbound-track"


# ---------------------------------------------------------------- many of a kind

ASLEEP = (
    move("ghost", "rotation", [[0, 0, 0, 1]] * 2),
    move("ghost", keys=[[0, 0, 0]] * 2, relative=True),
    switch("ghost", "expression"),
    switch("ghost", value=1),
)


def many(count: int, **more) -> tuple[Track, ...]:
    return tuple(move(f"tail {i}", **more) for i in range(count))


def test_many_of_a_kind_are_one_note():
    tracks = (*many(8), move(9), move("root"), move("arm"), move("arm", "scale"), *many(1))
    lacking, ambiguous = bind(Clip("c", tracks), puppet()).notes
    assert str(lacking) == (
        "10 of 13 tracks of 'c' move what the character does not have:"
        " 'tail 0', 'tail 1', 'tail 2', 'tail 3', 'tail 4' … [unbound-track]"
    )
    assert str(ambiguous) == (
        "2 of 13 tracks of 'c' name several nodes, of which the first is moved: 'arm'"
        " [ambiguous-target]"
    )


def test_what_the_character_lacks_and_the_motion_keeps_at_rest_is_only_counted():
    assert bind(Clip("c", (*ASLEEP, move("root"))), puppet()).notes == ()
    (one,) = bind(Clip("c", (*ASLEEP, move("tail"), move("root"))), puppet()).notes
    assert str(one) == (
        "tracks[4]: 'c' moves the translation of node 'tail', which there is not;"
        " 4 more keep such things at rest [unbound-track]"
    )


def test_a_motion_that_moves_nothing_says_so():
    shown = switch("", "visible", 1)
    (note,) = bind(Clip("c", (*ASLEEP, shown)), puppet()).notes
    assert str(note) == "none of the 5 tracks of 'c' moves the character: 'ghost' [unbound-track]"
    (note,) = bind(Clip("c", (move("tail"), ASLEEP[0])), puppet()).notes
    assert note.message.startswith(
        "none of the 2 tracks of 'c' moves the character: 'tail'; 1 more"
    )
    (note,) = bind(Clip("c", many(2)), puppet()).notes
    assert note.message == "none of the 2 tracks of 'c' moves the character: 'tail 0', 'tail 1'"


@pytest.mark.parametrize(
    ("tracks", "said"),
    [
        ([move("root"), move(0), move("root")], "2 of 3 tracks of 'c' move what an earlier track"),
        (
            [move("root"), move("root", "weights"), move("face", "weights")],
            "2 of 3 tracks of 'c' weigh other morph targets than there are: 'root', 'face'",
        ),
        (
            [move(i, "rotation", [[0, 0, 0, 2], [0, 0, 0, 1]]) for i in (0, 1)],
            "2 of 2 tracks of 'c' have quaternions that are not of length 1, normalised: node 0,",
        ),
    ],
)
def test_other_kinds_are_counted_too(tracks, said):
    (note,) = bind(Clip("c", tuple(tracks)), puppet()).notes
    assert note.message.startswith(said)


def test_only_a_name_as_long_as_a_field_was_cut():
    """Names of other formats are whole: LeftHandIndex is not LeftHand."""
    bound = bind(Clip("c", (move("mixamorig:LeftHandIndex1"),)), doll("mixamorig:LeftHand"))
    assert [note.code for note in bound.notes] == ["unbound-track"]
