"""Skinning against hand calculations, and against the one-vertex-at-a-time oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.model import Geometry, MorphTarget
from bunraku.skinning import deform, deform_into
from tests.reference import skinning as reference
from tests.skinning import rigs

TRIANGLE = Geometry(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
    joints=[[0, 2], [1, 0], [2, 1]],
    weights=[[0.5, 0.5], [1, 0], [1, 0]],
    morphs=(MorphTarget([1], positions=[[0, 0, 1]]),),
)
REST = np.tile(np.eye(4, dtype=np.float32)[:3], (3, 1, 1))


def with_nan():
    broken = REST.copy()
    broken[1, 0, 0] = np.nan
    return broken[None]


@pytest.mark.parametrize(
    ("palette", "options", "message"),
    [
        (REST[:2], {}, r"palette: expected at least 3 joints .*, found 2"),
        (REST[:, :2], {}, r"palette: expected shape \(any, any, 3, 4\)"),
        (np.zeros((3, 4, 4)), {}, r"palette: expected shape \(any, any, 3, 4\)"),
        (REST[0], {}, r"palette: expected shape"),
        ([[1], [1, 2]], {}, "palette: expected a regular array"),
        (None, {}, "palette: expected shape .*, found"),
        (REST, {"morph_weights": [[1], [1, 2]]}, "morph_weights: expected a regular array"),
        (with_nan(), {}, r"palette\[0, 1, 0, 0\]: expected finite"),
        (with_nan()[0], {}, r"palette.*: expected finite"),
        (REST, {"method": "sdef"}, r"method: expected \['lbs', 'dqs'\], found 'sdef'"),
        (REST, {"mix": [0, 0, 1]}, r"mix: expected only with method 'dqs'"),
        (REST, {"method": "dqs", "mix": [0, 0]}, r"mix: expected shape \(3\)"),
        (REST, {"method": "dqs", "mix": [0, 0, 1.5]}, r"mix: expected 0 … 1, found 0.0 … 1.5"),
        (REST, {"method": "dqs", "mix": [0, 0, np.nan]}, r"mix.*: expected finite"),
        (REST, {"morph_weights": [[1, 0]]}, r"morph_weights: expected shape \(1, 1\)"),
        (REST, {"morph_weights": [[1], [1]]}, r"morph_weights: expected shape \(1, 1\)"),
        (REST, {"morph_weights": [[np.inf]]}, r"morph_weights.*: expected finite"),
    ],
)
def test_what_deform_refuses(palette, options, message):
    with pytest.raises(RigError, match=message):
        deform(TRIANGLE, palette, **options)


def test_geometry_without_joints_takes_one_matrix():
    plain = Geometry(TRIANGLE.positions)
    with pytest.raises(RigError, match=r"expected 1 matrix .*, found 3"):
        deform(plain, REST)
    moved = deform(plain, REST[:1] * 2)
    np.testing.assert_array_equal(moved.positions[0], plain.positions * 2)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ((np.zeros((1, 2, 3), np.float32),), r"positions: expected \(1, 3, 3\) float32"),
        (([[[0.0] * 3] * 3],), r"positions: expected \(1, 3, 3\) float32, found list"),
        ((None,), "positions: .* found NoneType"),
        ((np.zeros((1, 3, 3), ">f4"),), "positions: .* found .* >f4"),
        ((np.zeros((1, 3, 3)),), r"positions: expected \(1, 3, 3\) float32, found .* float64"),
        ((np.zeros((1, 3, 6), np.float32)[..., ::2],), "vertices contiguous within a frame"),
        ((np.zeros((1, 3, 4), np.float32)[..., :3],), "vertices contiguous within a frame"),
        ((np.zeros((1, 3, 3), np.float32),) + (np.zeros((2, 3, 3), np.float32),), "normals:"),
        ((np.broadcast_to(np.float32(0), (1, 3, 3)),), "positions: expected a writeable array"),
    ],
)
def test_what_deform_into_refuses(outputs, message):
    with pytest.raises(RigError, match=message):
        deform_into(TRIANGLE, REST, *outputs)


# --- Hand calculations ----------------------------------------------------------------------


def turn(degrees, pivot=(0, 0, 0)):
    """A turn about +Z through `pivot`, as a (3, 4) matrix."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    r = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.concatenate([r, (pivot - r @ pivot)[:, None]], axis=1)


def arm(points, weights):
    """Points held by an upper arm (slot 0) and a forearm (slot 1) that meet at (2, 0)."""
    return Geometry(points, joints=[[0, 1]] * len(points), weights=[weights] * len(points))


