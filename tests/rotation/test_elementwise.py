"""What every function of the room shares: types, layouts, broadcasting, threads, levels, errors."""

import array
import ast
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from bunraku import _core, rotation
from bunraku.errors import RigError
from bunraku.rotation import quaternion
from tests.reference import rotation as slow
from tests.rotation.functions import FUNCTIONS, sample

rng = np.random.default_rng(11)

INVALID = [
    # arguments of slerp, what the message must say
    (
        ([0, 0, 1], [0, 0, 0, 1], 0.5),
        r"quaternions \(x, y, z, w\) of shape \(\.\.\., 4\), found \(3,",
    ),
    ((np.zeros((2, 4)), np.zeros((3, 4)), 0.5), r"broadcast.*quaternion \(2, 4\).*\(3, 4\)"),
    ((np.zeros((2, 4)), np.zeros((2, 4)), np.zeros(3)), r"broadcast.*number \(3,\)"),
    ((None, [0, 0, 0, 1], 0.5), "dtype object"),
    ((np.zeros(4, bool), np.zeros(4), 0.5), "dtype bool"),
    ((np.zeros(4), np.zeros(4), 1j), "dtype complex128"),
    ((0.5, 0.5, 0.5), r"found \(\)"),
    ((np.zeros(4), np.zeros(4), 10**400), "dtype object"),
    ((np.zeros((1,) * 40 + (4,)), np.zeros(4), 0.5), "at most 32"),
]


@pytest.mark.parametrize(("arguments", "message"), INVALID)
def test_invalid_input_is_refused(arguments, message):
    with pytest.raises(RigError, match=message):
        rotation.slerp(*arguments)


def test_the_first_element_without_an_answer_is_named_in_c_order():
    q = quaternion.identity((3, 70_000))
    q[1, 69_999] = q[2, 3] = 0
    with pytest.raises(RigError, match=r"quaternion \[1, 69999\].*\(0, 0, 0, 0\)"):
        quaternion.normalize(q)
    with pytest.raises(RigError, match=r"vector \[1, 0\]"):
        quaternion.from_axis_angle([[[1.0, 0, 0]], [[0, 0, 0]]], np.zeros((2, 3)))


def units(*shape, dtype=np.float64):
    return quaternion.normalize(rng.normal(size=(*shape, 4))).astype(dtype)


def test_every_kernel_is_covered():
    kernels = {name for name in dir(_core.rotation) if name.islower() and not name.startswith("_")}
    assert kernels == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_element_does_not_depend_on_its_neighbours(name, dtype):
    # Groups of lanes, tiles, the ends of arrays: all the same as one at a time, bit for bit.
    q, v, t = sample(131, dtype)
    together = FUNCTIONS[name](q, v, t)
    backwards = slice(None, None, -1)
    for i in (0, 1, 7, 63, 64, 65, 129, 130):
        # the functions read q and q[::-1]: a pair, and its result in the first place
        pair = (
            np.stack([q[i], q[130 - i]]),
            np.stack([v[i], v[130 - i]]),
            np.stack([t[i], t[130 - i]]),
        )
        np.testing.assert_array_equal(FUNCTIONS[name](*pair)[0], together[i])
        np.testing.assert_array_equal(
            FUNCTIONS[name](*(x[backwards] for x in pair))[1], together[i]
        )


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_streaming_change_nothing(name, dtype):
    q, v, t = sample(1003, dtype)
    small = FUNCTIONS[name](q, v, t)
    repeats = 70  # 70 210 elements: more than one range of threads, more than the caches
    symmetric = [np.concatenate([x] * repeats) for x in (q, v, t)]
    for threads in (1, 3):
        _core.set_thread_count(threads)
        large = FUNCTIONS[name](*symmetric)
        np.testing.assert_array_equal(large, np.concatenate([small] * repeats))
    _core.set_thread_count(0)


@pytest.mark.parametrize("offset", range(16))
def test_results_past_the_caches_are_whole_wherever_they_start(offset):
    # 4 MB and more are written in whole cache lines; the ends of each range of threads are not.
    q = units(70_001 + offset)[offset:]
    _core.set_thread_count(3)
    for function in (
        quaternion.conjugate,
        quaternion.to_matrix,
        lambda q: quaternion.to_axis_angle(q)[0],
    ):
        whole = function(q)
        parts = np.concatenate([function(q[i : i + 5000]) for i in range(0, len(q), 5000)])
        np.testing.assert_array_equal(whole, parts)
    _core.set_thread_count(0)


LEVEL_PROGRAM = """
import hashlib
from bunraku import _core
from tests.rotation.functions import FUNCTIONS, sample
import numpy as np
found = {}
for dtype in (np.float32, np.float64):
    inputs = sample(203, dtype)
    for name, function in FUNCTIONS.items():
        found[name, dtype.__name__] = hashlib.sha256(function(*inputs).tobytes()).hexdigest()
print((_core.level(), found))
"""


def test_every_instruction_set_gives_the_same_bits():
    results = {}
    for level in _core.available_levels():
        done = subprocess.run(
            [sys.executable, "-c", LEVEL_PROGRAM],
            env={**os.environ, "BUNRAKU_ISA": level},
            capture_output=True,
            text=True,
            check=True,
        )
        used, found = ast.literal_eval(done.stdout)
        assert used == level
        results[level] = found
    first = results.pop(_core.available_levels()[0])
    for found in results.values():
        assert found == first


# ---------------------------------------------------------------- layouts


