"""assimp #4823: a skinned mesh did not come back in its bind pose.

https://github.com/assimp/assimp/issues/4823
"""

import numpy as np
import pytest

from bunraku.model import Geometry
from bunraku.rotation import quaternion
from bunraku.skinning import deform


@pytest.mark.parametrize("method", ["lbs", "dqs"])
def test_bind_pose_returns_the_input(method):
    rng = np.random.default_rng(4823)
    positions = rng.uniform(-1, 1, (200, 3)).astype(np.float32)
    weights = rng.random((200, 4))
    rig = Geometry(
        positions,
        joints=rng.integers(0, 12, (200, 4)),
        weights=weights / weights.sum(axis=1, keepdims=True),
    )
    binds = np.tile(np.eye(4), (12, 1, 1))
    binds[:, :3, :3] = quaternion.to_matrix(quaternion.normalize(rng.normal(size=(12, 4))))
    binds[:, :3, :3] *= rng.uniform(0.2, 5, (12, 1, 3))
    binds[:, :3, 3] = rng.uniform(-1, 1, (12, 3))
    palette = (binds @ np.linalg.inv(binds))[:, :3]
    moved = deform(rig, palette, method=method).positions[0]
    np.testing.assert_allclose(moved, positions, atol=2e-6)
