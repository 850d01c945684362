"""Dual quaternions: invalid input, the worked examples, properties, blending."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import dual_quaternion as dual
from bunraku.rotation import quaternion as quat

X, Y, Z = np.eye(3)
UNIT = np.array([0.0, 0, 0, 1, 0, 0, 0, 0])
SHEARED_ROW = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1.0]])

INVALID = [
    # function, arguments, what the message must say
    (dual.from_rotation_translation, ([0, 0, 1], [0, 0, 0]), r"\(\.\.\., 4\), found \(3,\)"),
    (dual.from_rotation_translation, ([0, 0, 0, 1], [0, 0]), r"\(\.\.\., 3\), found \(2,\)"),
    (dual.from_rotation_translation, (np.zeros((2, 4)), np.zeros((3, 3))), "broadcast"),
    (dual.to_rotation_translation, (np.zeros(4),), r"real x, y, z, w, dual x, y, z, w.*\(4,\)"),
    (dual.from_matrix, (np.eye(3),), r"\(\.\.\., 3, 4\), found \(3, 3\)"),
    (dual.from_matrix, (1.0,), r"rigid matrices of shape \(\.\.\., 3, 4\), found \(\)"),
    (dual.from_matrix, ([[1, 2], [1]],), "expected an array of rigid matrices"),
    (dual.identity, (-1,), "expected a shape of whole numbers >= 0, found -1"),
    (dual.identity, (2, "zz"), "dtype of float32 or float64, found 'zz'"),
    (dual.from_screw, ([1, 2, 3],), r"expected a screw of four arrays, found \[1, 2, 3\]"),
    (dual.from_screw, (None,), "expected a screw of four arrays"),
    (dual.from_matrix, (np.diag([1, 1, -1, 1]),), "reflection"),
    (dual.from_matrix, (np.diag([2, 2, 2, 1]),), "not orthonormal"),
    (dual.from_matrix, (np.stack([np.eye(4), SHEARED_ROW]),), r"matrix \[1\]: .*\(0, 0, 1, 1\)"),
    (dual.from_matrix, ([[1, 0, 0, np.nan], [0, 1, 0, 0], [0, 0, 1, 0]],), "translation.*nan"),
    (dual.to_matrix, (np.eye(4),), r"\(\.\.\., 8\)"),
    (dual.multiply, (UNIT, UNIT[:4]), r"\(\.\.\., 8\)"),
    (dual.conjugate, (UNIT[:7],), r"\(\.\.\., 8\)"),
    (dual.normalize, (np.zeros(8),), r"real part of dual quaternion: .*\(0, 0, 0, 0\)"),
    (dual.normalize, ([UNIT, UNIT * np.nan],), r"real part of dual quaternion \[1\]"),
    (dual.transform_points, (UNIT, [0, 0]), r"\(\.\.\., 3\)"),
    (dual.transform_vectors, (UNIT, [0, 0]), r"\(\.\.\., 3\)"),
    (dual.dual_conjugate, (UNIT[:7],), r"\(\.\.\., 8\)"),
    (dual.full_conjugate, (UNIT[:7],), r"\(\.\.\., 8\)"),
    (dual.inverse, (np.zeros(8),), "non-zero length"),
    (dual.blend, (UNIT, 1.0), "N >= 1"),
    (dual.blend, (np.zeros((0, 8)), np.zeros(0)), "N >= 1"),
    (dual.blend, ([UNIT, UNIT], [0.5, 0.25, 0.25]), "broadcast"),
    (dual.blend, ([UNIT, UNIT], [0, 0]), "non-zero length"),
    (dual.blend, ([[UNIT, UNIT], [UNIT, UNIT]], [[1, 0], [0, 0]]), r"dual quaternion \[1\]"),
    (dual.blend, ([UNIT, UNIT], [0.5, np.nan]), r"weight \[1\]: .* nan"),
    (dual.blend, ([UNIT, UNIT], [0.5, -0.5]), "non-zero length"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), INVALID)
def test_invalid_input_is_refused(function, arguments, message):
    with pytest.raises(RigError, match=message):
        function(*arguments)


# ---------------------------------------------------------------- worked examples


def turn(axis, degrees):
    return quat.from_axis_angle(axis, np.radians(degrees))


def about(pivot, rotation):
    """A rotation about a point, as a dual quaternion."""
    return dual.from_rotation_translation(rotation, pivot - quat.rotate(rotation, pivot))


def close(actual, expected, tolerance=1e-15):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def test_a_pure_translation_there_and_back():
    move = dual.from_rotation_translation(quat.identity(), [2, 0, 0])
    np.testing.assert_array_equal(quat.to_wxyz(move[:4]), [1, 0, 0, 0])
    np.testing.assert_array_equal(quat.to_wxyz(move[4:]), [0, 1, 0, 0])
    rotation, translation = dual.to_rotation_translation(move)
    np.testing.assert_array_equal(rotation, quat.identity())
    np.testing.assert_array_equal(translation, [2, 0, 0])


def test_the_identity_moves_nothing():
    still = dual.identity((2, 3), np.float32)
    assert (still.shape, still.dtype) == ((2, 3, 8), np.float32)
    np.testing.assert_array_equal(
        dual.transform_points(still, [1, 2, 3]), np.full((2, 3, 3), X + 2 * Y + 3 * Z)
    )
    np.testing.assert_array_equal(dual.to_matrix(dual.identity()), np.eye(4))


def test_dual_part_is_half_translation_times_real():
    r, t = turn([1, 2, 3], 50), np.array([0.3, -4, 5])
    dq = dual.from_rotation_translation(r, t)
    close(dq[4:], quat.multiply([*t, 0], r) / 2)
    close(2 * quat.multiply(dq[4:], quat.conjugate(dq[:4]))[:3], t)
    close(dual.to_rotation_translation(dq)[1], t)


def test_one_transform_with_both_signs_is_never_zero():
    dq = dual.from_rotation_translation(turn([1, 2, 3], 50), [0.3, -4, 5])
    close(dual.blend([dq, -dq], [0.5, 0.5]), dq)
    close(dual.blend([-dq, dq], [0.5, 0.5]), -dq)


def test_half_a_turn_apart_blends_to_a_quarter_turn():
    none, half = dual.from_rotation_translation([quat.identity(), [0, 0, 1, 0]], [0, 0, 0])
    blended = dual.blend([none, half], [0.5, 0.5])
    close(blended[:4], turn(Z, 90))
    # The lowest slot decides, an inner product of exactly 0 counts as positive.
    close(dual.blend([half, none], [0.5, 0.5]), blended)
    close(dual.blend([none, -half], [0.5, 0.5])[:4], turn(Z, -90))


def test_heaviest_influence_decides_the_sign():
    a, b = turn(Z, 10), turn(Z, 50)
    dqs = dual.from_rotation_translation([a, -b], [0, 0, 0])
    assert dual.blend(dqs, [0.6, 0.4])[3] > 0
    assert dual.blend(dqs, [0.4, 0.6])[3] < 0
    assert dual.blend(dqs, [0.5, 0.5])[3] > 0


@pytest.mark.parametrize("degrees", [0, 30, 90, 150, 179])
def test_a_bent_elbow_keeps_its_radius(degrees):
    elbow = np.array([2.0, 0, 0])
    dqs = np.stack([UNIT, about(elbow, turn(Z, degrees))])
    skinned = dual.transform_points(dual.blend(dqs, [0.5, 0.5]), [2, 1, 0])
    close(np.linalg.norm(skinned - elbow), 1, 1e-15)


def blend_by_running_sum(dqs, weights):
    """Kavan's article: the sign follows the sum so far."""
    total = np.zeros(8)
    for dq, weight in zip(dqs, weights, strict=True):
        total += weight * dq * (-1 if dq[:4] @ total[:4] < 0 else 1)
    return dual.normalize(total)


