"""godot #40592: cubic interpolation overshot its keys, even between two of equal value.

https://github.com/godotengine/godot/issues/40592
"""

import numpy as np
import pytest

from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample

CHARACTER = Character(Skeleton(("root",), [-1]))
TIMES = np.linspace(0, 3, 301)


def cubic(path: str, values: list[list[float]]) -> Track:
    keys = np.array(values)
    still = np.zeros_like(keys)
    return Track(0, path, [0, 1, 2, 3], np.stack([still, keys, still], axis=1), "CUBICSPLINE")


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7e8])
def test_equal_keys_with_zero_tangents_stay_exactly(value):
    value = float(np.float32(value))
    track = cubic("translation", [[0, 0, 0], [value] * 3, [value] * 3, [0, 0, 0]])
    ours = sample(bind(Clip("c", (track,)), CHARACTER), TIMES).translations[:, 0]
    assert (ours[100:201] == value).all()
    assert ((ours >= 0) & (ours <= value)).all()


def test_equal_rotations_with_zero_tangents_stay_exactly():
    track = cubic("rotation", [[0, 0, 0, 1], [0, 0.6, 0, 0.8], [0, 0.6, 0, 0.8], [0, 0, 0, 1]])
    ours = sample(bind(Clip("c", (track,)), CHARACTER), TIMES[100:201]).rotations[:, 0]
    assert (ours == ours[0]).all()
