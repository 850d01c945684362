"""three.js #22339: without normalising after the spline, a turning model stretched and shrank.

https://github.com/mrdoob/three.js/issues/22339
"""

import numpy as np

from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample
from bunraku.posing import global_transforms


def test_a_spline_between_distant_rotations_does_not_scale_the_node():
    none, half = np.zeros(4), 0.5**0.5
    keys = [
        [none, [0, 0, 0, 1], none],
        [none, [0, 0, 1, 0], none],
        [none, [half, 0, 0, -half], none],
    ]
    track = Track(0, "rotation", [0, 1, 2], keys, "CUBICSPLINE")
    character = Character(Skeleton(("root",), [-1]))
    pose = sample(bind(Clip("c", (track,)), character), np.linspace(0, 2, 41))
    np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=-1), 1, atol=1e-15)
    linear = global_transforms(character.skeleton, pose)[:, 0, :, :3]
    np.testing.assert_allclose(np.linalg.det(linear), 1, atol=1e-14)
