"""embree #188: collecting all hits along a ray lost some or repeated others.

https://github.com/RenderKit/embree/issues/188
"""

import numpy as np
import pytest

from bunraku.query import Bvh


@pytest.mark.parametrize("apart", [1.0, 1e-6, 0.0])
@pytest.mark.parametrize("leaf_size", [1, 8])
def test_a_stack_of_sheets_is_met_sheet_by_sheet(apart, leaf_size):
    count = 200
    sheet = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    v = np.concatenate([sheet + [0, 0, -i * apart] for i in range(count)])
    tree = Bvh(v, np.arange(3 * count).reshape(-1, 3), leaf_size=leaf_size)
    found = tree.all_hits([[0, 0, 5], [9, 9, 5], [0, 0.1, 5]], [0, 0, -1])
    assert found.first.tolist() == [0, count, count, 2 * count]
    for ray in (0, 2):
        assert found.primitive[found.of(ray)].tolist() == list(range(count))
        assert np.allclose(found.t[found.of(ray)], 5 + apart * np.arange(count))
    assert tree.count_hits([0, 0, 5], [0, 0, -1]) == count
