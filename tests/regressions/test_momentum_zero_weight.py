"""momentum stops reading a vertex's influences at the first zero: (½, 0, ½) lost half.

https://github.com/facebookresearch/momentum
"""

import numpy as np

from bunraku.formats.gltf import character_from_gltf, read_gltf
from tests.formats.sketch import skinned


def test_influences_after_a_zero_weight_count():
    sketch = skinned([[0.5, 0, 0.5, 0]] * 3, joints=[[0, 0, 1, 0]] * 3)
    geometry = character_from_gltf(read_gltf(sketch.glb())).meshes[0].geometries[0]
    assert geometry.joints is not None
    assert geometry.weights is not None
    held = np.zeros(2)
    np.add.at(held, geometry.joints[0], geometry.weights[0])
    assert held.tolist() == [0.5, 0.5]
