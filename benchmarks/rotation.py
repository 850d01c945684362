"""A million rotations at a time, and one: `python -m benchmarks rotation`.

Every contender gets the numbers in the type and layout that it likes best, prepared outside the
clock, and makes its own output, as ours does. Where a library has no function for float32, or none
for pairs of arrays, its cell is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Row, compare, table
from benchmarks.peers import rotation as peers
from bunraku import _core
from bunraku.rotation import from_euler, quaternion, slerp, to_euler

COUNT = 1_000_000
ROUNDS = 5
CASES = (
    *("multiply", "rotate", "slerp", "to matrix", "from matrix"),
    *("to Euler xyz", "from Euler xyz"),
)
Contenders = dict[str, dict[str, Callable[[], Any]]]


def contenders(dtype: type[np.floating[Any]], count: int) -> Contenders:
    """For each case the functions of every peer that is installed."""
    data = peers.Data(dtype, count)
    found: Contenders = {case: {} for case in CASES}
    for peer in peers.ALL:
        try:
            functions = peer(data)
        except ImportError:
            continue
        for case, function in functions.items():
            found[case][peer.__name__] = function
    return found


def run() -> Iterator[str]:
    """The tables: two float types on one thread and on two, then a single rotation."""
    for threads in (1, 2):
        _core.set_thread_count(threads)
        for dtype in (np.float32, np.float64):
            rows = [
                Row(case, compare(functions, ROUNDS), COUNT)
                for case, functions in contenders(dtype, COUNT).items()
            ]
            title = f"Rotations, {np.dtype(dtype).name}, {threads} thread(s), 1 M elements"
            yield table(title, "rotations per second", rows)
    _core.set_thread_count(0)
    yield table("One rotation at a time, float64", "calls per second", list(single()))


def single() -> Iterator[Row]:
    """One rotation per call; `numpy.add` is what any call of NumPy costs."""
    from scipy.spatial.transform import Rotation

    data = peers.Data(np.float64, 1)
    a, b, v, m, e = (x[0].copy() for x in (data.a, data.b, data.v, data.m, data.e))
    r, s = Rotation.from_quat(a), Rotation.from_quat(b)
    cases: Contenders = {
        "multiply": {"bunraku": lambda: quaternion.multiply(a, b), "scipy": lambda: r * s},
        "rotate": {"bunraku": lambda: quaternion.rotate(a, v), "scipy": lambda: r.apply(v)},
        "slerp": {"bunraku": lambda: slerp(a, b, 0.3)},
        "to matrix": {"bunraku": lambda: quaternion.to_matrix(a), "scipy": r.as_matrix},
        "from matrix": {
            "bunraku": lambda: quaternion.from_matrix(m),
            "scipy": lambda: Rotation.from_matrix(m),
        },
        "to Euler xyz": {
            "bunraku": lambda: to_euler(a, "xyz"),
            "scipy": lambda: r.as_euler("xyz"),
        },
        "from Euler xyz": {
            "bunraku": lambda: from_euler(e, "xyz"),
            "scipy": lambda: Rotation.from_euler("xyz", e),
        },
    }
    for case, functions in cases.items():
        repeated = {name: _often(f) for name, f in {**functions, "numpy.add": _add(a, b)}.items()}
        yield Row(case, compare(repeated, ROUNDS), 2000)


def _add(a: Any, b: Any) -> Callable[[], Any]:
    return lambda: np.add(a, b)


def _often(function: Callable[[], Any]) -> Callable[[], None]:
    def repeat() -> None:
        for _ in range(2000):
            function()

    return repeat
