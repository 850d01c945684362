"""ifc-lite #3547: a box of NaN made its valid sibling disappear.

https://github.com/louistrue/ifc-lite/issues/3547
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("width", [2, 8])
@pytest.mark.parametrize("builder", ["sah", "median"])
def test_a_valid_sibling_is_found(bad, width, builder):
    low = np.zeros((64, 3), np.float32)
    low[:, 0] = 2 * np.arange(64)
    high = low + 1
    low[::2, 1] = bad
    options = {"width": width, "builder": builder, "leaf_size": 1}
    tree = Bvh.of_boxes(low, high, **options)
    down = tree.closest_hit(
        np.stack([high[:, 0] - 0.5, np.full(64, 0.5), np.full(64, 9)], 1), [0, 0, -1]
    )
    assert down.primitive.tolist() == [-1 if i % 2 == 0 else i for i in range(64)]
    assert tree.cast(-1, 0.5, 0.5, 1, 0, 0)[1] == 1
