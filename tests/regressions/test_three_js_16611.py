"""three.js #16611: weights stored as bytes were divided by their largest value twice.

https://github.com/mrdoob/three.js/pull/16611
"""

import numpy as np
import pytest

from bunraku.formats.gltf import character_from_gltf, read_gltf
from tests.formats.sketch import skinned


@pytest.mark.parametrize(("dtype", "row"), [("u1", [128, 127, 0, 0]), ("u2", [32896, 32639, 0, 0])])
def test_integer_weights_are_fractions(dtype, row):
    character = character_from_gltf(read_gltf(skinned([row] * 3, dtype).glb()))
    weights = character.meshes[0].geometries[0].weights
    assert weights is not None
    assert np.allclose(weights, [128 / 255, 127 / 255, 0, 0], rtol=0, atol=1e-7)
    assert np.round(weights[0], 3).tolist() == np.float32([0.502, 0.498, 0, 0]).tolist()
    assert character.notes == ()
