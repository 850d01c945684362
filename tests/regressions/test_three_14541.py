"""three.js #14541: a CUBICSPLINE clip did not end on its last key.

https://github.com/mrdoob/three.js/issues/14541
"""

import numpy as np
import pytest

from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_at_and_after_the_last_key_its_value_is_held(interpolation, keys):
    times = np.arange(keys) / 3
    values = np.arange(keys * 3, dtype="f4").reshape(keys, 3)
    if interpolation == "CUBICSPLINE":
        values = np.stack([values + 100, values, values - 100], axis=1)
    track = Track(0, "translation", times, values, interpolation)
    bound = bind(Clip("c", (track,)), Character(Skeleton(("root",), [-1])))
    last = times[-1]
    after = [last, np.nextafter(last, 9), last + 1e-6, last + 1, 1e9]
    expected = np.tile(np.arange(keys * 3 - 3, keys * 3), (5, 1))
    np.testing.assert_array_equal(sample(bound, after).translations[:, 0], expected)