def test_running_sum_gives_the_same_transform_for_ordinary_poses():
    rng = np.random.default_rng(6)
    for _ in range(50):
        # Rotations within 90 degrees of each other, with arbitrary signs.
        turns = quat.from_rotation_vector(rng.uniform(-0.4, 0.4, size=(4, 3)))
        signs = rng.choice([-1, 1], size=(4, 1))
        dqs = signs * dual.from_rotation_translation(turns, rng.normal(size=(4, 3)))
        weights = rng.dirichlet(np.ones(4))
        close(
            dual.to_matrix(dual.blend(dqs, weights)),
            dual.to_matrix(blend_by_running_sum(dqs, weights)),
            1e-14,
        )


def test_weights_need_not_sum_to_one_and_may_be_tiny():
    dqs = dual.from_rotation_translation(turn(np.eye(3), 40), np.eye(3))
    weights = np.array([0.2, 0.3, 0.5])
    for scale in (1e-200, 3.0, 1e200):
        close(dual.blend(dqs, weights * scale), dual.blend(dqs, weights), 1e-15)


# ---------------------------------------------------------------- types and shapes


def random_rigid(*shape, seed=0):
    rng = np.random.default_rng(seed)
    rotation = quat.normalize(rng.normal(size=(*shape, 4)))
    return dual.from_rotation_translation(rotation, rng.normal(size=(*shape, 3)))


