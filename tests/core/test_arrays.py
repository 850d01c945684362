"""Arrays are read in place: the core takes those it can read as they lie, and refuses the rest."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from bunraku import _core

PARENTS = np.array([-1, 0], np.int32)
ORDER = np.arange(2, dtype=np.int32)
NATIVE, FOREIGN = "<>" if sys.byteorder == "little" else "><"


def arguments(dtype: Any = np.float64) -> dict[str, Any]:
    """Two nodes in a row in one frame, the second 3 to the right of the first."""
    return {
        "translations": np.array([[[1, 0, 0], [3, 0, 0]]], dtype),
        "rotations": np.array([[[0, 0, 0, 1]] * 2], dtype),
        "scales": np.ones((1, 2, 3), dtype),
        "parents": PARENTS,
        "order": ORDER,
        "out": np.zeros((1, 2, 3, 4), dtype),
    }


def places(given: dict[str, Any]) -> Any:
    _core.kinematics.global_transforms(**given)
    return given["out"][0, :, 0, 3].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_of_either_length_are_read_and_written(dtype: Any) -> None:
    assert places(arguments(dtype)) == [1, 4]


def test_integers_of_any_c_type_of_that_length_are_read() -> None:
    for letter in "il":
        if np.dtype(letter).itemsize == 4:
            assert places(arguments() | {"parents": PARENTS.astype(letter)}) == [1, 4]
    assert places(
        arguments() | {"parents": PARENTS.astype("=i4"), "order": ORDER.astype("int32")}
    ) == [1, 4]


def test_a_subclass_and_a_part_of_an_array_are_read(tmp_path: Any) -> None:
    given = arguments()
    given["translations"].tofile(tmp_path / "translations")
    mapped = np.memmap(tmp_path / "translations", np.float64, "r", shape=(1, 2, 3))
    assert places(given | {"translations": mapped}) == [1, 4]
    twice = np.repeat(given["translations"], 2, axis=0)
    assert places(arguments() | {"translations": twice[1:]}) == [1, 4]


def between_places(array: Any) -> Any:
    """The same numbers, one byte off."""
    raw = np.empty(array.nbytes + 1, np.uint8)
    moved = raw[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def test_what_lies_between_two_places_is_read_from_a_copy() -> None:
    given = arguments()
    inputs = {name: between_places(array) for name, array in given.items() if name != "out"}
    assert places(given | inputs) == [1, 4]


def test_the_order_of_bytes_may_be_named_where_it_is_the_machines() -> None:
    parents = PARENTS.astype(PARENTS.dtype.newbyteorder(NATIVE))
    assert parents.dtype.byteorder == NATIVE
    assert places(arguments() | {"parents": parents}) == [1, 4]


def unwritable(array: Any) -> Any:
    array.flags.writeable = False
    return array


REFUSED = {
    "another float type": {"translations": np.ones((1, 2, 3), np.float32)},
    "integers for floats": {"scales": np.ones((1, 2, 3), np.int64)},
    "unsigned parents": {"parents": np.zeros(2, np.uint32)},
    "longer parents": {"parents": np.array([-1, 0], np.int64)},
    "parents as floats of that length": {"parents": np.array([-1, 0], np.float32)},
    "bytes the other way round": {"scales": np.ones((1, 2, 3)).astype(f"{FOREIGN}f8")},
    "too few axes": {"scales": np.ones((2, 3))},
    "too many axes": {"scales": np.ones((1, 1, 2, 3))},
    "every second number": {"scales": np.ones((1, 2, 6))[:, :, ::2]},
    "columns first": {"rotations": np.asfortranarray(np.ones((2, 2, 4)))[:1]},
    "an output between two places": {"out": between_places(np.zeros((1, 2, 3, 4)))},
    "an output that must not change": {"out": unwritable(np.zeros((1, 2, 3, 4)))},
    "a list": {"order": [0, 1]},
    "nothing": {"order": None},
    "a memory view": {"scales": memoryview(np.ones((1, 2, 3)))},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_in_place_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="incompatible function arguments"):
        places(arguments() | REFUSED[name])


def test_wrong_lengths_are_named() -> None:
    with pytest.raises(ValueError, match="scales: expected length 2 on axis 1, found 3"):
        places(arguments() | {"scales": np.ones((1, 3, 3))})


def test_an_array_of_nothing_is_read() -> None:
    given = {
        name: value[:0] for name, value in arguments().items() if name not in ("parents", "order")
    }
    _core.kinematics.global_transforms(**given, parents=PARENTS, order=ORDER)


def test_an_argument_outlives_its_last_name() -> None:
    """Another thread may take it out of its list while the core works without the GIL."""
    deltas = np.zeros((1, 3), np.float32)
    rig = _core.skinning.Rig(np.zeros((1, 1), np.int32), np.ones((1, 1), np.float32))
    before = sys.getrefcount(deltas)
    palette = np.zeros((1, 1, 3, 4), np.float32)
    targets = [(np.zeros(1, np.int32), deltas, None, None)]
    out, rest = np.zeros((1, 1, 3), np.float32), np.zeros((1, 3), np.float32)
    weights = np.ones((1, 1), np.float32)
    for _ in range(10):
        _core.skinning.deform_into(
            rig, palette, "lbs", rest, None, None, None, targets, weights, out, None, None
        )
    assert sys.getrefcount(deltas) == before + 1  # the list's