def bent(degrees, shoulder=0):
    """The palette of that arm: skin matrices of upper arm and forearm."""
    upper = np.vstack([turn(shoulder), [0, 0, 0, 1]])
    return np.stack([upper[:3], (upper @ np.vstack([turn(degrees, (2, 0, 0)), [0, 0, 0, 1]]))[:3]])


@pytest.mark.parametrize("method", ["lbs", "dqs"])
@pytest.mark.parametrize(
    ("points", "weights", "palette", "expected"),
    [
        ([[2, 0, 0]], (1, 0), bent(0, shoulder=90), [[0, 2, 0]]),
        ([[4, 0, 0]], (0, 1), bent(0, shoulder=90), [[0, 4, 0]]),
        ([[2, 1, 0]], (1, 0), bent(90), [[2, 1, 0]]),
        ([[2, 1, 0]], (0, 1), bent(90), [[1, 0, 0]]),
        ([[4, 0, 0]], (0, 1), bent(180), [[0, 0, 0]]),
    ],
)
def test_one_joint_moves_rigidly(method, points, weights, palette, expected):
    moved = deform(arm(points, weights), palette, method=method).positions[0]
    np.testing.assert_allclose(moved, expected, atol=1e-6)


def test_an_elbow_at_90_degrees_halves_to_a_point_at_0_7071():
    moved = deform(arm([[2, 1, 0]], (0.5, 0.5)), bent(90)).positions[0]
    np.testing.assert_allclose(moved, [[1.5, 0.5, 0]], atol=1e-6)
    assert np.linalg.norm(moved - [2, 0, 0]) == pytest.approx(0.7071, abs=1e-4)


@pytest.mark.parametrize("degrees", [0, 30, 90, 150, 180])
@pytest.mark.parametrize("radius", [0.25, 1.0])
def test_linear_blend_collapses_by_the_cosine_and_dual_quaternions_keep_the_radius(degrees, radius):
    elbow = arm([[2, radius, 0]], (0.5, 0.5))
    for method, expected in (("lbs", radius * np.cos(np.radians(degrees) / 2)), ("dqs", radius)):
        moved = deform(elbow, bent(degrees), method=method).positions[0, 0]
        assert np.linalg.norm(moved - [2, 0, 0]) == pytest.approx(expected, abs=1e-6)


def test_the_average_of_0_and_180_degrees_is_the_zero_block():
    points = np.random.default_rng(0).normal(size=(5, 3)) * [1, 1, 0] + [2, 0, 0]
    moved = deform(arm(points, (0.5, 0.5)), bent(180)).positions[0]
    np.testing.assert_allclose(moved, [[2, 0, 0]] * 5, atol=1e-6)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_the_rest_pose_comes_back(method):
    rig = rigs.geometry(50, 6, 4)
    rest = np.tile(np.eye(4, dtype=np.float32)[:3], (1, 4, 1, 1))
    moved = deform(rig, rest, method=method)
    np.testing.assert_allclose(moved.positions[0], rig.positions, rtol=3e-7)
    single = Geometry(rig.positions, joints=rig.joints[:, :1], weights=np.ones((50, 1)))
    np.testing.assert_array_equal(deform(single, rest, method=method).positions[0], rig.positions)


def test_weights_that_do_not_sum_to_one_are_reported_when_the_geometry_is_made():
    with pytest.raises(RigError, match=r"expected a sum of 1 \(or 0\), found 1.2"):
        arm([[2, 1, 0]], (0.8, 0.4))
    np.testing.assert_allclose(
        deform(arm([[2, 1, 0]], (0.7, 0.3)), bent(90)).positions[0], [[1.7, 0.7, 0]], atol=1e-6
    )


def test_antipodal_quaternions_blend_to_the_same_transform():
    # Turns of 170° and 190° are 20° apart, but their quaternions by largest component are not.
    for near, far in ((170, 190), (179, 181), (-100, 260)):
        moved = deform(
            arm([[3, 0, 0]], (0.5, 0.5)), np.stack([turn(near), turn(far)]), method="dqs"
        ).positions[0, 0]
        expected = turn((near + far) / 2 if far - near < 180 else near)[:, :3] @ [3, 0, 0]
        np.testing.assert_allclose(moved, expected, atol=1e-5)