FUNCTIONS = [
    dual.normalize,
    dual.conjugate,
    dual.dual_conjugate,
    dual.full_conjugate,
    dual.inverse,
    lambda dq: dual.sclerp(dq, dq[..., [3, 0, 1, 2, 7, 4, 5, 6]], 0.25),
    lambda dq: (
        dual.from_screw(dual.to_screw(dq)) * np.where(dq[..., 3:4] < 0, -1, 1).astype(dq.dtype)
    ),
    dual.to_matrix,
    lambda dq: dual.from_matrix(dual.to_matrix(dq)),
    lambda dq: dual.to_rotation_translation(dq)[0],
    lambda dq: dual.to_rotation_translation(dq)[1],
    lambda dq: dual.from_rotation_translation(*dual.to_rotation_translation(dq)),
    lambda dq: dual.multiply(dq, dq),
    lambda dq: dual.transform_points(dq, dq[..., :3]),
    lambda dq: dual.transform_vectors(dq, dq[..., :3]),
    lambda dq: dual.blend(np.stack((dq, -dq), axis=-2), np.ones_like(dq[..., :2])),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
def test_float32_stays_float32_and_everything_else_is_float64(function, shape):
    dq = random_rigid(*shape)
    exact, single = function(dq), function(dq.astype(np.float32))
    assert exact.dtype == np.float64
    assert single.dtype == np.float32
    assert exact.shape == single.shape
    assert exact.shape[: len(shape)] == shape
    np.testing.assert_allclose(single, exact, rtol=0, atol=2e-6)
    dq.setflags(write=False)
    assert not np.shares_memory(function(dq), dq)


def test_leading_axes_broadcast():
    dqs = random_rigid(5, 1, 4)  # five frames, four influences
    weights = np.random.default_rng(1).dirichlet(np.ones(4), size=7)  # seven vertices
    blended = dual.blend(dqs, weights)
    assert blended.shape == (5, 7, 8)
    np.testing.assert_array_equal(blended[2, 6], dual.blend(dqs[2, 0], weights[6]))
    assert dual.transform_points(blended, np.zeros((7, 3))).shape == (5, 7, 3)
    assert dual.from_rotation_translation(quat.identity(), np.zeros((2, 3))).shape == (2, 8)
    assert dual.from_rotation_translation(quat.identity(3), np.zeros(3)).shape == (3, 8)


def test_matrix_of_three_rows_or_four():
    matrix = dual.to_matrix(random_rigid(2))
    np.testing.assert_array_equal(matrix[..., 3, :], [[0, 0, 0, 1]] * 2)
    np.testing.assert_array_equal(dual.from_matrix(matrix), dual.from_matrix(matrix[:, :3]))


# ---------------------------------------------------------------- properties

quick = settings(deadline=None, max_examples=100)
units = (
    arrays(np.float64, 4, elements=st.floats(-1, 1, allow_subnormal=False))
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(quat.normalize)
)
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10, allow_subnormal=False))
rigid = st.builds(dual.from_rotation_translation, units, vectors)


