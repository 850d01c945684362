"""SDEF and QDEF: invalid input, worked examples, identities, the oracle."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku import _core
from bunraku.model import Geometry, MorphTarget, SphericalBlend
from bunraku.rotation import quaternion
from bunraku.skinning import deform
from tests.reference import sdef as reference

QUARTER = np.float32([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
STILL = np.eye(3, 4, dtype=np.float32)


def random_case(seed: int, *, joints: int = 5, frames: int = 3, vertices: int = 40):
    """A geometry of which a third bends by SDEF and a third by QDEF, and rigid palettes."""
    rng = np.random.default_rng(seed)
    slots = rng.integers(0, joints, (vertices, 4)).astype(np.int32)
    weights = rng.dirichlet(np.ones(4), vertices)
    kinds = rng.integers(0, 3, vertices)
    pairs = kinds == 1
    weights[pairs, 2:] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    points = rng.normal(size=(3, int(pairs.sum()), 3))
    normals = rng.normal(size=(vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    geometry = Geometry(
        rng.normal(size=(vertices, 3)),
        normals,
        np.concatenate([normals[::-1], np.ones((vertices, 1))], axis=1),
        joints=slots,
        weights=weights,
        spherical=SphericalBlend(np.flatnonzero(pairs), *points),
        dual=np.flatnonzero(kinds == 2),
    )
    turns = quaternion.normalize(rng.normal(size=(frames, joints, 4)) + [0, 0, 0, 1])
    palette = np.empty((frames, joints, 3, 4), np.float32)
    palette[..., :3] = quaternion.to_matrix(turns)
    palette[..., 3] = rng.normal(size=(frames, joints, 3))
    return geometry, palette


def plain(geometry: Geometry) -> Geometry:
    return replace(geometry, spherical=None, dual=None)


BROKEN = [
    # arguments of the core that differ from a good call, what the message must say
    ({"palette": np.zeros((1, 1, 3, 4), np.float32)}, "too few joints"),
    ({"palette": np.zeros((1, 2, 4, 4), np.float32)}, r"palette: expected \(F, J, 3, 4\)"),
    ({"positions": np.zeros((1, 2, 3), np.float32)}, "rest: expected"),
    ({"positions": np.zeros((3, 1, 3), np.float32)}, "rest: expected"),
    ({"normals": np.zeros((1, 1, 3), np.float32)}, "in and out together"),
    ({"out_positions": np.zeros((1, 0, 3), np.float32)}, "vertices: out of range"),
    ({"out_positions": np.zeros((2, 1, 3), np.float32)}, "out: expected"),
    ({"out_positions": np.zeros((1, 2, 3), np.float32)[:, :, ::-1]}, "out: expected"),
]


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_the_core_refuses_to_read_or_write_out_of_bounds(changes, message):
    vertices = _core.sdef.Vertices(
        np.array([0], np.int32),
        np.array([[0, 1]], np.int32),
        np.array([[0.5, 0.5]], np.float32),
        np.zeros((1, 3, 3), np.float32),
        np.zeros(0, np.int32),
        np.zeros((0, 2), np.int32),
        np.zeros((0, 2), np.float32),
    )
    call = {
        "palette": np.zeros((1, 2, 3, 4), np.float32),
        "positions": np.zeros((1, 1, 3), np.float32),
        "normals": None,
        "tangents": None,
        "out_positions": np.zeros((1, 1, 3), np.float32),
        "out_normals": None,
        "out_tangents": None,
    }
    with pytest.raises(ValueError, match=message):
        _core.sdef.bend_into(vertices, **(call | changes))


# ---------------------------------------------------------------- worked examples


def elbow(weight: float, center, r0, r1, **more) -> Geometry:
    """A vertex at (2, 1, 0) between a joint at the origin and one that turns."""
    held = SphericalBlend([0], [center], [r0], [r1])
    return Geometry(
        [[2, 1, 0]],
        [[0, 1, 0]],
        joints=[[0, 1]],
        weights=[[1 - weight, weight]],
        spherical=held,
        **more,
    )


def test_an_elbow_turns_about_its_centre_by_its_share_of_the_angle():
    # Half of 90° about C = (1, 0, 0), which the second joint takes to (0, 1, 0): the mean of both
    # is (½, ½, 0), and (1, 1, 0) turned by 45° is (0, √2, 0).
    bent = deform(elbow(0.5, [1, 0, 0], [1, 0, 0], [1, 0, 0]), [STILL, QUARTER])
    np.testing.assert_allclose(bent.positions[0, 0], [0.5, 0.5 + 2**0.5, 0], atol=1e-6)
    np.testing.assert_allclose(bent.normals[0, 0], [-(0.5**0.5), 0.5**0.5, 0], atol=1e-6)


def test_own_points_of_the_joints_pull_the_centre():
    # R0 = (1, 0, 0), R1 = (3, 0, 0): rw = (2, 0, 0), c0 = C − (½, 0, 0), c1 = C + (½, 0, 0).
    bent = deform(elbow(0.5, [1, 0, 0], [1, 0, 0], [3, 0, 0]), [STILL, QUARTER])
    expected = 0.5 * np.array([0.5, 0, 0]) + 0.5 * np.array([0, 1.5, 0]) + [0, 2**0.5, 0]
    np.testing.assert_allclose(bent.positions[0, 0], expected, atol=1e-6)


def test_dual_vertices_bend_by_dual_quaternions_in_every_method():
    arm = Geometry([[2, 1, 0]], joints=[[0, 1]], weights=[[0.5, 0.5]], dual=[0])
    about_two = QUARTER + np.float32([[0, 0, 0, 2], [0, 0, 0, -2], [0, 0, 0, 0]])
    expected = deform(replace(arm, dual=None), [STILL, about_two], method="dqs").positions
    for method in ("lbs", "dqs"):
        bent = deform(arm, [STILL, about_two], method=method).positions
        np.testing.assert_allclose(bent, expected, atol=1e-6)


def test_a_dual_vertex_of_one_joint_follows_it():
    arm = Geometry([[2, 1, 0]], joints=[[1]], weights=[[1]], dual=[0])
    bent = deform(arm, [STILL, QUARTER], method="lbs").positions
    expected = deform(replace(arm, dual=None), [STILL, QUARTER], method="lbs").positions
    np.testing.assert_allclose(bent, expected, atol=1e-6)


def test_morphs_move_the_vertex_and_not_its_centre():
    lifted = MorphTarget([0], positions=[[1, 0, 0]])
    geometry = elbow(0.5, [1, 0, 0], [1, 0, 0], [3, 0, 0], morphs=(lifted, lifted))
    moved = replace(geometry, positions=[[2.75, 1, 0]], morphs=())
    palette = np.stack([[STILL, QUARTER], [QUARTER, STILL]])
    both = deform(geometry, palette, morph_weights=[[0.5, 0.25], [0, 0]])
    expected = deform(moved, palette[:1]).positions[0]
    np.testing.assert_allclose(both.positions[0], expected, atol=1e-6)
    np.testing.assert_array_equal(both.positions[1], deform(geometry, palette[1:]).positions[0])
    np.testing.assert_array_equal(both.normals, deform(geometry, palette).normals)


def test_a_uniform_scale_is_kept():
    geometry, palette = random_case(3)
    double = palette * 2
    for method in ("lbs", "dqs"):
        bent, large = (deform(geometry, each, method=method) for each in (palette, double))
        special = np.concatenate([geometry.spherical.indices, geometry.dual])
        np.testing.assert_allclose(
            large.positions[:, special], 2 * bent.positions[:, special], atol=1e-5
        )
        np.testing.assert_allclose(large.normals[:, special], bent.normals[:, special], atol=1e-6)


def test_vertices_that_no_joint_holds_stay():
    geometry = Geometry(
        [[1, 2, 3], [4, 5, 6]],
        joints=[[0, 1]] * 2,
        weights=[[0, 0]] * 2,
        spherical=SphericalBlend([0], [[0, 0, 0]], [[0, 0, 0]], [[1, 0, 0]]),
        dual=[1],
    )
    np.testing.assert_array_equal(deform(geometry, [QUARTER] * 2).positions[0], geometry.positions)


def test_opposite_turns_that_cancel_out_leave_the_first_joint():
    geometry = Geometry([[1, 0, 0]], joints=[[0, 1]], weights=[[0.5, 0.5]], dual=[0])
    # Half turns about x and y: their quaternions are orthogonal, so they do not cancel; those of
    # a turn by 360° − ε and one by ε nearly do, and signs bring them together.
    turns = quaternion.to_matrix([[1, 0, 0, 0], [0, 1, 0, 0]])
    palette = np.concatenate([turns, np.zeros((2, 3, 1))], axis=2)
    assert np.isfinite(deform(geometry, palette).positions).all()


# ---------------------------------------------------------------- identities


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_equal_rotations_are_linear(seed):
    geometry, palette = random_case(seed)
    palette[..., :3] = palette[:, :1, :, :3]
    ours, linear = deform(geometry, palette), deform(plain(geometry), palette)
    np.testing.assert_allclose(ours.positions, linear.positions, atol=2e-6)
    np.testing.assert_allclose(ours.normals, linear.normals, atol=1e-6)
    np.testing.assert_allclose(ours.tangents, linear.tangents, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_single_joint_is_rigid(seed, first):
    geometry, palette = random_case(seed)
    weights = np.zeros_like(geometry.weights)
    weights[:, 0 if first else 1] = 1
    geometry = replace(geometry, weights=weights)
    ours, linear = deform(geometry, palette), deform(plain(geometry), palette)
    np.testing.assert_allclose(ours.positions, linear.positions, atol=2e-6)
    np.testing.assert_allclose(ours.normals, linear.normals, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_vertex_on_the_centre_goes_where_linear_blending_takes_it(seed):
    geometry, palette = random_case(seed)
    blend = geometry.spherical
    positions = geometry.positions.copy()
    positions[blend.indices] = blend.centers
    same = SphericalBlend(blend.indices, blend.centers, blend.centers, blend.centers)
    geometry = replace(geometry, positions=positions, spherical=same, dual=None)
    ours, linear = deform(geometry, palette), deform(plain(geometry), palette)
    np.testing.assert_allclose(ours.positions, linear.positions, atol=2e-6)


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_the_other_vertices_bend_by_the_method(method):
    geometry, palette = random_case(9)
    others = np.ones(geometry.vertex_count, bool)
    others[geometry.spherical.indices] = others[geometry.dual] = False
    ours, usual = (deform(each, palette, method=method) for each in (geometry, plain(geometry)))
    for name in ("positions", "normals", "tangents"):
        a, b = getattr(ours, name), getattr(usual, name)
        np.testing.assert_array_equal(a[:, others], b[:, others])
        assert (a[:, ~others, :3] != b[:, ~others, :3]).any()


# ---------------------------------------------------------------- oracle


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_equals_the_oracle(seed, frames):
    geometry, palette = random_case(seed, frames=frames)
    bent = deform(geometry, palette)
    blend = geometry.spherical
    for f in range(frames):
        for i, v in enumerate(blend.indices.tolist()):
            expected = reference.spherical(
                geometry.positions[v].astype(float),
                geometry.normals[v].astype(float),
                palette[f, geometry.joints[v, :2]].astype(float),
                geometry.weights[v, :2].astype(float),
                *(each[i].astype(float) for each in (blend.centers, blend.first, blend.second)),
            )
            np.testing.assert_allclose(bent.positions[f, v], expected[0], atol=5e-6)
            np.testing.assert_allclose(bent.normals[f, v], expected[1], atol=2e-6)
        for v in geometry.dual.tolist():
            expected = reference.dual(
                geometry.positions[v].astype(float),
                geometry.normals[v].astype(float),
                palette[f, geometry.joints[v]].astype(float),
                geometry.weights[v].astype(float),
            )
            np.testing.assert_allclose(bent.positions[f, v], expected[0], atol=5e-5)
            np.testing.assert_allclose(bent.normals[f, v], expected[1], atol=2e-5)


def test_threads_and_frames_beside_do_not_change_a_bit():
    geometry, palette = random_case(4, frames=150, vertices=1500)
    results = []
    for threads in (1, 2, 3):
        _core.set_thread_count(threads)
        bent = deform(geometry, palette)
        results.append((bent.positions.tobytes(), bent.normals.tobytes(), bent.tangents.tobytes()))
    _core.set_thread_count(0)
    assert results[0] == results[1] == results[2]
    special = np.concatenate([geometry.spherical.indices, geometry.dual])
    for frame in (0, 63, 64, 149):
        alone = deform(geometry, palette[frame])
        np.testing.assert_array_equal(alone.positions[0, special], bent.positions[frame, special])
