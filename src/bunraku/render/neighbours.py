"""What the pixels of a picture have in common with those beside and below them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Float32
from bunraku.render.color import Bytes, to_srgb
from bunraku.render.scene import Index, Sight

Bool = npt.NDArray[np.bool_]
STEP = 10  # sRGB steps between neighbours from which a pixel is looked at more closely
BEND = 0.85  # cosine between normals, and
DEPTH = 0.006  # share of the distance: neighbours that differ less see the same surface


class Neighbours:
    """The first surfaces that the pixels (H, W) of a grid see.

    Attributes:
        right: (H, W − 1) whether a pixel and the one right of it see the same surface.
        down: (H − 1, W) whether a pixel and the one below it do.
        crossing_right, crossing_down: whether they see different surfaces or different paint.
    """

    def __init__(
        self, grid: tuple[int, int], sight: Sight, normals: Float32, ground: Index
    ) -> None:
        count = grid[0] * grid[1]
        facing = np.zeros((count, 3), np.float32)
        facing[sight.ray], facing[ground] = normals, (0, 1, 0)
        # All of the ground is one plane, however far apart two pixels lie on it.
        depth = np.full(count, np.inf, np.float32)
        depth[sight.ray], depth[ground] = sight.t, 0
        paint = np.zeros((count, 4), np.uint8)
        paint[sight.ray] = to_srgb(sight.color)
        # What is seen through something else is not known here.
        clear = np.zeros(count, np.bool_)
        clear[sight.ray] = sight.color[:, 3] < 1
        self._grid = grid
        self._facing, self._depth = facing.reshape(*grid, 3), depth.reshape(grid)
        self._paint, self._clear = paint.reshape(*grid, 4), clear.reshape(grid)
        whole, before, after = slice(None), slice(None, -1), slice(1, None)
        self.right, self.crossing_right = self._compared((whole, before), (whole, after))
        self.down, self.crossing_down = self._compared((before, whole), (after, whole))

    def _compared(self, one: tuple[slice, slice], other: tuple[slice, slice]) -> tuple[Bool, Bool]:
        bend = np.einsum("ijk,ijk->ij", self._facing[one], self._facing[other])
        near, far = self._depth[one], self._depth[other]
        with np.errstate(invalid="ignore"):
            same = (bend > BEND) & (np.abs(near - far) <= DEPTH * near)
        nothing = np.isinf(near) & np.isinf(far)
        crossing = ~(same | nothing) | self._clear[one] | self._clear[other]
        crossing |= contrast(self._paint[one], self._paint[other])
        return same, crossing

    def smoothed(self, shares: Float32, rays: Index) -> Float32:
        """Means of shares (N, C) of some pixels over the 4 × 4 around each on the same surface.

        Any such square holds every pattern of directions once (interleaved sampling, Keller and
        Heidrich 2001).
        """
        whole = np.ones((self._grid[0] * self._grid[1], shares.shape[1]), np.float32)
        whole[rays] = shares
        grid = whole.reshape(*self._grid, -1)
        across = _run_means(grid.transpose(1, 0, 2), self.right.T).transpose(1, 0, 2)
        return _run_means(across, self.down).reshape(-1, shares.shape[1])[rays]


def contrast(one: Bytes, other: Bytes) -> Bool:
    """Whether colours (…, C) differ by more than `STEP` in any channel."""
    differs = np.maximum(one, other) - np.minimum(one, other) > STEP
    found = differs[..., 0].copy()
    for channel in range(1, differs.shape[-1]):
        found |= differs[..., channel]
    return found


def _run_means(values: Float32, linked: Bool) -> Float32:
    """Means over rows −1 … 2 of each row, as far as they are linked one by one."""
    link = linked.astype(np.float32)[..., None]
    total, count = values.copy(), np.ones((*values.shape[:2], 1), np.float32)
    total[1:] += values[:-1] * link
    count[1:] += link
    total[:-1] += values[1:] * link
    count[:-1] += link
    twice = link[:-1] * link[1:]
    total[:-2] += values[2:] * twice
    count[:-2] += twice
    return np.asarray(total / count, np.float32)
