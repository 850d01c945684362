"""Blending: invalid input, worked examples, properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.model import Pose, Skeleton
from bunraku.motion import add, additive, blend, joint_mask
from bunraku.rotation import quaternion


def random_pose(seed: int, frames: int = 3, nodes: int = 4) -> Pose:
    rng = np.random.default_rng(seed)
    return Pose(
        rng.normal(size=(frames, nodes, 3)),
        quaternion.normalize(rng.normal(size=(frames, nodes, 4))),
        rng.choice([-1, 0, 0.5, 2], (frames, nodes, 3)),
        (rng.normal(size=(frames, 2)), rng.normal(size=(frames, 0))),
    )


def assert_same(a: Pose, b: Pose, atol: float = 0) -> None:
    """Equal to `atol`; rotations up to their sign."""
    np.testing.assert_allclose(a.translations, b.translations, rtol=0, atol=atol)
    np.testing.assert_allclose(a.scales, b.scales, rtol=0, atol=atol)
    sign = np.where(quaternion.dot(a.rotations, b.rotations) < 0, -1, 1)[..., None]
    np.testing.assert_allclose(a.rotations * (sign if atol else 1), b.rotations, rtol=0, atol=atol)
    for ours, theirs in zip(a.morph_weights, b.morph_weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)


A, B = random_pose(1), random_pose(2)
SKELETON = Skeleton(("hips", "spine", "head", "leg"), [-1, 0, 1, 0])

INVALID = [
    # function, arguments, keywords, what the message must say
    (blend, (A, random_pose(3, nodes=5), 0.5), {}, "blend: .* 4 and 5 nodes"),
    (blend, (A, Pose(B.translations, B.rotations, B.scales), 0.5), {}, r"widths \[2, 0\] and \[\]"),
    (blend, (A, random_pose(3, frames=2), 0.5), {}, "3 and 2"),
    (blend, (A, B, 1.5), {}, r"amount: .*\[0, 1\], found 1.5"),
    (blend, (A, B, [0, 0.5, -0.25]), {}, "found -0.25"),
    (blend, (A, B, np.nan), {}, "found nan"),
    (blend, (A, B, "half"), {}, "amount: expected numbers, found <U4"),
    (add, (A, B, None), {}, "amount: expected numbers, found object"),
    (blend, (A, B, [0.5, 0.5]), {}, r"shape \(\) or \(3,\), found \(2,\)"),
    (blend, (A, B, [[0.5]]), {}, r"found \(1, 1\)"),
    (blend, (A, B, 1), {"joints": [4]}, r"joints\[0\]: node 4, but there are 4"),
    (blend, (A, B, 1), {"joints": [-1]}, "node -1"),
    (blend, (A, B, 1), {"joints": [0.5, 0.5]}, r"joints: expected shape \(4\), found \(2,\)"),
    (blend, (A, B, 1), {"joints": [0, 0.5, 1, 2]}, r"joints\[3\]: expected a share"),
    (blend, (A, B, 1), {"joints": ["head"] * 4}, "expected numbers"),
    (additive, (A, random_pose(3, nodes=5)), {}, "additive: .* 4 and 5 nodes"),
    (add, (A, random_pose(3, frames=2)), {}, "add: .* 3 and 2"),
    (add, (A, B, np.inf), {}, "found inf"),
    (joint_mask, (SKELETON, "tail"), {}, "no node is called 'tail'"),
    (joint_mask, (SKELETON, [0, 4]), {}, "node 4, but there are 4"),
    (joint_mask, (SKELETON, -1), {}, "node -1"),
    (joint_mask, (SKELETON, True), {}, "expected the index of a node, found True"),
    (joint_mask, (SKELETON, [1.5]), {}, "expected the index of a node, found 1.5"),
]


@pytest.mark.parametrize(("function", "arguments", "keywords", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, keywords, message):
    with pytest.raises(RigError, match=message):
        function(*arguments, **keywords)


# ---------------------------------------------------------------- worked examples


def test_half_way_to_a_quarter_turn():
    still = Pose([[[0, 0, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]], ([[0, 1]],))
    turned = Pose([[[2, 0, 0]]], [[[0, 0, 0.5**0.5, 0.5**0.5]]], [[[3, 1, 1]]], ([[1, 1]],))
    half = blend(still, turned, 0.5)
    assert half.translations.tolist() == [[[1, 0, 0]]]
    assert half.scales.tolist() == [[[2, 1, 1]]]
    assert half.morph_weights[0].tolist() == [[0.5, 1]]
    angle = np.radians(22.5)
    np.testing.assert_allclose(half.rotations[0, 0], [0, 0, np.sin(angle), np.cos(angle)])


def test_a_cross_fade_has_an_amount_per_frame():
    faded = blend(A, B, [0, 0.5, 1])
    assert_same(faded[0], A[0])
    assert_same(faded[2], B[2])
    np.testing.assert_allclose(faded.translations[1], (A.translations[1] + B.translations[1]) / 2)


def test_one_frame_serves_for_all():
    assert blend(A[0], B, 0.5).frames == blend(A, B[1], 0.5).frames == 3
    assert blend(A[0], B[0], [0, 0.25, 0.5, 1]).frames == 4
    assert_same(blend(A[0], B, 1), B)


@pytest.mark.parametrize(
    "joints", [[1, 2], [False, True, True, False], [0.0, 1, 1, 0], joint_mask(SKELETON, "spine")]
)
def test_joints_restrict_a_blend(joints):
    mixed = blend(A, B, 1, joints=joints)
    np.testing.assert_array_equal(mixed.translations[:, [0, 3]], A.translations[:, [0, 3]])
    np.testing.assert_array_equal(mixed.rotations[:, [0, 3]], A.rotations[:, [0, 3]])
    np.testing.assert_array_equal(mixed.rotations[:, [1, 2]], B.rotations[:, [1, 2]])
    np.testing.assert_array_equal(mixed.morph_weights[0], A.morph_weights[0])


def test_shares_multiply_the_amount():
    ours = blend(A, B, 0.5, joints=[1.0, 0.5, 0.25, 0])
    for node, amount in enumerate((0.5, 0.25, 0.125, 0)):
        expected = blend(A, B, amount).rotations[:, node]
        np.testing.assert_array_equal(ours.rotations[:, node], expected)


def test_no_joints_is_no_blend():
    assert_same(blend(A, B, 1, joints=[]), A)


def test_an_added_turn_is_in_the_joint_s_own_frame():
    x, y = ([1, 0, 0], [0, 1, 0])
    rest = Pose(np.zeros((1, 1, 3)), [[[0, 0, 0, 1]]], np.ones((1, 1, 3)))
    nod = quaternion.from_axis_angle(x, 0.3)
    aside = quaternion.from_axis_angle(y, np.pi / 2)
    nodding = Pose(rest.translations, [[nod]], rest.scales)
    looking = Pose(rest.translations, [[aside]], rest.scales)
    ours = add(looking, additive(nodding, rest)).rotations[0, 0]
    np.testing.assert_allclose(ours, quaternion.multiply(aside, nod), atol=1e-15)


def test_amounts_scale_and_joints_restrict_what_is_added():
    rest = Pose(np.zeros((1, 2, 3)), np.tile([0, 0, 0, 1.0], (1, 2, 1)), np.ones((1, 2, 3)))
    turns = quaternion.from_axis_angle([0, 0, 1], [[0.4, 0.4]])
    turned = Pose(rest.translations + 2, turns, rest.scales * 3)
    ours = add(rest, additive(turned, rest), [-1, 0.5, 2], joints=[1])
    assert ours.translations[:, :, 0].tolist() == [[0, -2], [0, 1], [0, 4]]
    assert ours.scales[:, :, 0].tolist() == [[1, -1], [1, 2], [1, 5]]
    expected = quaternion.from_axis_angle([0, 0, 1], [-0.4, 0.2, 0.8])
    np.testing.assert_allclose(ours.rotations[:, 1], expected, atol=1e-15)
    np.testing.assert_array_equal(ours.rotations[:, 0], np.tile([0, 0, 0, 1], (3, 1)))


def test_masks_reach_below_their_roots_in_any_file_order():
    backwards = Skeleton(("finger", "hand", "arm", "root", "leg"), [1, 2, 3, -1, 3])
    assert joint_mask(backwards, "arm").tolist() == [True, True, True, False, False]
    assert joint_mask(backwards, ["hand", 4]).tolist() == [True, True, False, False, True]
    assert joint_mask(backwards, []).tolist() == [False] * 5
    assert joint_mask(backwards, np.int64(4)).tolist() == [False] * 4 + [True]
    assert joint_mask(backwards, np.array([4])).tolist() == [False] * 4 + [True]


# ---------------------------------------------------------------- properties


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_ends_of_a_blend_are_the_poses(i, j):
    a, b = random_pose(i), random_pose(j)
    assert_same(blend(a, b, 0), a)
    assert_same(blend(a, b, 1), b)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_a_pose_blended_with_itself_stays(i, amount):
    a = random_pose(i)
    assert_same(blend(a, a, amount), a, atol=1e-15)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_difference_added_to_its_reference_is_the_pose(i, j):
    pose, reference = random_pose(i), random_pose(j)
    difference = additive(pose, reference)
    assert_same(add(reference, difference, 1), pose, atol=1e-14)
    assert_same(add(reference, difference, 0), reference)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_rotations_stay_of_unit_length(i, amount):
    rotations = blend(random_pose(i), random_pose(i + 1), amount).rotations
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1, atol=1e-14)


def test_weights_are_mixed_and_switches_are_those_of_the_nearer_pose():
    still = ([[[0, 0, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    on = Pose(*still, expressions=[[0.2, 1.0]], ik=np.array([[True]]), visible=np.array([True]))
    off = Pose(*still, expressions=[[0.6, 0.0]], ik=np.array([[False]]), visible=np.array([False]))
    mixed = blend(on, off, [0.25, 0.75])
    np.testing.assert_allclose(mixed.expressions, [[0.3, 0.75], [0.5, 0.25]])
    assert mixed.ik.tolist() == [[True], [False]]
    assert mixed.visible.tolist() == [True, False]
    kept = blend(on, off, [0.25, 0.75], joints=[0])
    np.testing.assert_array_equal(kept.expressions, [[0.2, 1.0]] * 2)
    assert kept.ik.all()
    assert kept.visible.all()


def test_a_pose_that_says_nothing_of_expressions_and_switches_says_0_and_on():
    still = ([[[0, 0, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    off = Pose(*still, expressions=[[0.5]], ik=np.array([[False]]))
    assert blend(Pose(*still), off, 0.4).expressions.tolist() == [[0.2]]
    assert blend(Pose(*still), off, 0.4).ik.tolist() == [[True]]
    assert blend(off, Pose(*still), 1).ik.tolist() == [[True]]
    smile = additive(off, Pose(*still))
    assert add(off, smile, [1, -1]).expressions.tolist() == [[1.0], [0.0]]
    assert add(off, smile, [1, -1]).ik.tolist() == [[False], [False]]


def test_poses_of_different_expressions_or_chains_are_refused():
    still = ([[[0, 0, 0]]], [[[0, 0, 0, 1]]], [[[1, 1, 1]]])
    one, two = (Pose(*still, expressions=np.zeros((1, count))) for count in (1, 2))
    with pytest.raises(RigError, match=r"expressions of widths \[1, 2\]"):
        blend(one, two, 0.5)
