"""three.js #26137: only four influences of a vertex were used.

https://github.com/mrdoob/three.js/issues/26137
"""

import numpy as np
import pytest

from bunraku.model import Geometry
from bunraku.skinning import deform


@pytest.mark.parametrize("influences", [5, 8, 12])
def test_every_influence_counts(influences):
    palette = np.tile(np.eye(4)[:3], (influences, 1, 1))
    palette[:, 0, 3] = 2.0 ** np.arange(influences)
    rig = Geometry(
        [[0, 0, 0]],
        joints=[range(influences)],
        weights=np.full((1, influences), 1 / influences),
    )
    expected = [[(2.0**influences - 1) / influences, 0, 0]]
    for method in ("lbs", "dqs"):
        moved = deform(rig, palette, method=method).positions[0]
        np.testing.assert_allclose(moved, expected, rtol=1e-6)
