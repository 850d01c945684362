"""Quaternions: invalid input, exact edges, group laws, agreement with SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import quaternion as quat

X, Y, Z = np.eye(3)
H = np.sqrt(0.5)
NAN, INF = float("nan"), float("inf")
QUARTER = np.pi / 2

INVALID = [
    # function, arguments, what the message must say
    (quat.multiply, ([0, 0, 1], [0, 0, 0, 1]), r"\(x, y, z, w\) of shape \(\.\.\., 4\), found"),
    (quat.multiply, (np.zeros((2, 4)), np.zeros((3, 4))), r"broadcast.*\(2, 4\).*\(3, 4\)"),
    (quat.multiply, (["a"] * 4, [0, 0, 0, 1]), "dtype"),
    (quat.multiply, ([1j, 0, 0, 0], [0, 0, 0, 1]), "dtype complex128"),
    (quat.multiply, ([[0, 0, 0, 1], [0]], [0, 0, 0, 1]), "expected an array of quaternions"),
    (quat.multiply, (None, [0, 0, 0, 1]), "dtype object"),
    (quat.conjugate, (1.0,), r"found \(\)"),
    (quat.dot, ([1, 2, 3], [1, 2, 3]), r"found \(3,\)"),
    (quat.normalize, ([0, 0, 0, 0],), r"quaternion: .*\(x, y, z, w\) = \(0, 0, 0, 0\)"),
    (quat.normalize, ([[0, 0, 0, 1], [0, 0, 0, 0]],), r"quaternion \[1\]"),
    (quat.normalize, ([0, NAN, 0, 1],), r"\(0, nan, 0, 1\)"),
    (quat.normalize, ([INF, 0, 0, 1],), r"\(inf, 0, 0, 1\)"),
    (quat.normalize, ([5e-324, 0, 0, 5e-324],), "non-zero length"),
    (
        quat.rotate,
        ([0, 0, 0, 1], [1, 2]),
        r"vectors \(x, y, z\) of shape \(\.\.\., 3\), found \(2,",
    ),
    (quat.from_axis_angle, ([0, 0, 0], 1.0), "vector: expected a finite, non-zero length"),
    (quat.from_axis_angle, ([0, 0, 1], [0, NAN]), r"angle \[1\]: .* found nan"),
    (quat.to_axis_angle, ([0, 0, 0, 0],), "non-zero"),
    (quat.from_rotation_vector, ([0, INF, 0],), "found inf"),
    (quat.to_rotation_vector, ([0, 0, 0, 0],), "non-zero"),
    (quat.from_matrix, (np.eye(5),), r"rotation matrices of shape \(\.\.\., 3, 3\), found \(5, 5"),
    (quat.from_matrix, ([[1, 2, 3], [1]],), "expected an array of rotation matrices"),
    (quat.from_matrix, (np.diag([1, 2, 1, 1])[:3],), "not orthonormal"),
    (quat.identity, (-1,), "expected a shape of whole numbers >= 0, found -1"),
    (quat.identity, ((2, 1.5),), r"found \(2, 1.5\)"),
    (quat.identity, ("4",), "found '4'"),
    (quat.identity, ((), "zz"), "dtype of float32 or float64, found 'zz'"),
    (quat.identity, ((), np.int32), "dtype of float32 or float64, found <class 'numpy.int32'>"),
    (quat.from_matrix, (np.ones((4, 3)),), r"found \(4, 3\)"),
    (
        quat.from_matrix,
        (np.diag([1, 1, 1, 2]),),
        r"last row of \(0, 0, 0, 1\), found \(0, 0, 0, 2\)",
    ),
    (quat.from_matrix, (np.diag([1, 1, -1, 1]),), "reflection"),
    (lambda m: quat.from_matrix(m, nearest=True), (np.diag([1, 1, -1]),), "determinant -1"),
    (lambda m: quat.from_matrix(m, nearest=True), (np.zeros((2, 3, 3)),), r"\[0\].*determinant 0"),
    (lambda m: quat.from_matrix(m, nearest=True), (np.full((3, 3), NAN),), "determinant nan"),
    (quat.inverse, ([0, 0, 0, 0],), "non-zero length"),
    (quat.log, ([0, 0, 0, 0],), "non-zero length"),
    (quat.exp, ([0, INF, 0, 0],), "found inf"),
    (quat.power, ([0, 0, 0, 0], 1.0), "quaternion: expected a finite, non-zero"),
    (quat.power, ([0, 0, 0, 1], INF), "exponent: .*found inf"),
    (quat.from_rotation_vector, ([1e200, 0, 0],), "square is finite, found .1e.200, 0, 0"),
    (lambda q: quat.to_matrix(q, size=5), ([0, 0, 0, 1],), "size 3 or 4, found 5"),
    (quat.from_matrix, (np.diag([1, 1, -1]),), r"reflection \(determinant -1\)"),
    (quat.from_matrix, (np.stack([np.eye(3), -np.eye(3)]),), r"matrix \[1\]: .*reflection"),
    (quat.from_matrix, (2 * np.eye(3),), "not orthonormal"),
    (quat.from_matrix, (np.zeros((3, 3)),), "not orthonormal"),
    (quat.from_matrix, ([[1, 0.001, 0], [0, 1, 0], [0, 0, 1]],), "not orthonormal"),
    (quat.from_matrix, (np.full((3, 3), NAN),), "not orthonormal"),
    (quat.to_matrix, (np.eye(3),), r"found \(3, 3\)"),
    (quat.from_wxyz, ([1, 0, 0],), r"\(w, x, y, z\)"),
    (quat.to_wxyz, ([1, 0, 0],), r"\(x, y, z, w\)"),
    (quat.angle_between, ([0, 0, 0, 1], [0, 1]), r"found \(2,\)"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


def wxyz(w, x, y, z):
    """The texts write (w, x, y, z)."""
    return quat.from_wxyz([w, x, y, z])


def turn(axis, degrees):
    return quat.from_axis_angle(axis, np.radians(degrees))


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


# ---------------------------------------------------------------- exact edges


def test_identity_has_no_axis_and_gets_x():
    axis, angle = quat.to_axis_angle(quat.identity((2, 3)))
    np.testing.assert_array_equal(axis, np.broadcast_to(X, (2, 3, 3)))
    np.testing.assert_array_equal(angle, np.zeros((2, 3)))
    np.testing.assert_array_equal(quat.to_rotation_vector(-quat.identity()), np.zeros(3))


@pytest.mark.parametrize("shape", [3, np.int64(3), np.array(3), (3,), [3], np.array([3])])
def test_identities_of_any_shape(shape):
    result = quat.identity(shape, "float32")
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, [[0, 0, 0, 1]] * 3)


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-200, 1e-160, 1e-20, 1e-8])
def test_tiny_rotation_vectors_keep_every_digit(size):
    vector = np.array([size, 0, -size])
    back = quat.to_rotation_vector(quat.from_rotation_vector(vector))
    np.testing.assert_allclose(back, vector, rtol=1e-15, atol=5e-324)


def test_rotation_vector_is_the_shorter_turn():
    close(quat.to_rotation_vector(turn(Y, 350)), Y * np.radians(-10), 1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_normalize_neither_overflows_nor_underflows(scale):
    close(quat.normalize(np.array([0, 0, 3, 4]) * scale), [0, 0, 0.6, 0.8])
    single = np.array([0, 0, 3, 4], dtype=np.float32) * np.float32(np.clip(scale, 1e-37, 1e37))
    close(quat.normalize(single), np.array([0, 0, 0.6, 0.8], dtype=np.float32), 1e-7)


@pytest.mark.parametrize("axis", [X, Y, Z, (X + Y) * H, (Y - Z) * H, (X + Y + Z) / np.sqrt(3)])
def test_half_turns_survive_the_matrix(axis):
    matrix = 2 * np.outer(axis, axis) - np.eye(3)
    q = quat.from_matrix(matrix)
    close(quat.to_matrix(q), matrix, 1e-15)
    close(np.abs(q), np.abs([*axis, 0]), 1e-15)


@pytest.mark.parametrize("nearest", [False, True])
def test_a_rigid_matrix_gives_its_rotation_with_or_without_the_last_row(nearest):
    q = random_units(20)
    matrices = quat.to_matrix(q, size=4)
    matrices[:, :3, 3] = np.arange(60).reshape(20, 3)
    expected = quat.from_matrix(quat.to_matrix(q), nearest=nearest)
    for rigid in (matrices, matrices[:, :3], matrices[:, :3].tolist()):
        np.testing.assert_array_equal(quat.from_matrix(rigid, nearest=nearest), expected)
    single = quat.from_matrix(matrices[0, :3].astype(np.float32), nearest=nearest)
    assert single.dtype == np.float32


def test_largest_component_from_a_matrix_is_positive():
    q = random_units(200)
    largest = np.take_along_axis(q, np.abs(q).argmax(-1)[:, None], -1)
    close(quat.from_matrix(quat.to_matrix(q)), q * np.sign(largest), 1e-14)


def test_small_angles_keep_their_digits():
    for angle in (1e-3, 1e-9, 1e-15):
        q = quat.from_axis_angle([1, 2, 3], angle)
        np.testing.assert_allclose(quat.angle_between(quat.identity(), q), angle, rtol=1e-15)
        np.testing.assert_allclose(quat.angle_between(-q, quat.identity()), angle, rtol=1e-15)


# ---------------------------------------------------------------- types and shapes


def random_units(*shape, seed=0):
    return quat.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))


ONE_ARGUMENT = [
    quat.conjugate,
    quat.normalize,
    quat.to_matrix,
    quat.to_rotation_vector,
    quat.to_wxyz,
    quat.from_wxyz,
    quat.inverse,
    quat.exp,
    quat.log,
    lambda q: quat.power(q, 0.5),
    lambda q: quat.to_matrix(q, size=4),
    lambda q: quat.from_matrix(quat.to_matrix(q) * 2, nearest=True),
    lambda q: quat.to_axis_angle(q)[0],
    lambda q: quat.to_axis_angle(q)[1],
    lambda q: quat.multiply(q, q),
    lambda q: quat.dot(q, q),
    lambda q: quat.angle_between(q, q),
    lambda q: quat.rotate(q, q[..., :3]),
    lambda q: quat.from_axis_angle(q[..., :3], q[..., 3]),
    lambda q: quat.from_axis_angle(q[..., :3], 1.5),
    lambda q: quat.from_rotation_vector(q[..., :3]),
    lambda q: quat.from_matrix(quat.to_matrix(q)),
]


@pytest.mark.parametrize("function", ONE_ARGUMENT)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (2, 0)])
def test_float32_stays_float32_and_everything_else_is_float64(function, shape):
    q = random_units(*shape)
    exact = function(q)
    single = function(q.astype(np.float32))
    assert exact.dtype == np.float64
    assert single.dtype == np.float32
    assert single.shape == exact.shape
    assert exact.shape[: len(shape)] == shape
    np.testing.assert_allclose(single, exact, rtol=0, atol=2e-6)


def test_one_float64_array_makes_the_result_float64():
    q = quat.identity(dtype=np.float32)
    assert quat.multiply(q, quat.identity()).dtype == np.float64
    assert quat.multiply(q, [0, 0, 0, 1]).dtype == np.float64
    assert quat.normalize(np.array([0, 0, 0, 2], dtype=np.int16)).dtype == np.float64
    assert quat.normalize(np.array([0, 0, 0, 2], dtype=np.float16)).dtype == np.float64


def test_leading_axes_broadcast():
    a, b, v = random_units(5, 1), random_units(3, seed=1), np.arange(9.0).reshape(3, 3)
    assert quat.multiply(a, b).shape == (5, 3, 4)
    assert quat.dot(a, b).shape == (5, 3)
    assert quat.angle_between(a, b).shape == (5, 3)
    assert quat.from_axis_angle(X, np.zeros((5, 3))).shape == (5, 3, 4)
    assert quat.from_axis_angle(v, 1.0).shape == (3, 4)
    turned = quat.rotate(a, v)
    assert turned.shape == (5, 3, 3)
    np.testing.assert_array_equal(turned[4, 2], quat.rotate(a[4, 0], v[2]))


def test_inputs_are_left_alone_and_results_are_writable():
    q = random_units(4)
    q.setflags(write=False)
    for function in ONE_ARGUMENT:
        result = np.atleast_1d(function(q))
        assert not np.shares_memory(result, q)
        result[...] = 0


# ---------------------------------------------------------------- properties

quick = settings(deadline=None, max_examples=100)
component = st.floats(-1, 1, allow_subnormal=False)
units = (
    arrays(np.float64, 4, elements=component)
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(quat.normalize)
)
vectors = arrays(np.float64, 3, elements=st.floats(-100, 100, allow_subnormal=False))


@quick
@given(units, units, units)
def test_group_laws(a, b, c):
    close(quat.multiply(quat.multiply(a, b), c), quat.multiply(a, quat.multiply(b, c)), 1e-15)
    np.testing.assert_array_equal(quat.multiply(a, quat.identity()), a)
    np.testing.assert_array_equal(quat.multiply(quat.identity(), a), a)
    close(quat.multiply(a, quat.conjugate(a)), quat.identity(), 1e-15)
    np.testing.assert_allclose(
        quat.conjugate(quat.multiply(a, b)),
        quat.multiply(quat.conjugate(b), quat.conjugate(a)),
        rtol=0,
        atol=1e-15,
    )
    close(np.linalg.norm(quat.multiply(a, b)), 1, 1e-15)


@quick
@given(vectors, units, st.floats(1e-3, 1e3))
def test_scalar_times_conjugate_is_length_squared(v, q, scale):
    product = quat.multiply(q * scale, quat.conjugate(q * scale))
    np.testing.assert_allclose(product, [0, 0, 0, scale**2], rtol=1e-14, atol=1e-14 * scale**2)


@quick
@given(units, units, vectors)
def test_rotation_of_vectors(a, b, v):
    pure = np.append(v, 0)
    sandwich = quat.multiply(quat.multiply(a, pure), quat.conjugate(a))
    close(sandwich[3], 0, 1e-13)
    close(quat.rotate(a, v), sandwich[:3], 1e-13)
    close(quat.to_matrix(a) @ v, sandwich[:3], 1e-13)
    close(quat.rotate(quat.multiply(a, b), v), quat.rotate(a, quat.rotate(b, v)), 1e-12)
    close(quat.rotate(-a, v), quat.rotate(a, v), 1e-13)


@quick
@given(units)
def test_double_cover_and_round_trips(q):
    np.testing.assert_array_equal(quat.to_matrix(-q), quat.to_matrix(q))
    same = [
        quat.from_matrix(quat.to_matrix(q)),
        quat.from_axis_angle(*quat.to_axis_angle(q)),
        quat.from_rotation_vector(quat.to_rotation_vector(q)),
        quat.from_wxyz(quat.to_wxyz(q)),
    ]
    close(quat.angle_between(same, q), 0, 4e-15)
    close(quat.normalize(q), q, 2.3e-16)


@quick
@given(units, st.floats(-3, 3), st.floats(0.01, 100))
def test_exponential_logarithm_and_powers(q, t, scale):
    np.testing.assert_allclose(quat.exp(quat.log(q * scale)), q * scale, rtol=0, atol=2e-15 * scale)
    close(quat.log(q)[3], 0, 1e-15)
    close(quat.multiply(q * scale, quat.inverse(q * scale)), quat.identity(), 1e-15)
    close(
        quat.angle_between(
            quat.power(q, t), quat.from_rotation_vector(t * quat.to_rotation_vector(q))
        ),
        0,
        1e-14,
    )
    close(quat.angle_between(quat.power(q, 2), quat.multiply(q, q)), 0, 1e-14)
    close(quat.angle_between(quat.power(q, -1), quat.conjugate(q)), 0, 1e-15)
    close(quat.power(-q, t), quat.power(q, t) if q[3] else quat.power(-q, t), 1e-15)
    close(np.linalg.norm(quat.power(q, t)), 1, 1e-15)


def test_logarithm_of_a_negative_number_turns_about_x():
    close(quat.log([0, 0, 0, -2]), [np.pi, 0, 0, np.log(2)])
    close(quat.exp(quat.log([0, 0, 0, -2])), [0, 0, 0, -2], 1e-15)


@quick
@given(units, arrays(np.float64, (3, 3), elements=st.floats(-1, 1)), st.floats(1e-3, 1e3))
def test_nearest_rotation_is_the_polar_factor(q, noise, scale):
    matrix = scale * (quat.to_matrix(q) + 0.2 * noise)
    u, _, vt = np.linalg.svd(matrix)
    if np.linalg.det(matrix) < 1e-2 * scale**3:
        return
    close(quat.to_matrix(quat.from_matrix(matrix, nearest=True)), u @ vt, 1e-12)


def test_rigid_matrices_give_their_rotation():
    q = random_units(50)
    matrix = quat.to_matrix(q, size=4)
    np.testing.assert_array_equal(matrix[:, 3], np.tile([0.0, 0, 0, 1], (50, 1)))
    np.testing.assert_array_equal(matrix[:, :3, 3], np.zeros((50, 3)))
    matrix[:, :3, 3] = 7
    np.testing.assert_array_equal(quat.from_matrix(matrix), quat.from_matrix(matrix[:, :3, :3]))
    np.testing.assert_array_equal(
        quat.from_matrix(matrix, nearest=True), quat.from_matrix(matrix[:, :3, :3], nearest=True)
    )


# ---------------------------------------------------------------- SciPy


def test_agrees_with_scipy():
    transform = pytest.importorskip("scipy.spatial.transform")
    a, b = random_units(500, seed=2), random_units(500, seed=3)
    v = np.random.default_rng(4).normal(size=(500, 3))
    theirs_a, theirs_b = transform.Rotation.from_quat(a), transform.Rotation.from_quat(b)
    close(quat.to_matrix(a), theirs_a.as_matrix(), 1e-15)
    close(quat.rotate(a, v), theirs_a.apply(v), 1e-14)
    close(quat.to_rotation_vector(a), theirs_a.as_rotvec(), 1e-14)
    close(quat.angle_between(a, b), (theirs_a.inv() * theirs_b).magnitude(), 1e-14)
    product = (theirs_a * theirs_b).as_quat()
    close(quat.angle_between(quat.multiply(a, b), product), 0, 1e-14)
    matrices = theirs_a.as_matrix()
    theirs = transform.Rotation.from_matrix(matrices).as_quat()
    close(quat.angle_between(quat.from_matrix(matrices), theirs), 0, 1e-14)
