"""gltflib 1.0.13 drops JOINTS_1 and WEIGHTS_1 on load: eight influences become four.

https://pypi.org/project/gltflib/
"""

import numpy as np

from bunraku.formats import load, save
from tests.formats.sketch import skinned


def test_every_set_is_read_and_written(tmp_path):
    row = [0.1, 0.1, 0.2, 0.1, 0.2, 0.1, 0.1, 0.1]
    slots = np.tile([0, 1, 0, 1, 1, 0, 1, 0], (3, 1))
    (tmp_path / "a.glb").write_bytes(skinned([row] * 3, joints=slots).glb())
    save(load(tmp_path / "a.glb"), tmp_path / "b.glb")
    for name in ("a.glb", "b.glb"):
        geometry = load(tmp_path / name).meshes[0].geometries[0]
        assert geometry.joints is not None
        assert geometry.weights is not None
        assert geometry.joints.tolist() == slots.tolist()
        assert np.allclose(geometry.weights, row, rtol=0, atol=1e-7)
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()
