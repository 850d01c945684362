"""Global transforms and palettes: invalid input, worked examples, the oracle, properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model import Pose, Skeleton, Skin
from bunraku.posing import forward_kinematics, global_transforms, node_palette, palette
from bunraku.rotation import quaternion
from tests.reference import kinematics as reference

ONE = np.zeros((1, 1, 3)), np.array([[[0, 0, 0, 1.0]]]), np.ones((1, 1, 3))
ROOT, FIRST = np.array([-1], np.int32), np.array([0], np.int32)
PAIR = np.zeros((1, 2, 3)), np.tile([0, 0, 0, 1.0], (1, 2, 1)), np.ones((1, 2, 3))
CHILD, BOTH = np.array([-1, 0], np.int32), np.array([0, 1], np.int32)
STILL = np.eye(4)[None, None, :3]

INVALID = [
    # function, arguments, what the message must say
    (global_transforms, (Skeleton(("a", "b"), [-1, 0]), Pose(*ONE)), "1 nodes.* has 2"),
    (forward_kinematics, (*ONE, CHILD, BOTH), "translations: expected length 2 on axis 1, found 1"),
    (
        forward_kinematics,
        (ONE[0], ONE[0], ONE[2], ROOT, FIRST),
        "rotations: .* 4 on axis 2, found 3",
    ),
    (forward_kinematics, (*ONE[:2], np.ones((2, 1, 3)), ROOT, FIRST), "scales: .* 1 on axis 0"),
    (forward_kinematics, (*ONE, ROOT, BOTH), "order: expected length 1 on axis 0, found 2"),
    (
        forward_kinematics,
        (*ONE[:2], ONE[2].astype("f4"), ROOT, FIRST),
        r"found .*float32 \(1, 1, 3\)",
    ),
    (forward_kinematics, (*ONE, ROOT, FIRST.astype("i8")), r"int64 \(1,\)"),
    (forward_kinematics, (*(a.astype("i4") for a in ONE), ROOT, FIRST), r"int32 \(1, 1, 3\)"),
    (forward_kinematics, (PAIR[0][:, ::-1], *PAIR[1:], CHILD, BOTH), "expected C-contiguous"),
    (forward_kinematics, (np.zeros(3), *ONE[1:], ROOT, FIRST), r"float64 \(3,\)"),
    (forward_kinematics, (*PAIR, CHILD, CHILD + 1 - BOTH), "every node once, found 0"),
    (forward_kinematics, (*PAIR, CHILD, BOTH * 2), "every node once, found 2"),
    (forward_kinematics, (*PAIR, CHILD, BOTH[::-1].copy()), "node 1 stands before its parent 0"),
    (forward_kinematics, (*PAIR, CHILD + BOTH * 2, BOTH), "before its parent 2"),
    (forward_kinematics, (*PAIR, CHILD + BOTH - 1, BOTH), "before its parent -2"),
    (forward_kinematics, (*(a.tolist() for a in ONE), [-1], [0]), "found list, list, list, list"),
    (forward_kinematics, (ONE[0].tolist(), *ONE[1:], ROOT, FIRST), "found list, float64"),
    (palette, (Skin([0]), np.eye(4)), r"transforms: expected shape \(any, any, 3, 4\)"),
    (palette, (Skin([0, 1], name="arm"), STILL), r"skin 'arm': joints\[1\]: node 1.* are 1"),
    (node_palette, (1, STILL), "node 1, but there are 1"),
    (node_palette, (-1, STILL), "node -1"),
    (node_palette, (0.0, STILL), "expected the index of a node, found 0.0"),
    (node_palette, (0, np.eye(4)), r"transforms: expected shape"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


# ---------------------------------------------------------------- worked examples


def arm(shoulder: float = 0, elbow: float = 0) -> tuple[Skeleton, Pose]:
    """Upper arm (0,0)→(2,0), forearm (2,0)→(4,0), wrist; turned by degrees about +Z."""
    skeleton = Skeleton(("upper", "fore", "wrist"), [-1, 0, 1], [[0, 0, 0], [2, 0, 0], [2, 0, 0]])
    turns = quaternion.from_axis_angle([0, 0, 1], np.radians([shoulder, elbow, 0]))
    return skeleton, Pose(skeleton.translations[None], turns[None], skeleton.scales[None])


@pytest.mark.parametrize(
    ("shoulder", "elbow", "elbow_at", "wrist_at"),
    [
        (0, 0, (2, 0), (4, 0)),
        (90, 0, (0, 2), (0, 4)),
        (0, 90, (2, 0), (2, 2)),
        (0, 180, (2, 0), (0, 0)),
        (90, 90, (0, 2), (-2, 2)),
    ],
)
def test_arm(shoulder, elbow, elbow_at, wrist_at):
    globals_ = global_transforms(*arm(shoulder, elbow))
    np.testing.assert_allclose(globals_[0, 1, :2, 3], elbow_at, atol=1e-15)
    np.testing.assert_allclose(globals_[0, 2, :2, 3], wrist_at, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_go_where_the_caller_wants_them(dtype):
    skeleton, pose = arm(30, 60)
    local = [np.array(a, dtype) for a in (pose.translations, pose.rotations, pose.scales)]
    out = np.full((1, 3, 3, 4), np.nan, dtype)
    returned = forward_kinematics(*local, skeleton.parents, skeleton.order, out=out)
    assert returned is out
    expected = forward_kinematics(*local, skeleton.parents, skeleton.order)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.zeros((2, 1, 3, 4)), "out: expected length 1 on axis 0, found 2"),
        (np.zeros((1, 1, 3, 4), np.float32), r"writeable \(F, N, 3, 4\), found .* float32 \(1, 1"),
        (np.zeros((1, 1, 3, 8))[..., ::2], "C-contiguous"),
        (np.broadcast_to(0.0, (1, 1, 3, 4)), "writeable"),
    ],
)
def test_what_cannot_take_results_is_refused(out, message):
    with pytest.raises(RigError, match=message):
        forward_kinematics(*ONE, ROOT, FIRST, out=out)


def test_the_rest_pose_gives_identity_palettes():
    skeleton, pose = arm()
    inverse_binds = np.tile(np.eye(4), (3, 1, 1))
    inverse_binds[:, 0, 3] = [0, -2, -4]
    matrices = palette(Skin([0, 1, 2], inverse_binds), global_transforms(skeleton, pose))
    assert matrices.dtype == np.float32
    np.testing.assert_array_equal(matrices, np.tile(np.eye(4, dtype="f4")[:3], (1, 3, 1, 1)))


def test_a_bent_elbow_moves_the_vertex_it_holds():
    skeleton, pose = arm(elbow=90)
    inverse_binds = np.tile(np.eye(4), (2, 1, 1))
    inverse_binds[1, 0, 3] = -2
    upper, fore = palette(Skin([0, 1], inverse_binds), global_transforms(skeleton, pose))[0]
    vertex = [2, 1, 0, 1]
    np.testing.assert_allclose(upper @ vertex, [2, 1, 0], atol=1e-7)
    np.testing.assert_allclose(fore @ vertex, [1, 0, 0], atol=1e-7)


def test_children_may_stand_before_their_parents():
    forwards = Skeleton(("a", "b", "c"), [-1, 0, 1], [[1, 0, 0], [0, 2, 0], [0, 0, 3]])
    backwards = Skeleton(("c", "b", "a"), [1, 2, -1], [[0, 0, 3], [0, 2, 0], [1, 0, 0]])
    poses = [
        Pose(s.translations[None], s.rotations[None], s.scales[None]) for s in (forwards, backwards)
    ]
    ours = global_transforms(backwards, poses[1])[:, ::-1]
    np.testing.assert_array_equal(ours, global_transforms(forwards, poses[0]))
    assert ours[0, 2, :, 3].tolist() == [1, 2, 3]


def test_negative_and_zero_scales_are_exact():
    skeleton = Skeleton(
        ("mirror", "hidden", "inside"),
        [-1, 0, 1],
        [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
        scales=[[-1, -1, -1], [0, 0, 0], [1, 1, 1]],
    )
    pose = Pose(skeleton.translations[None], skeleton.rotations[None], skeleton.scales[None])
    globals_ = global_transforms(skeleton, pose)[0]
    np.testing.assert_array_equal(globals_[0], [[-1, 0, 0, 1], [0, -1, 0, 2], [0, 0, -1, 3]])
    np.testing.assert_array_equal(globals_[1, :, :3], np.zeros((3, 3)))
    np.testing.assert_array_equal(globals_[1, :, 3], [-3, -3, -3])
    np.testing.assert_array_equal(globals_[2], globals_[1])


def test_a_scaled_parent_shears_its_turned_child():
    turn = quaternion.from_axis_angle([0, 0, 1], np.pi / 4)
    skeleton = Skeleton(
        ("wide", "turned"), [-1, 0], rotations=[[0, 0, 0, 1], turn], scales=[[2, 1, 1], [1, 1, 1]]
    )
    pose = Pose(skeleton.translations[None], skeleton.rotations[None], skeleton.scales[None])
    half = 0.5**0.5
    expected = [[2 * half, -2 * half, 0], [half, half, 0], [0, 0, 1]]
    np.testing.assert_allclose(global_transforms(skeleton, pose)[0, 1, :, :3], expected, atol=1e-15)


def test_a_rigid_mesh_moves_with_its_node():
    globals_ = global_transforms(*arm(shoulder=90))
    matrices = node_palette(1, globals_)
    assert (matrices.shape, matrices.dtype) == ((1, 1, 3, 4), np.dtype("f4"))
    np.testing.assert_array_equal(matrices[0, 0], globals_[0, 1].astype("f4"))


@pytest.mark.parametrize(("frames", "nodes"), [(0, 1), (1, 0), (0, 0)])
def test_nothing_gives_nothing(frames, nodes):
    skeleton = Skeleton(tuple("n" * nodes), [-1] * nodes)
    pose = Pose(
        np.zeros((frames, nodes, 3)), np.zeros((frames, nodes, 4)), np.ones((frames, nodes, 3))
    )
    assert global_transforms(skeleton, pose).shape == (frames, nodes, 3, 4)


# ---------------------------------------------------------------- oracle and properties


@st.composite
def figures(draw) -> tuple[Skeleton, Pose]:
    """A tree in shuffled file order, and a pose of any scale, sign and number of frames."""
    nodes, frames = draw(st.integers(1, 12)), draw(st.integers(1, 11))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    place = rng.permutation(nodes)
    parents = np.full(nodes, -1)
    for i in range(1, nodes):
        parents[place[i]] = place[rng.integers(0, i)] if rng.random() < 0.9 else -1
    rotations = quaternion.normalize(rng.normal(size=(frames, nodes, 4)))
    scales = rng.choice([-1.5, -1, 0, 0.5, 1, 2], (frames, nodes, 3))
    pose = Pose(rng.normal(size=(frames, nodes, 3)), rotations, scales)
    return Skeleton(tuple(f"n{i}" for i in range(nodes)), parents), pose


@settings(max_examples=40, deadline=None)
@given(figures())
def test_equals_the_oracle(figure):
    skeleton, pose = figure
    expected = reference.global_transforms(skeleton.parents, pose)
    ours = global_transforms(skeleton, pose)
    np.testing.assert_allclose(
        ours, expected, rtol=1e-12, atol=1e-12 * max(1, np.abs(expected).max())
    )
    single = forward_kinematics(
        *(a.astype("f4") for a in (pose.translations, pose.rotations, pose.scales)),
        skeleton.parents,
        skeleton.order,
    )
    assert single.dtype == np.float32
    np.testing.assert_allclose(
        single, expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max())
    )


@settings(max_examples=20, deadline=None)
@given(figures())
def test_each_frame_stands_alone(figure):
    skeleton, pose = figure
    together = global_transforms(skeleton, pose)
    apart = np.concatenate([global_transforms(skeleton, pose[i]) for i in range(pose.frames)])
    assert together.tobytes() == apart.tobytes()


def test_palettes_are_rounded_once():
    rng = np.random.default_rng(3)
    globals_ = rng.normal(size=(5, 4, 3, 4))
    inverse_binds = np.tile(np.eye(4), (3, 1, 1))
    inverse_binds[:, :3] = rng.normal(size=(3, 3, 4))
    joints = [3, 0, 0]
    bottom = np.broadcast_to([0, 0, 0, 1.0], (5, 3, 1, 4))
    full = np.concatenate([globals_[:, joints], bottom], axis=2) @ inverse_binds
    ours = palette(Skin(joints, inverse_binds), globals_)
    np.testing.assert_allclose(ours, full[:, :, :3], rtol=6e-8, atol=1e-12)


def long_motion() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(8)
    frames, nodes = 500, 67
    parents = np.array([-1, *(int(rng.integers(0, i)) for i in range(1, nodes))], np.int32)
    rotations = quaternion.normalize(rng.normal(size=(frames, nodes, 4)))
    translations, scales = rng.normal(size=(2, frames, nodes, 3))
    return translations, rotations, scales, parents, np.arange(nodes, dtype=np.int32)


def test_threads_do_not_change_a_bit():
    motion = long_motion()
    results = []
    for threads in (1, 2, 3):
        _core.set_thread_count(threads)
        globals_ = forward_kinematics(*motion)
        results.append(globals_.tobytes() + palette(Skin(np.arange(67)), globals_).tobytes())
    _core.set_thread_count(0)
    assert results[0] == results[1] == results[2]


def test_the_core_refuses_to_write_out_of_bounds():
    t, r, s, parents, order = long_motion()
    out = np.empty((*t.shape[:2], 3, 4))
    with pytest.raises(ValueError, match="out: expected length 500 on axis 0, found 499"):
        _core.kinematics.global_transforms(t, r, s, parents, order, out[1:])
