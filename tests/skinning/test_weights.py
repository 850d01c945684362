"""Normalising, limiting and quantising influences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bunraku.errors import RigError
from bunraku.skinning import weights as w


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: w.normalize([[1, -1]]), "weights: expected none below 0, found -1"),
        (lambda: w.normalize([[1, np.nan]]), "expected finite numbers"),
        (lambda: w.normalize([1, 2]), r"expected shape \(any, any\)"),
        (lambda: w.limit([[0, 1]], [[1, 1]], 0), "count: expected a whole number from 1, found 0"),
        (lambda: w.limit([[0, 1]], [[1, 1]], 1.5), r"whole number from 1, found 1\.5"),
        (lambda: w.limit([[0]], [[1, 1]], 1), r"joints: expected shape \(1, 2\)"),
        (lambda: w.quantize([[1.0]], np.int8), "dtype: expected uint8 or uint16, found int8"),
        (lambda: w.quantize([[1.0]], "zz"), "dtype: expected uint8 or uint16, found 'zz'"),
        (lambda: w.quantize(np.ones((1, 300)), np.uint8), r"weights\[0\]: too many small weights"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(RigError, match=message):
        call()


def test_normalize_survives_extremes():
    rows = [[1e-300, 1e-300], [1e308, 1e308], [0, 0], [3, 1]]
    np.testing.assert_array_equal(w.normalize(rows), [[0.5, 0.5], [0.5, 0.5], [0, 0], [0.75, 0.25]])


def test_limit_keeps_the_largest_in_falling_order():
    joints, weights = w.limit([[5, 6, 7, 8]], [[0.1, 0.4, 0.1, 0.4]], 3)
    np.testing.assert_array_equal(joints, [[6, 8, 5]])
    np.testing.assert_allclose(weights, [[4 / 9, 4 / 9, 1 / 9]], rtol=1e-6)


def test_limit_pads_and_clears_what_is_unused():
    joints, weights = w.limit([[5, 6]], [[0, 2]], 4)
    np.testing.assert_array_equal(joints, [[6, 0, 0, 0]])
    np.testing.assert_array_equal(weights, [[1, 0, 0, 0]])


def test_limit_drops_small_weights_but_never_the_largest():
    joints, weights = w.limit([[1, 2, 3]], [[0.9, 0.06, 0.04]], 3, least=0.05)
    np.testing.assert_array_equal(joints, [[1, 2, 0]])
    np.testing.assert_allclose(weights, [[0.9375, 0.0625, 0]])
    np.testing.assert_array_equal(w.limit([[1, 2]], [[1, 1]], 2, least=0.6)[1], [[1, 0]])


def test_rounding_goes_to_the_largest():
    # 127.5 rounds to the even 128 twice: one too many, taken from the first of the equals.
    np.testing.assert_array_equal(w.quantize([[0.5, 0.5, 0, 0]]), [[127, 128, 0, 0]])
    np.testing.assert_array_equal(w.quantize([[0.6, 0.2, 0.2]], np.uint16), [[39321, 13107, 13107]])


rows = hnp.arrays(
    np.float32,
    st.tuples(st.integers(0, 5), st.integers(1, 12)),
    elements=st.floats(0, 1, width=32, allow_subnormal=False),
)


@settings(deadline=None)
@given(rows, st.sampled_from([np.uint8, np.uint16]))
def test_quantised_rows_sum_exactly_and_stay_near(given, dtype):
    full = np.iinfo(dtype).max
    steps = w.quantize(given, dtype)
    assert steps.dtype == dtype
    held = given.any(axis=1)
    np.testing.assert_array_equal(steps.sum(axis=1, dtype=np.int64), np.where(held, full, 0))
    off = np.abs(steps / full - w.normalize(given))
    assert (off <= given.shape[1] / full).all()


@settings(deadline=None)
@given(rows, st.integers(1, 12))
def test_limited_rows_still_sum_to_one(given, count):
    joints = np.arange(given.size).reshape(given.shape)
    kept, weights = w.limit(joints, given, count)
    assert kept.shape == weights.shape == (len(given), count)
    np.testing.assert_allclose(weights.sum(axis=1), given.any(axis=1), atol=1e-6)
    assert (np.diff(weights, axis=1) <= 0).all()
