"""trimesh #1496: rays from the middle of a subdivided box to the corners of a larger one got out.

https://github.com/mikedh/trimesh/issues/1496
"""

import numpy as np
import pytest

from bunraku.query import Bvh


def box(size, cuts):
    """A box of `size` around 0, each side cut into cuts × cuts squares of two triangles."""
    grid = np.linspace(-size / 2, size / 2, cuts + 1)
    a, b = (x.ravel() for x in np.meshgrid(grid, grid))
    corner = (np.arange(cuts)[:, None] * (cuts + 1) + np.arange(cuts)).ravel()
    square = np.stack([corner, corner + 1, corner + cuts + 2, corner + cuts + 1], axis=1)
    sides, faces = [], []
    for axis in range(3):
        for at in (-size / 2, size / 2):
            faces.append(
                np.concatenate([square[:, [0, 1, 2]], square[:, [0, 2, 3]]]) + len(a) * len(sides)
            )
            sides.append(np.roll(np.stack([np.full(len(a), at), a, b], axis=1), axis, axis=1))
    return np.concatenate(sides), np.concatenate(faces)


@pytest.mark.parametrize("cuts", [1, 2, 8, 16])
def test_no_ray_leaves_a_box(cuts):
    targets, _ = box(60, cuts)
    hits = Bvh(*box(40, cuts)).closest_hit([0, 0, 0], targets)
    assert hits.hit.all()
    assert np.allclose(hits.t, 2 / 3, rtol=1e-6)
