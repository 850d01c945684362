"""A model object that exists is usable: everything else is refused with a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.model import (
    Attachment,
    Character,
    Clip,
    Geometry,
    JointBind,
    Material,
    Mesh,
    MorphTarget,
    Part,
    Pose,
    Scene,
    Skeleton,
    Skin,
    Track,
    differences,
)

NAN = float("nan")
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
FACE = (Part(0, [[0, 1, 2]]),)


def mesh(geometry: Geometry | None = None) -> Mesh:
    return Mesh("tri", (geometry or Geometry(TRIANGLE),), FACE)


def one_node(**fields) -> Character:
    return Character(Skeleton(("root",), [-1]), **fields)


INVALID = [
    ("own parent", lambda: Skeleton(("a",), [0]), r"'a' is its own ancestor"),
    ("cycle", lambda: Skeleton(tuple("abcd"), [-1, 3, 1, 2]), "its own ancestor"),
    ("parent out of range", lambda: Skeleton(("a",), [1]), r"parents\[0\]: node 1"),
    ("parent -2", lambda: Skeleton(("a",), [-2]), "node -2"),
    ("parents too few", lambda: Skeleton(("a", "b"), [-1]), r"shape \(2\)"),
    ("NaN translation", lambda: Skeleton(("a",), [-1], [[0, NAN, 0]]), r"\[0, 1\].*finite"),
    ("zero rotation", lambda: Skeleton(("a",), [-1], rotations=[[0, 0, 0, 0]]), "unit"),
    ("fractional parent", lambda: Skeleton(("a",), [-0.5]), "whole numbers"),
    ("positions flat", lambda: Geometry([0, 1, 2]), "shape"),
    ("positions infinite", lambda: Geometry([[0, 0, float("inf")]]), "finite"),
    ("positions beyond float32", lambda: Geometry([[0, 0, 1e39]]), "finite"),
    ("normals short", lambda: Geometry(TRIANGLE, normals=[[0, 0, 1]]), r"shape \(3, 3\)"),
    ("text", lambda: Geometry([["a", "b", "c"]]), "numbers"),
    ("ragged", lambda: Geometry([[0, 0], [1]]), "regular"),
    ("weights alone", lambda: Geometry(TRIANGLE, weights=[[1]] * 3), "together"),
    (
        "sum 1.2",
        lambda: Geometry(TRIANGLE, joints=[[0, 1]] * 3, weights=[[0.8, 0.4]] * 3),
        r"weights\[0\]: expected a sum of 1 \(or 0\), found 1.2 \(3 such",
    ),
    (
        "negative weight",
        lambda: Geometry(TRIANGLE, joints=[[0, 1]] * 3, weights=[[1.5, -0.5]] * 3),
        "none below 0",
    ),
    ("negative slot", lambda: Geometry(TRIANGLE, joints=[[-1]] * 3, weights=[[1]] * 3), "slots"),
    ("slot too large", lambda: Geometry(TRIANGLE, joints=[[2**31]] * 3, weights=[[1]] * 3), "…"),
    ("morph unsorted", lambda: MorphTarget([2, 1]), "increasing"),
    ("morph beyond", lambda: Geometry(TRIANGLE, morphs=(MorphTarget([3]),)), "vertex 3"),
    ("face beyond", lambda: Mesh("m", (Geometry(TRIANGLE),), (Part(0, [[0, 1, 3]]),)), "vertex 3"),
    ("face negative", lambda: Mesh("m", (Geometry(TRIANGLE),), (Part(0, [[0, 1, -1]]),)), "-1"),
    ("no such geometry", lambda: Mesh("m", (), FACE), "geometry 0, but there are 0"),
    ("morphs uneven", lambda: Mesh("m", (Geometry(TRIANGLE),), (), ("smile",)), "1 morph"),
    ("topology", lambda: Part(0, [[0, 1, 2]], topology="quads"), "quads"),
    ("ibm last row", lambda: Skin([0], [np.ones((4, 4))]), "last row"),
    ("ibm count", lambda: Skin([0, 1], [np.eye(4)]), r"shape \(2, 4, 4\)"),
    ("ibm NaN", lambda: Skin([0], [np.eye(4) * NAN]), "finite"),
    ("no keys", lambda: Track(0, "scale", [], np.zeros((0, 3))), "at least one key"),
    ("times equal", lambda: Track(0, "scale", [0, 0], np.ones((2, 3))), r"times\[1\]"),
    ("path", lambda: Track(0, "colour", [0], [[1]]), "colour"),
    ("cubic flat", lambda: Track(0, "scale", [0], [[1, 1, 1]], "CUBICSPLINE"), "shape"),
    ("interpolation", lambda: Track(0, "scale", [0], [[1, 1, 1]], "BOUNCE"), "BOUNCE"),
    ("no target", lambda: Track(None, "scale", [0], [[1, 1, 1]]), "None scale: expected the name"),
    ("fractional target", lambda: Track(1.0, "scale", [0], [[1, 1, 1]]), "expected the name or"),
    ("joint bind", lambda: JointBind(0, [0, 0, 0], [0, 0, 0, 2]), "unit quaternion.*length 2"),
    ("node half", lambda: one_node(meshes=[mesh()], attachments=[Attachment(0.5, 0)]), "a node, f"),
    ("node by name", lambda: one_node(attachments=[Attachment("root", 0)]), "found 'root'"),
    ("node as a switch", lambda: one_node(attachments=[Attachment(False, 0)]), "found False"),
    ("children", lambda: Skeleton(("a",), [-1]).children(99), "skeleton: node 99, but there are 1"),
    ("children below -1", lambda: Skeleton(("a",), [-1]).children(-2), "node -2"),
    ("children of a name", lambda: Skeleton(("a",), [-1]).children("b"), "no node is called 'b'"),
    ("clip by number", lambda: one_node().clip(np.int64(0)), "no clip .*; there are: none"),
    ("clip by truth", lambda: one_node(clips=[Clip("c", ())]).clip(False), "no clip False"),
    ("pose", lambda: Pose(np.zeros((1, 2, 3)), np.zeros((1, 1, 4)), np.ones((1, 2, 3))), "shape"),
    ("skin beyond", lambda: one_node(skins=(Skin([1]),)), r"skins\[0\].joints\[0\]: node 1"),
    ("mesh beyond", lambda: one_node(attachments=(Attachment(0, 0),)), "mesh 0, but there are 0"),
    (
        "slot beyond the skin",
        lambda: one_node(
            meshes=(mesh(Geometry(TRIANGLE, joints=[[1]] * 3, weights=[[1]] * 3)),),
            skins=(Skin([0]),),
            attachments=(Attachment(0, 0, 0),),
        ),
        "joint slot 1, but skin '' has 1 joints",
    ),
    (
        "two meshes on a node",
        lambda: one_node(meshes=(mesh(),), attachments=(Attachment(0, 0), Attachment(0, 0))),
        "already shows",
    ),
    ("scene root beyond", lambda: one_node(scenes=(Scene([4]),)), "node 4"),
    ("default scene", lambda: one_node(default_scene=2), "default_scene: scene 2"),
    (
        "scene root with a parent",
        lambda: Character(Skeleton(("a", "b"), [-1, 0]), scenes=(Scene([1]),)),
        "not a root",
    ),
    ("image beyond", lambda: one_node(materials=(Material(image=0),)), "image 0"),
    ("alpha mode", lambda: Material(alpha_mode="hidden"), "hidden"),
    ("wrap", lambda: Material(wrap=("repeat", "spiral")), "wrap: expected two of"),
    ("filter", lambda: Material(filter="cubic"), "filter: expected one of"),
    ("one wrap", lambda: Material(wrap=("repeat",)), "wrap: expected two of"),
    ("offset", lambda: Material(uv_offset=(0.0, float("nan"))), "uv_offset: expected two finite"),
    ("scale", lambda: Material(uv_scale=(1.0,)), "uv_scale: expected two finite"),
    ("turn", lambda: Material(uv_rotation=float("inf")), "uv_rotation: expected a finite"),
]


@pytest.mark.parametrize(
    ("make", "message"), [row[1:] for row in INVALID], ids=[r[0] for r in INVALID]
)
def test_contradictions_are_refused(make, message: str) -> None:
    with pytest.raises(RigError, match=message):
        make()


def test_arrays_are_read_only_and_not_copied() -> None:
    positions = np.zeros((3, 3), np.float32)
    geometry = Geometry(positions)
    assert np.shares_memory(geometry.positions, positions)
    with pytest.raises(ValueError, match="read-only"):
        geometry.positions[0] = 1
    positions[0] = 1  # the caller's own array stays the caller's


def test_quantised_rotations_are_normalised_and_exact_ones_left_alone() -> None:
    exact = [0, 0, np.sin(0.3), np.cos(0.3)]
    skeleton = Skeleton(("a", "b"), [-1, 0], rotations=[exact, [0, 0, 0.7071, 0.7071]])
    assert skeleton.rotations[0].tolist() == exact
    np.testing.assert_allclose(np.linalg.norm(skeleton.rotations[1]), 1, atol=1e-15)


def test_children_before_parents_get_an_evaluation_order() -> None:
    skeleton = Skeleton(("finger", "hand", "arm", "thumb"), [1, 2, -1, 1])
    assert skeleton.order.tolist() == [2, 1, 0, 3]
    assert Skeleton(("arm", "hand"), [-1, 0]).order.tolist() == [0, 1]


@given(st.data())
def test_evaluation_order_puts_parents_first(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 40))
    tree = [data.draw(st.integers(-1, i - 1)) for i in range(count)]
    shuffle = data.draw(st.permutations(range(count)))
    parents = [0] * count
    for old, new in enumerate(shuffle):
        parents[new] = shuffle[tree[old]] if tree[old] >= 0 else -1
    order = Skeleton(tuple(map(str, range(count))), parents).order.tolist()
    assert sorted(order) == list(range(count))
    place = {node: i for i, node in enumerate(order)}
    assert all(place[parent] < place[node] for node, parent in enumerate(parents) if parent >= 0)


def test_a_long_backward_chain_is_ordered_in_linear_time() -> None:
    count = 200_000  # a quadratic walk would take minutes
    order = Skeleton(("n",) * count, [*range(1, count), -1]).order
    assert order.tolist() == list(range(count))[::-1]


def test_a_clip_spans_its_tracks() -> None:
    tracks = [Track(0, "scale", times, np.ones((2, 3))) for times in ([0.5, 2], [1, 3])]
    clip = Clip("grow", tracks)
    assert (clip.start, clip.end) == (0.5, 3.0)
    assert repr(clip) == "Clip('grow', 2 tracks, 0.5…3 s)"


def test_numbers_of_numpy_are_numbers() -> None:
    skeleton = Skeleton(("a", "b"), [-1, 0])
    zero, one = np.int64(0), np.uint8(1)
    assert skeleton.children(zero).tolist() == skeleton.children("a").tolist() == [1]
    assert skeleton.children(np.int32(-1)).tolist() == [0]
    assert (skeleton.index(one), type(skeleton.index(one))) == (1, int)
    clips = [Clip("x", ()), Clip("y", ())]
    attached = Attachment(one, zero)
    character = Character(skeleton, [mesh()], attachments=[attached], clips=clips)
    assert character.clip(one) is clips[1]
    assert type(Track(one, "scale", [0], [[1, 1, 1]]).target) is int


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
def test_rotation_keys_are_unit_and_repairs_are_said(interpolation) -> None:
    keys = np.array([[0, 0, 0, 2], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0.993]])
    if interpolation == "CUBICSPLINE":
        keys = np.stack([keys * 0.5, keys, keys * 0.25], axis=1)
    track = Track("a", "rotation", range(4), keys, interpolation)
    found = track.values[:, 1] if interpolation == "CUBICSPLINE" else track.values
    half = np.float32(0.5**0.5)
    wanted = np.float32([[0, 0, 0, 1], [0, 0, half, half], [0, 0, 0, 1], [0, 0, 0, 0.993]])
    np.testing.assert_array_equal(found, wanted)
    assert [note.code for note in track.notes] == ["zero-rotation", "rotation-normalised"]
    assert "2 quaternions" in track.notes[1].message
    if interpolation == "CUBICSPLINE":
        np.testing.assert_array_equal(track.values[:2, 0], wanted[:2] * np.float32(0.5))
    assert Track("a", "rotation", range(2), keys[[1, 1]] / 2**0.5, interpolation).notes == ()


def test_differences_of_numbers_are_by_value() -> None:
    assert differences(np.array([0.0, np.nan]), np.array([-0.0, np.nan])) == []
    assert differences(np.zeros(1), np.zeros(1, np.float32)) == [""]


def test_differences_name_the_place() -> None:
    def character(x: float) -> Character:
        moved = np.array(TRIANGLE, np.float32)
        moved[2, 0] = x
        return one_node(meshes=(mesh(Geometry(moved)),), attachments=(Attachment(0, 0),))

    assert differences(character(0), character(0)) == []
    assert differences(character(0), character(1)) == [".meshes[0].geometries[0].positions"]


def test_a_mesh_without_own_weights_rests_at_zero_and_a_node_may_overrule() -> None:
    smile = Geometry(TRIANGLE, morphs=(MorphTarget([0], positions=[[0, 1, 0]]),))
    face = Mesh("face", (smile,), FACE, ("smile",))
    skeleton = Skeleton(("a", "b"), [-1, -1])
    character = Character(
        skeleton, (face,), attachments=(Attachment(0, 0), Attachment(1, 0, morph_weights=[0.5]))
    )
    assert [w.tolist() for w in character.rest_pose().morph_weights] == [[[0.0]], [[0.5]]]
    edited = replace(character, meshes=(replace(face, morph_weights=[0.25]),))
    assert [w.tolist() for w in edited.rest_pose().morph_weights] == [[[0.25]], [[0.5]]]
