"""UniVRM #127: a skin without inverse bind matrices did not move.

https://github.com/vrm-c/UniVRM/issues/127
"""

import numpy as np

from bunraku.formats.gltf import character_from_gltf, read_gltf
from tests.formats.sketch import skinned


def test_missing_inverse_bind_matrices_are_identity_matrices():
    (skin,) = character_from_gltf(read_gltf(skinned([[1, 0, 0, 0]] * 3).glb())).skins
    assert np.array_equal(skin.inverse_bind_matrices, np.tile(np.eye(4), (2, 1, 1)))
