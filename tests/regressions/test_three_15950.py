"""three.js #15950: a model turned by CUBICSPLINE keys was squeezed as well.

https://github.com/mrdoob/three.js/issues/15950
"""

import numpy as np

from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample


def test_large_tangents_keep_the_length_and_the_formula():
    a, b = np.array([0, 0, 0, 1.0]), np.array([0, 0.6, 0, 0.8])
    leave, arrive = np.array([3, -5, 0, 4.0]), np.array([0, 7, 2, -6.0])
    values = [[a, a, leave], [arrive, b, b]]
    track = Track(0, "rotation", [0, 2], values, "CUBICSPLINE")
    bound = bind(Clip("c", (track,)), Character(Skeleton(("root",), [-1])))
    for u in np.linspace(0.05, 0.95, 19):
        rotation = sample(bound, 2 * u).rotations[0, 0]
        h = 3 * u**2 - 2 * u**3
        spline = (1 - h) * a + h * b + 2 * ((u**3 - 2 * u**2 + u) * leave + (u**3 - u**2) * arrive)
        assert abs(np.linalg.norm(rotation) - 1) < 1e-15
        np.testing.assert_allclose(rotation, spline / np.linalg.norm(spline), atol=1e-7)
