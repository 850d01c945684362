"""Smallest three: invalid input, exact values, the proven error bound and how near it comes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import RigError
from bunraku.rotation import packing, quaternion

IDENTITY = quaternion.identity()

INVALID = [
    # function, argument, what the message must say
    (packing.pack_32, [0, 0, 0, 0], "non-zero length"),
    (packing.pack_32, [0, 0, 1], r"\(\.\.\., 4\)"),
    (packing.pack_48, [0, 0, 0, np.nan], "nan"),
    (packing.unpack_32, np.zeros(3, np.int64), "uint32, found int64"),
    (packing.unpack_32, [0], "uint32"),
    (packing.unpack_32, np.uint32(0xFFFFFFFF), "longer than 1"),
    (packing.unpack_32, np.uint32(0), "longer than 1"),
    (packing.unpack_48, np.zeros((2, 3), np.int16), "found int16"),
    (packing.unpack_48, np.zeros(4, np.uint16), r"\(\.\.\., 3\), found \(4,\)"),
    (packing.unpack_48, np.full(3, 0x7FFF, np.uint16), "longer than 1"),
]


@pytest.mark.parametrize(("function", "argument", "message"), INVALID)
def test_invalid_input_is_refused(function, argument, message):
    with pytest.raises(RigError, match=message):
        function(argument)


CODECS = [
    (packing.pack_32, packing.unpack_32, packing.ERROR_32, 511),
    (packing.pack_48, packing.unpack_48, packing.ERROR_48, 16383),
]
both = pytest.mark.parametrize(("pack", "unpack", "bound", "steps"), CODECS)


@both
def test_words_are_read_in_either_order_of_bytes(pack, unpack, bound, steps):
    words = pack(quaternion.normalize(np.arange(40).reshape(10, 4) - 20.0))
    for order in "<>":
        other = words.astype(words.dtype.newbyteorder(order))
        np.testing.assert_array_equal(unpack(other), unpack(words))


@both
def test_only_float_types_come_out(pack, unpack, bound, steps):
    for dtype in ("zz", np.float16, int, [1, 2]):
        with pytest.raises(RigError, match="dtype of float32 or float64, found"):
            unpack(pack(IDENTITY), dtype)


def test_the_bounds_are_the_documented_ones():
    assert 4.81e-3 < packing.ERROR_32 < 4.82e-3
    assert 1.49e-4 < packing.ERROR_48 < 1.50e-4


def test_the_bits_are_where_the_docstring_says():
    assert packing.pack_32(IDENTITY) == 3 << 30 | 511 << 20 | 511 << 10 | 511
    assert packing.pack_32([1, 0, 0, 0]) == 511 << 20 | 511 << 10 | 511
    h = np.sqrt(0.5)
    assert packing.pack_32([h, h * (1 + 1e-9), 0, 0]) == 1 << 30 | 1022 << 20 | 511 << 10 | 511
    assert packing.pack_32([-h * (1 + 1e-9), 0, h, 0]) == 0 << 30 | 511 << 20 | 0 << 10 | 511
    np.testing.assert_array_equal(packing.pack_48([0, 0, 2, 0]), [0x8000 | 16383, 16383, 16383])
    np.testing.assert_array_equal(packing.pack_48([0, 3, 0, 0]), [16383, 0x8000 | 16383, 16383])


@both
def test_the_axes_and_the_identity_are_exact(pack, unpack, bound, steps):
    for k in range(4):
        for sign in (1, -1):
            np.testing.assert_array_equal(unpack(pack(sign * np.eye(4)[k])), np.eye(4)[k])


@both
def test_sizes_and_types(pack, unpack, bound, steps):
    q = quaternion.normalize(np.random.default_rng(0).normal(size=(5, 7, 4)))
    packed = pack(q)
    assert packed.nbytes == (4 if pack is packing.pack_32 else 6) * 35
    assert packed.shape[:2] == (5, 7)
    assert unpack(packed).shape == (5, 7, 4)
    assert unpack(packed, np.float32).dtype == np.float32
    assert unpack(pack(np.zeros((0, 4)))).shape == (0, 4)
    np.testing.assert_array_equal(
        pack(q.astype(np.float32)[2]), packed[2]
    ) if bound > 1e-3 else None


@both
def test_no_rotation_is_off_by_more_than_the_bound_and_some_come_near(pack, unpack, bound, steps):
    rng = np.random.default_rng(1)
    random = quaternion.normalize(rng.normal(size=(200_000, 4)))
    # The worst: all components equal, and roundings that all point the same way.
    worst = 0.5 + rng.uniform(-3, 3, size=(200_000, 4)) / steps
    worst = quaternion.normalize(worst * rng.choice([-1, 1], size=worst.shape))
    for q in (random, worst):
        off = quaternion.angle_between(unpack(pack(q)), q)
        assert off.max() <= bound
    assert off.max() > 0.8 * bound


@both
@settings(deadline=None, max_examples=100)
@given(arrays(np.float64, 4, elements=st.floats(-1, 1)).filter(lambda q: np.abs(q).max() > 1e-3))
def test_any_rotation_is_within_the_bound(pack, unpack, bound, steps, q):
    q = quaternion.normalize(q)
    back = unpack(pack(q))
    assert quaternion.angle_between(back, q) <= bound
    assert abs(np.linalg.norm(back) - 1) < 1e-15
    assert quaternion.angle_between(unpack(pack(-q)), q) <= bound
