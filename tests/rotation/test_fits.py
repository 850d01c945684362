"""The mean of rotations, and alignment: invalid input, exact cases, NumPy and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import RigError
from bunraku.rotation import align_points, align_vectors, mean, quaternion

X, Y, Z = np.eye(3)
IDENTITY = quaternion.identity()
TWO = np.tile(IDENTITY, (2, 1))

INVALID = [
    # function, arguments, what the message must say
    (mean, (IDENTITY,), r"\(\.\.\., N, 4\) with N >= 1, found \(4,\)"),
    (mean, (np.zeros((0, 4)),), "N >= 1"),
    (mean, (TWO, [1, -1]), "weights >= 0"),
    (mean, (TWO, [1, np.nan]), "weights >= 0"),
    (mean, (TWO, [0, 0]), "sum of weighted rotations: .*non-zero"),
    (mean, ([TWO, TWO], [[1, 1], [0, 0]]), r"sum of weighted rotations \[1\]"),
    (mean, (TWO, [1, 1, 1]), "broadcast"),
    (mean, (np.full((2, 4), np.nan),), "nan"),
    (mean, ([TWO, TWO], [[1, 1], [1, -2]]), r"weight \[1, 1\]: .*>= 0, found -2"),
    (align_points, ([np.eye(3)] * 2, np.eye(3), [[1] * 3, [0] * 3]), r"row \[1\]: .*not all 0"),
    (align_vectors, (X, Y), r"\(\.\.\., N, 3\) with N >= 1"),
    (align_vectors, (np.zeros((0, 3)), np.zeros((0, 3))), "N >= 1"),
    (align_vectors, (np.eye(3), np.zeros((3, 3))), "sum of weighted products: .*non-zero"),
    (align_vectors, (np.eye(3), np.eye(3), [1, 1, -1]), "weights >= 0"),
    (align_vectors, (np.eye(3), np.full((3, 3), np.inf)), "finite vectors"),
    (align_vectors, (np.eye(3), np.ones((2, 3))), "broadcast"),
    (align_points, (np.eye(3), np.eye(3), [0, 0, 0]), "not all 0"),
    (align_points, (np.eye(3), np.ones((3, 4))), r"\(\.\.\., 3\)"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def same(a, b, tolerance=1e-14):
    angle = quaternion.angle_between(a, b)
    close(angle, np.zeros_like(angle), tolerance)


def random_units(*shape, seed=0):
    return quaternion.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))


# ---------------------------------------------------------------- mean


def test_mean_of_two_is_half_way():
    a, b = random_units(2)
    same(
        mean([a, b]),
        quaternion.multiply(
            a, quaternion.power(quaternion.multiply(quaternion.conjugate(a), b), 0.5)
        ),
    )


def test_mean_of_one_rotation_many_times_over():
    q = random_units(20, 1)
    signs = np.array([1, -1, -1, 1, -1])[:, None]
    same(mean(q * signs, [0.1, 2, 0, 3, 1]), q[:, 0])


def test_signs_and_order_do_not_matter():
    q = random_units(8, seed=1)
    expected = mean(q)
    same(mean(-q[::-1]), expected)
    same(mean(q * np.array([1, -1] * 4)[:, None]), expected)
    assert expected[np.abs(expected).argmax()] > 0


def test_half_a_turn_apart_any_mean_is_as_good():
    q = mean([[0, 0, 0, 1], [0, 0, 1, 0]])
    off = quaternion.angle_between(q, [[0, 0, 0, 1], [0, 0, 1, 0]])
    assert np.isfinite(q).all()
    close((np.sin(off / 2) ** 2).sum(), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_is_the_dominant_eigenvector(dtype):
    q, w = random_units(100, 7, seed=2), np.random.default_rng(3).random((100, 7))
    sums = np.einsum("nk,nki,nkj->nij", w, q, q)
    expected = np.linalg.eigh(sums)[1][..., -1]
    found = mean(q.astype(dtype), w.astype(dtype))
    assert found.dtype == dtype
    gap = np.diff(np.linalg.eigvalsh(sums)[:, -2:])[:, 0]
    off = quaternion.angle_between(found.astype(float), expected)
    assert np.all(off < 40 * np.finfo(dtype).eps / np.minimum(gap, 1))


def test_mean_agrees_with_scipy():
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    q, w = random_units(9, seed=4), np.random.default_rng(5).random(9)
    same(mean(q, w), rotation.from_quat(q).mean(w).as_quat())


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.floats(1e-100, 1e100))
def test_mean_moves_with_the_frame_and_not_with_the_scale_of_weights(seed, scale):
    rng = np.random.default_rng(seed)
    frame = random_units(seed=seed)
    q = quaternion.multiply(
        random_units(), quaternion.from_rotation_vector(rng.normal(size=(5, 3)) / 3)
    )
    w = rng.random(5) + 0.1
    same(mean(quaternion.multiply(frame, q), w), quaternion.multiply(frame, mean(q, w)), 1e-13)
    same(mean(q, scale * w), mean(q, w), 1e-13)


# ---------------------------------------------------------------- alignment


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(2, 10))
def test_a_rigid_motion_is_found_again(seed, count):
    rng = np.random.default_rng(seed)
    q, t = random_units(seed=seed), rng.normal(size=3)
    points = rng.normal(size=(count + 1, 3))
    weights = rng.random(count + 1) + 0.01
    rotation, translation = align_points(points, quaternion.rotate(q, points) + t, weights)
    flat = np.linalg.svd(points - points.mean(0), compute_uv=False)[1]
    if flat > 1e-2:
        same(rotation, q, 1e-11)
        close(translation, t, 1e-11)
    same(align_vectors(points, quaternion.rotate(q, points), weights), q, 1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_averaged_as_by_kabsch(seed):
    rng = np.random.default_rng(seed)
    source, target = rng.normal(size=(2, 6, 3))
    weights = rng.random(6)
    u, _, vt = np.linalg.svd((weights[:, None] * target).T @ source)
    mirror = np.diag([1, 1, np.linalg.det(u @ vt)])
    found = quaternion.to_matrix(align_vectors(source, target, weights))
    close(found, u @ mirror @ vt, 1e-12)
    close(np.linalg.det(found), 1, 1e-14)


def test_agrees_with_scipy():
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    rng = np.random.default_rng(7)
    source, target, weights = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.random(5)
    theirs, _ = rotation.align_vectors(target, source, weights)
    same(align_vectors(source, target, weights), theirs.as_quat())


def test_a_mirrored_set_gives_a_rotation_all_the_same():
    points = np.random.default_rng(8).normal(size=(10, 3))
    for mirror in (np.diag([-1, 1, 1]), -np.eye(3)):
        q = align_vectors(points, points @ mirror)
        close(np.linalg.norm(q), 1)
        close(np.linalg.det(quaternion.to_matrix(q)), 1, 1e-14)


def test_flat_and_thin_sets():
    square = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    q = random_units(seed=9)
    same(align_vectors(square, quaternion.rotate(q, square)), q)
    line = np.outer([-1.0, 0, 2], X)
    found = align_vectors(line, quaternion.rotate(q, line))
    close(quaternion.rotate(found, X), quaternion.rotate(q, X), 1e-14)


def test_points_that_coincide_are_translated():
    rotation, translation = align_points(np.ones((4, 3)), np.full((4, 3), 3.0))
    same(rotation, IDENTITY)
    close(translation, [2, 2, 2])


def test_many_sets_at_once_in_float32():
    points = np.random.default_rng(10).normal(size=(20, 3)).astype(np.float32)
    q = random_units(50).astype(np.float32)
    rotation, translation = align_points(points, quaternion.rotate(q[:, None], points))
    assert rotation.dtype == translation.dtype == np.float32
    same(rotation, q, 1e-6)
    close(translation, np.zeros((50, 3)), 1e-6)