def test_a_difference_of_180_degrees_is_halved_to_the_same_side_every_time():
    """The real parts' dot product is 0, which counts as positive."""
    half_turn = np.diag([-1, -1, 1, 0])[:3].astype(np.float32)
    rest = np.eye(4, dtype=np.float32)[:3]
    for slots, expected in (([0, 1], [0, 1, 0]), ([1, 0], [0, 1, 0])):
        rig = Geometry([[1, 0, 0]], joints=[slots], weights=[[0.5, 0.5]])
        for frames in (1, 8):
            palette = np.tile(np.stack([rest, half_turn]), (frames, 1, 1, 1))
            moved = deform(rig, palette, method="dqs").positions
            np.testing.assert_allclose(moved, [[expected]] * frames, atol=1e-6)


def test_a_bind_matrix_applied_once_and_twice():
    bind = np.vstack([turn(30, (0, 1, 0)), [0, 0, 0, 1]])
    palette = (bind @ np.linalg.inv(bind))[None, :3]
    rest = Geometry([[1, 2, 3]], joints=[[0]], weights=[[1]])
    np.testing.assert_allclose(deform(rest, palette).positions[0], rest.positions, atol=1e-6)
    twice = deform(rest, (bind @ bind @ np.linalg.inv(bind))[None, :3]).positions[0]
    assert np.abs(twice - rest.positions).max() > 0.1


# --- Normals and tangents -------------------------------------------------------------------


