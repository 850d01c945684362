"""A stage: the vertex axis, time, chunks, and every node that moves a mesh."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku import Clip, RigError, Stage, Track, load
from bunraku.model import Attachment, Character, Geometry, Mesh, Part, Pose, Scene, Skeleton, Skin

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def triangle(*, skinned: bool = False, shift: float = 0.0) -> Mesh:
    positions = np.array(TRIANGLE, np.float32) + np.float32(shift)
    joints = np.array([[0, 1]] * 3) if skinned else None
    weights = np.array([[1, 0], [0.5, 0.5], [0, 1]]) if skinned else None
    geometry = Geometry(positions, normals=[[0, 0, 1]] * 3, joints=joints, weights=weights)
    return Mesh(f"tri{shift:g}", (geometry,), (Part(0, [[0, 1, 2]]),))


NAN = float("nan")


def puppet() -> Character:
    """Two joints, a skinned triangle on a moved node, and a rigid triangle on a joint."""
    skeleton = Skeleton(("holder", "upper", "fore"), [-1, -1, 1], [[9, 9, 9], [0, 0, 0], [2, 0, 0]])
    skin = Skin([1, 2], [np.eye(4), [[1, 0, 0, -2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]])
    return Character(
        skeleton,
        (triangle(skinned=True), triangle(shift=5)),
        (skin,),
        (Attachment(0, 0, 0), Attachment(2, 1)),
    )


def elbow(degrees: float) -> Track:
    half = np.deg2rad(degrees) / 2
    return Track("fore", "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, np.sin(half), np.cos(half)]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda s: s.frame_times(0), "fps"),
        (lambda s: s.frame_times(-30), "fps"),
        (lambda s: s.frame_times(float("nan")), "fps"),
        (lambda s: s.frame_times(1e30), "frames"),
        (lambda s: s.pose(float("inf")), "time"),
        (lambda s: s.deform(0.0, method="cubic"), "cubic"),
        (lambda s: s.deform_pose(lonely()), "nodes"),
        (lambda s: Stage(s.character, "dance"), "no clip 'dance'"),
        (lambda s: Stage(s.character, 3), "no clip 3"),
        (lambda s: Stage(s.character, True), "motion: expected a Clip, its name.*found True"),
        (lambda s: Stage(s.character, 1.0), "motion: expected a Clip, its name.*found 1.0"),
        (lambda s: Stage(s.character, [s.clip]), r"motion: expected a Clip, .*found \[Clip"),
        (lambda s: s.frame_times("30"), "fps: expected one finite number, found '30'"),
        (lambda s: s.frame_times(np.array([30, 60])), r"fps: .*found shape \(2,\)"),
        (lambda s: s.frame_times(None), "fps: .*found None"),
        (lambda s: s.deform_pose(s.pose([0, 1]), [1, 2, 3]), "times: expected one or 2, found 3"),
        (lambda s: s.deform_pose(s.pose([0, 1]), [0, NAN]), r"times\[1\]: expected finite"),
        (lambda s: s.deform_pose(s.pose([0, 1]), [[0, 1]]), r"times: expected shape"),
        (lambda s: s.posed([0.0, 2.4]), r"time: expected one finite number, found shape \(2,\)"),
        (lambda s: s.posed([]), r"time: expected one finite number, found shape \(0,\)"),
        (lambda s: s.posed(NAN), "time: expected one finite number, found nan"),
        (lambda s: s.pick([0.0, 1.0], [0, 0, 1], [0, 0, -1]), "time: expected one"),
        (lambda s: s.cast([1.0, 0], [0, 0, 1], [0, 0, -1]), "time: expected one"),
        (lambda s: s.simulate(["a"]), "times: expected numbers"),
        (lambda s: s.simulated("a"), "start: expected one finite number, found 'a'"),
        (lambda s: list(s.chunks("a")), "times: expected numbers"),
    ],
)
def test_wrong_questions_are_refused(wrong, message: str) -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(90),)))
    with pytest.raises(RigError, match=message):
        wrong(stage)


def test_clips_are_named_by_numbers_of_any_kind() -> None:
    character = replace(puppet(), clips=[Clip("bend", [elbow(90)])])
    for motion in (0, np.int64(0), np.uint8(0), "bend", character.clips[0]):
        assert Stage(character, motion).clip is character.clips[0]


def lonely() -> Pose:
    return Pose(np.zeros((1, 1, 3)), [[[0, 0, 0, 1]]], np.ones((1, 1, 3)))


def test_a_skinned_mesh_ignores_the_node_that_shows_it() -> None:
    rest = Stage(puppet()).deform(0.0).positions[0]
    np.testing.assert_array_equal(rest[:3], np.array(TRIANGLE, np.float32))


def test_a_mesh_without_skin_follows_its_node() -> None:
    rest = Stage(puppet()).deform(0.0).positions[0]
    np.testing.assert_array_equal(rest[3:], np.array(TRIANGLE, np.float32) + [7, 5, 5])


def test_elbow_at_180_degrees_collapses_under_lbs_and_not_under_dqs() -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(180),)))
    half_way_vertex = 1  # at (1, 0, 0), weights ½ ½, elbow at (2, 0, 0)
    lbs = stage.deform(1.0, method="lbs").positions[0, half_way_vertex]
    dqs = stage.deform(1.0, method="dqs").positions[0, half_way_vertex]
    np.testing.assert_allclose(lbs, [2, 0, 0], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(dqs - [2, 0, 0]), 1, atol=1e-6)


def test_rigid_meshes_are_the_same_under_both_methods() -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(75),)))
    lbs, dqs = (stage.deform([0.3, 1], method=m, normals=True) for m in ("lbs", "dqs"))
    np.testing.assert_array_equal(lbs.positions[:, 3:], dqs.positions[:, 3:])
    np.testing.assert_array_equal(lbs.normals[:, 3:], dqs.normals[:, 3:])
    assert (lbs.method, dqs.method) == ("lbs", "dqs")


def test_ranges_name_node_mesh_geometry_and_parts() -> None:
    stage = Stage(puppet())
    assert [(r.start, r.stop, r.node, r.mesh, r.geometry, r.parts) for r in stage.ranges] == [
        (0, 3, 0, 0, 0, (0,)),
        (3, 6, 2, 1, 0, (0,)),
    ]
    np.testing.assert_array_equal(stage.triangles, [[0, 1, 2], [3, 4, 5]])


def scenes(default: int | None, count: int = 2) -> Character:
    """Nodes 0 ← 3 and 1 ← 2, each showing its own triangle; scene 0 is {1}, scene 1 is {1, 0}."""
    return Character(
        Skeleton(("a", "b", "c", "d"), [-1, -1, 1, 0]),
        tuple(triangle(shift=i) for i in range(4)),
        attachments=tuple(Attachment(i, i) for i in range(4)),
        scenes=(Scene([1]), Scene([1, 0]))[:count],
        default_scene=default,
    )


@pytest.mark.parametrize(
    ("character", "nodes"),
    [
        (scenes(0), [1, 2]),
        (scenes(1), [1, 2, 0, 3]),
        (scenes(None), [1, 2]),
        (scenes(None, count=0), [0, 3, 1, 2]),
    ],
)
def test_the_vertex_axis_walks_the_shown_scene_depth_first(character, nodes) -> None:
    stage = Stage(character)
    assert [span.node for span in stage.ranges] == nodes
    expected = np.concatenate([np.array(TRIANGLE, np.float32) + node for node in nodes])
    np.testing.assert_array_equal(stage.deform(0.0).positions[0], expected)


def test_one_mesh_on_two_nodes_with_different_skins() -> None:
    skeleton = Skeleton(("a", "b", "j", "k"), [-1] * 4, [[0, 0, 0]] * 2 + [[0, 3, 0], [0, 0, 4]])
    mesh = Mesh(
        "m", (Geometry(TRIANGLE, joints=[[0]] * 3, weights=[[1]] * 3),), (Part(0, [[0, 1, 2]]),)
    )
    character = Character(
        skeleton, (mesh,), (Skin([2]), Skin([3])), (Attachment(0, 0, 0), Attachment(1, 0, 1))
    )
    positions = Stage(character).deform(0.0).positions[0]
    np.testing.assert_array_equal(positions[:3], np.array(TRIANGLE) + [0, 3, 0])
    np.testing.assert_array_equal(positions[3:], np.array(TRIANGLE) + [0, 0, 4])


@pytest.mark.parametrize(
    ("end", "fps", "count"),
    [
        (1.0, 30, 31),
        (1.0, 24, 25),
        (0.99, 30, 30),
        (1.0, 7.5, 8),
        (0.1, 1, 1),
        (np.float32(0.7), 10, 8),
    ],
)
def test_frames_reach_the_end_where_it_falls_on_one(end: float, fps: float, count: int) -> None:
    track = Track("fore", "translation", [0, end], [[2, 0, 0], [3, 0, 0]])
    times = Stage(puppet(), Clip("slide", (track,))).frame_times(fps)
    np.testing.assert_array_equal(times, np.arange(count) / fps)


def test_chunks_are_the_whole_in_pieces() -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(120),)))
    times = stage.frame_times(50)
    whole = stage.deform(times, method="dqs", normals=True)
    memory = 7 * stage.frame_bytes(normals=True)
    blocks = list(stage.chunks(times, method="dqs", normals=True, memory=memory))
    assert max(len(block.times) for block in blocks) == 7
    np.testing.assert_array_equal(np.concatenate([b.times for b in blocks]), times)
    np.testing.assert_array_equal(np.concatenate([b.positions for b in blocks]), whole.positions)
    np.testing.assert_array_equal(np.concatenate([b.normals for b in blocks]), whole.normals)


def test_a_tiny_budget_still_gives_one_frame_at_a_time() -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(120),)))
    assert [len(block.times) for block in stage.chunks([0, 0.5, 1], memory=1)] == [1, 1, 1]


def test_a_clip_binds_to_another_file_by_joint_name(corpus: Path) -> None:
    fox = load(corpus / "gltf_usd_fbx_bvh/khronos-sample-assets/Models/Fox/glTF-Binary/Fox.glb")
    walk = fox.clip("Walk")
    names = fox.skeleton.names
    tracks = [
        Track(names[t.target], t.path, t.times, t.values, t.interpolation) for t in walk.tracks
    ]
    by_name = Stage(fox, Clip("walk", [*tracks, elbow(10)]))
    np.testing.assert_array_equal(
        by_name.deform(0.4).positions, Stage(fox, "Walk").deform(0.4).positions
    )
    assert [note.code for note in by_name.notes] == ["unbound-track"]


def test_no_times_give_no_frames() -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(120),)))
    assert stage.deform([], normals=True).positions.shape == (0, 6, 3)
    assert list(stage.chunks([])) == []


def test_a_mirroring_node_turns_faces_round_and_keeps_normals_outward() -> None:
    def stage(scale: list[float]) -> Stage:
        skeleton = Skeleton(("node",), [-1], scales=[scale])
        return Stage(Character(skeleton, (triangle(),), attachments=(Attachment(0, 0),)))

    plain, mirrored = stage([1, 1, 1]), stage([1, 1, -1])
    assert plain.triangles.tolist() == [[0, 1, 2]]
    assert mirrored.triangles.tolist() == [[2, 1, 0]]
    moved = mirrored.deform(0.0, normals=True)
    a, b, c = moved.positions[0, mirrored.triangles[0]]
    np.testing.assert_array_equal(np.cross(b - a, c - a), moved.normals[0, 0])
    np.testing.assert_array_equal(moved.normals[0, 0], [0, 0, -1])


def test_influences_mean_nothing_on_a_node_without_a_skin() -> None:
    mesh = triangle(skinned=True)
    skeleton = Skeleton(("root",), [-1], [[5, 0, 0]])
    stage = Stage(Character(skeleton, (mesh,), attachments=(Attachment(0, 0),)))
    expected = mesh.geometries[0].positions + np.float32([5, 0, 0])
    np.testing.assert_array_equal(stage.deform(0.0).positions[0], expected)
    found = stage.pick(0.0, expected.mean(axis=0) + [0, 0, 1], [0, 0, -1])
    assert found is not None
    assert found.joints == ()


def test_a_pick_looks_through_what_is_to_be_ignored() -> None:
    meshes = tuple(triangle(shift=shift) for shift in (0, -0.125, -0.25))
    skeleton = Skeleton(("a", "b", "c"), [-1] * 3)
    shown = tuple(Attachment(i, i) for i in range(3))
    stage = Stage(Character(skeleton, meshes, attachments=shown))
    ray = [0.1, 0.1, 1], [0, 0, -2]
    assert stage.pick(0.0, *ray).node == 0  # type: ignore[union-attr]
    found = stage.pick(0.0, *ray, ignore=lambda met: met.distance < 1.2)
    assert found is not None
    assert (found.node, found.distance, found.point[2]) == (2, 1.25, -0.25)
    asked: list[int] = []
    assert stage.pick(0.0, *ray, ignore=lambda met: asked.append(met.node) is None) is None
    assert asked == [0, 1, 2]


def test_memory_may_be_any_number_of_bytes() -> None:
    stage = Stage(puppet(), Clip("bend", (elbow(90),)))
    assert len(list(stage.chunks([0.0, 0.5, 1.0], memory=1e9))) == 1