def views(q):
    """The same quaternions in memory in other ways."""
    padded = np.zeros((*q.shape[:-1], 9), q.dtype)
    gaps = padded[..., 2 : 2 + q.shape[-1]]
    gaps[...] = q
    unaligned = np.frombuffer(b"\0" + q.tobytes(), dtype=np.uint8)[1:].view(q.dtype)
    yield "gaps", gaps
    yield "backwards", q[::-1].copy()[::-1]
    yield "every other", np.repeat(q, 2, axis=0)[::2]
    yield "Fortran", np.asfortranarray(q)
    yield "components apart", np.stack([q, q], axis=-1)[..., 0]
    yield "unaligned", unaligned.reshape(q.shape)
    yield "big endian", q.astype(q.dtype.newbyteorder(">"))
    yield "read-only", np.frombuffer(q.tobytes(), dtype=q.dtype).reshape(q.shape)
    yield "memory view", memoryview(q)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_layout_gives_the_same_result(dtype):
    q, v = units(19, dtype=dtype), rng.normal(size=(19, 3)).astype(dtype)
    expected = quaternion.rotate(q, v)
    for name, view in views(q):
        turned = quaternion.rotate(view, v)
        np.testing.assert_array_equal(turned, expected, err_msg=name)
        assert turned.dtype == dtype
    for name, view in views(v):
        np.testing.assert_array_equal(quaternion.rotate(q, view), expected, err_msg=name)


def test_lists_integers_and_other_buffers_are_read_as_float64():
    expected = quaternion.normalize(np.array([1.0, 2, 3, 4]))
    for q in ([1, 2, 3, 4], (1, 2, 3, 4), np.arange(1, 5), np.arange(1, 5, dtype=np.float16)):
        result = quaternion.normalize(q)
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == np.float64
    np.testing.assert_array_equal(quaternion.normalize(array.array("d", [1, 2, 3, 4])), expected)


@pytest.mark.parametrize(
    ("q_shape", "v_shape"),
    [
        ((), (5,)),
        ((5,), ()),
        ((1,), (5,)),
        ((3, 1), (1, 4)),
        ((2, 1, 3), (4, 1)),
        ((1, 1), (1,)),
        ((2, 3, 4), (2, 3, 4)),
        ((2, 1, 4), (2, 3, 4)),
        ((0, 3), (1,)),
        ((3, 1), (3, 0)),
        ((70, 1), (80,)),
    ],
)
def test_broadcasting_is_numpys(q_shape, v_shape):
    q, v = units(*q_shape), rng.normal(size=(*v_shape, 3))
    result = quaternion.rotate(q, v)
    shape = np.broadcast_shapes(q_shape, v_shape)
    assert result.shape == (*shape, 3)
    wide_q, wide_v = np.broadcast_to(q, (*shape, 4)), np.broadcast_to(v, (*shape, 3))
    np.testing.assert_array_equal(result, quaternion.rotate(wide_q.copy(), wide_v.copy()))
    np.testing.assert_array_equal(result, quaternion.rotate(wide_q, wide_v))


def test_numbers_follow_the_arrays_and_results_without_axes_are_numbers():
    q = units(dtype=np.float32)
    assert rotation.slerp(q, q, 0.5).dtype == np.float32
    assert rotation.slerp(q, q, 1).dtype == np.float32
    assert rotation.slerp(q, q, np.float64(0.5)).dtype == np.float64  # NumPy's own rule
    assert rotation.slerp(q, q, np.float32(0.5)).dtype == np.float32
    assert isinstance(quaternion.dot(q, q), np.float32)
    assert isinstance(quaternion.to_axis_angle(q)[1], np.float32)


def test_results_share_nothing_and_inputs_stay():
    q = units(5)
    before = q.copy()
    for function in FUNCTIONS.values():
        result = function(q, q[:, :3], np.abs(q[:, 3]))
        assert result.flags.writeable
        assert not np.shares_memory(result, q)
    np.testing.assert_array_equal(q, before)


def test_many_threads_may_call_at_once():
    q = units(50_000)
    expected = quaternion.to_matrix(q)
    wrong = []

    def work():
        for _ in range(5):
            if not np.array_equal(quaternion.to_matrix(q), expected):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


# ---------------------------------------------------------------- the oracle

ORACLE = [
    # function, the oracle of one element, tolerance in roundings
    (quaternion.multiply, slow.multiply, "qq", 4),
    (quaternion.rotate, slow.rotate, "qv", 20),
    (quaternion.to_matrix, slow.matrix, "q", 6),
    (quaternion.angle_between, slow.angle_between, "qq", 4),
    (quaternion.from_axis_angle, slow.from_axis_angle, "vt", 2),
    (quaternion.normalize, slow.unit, "q", 1),
    (rotation.slerp, slow.slerp, "qqt", 3),
    (lambda a, b, t: rotation.slerp(a, b, t, shortest=False),
     lambda a, b, t: slow.slerp(a, b, t, shortest=False), "qqt", 6),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(ORACLE)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_last_digit_is_the_oracles(case, dtype):
    function, oracle, kinds, roundings = ORACLE[case]
    inputs = [
        {"q": units(200, dtype=dtype), "v": rng.normal(size=(200, 3)).astype(dtype),
         "t": rng.random(200).astype(dtype)}[kind]
        for kind in kinds
    ]  # fmt: skip
    result = function(*inputs)
    expected = np.array([oracle(*elements) for elements in zip(*inputs, strict=True)])
    scale = max(1, float(np.abs(expected).max()))
    error = np.abs(result.astype(np.longdouble) - expected).max()
    # quaternions of the dtype are units to half a rounding, which the oracle repairs
    assert error <= (roundings + 1) * np.finfo(dtype).eps * scale / 2