def test_normals_stay_perpendicular_under_non_uniform_scale():
    slope = Geometry([[0, 0, 0]], [[1, 1, 0]], joints=[[0]], weights=[[1]])
    moved = deform(slope, [np.diag([1, 4, 1, 0])[:3]])
    np.testing.assert_allclose(moved.normals[0], [np.array([4, 1, 0]) / 17**0.5], atol=1e-6)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_a_mirror_keeps_normals_outward_and_flips_the_handedness(method):
    flat = Geometry([[0, 0, 0]], [[1, 0, 0]], [[0, 1, 0, 1]], joints=[[0]], weights=[[1]])
    moved = deform(flat, [np.diag([-1, 1, 1, 0])[:3]], method=method)
    # A⁻ᵀ: what pointed out of the body still does, and bitangent = w · n × t moves like a point.
    np.testing.assert_allclose(moved.normals[0], [[-1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(moved.tangents[0], [[0, 1, 0, -1]], atol=1e-6)
    n, t = moved.normals[0, 0], moved.tangents[0, 0]
    np.testing.assert_allclose(t[3] * np.cross(n, t[:3]), [0, 0, 1], atol=1e-6)


def test_a_collapsed_blend_gives_the_heaviest_joints_normal():
    elbow = Geometry(
        [[2, 1, 0]], [[0, 1, 0]], [[1, 0, 0, -1]], joints=[[0, 1]], weights=[[0.5, 0.5]]
    )
    moved = deform(elbow, np.array([turn(90, (2, 0, 0)), turn(270, (2, 0, 0))], np.float32)[None])
    np.testing.assert_allclose(moved.normals[0], [[-1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(moved.tangents[0], [[0, 1, 0, -1]], atol=1e-6)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_hidden_joints_keep_directions_finite(method):
    hidden = Geometry([[1, 2, 3]], [[0, 0, 2]], [[0, 3, 0, 1]], joints=[[0]], weights=[[1]])
    moved = deform(hidden, np.zeros((1, 1, 3, 4), np.float32), method=method)
    np.testing.assert_array_equal(moved.positions[0], [[0, 0, 0]])
    np.testing.assert_array_equal(moved.normals[0], [[0, 0, 1]])
    np.testing.assert_array_equal(moved.tangents[0], [[0, 1, 0, 1]])


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_directions_do_not_depend_on_uniform_scale(method, size):
    rig, turns = rigs.geometry(20, 4, 5), rigs.palette(2, 5, "rigid")
    expected = deform(rig, turns, method=method)
    moved = deform(rig, turns * np.float32(size), method=method)
    np.testing.assert_allclose(moved.normals, expected.normals, atol=2e-6)
    np.testing.assert_allclose(moved.tangents, expected.tangents, atol=2e-6)
    held = rig.weights.any(axis=1)  # the others stay where they are
    positions = moved.positions[:, held] / np.float32(size)
    np.testing.assert_allclose(positions, expected.positions[:, held], atol=1e-5)


def test_what_is_not_asked_for_is_none():
    rig, palette = rigs.geometry(5, 2, 3), rigs.palette(1, 3, "rigid")
    bare = deform(rig, palette, normals=False, tangents=False)
    assert bare.normals is None
    assert bare.tangents is None
    assert deform(Geometry(rig.positions), palette[:, :1]).normals is None


def test_directions_a_geometry_lacks_are_filled_with_zero():
    normals, tangents = np.ones((1, 3, 3), np.float32), np.ones((1, 3, 4), np.float32)
    deform_into(TRIANGLE, REST, np.empty((1, 3, 3), np.float32), normals, tangents)
    assert not normals.any()
    assert not tangents.any()


# --- Morph targets --------------------------------------------------------------------------


def test_morphs_move_before_the_skin():
    moved = deform(TRIANGLE, np.stack([REST, REST * 2]), morph_weights=[[0.5], [1]]).positions
    np.testing.assert_array_equal(moved[0], [[0, 0, 0], [1, 0, 0.5], [0, 1, 0]])
    np.testing.assert_array_equal(moved[1], [[0, 0, 0], [2, 0, 2], [0, 2, 0]])


def test_one_row_of_morph_weights_serves_all_frames():
    palette = np.stack([REST] * 5)
    one = deform(TRIANGLE, palette, morph_weights=[0.25]).positions
    np.testing.assert_array_equal(
        one, deform(TRIANGLE, palette, morph_weights=[[0.25]] * 5).positions
    )


def test_a_vertex_that_no_joint_holds_is_still_morphed():
    free = Geometry(
        [[1, 2, 3]], joints=[[0]], weights=[[0]], morphs=(MorphTarget([0], positions=[[0, 0, 1]]),)
    )
    moved = deform(free, [np.diag([9, 9, 9, 0])[:3]], morph_weights=[1])
    np.testing.assert_array_equal(moved.positions[0], [[1, 2, 4]])


# --- Against the oracle ---------------------------------------------------------------------


def check(rig, palette, method, morph_weights=None, mix=None, tolerance=1e-5):
    moved = deform(rig, palette, method=method, morph_weights=morph_weights, mix=mix)
    expected = reference.deform(rig, palette, method, morph_weights, mix)
    found = (moved.positions, moved.normals, moved.tangents)
    for array, oracle in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, oracle, atol=tolerance)


@pytest.mark.parametrize("kind", rigs.KINDS)
@pytest.mark.parametrize("method", ["lbs", "dqs"])
@pytest.mark.parametrize(("frames", "influences"), [(1, 1), (3, 4), (9, 7)])
def test_every_kind_of_matrix_agrees_with_the_oracle(kind, method, frames, influences):
    rig = rigs.geometry(21, influences, 6, seed=influences)
    check(rig, rigs.palette(frames, 6, kind), method)


@pytest.mark.parametrize("influences", range(1, 13))
def test_any_number_of_influences(influences):
    rig = rigs.geometry(9, influences, 20, seed=influences)
    for method in ("lbs", "dqs"):
        check(rig, rigs.palette(2, 20, "scale"), method)


def test_more_influences_than_the_kernels_keep_signs_for():
    rig = rigs.geometry(11, 40, 60)
    for frames in (1, 8):
        check(rig, rigs.palette(frames, 60, "scale"), "dqs")


@pytest.mark.parametrize("kind", ["rigid", "shear"])
@pytest.mark.parametrize("frames", [2, 11])
def test_morphs_and_mixes_agree_with_the_oracle(kind, frames):
    rng = np.random.default_rng(4)
    rig, palette = rigs.geometry(19, 3, 5, morphs=4), rigs.palette(frames, 5, kind)
    weights = rng.normal(size=(frames, 4))
    weights[:, 1] = 0
    weights[1:, 2] = 0
    check(rig, palette, "lbs", weights)
    check(rig, palette, "dqs", weights)
    check(rig, palette, "dqs", weights, rng.random(19))
    check(rig, palette, "dqs", weights, np.arange(19) % 2.0)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 20),
    st.integers(1, 6),
    st.integers(1, 10),
    st.sampled_from(rigs.KINDS),
    st.sampled_from(["lbs", "dqs"]),
    st.integers(0, 2**32 - 1),
)
def test_random_rigs_agree_with_the_oracle(vertices, influences, frames, kind, method, seed):
    rig = rigs.geometry(vertices, influences, 5, seed=seed)
    palette = rigs.palette(frames, 5, kind, seed=seed)
    moved = deform(rig, palette, method=method)
    positions, _, _ = reference.deform(rig, palette, method)
    np.testing.assert_allclose(moved.positions, positions, atol=2e-4, rtol=1e-4)
    for directions in (moved.normals, moved.tangents[..., :3]):
        lengths = np.linalg.norm(directions, axis=-1)
        assert np.isin(lengths.round(5), [0, 1]).all()