@quick
@given(rigid, rigid, rigid, vectors)
def test_group_laws(a, b, c, point):
    close(dual.multiply(dual.multiply(a, b), c), dual.multiply(a, dual.multiply(b, c)), 1e-13)
    close(dual.multiply(a, dual.conjugate(a)), UNIT, 1e-14)
    close(dual.multiply(a, UNIT), a)
    close(dual.to_matrix(dual.multiply(a, b)), dual.to_matrix(a) @ dual.to_matrix(b), 1e-13)
    close(
        dual.transform_points(dual.multiply(a, b), point),
        dual.transform_points(a, dual.transform_points(b, point)),
        1e-13,
    )


@quick
@given(rigid, vectors)
def test_matrix_round_trip_and_double_cover(dq, point):
    matrix = dual.to_matrix(dq)
    np.testing.assert_array_equal(dual.to_matrix(-dq), matrix)
    close(dual.to_matrix(dual.from_matrix(matrix)), matrix, 1e-14)
    close(dual.transform_points(dq, point), matrix[:3, :3] @ point + matrix[:3, 3], 1e-13)
    close(dual.transform_vectors(dq, point), matrix[:3, :3] @ point, 1e-13)


@quick
@given(rigid, st.floats(0.01, 100), st.floats(-10, 10))
def test_normalize_gives_a_unit_and_moves_nothing(dq, scale, along):
    off = dq * scale
    off[4:] += along * off[:4]
    unit = dual.normalize(off)
    close(np.linalg.norm(unit[:4]), 1, 1e-15)
    close(unit[:4] @ unit[4:], 0, 1e-14)
    close(unit, dq, 1e-13)


@quick
@given(rigid, st.lists(st.tuples(st.floats(0, 1), st.sampled_from([-1, 1])), min_size=1))
def test_blend_of_equals_is_that_transform(dq, influences):
    weights, signs = np.array(influences).T
    weights[0] += 0.1
    blended = dual.blend(signs[:, None] * dq, weights)
    close(dual.to_matrix(blended), dual.to_matrix(dq), 1e-13)


@quick
@given(st.lists(rigid, min_size=2, max_size=4), rigid, vectors)
def test_blend_does_not_depend_on_the_frame(dqs, frame, point):
    dqs = np.array(dqs)
    real = dqs[:, :4]
    if np.any(np.abs(real @ real[0]) < 1e-9):
        return  # on the fence between the two sides, rounding decides
    weights = np.arange(len(dqs), 0, -1.0)
    moved = dual.blend(dual.multiply(frame, dqs), weights)
    still = dual.multiply(frame, dual.blend(dqs, weights))
    close(dual.transform_points(moved, point), dual.transform_points(still, point), 1e-11)


@quick
@given(rigid, st.floats(0.01, 100), st.floats(-10, 10), vectors)
def test_inverse_and_the_three_conjugates(dq, scale, along, point):
    off = dq * scale
    off[4:] += along * off[:4]
    close(dual.multiply(off, dual.inverse(off)), UNIT, 1e-13 * max(1, scale))
    close(dual.inverse(dq), dual.conjugate(dq), 1e-14)
    # each is its own inverse, and any two make the third
    for one, two, three in (
        (dual.conjugate, dual.dual_conjugate, dual.full_conjugate),
        (dual.full_conjugate, dual.conjugate, dual.dual_conjugate),
    ):
        np.testing.assert_array_equal(one(one(dq)), dq)
        np.testing.assert_array_equal(one(two(dq)), three(dq))
    # the full one moves points: dq (1 + e p) dq*
    sandwich = dual.multiply(dual.multiply(dq, [0, 0, 0, 1, *point, 0]), dual.full_conjugate(dq))
    close(sandwich[:4], UNIT[:4], 1e-13)
    close(sandwich[4:7], dual.transform_points(dq, point), 1e-12)
    # the dual one turns the translation round
    rotation, translation = dual.to_rotation_translation(dual.dual_conjugate(dq))
    close(rotation, dq[:4])
    close(translation, -dual.to_rotation_translation(dq)[1], 1e-13)
