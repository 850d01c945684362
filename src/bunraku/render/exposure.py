"""From rays to pixels: what every pixel of one picture receives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.model.arrays import Float32, Float64
from bunraku.query import Camera
from bunraku.render import light
from bunraku.render.color import Bytes, heat_colors, to_linear, to_srgb
from bunraku.render.heat import Heat
from bunraku.render.neighbours import Bool, Neighbours, contrast
from bunraku.render.scene import Index, Scene, Sight

Color = tuple[int, int, int]
BATCH = 1 << 15  # rays that a thread works on at a time: its arrays take some 30 MB
BLENDED = 6  # surfaces composited behind one another
# Where a pixel is looked at again, off its middle: a rotated grid.
_FINE = np.array([[-0.125, -0.375], [0.375, -0.125], [0.125, 0.375], [-0.375, 0.125]])
_HALO = 2  # rows that a band needs of its neighbours for smoothing, above; one more than below


@dataclass(frozen=True, eq=False, slots=True)
class _First:
    """What N rays see first: a surface, the ground near the figure, or nothing.

    Attributes:
        sight: the surfaces.
        points, normals: (K, 3) where light is looked for on them, and which way is out.
        ground: (G,) rays that see the ground.
        spots: (G, 3) where.
    """

    sight: Sight
    points: Float32
    normals: Float32
    ground: Index
    spots: Float32


@dataclass(frozen=True, eq=False)
class Exposure:
    """One picture of a scene.

    Attributes:
        scene: posed.
        camera, size: from where, and width and height in pixels.
        ground: height of the ground, or None.
        heat: values in place of the paint, or None.
        background: sRGB at top and bottom, or None for a picture with alpha.
    """

    scene: Scene
    camera: Camera
    size: tuple[int, int]
    ground: float | None
    heat: Heat | None
    background: tuple[Color, Color] | None

    def develop(self, *, smooth_edges: bool) -> Bytes:
        """The picture: (H, W, 3) sRGB bytes, (H, W, 4) without a background."""
        width, height = self.size
        picture = np.empty((height, width, 3 if self.background is not None else 4), np.uint8)
        rows = max(4, BATCH // width)
        across = np.zeros((height, width - 1), np.bool_)
        down = np.zeros((height, width), np.bool_)

        def band(top: int) -> None:
            bottom = min(height, top + rows)
            seen, pixels = self._band(top, bottom)
            first = min(top, _HALO)
            here = slice(first, first + bottom - top)
            picture[top:bottom] = self._bytes(seen[here], np.arange(top, bottom))
            across[top:bottom] = pixels.crossing_right[here]
            below = pixels.crossing_down[here]
            down[top : top + len(below)] = below

        def again(pixels: Index) -> None:
            y, x = np.divmod(pixels, width)
            total = np.zeros((len(pixels), 4), np.float32)
            for k, (dx, dy) in enumerate(_FINE):
                # The same sets of directions for every pixel: no neighbours smooth them here, and
                # a small error in common is not seen where one that differs is.
                pattern = np.full(len(pixels), 4 * k)
                rays = self.camera.rays(x + 0.5 + dx, y + 0.5 + dy, self.size)
                total += self._seen(*rays, pattern, self._first(*rays))
            picture[y, x] = self._bytes(total[:, None] * np.float32(0.25), y)[:, 0]

        _in_threads(band, range(0, height, rows))
        if smooth_edges:
            across &= contrast(picture[:, :-1], picture[:, 1:])
            down[:-1] &= contrast(picture[:-1], picture[1:])
            edges = np.flatnonzero(_either(across, down[:-1]))
            _in_threads(again, np.array_split(edges, max(2, -(-len(edges) // BATCH))))
        return picture

    def _band(self, top: int, bottom: int) -> tuple[Float32, Neighbours]:
        """Premultiplied linear colour and alpha (rows, W, 4) of some rows and those around."""
        width, height = self.size
        y, x = np.mgrid[max(0, top - _HALO) : min(height, bottom + _HALO), 0:width]
        rays = self.camera.rays(x.ravel() + 0.5, y.ravel() + 0.5, self.size)
        pattern = light.ORDER[y % 4, x % 4].ravel()
        first = self._first(*rays)
        pixels = Neighbours(y.shape, first.sight, first.normals, first.ground)
        seen = self._seen(*rays, pattern, first, pixels)
        return seen.reshape(*y.shape, 4), pixels

    def _seen(
        self,
        origins: Float32,
        directions: Float32,
        pattern: Index,
        first: _First,
        pixels: Neighbours | None = None,
    ) -> Float32:
        """Premultiplied linear colour and alpha (N, 4) of what rays see, the ground included.

        Args:
            first: what they see first.
            pixels: if the rays are those of a grid: neighbours share the light they find.
        """
        seen = np.zeros((len(origins), 4), np.float32)
        through = np.ones(len(origins), np.float32)
        rays = np.arange(len(origins))
        for layer in range(BLENDED):
            color, alpha = self._shaded(first, directions[rays], pattern[rays], pixels)
            weight = through[rays] * alpha
            seen[rays, :3] += color * weight[:, None]
            seen[rays, 3] += weight
            through[rays] -= weight
            on = np.flatnonzero(first.sight.color[:, 3] < 0.99)
            if not len(on) or layer == BLENDED - 1:
                break
            after = np.nextafter(first.sight.t[on], np.float32(np.inf))
            rays = rays[first.sight.ray[on]]
            first, pixels = self._first(origins[rays], directions[rays], after), None
        return seen

    def _first(self, origins: Float32, directions: Float32, after: Float32 | float = 0.0) -> _First:
        sight = self.scene.look(origins, directions, self.camera, self.size[1], after)
        points, normals = self.scene.lit_from(sight, directions)
        return _First(sight, points, normals, *self._on_ground(origins, directions, sight))

    def _shaded(
        self, first: _First, directions: Float32, pattern: Index, pixels: Neighbours | None
    ) -> tuple[Float32, Float32]:
        """Colour (N, 3) and alpha (N,) of the first thing each ray sees."""
        key = light.key_direction(self.camera.axes)
        sight, spots = first.sight, first.spots
        where = np.concatenate([sight.ray, first.ground])
        up = np.broadcast_to(np.array([0, 1, 0], np.float32), spots.shape)
        points = np.concatenate([first.points, spots])
        normals = np.concatenate([first.normals, up])
        shares = light.reaching(self.scene, points, normals, key, pattern[where])
        if pixels is not None:
            shares = pixels.smoothed(shares, where)
        color = np.zeros((len(directions), 3), np.float32)
        alpha = np.zeros(len(directions), np.float32)
        count = len(sight.ray)
        lit = light.radiance(first.normals, -directions[sight.ray], shares[:count], key)
        color[sight.ray] = self._painted(sight, lit)
        alpha[sight.ray] = sight.color[:, 3]
        # The ground is nothing but its shadow, which fades out before the picture's horizon.
        middle, reach = self._stand()
        distance = np.hypot(spots[:, 0] - middle[0], spots[:, 2] - middle[2])
        fade = np.clip(2 - 2 * distance / reach, 0, 1)
        alpha[first.ground] = light.ground_shadow(shares[count:], key) * fade
        return color, alpha

    def _painted(self, sight: Sight, lit: Float32) -> Float32:
        if self.heat is None:
            return sight.color[:, :3] * lit
        corners = self.heat.values[self.scene.surface.faces[sight.triangle]]
        values = np.einsum("nk,nk->n", sight.weights, corners)
        # Numbers are read from colours: form shows, but does not drown them.
        return to_linear(heat_colors(self.heat.shares(values))) * (0.35 + 0.65 * lit)

    def _on_ground(
        self, origins: Float32, directions: Float32, sight: Sight
    ) -> tuple[Index, Float32]:
        """Rays that see nothing but ground near the figure, and where (K, 3)."""
        if self.ground is None or self.scene.diagonal == 0:
            return np.zeros(0, np.intp), np.zeros((0, 3), np.float32)
        free = np.ones(len(origins), np.bool_)
        free[sight.ray] = False
        height = origins[:, 1] - np.float32(self.ground)
        rays = np.flatnonzero(free & (directions[:, 1] < -1e-4) & (height > 0))
        t = height[rays] / -directions[rays, 1]
        points = origins[rays] + directions[rays] * t[:, None]
        points[:, 1] = self.ground
        middle, reach = self._stand()
        near = np.hypot(points[:, 0] - middle[0], points[:, 2] - middle[2]) < reach
        return rays[near], points[near]

    def _stand(self) -> tuple[Float32, float]:
        return (self.scene.low + self.scene.high) / 2, 1.6 * self.scene.diagonal

    def _bytes(self, seen: Float32, rows: npt.NDArray[np.integer]) -> Bytes:
        return _bytes(seen, (rows + 0.5) / self.size[1], self.background)


def nothing(size: tuple[int, int], background: tuple[Color, Color] | None) -> Bytes:
    """The picture of a stage that shows nothing."""
    width, height = size
    column = np.zeros((height, 1, 4), np.float32)
    return _bytes(column, (np.arange(height) + 0.5) / height, background).repeat(width, axis=1)


def _bytes(seen: Float32, down: Float64, background: tuple[Color, Color] | None) -> Bytes:
    """sRGB bytes of premultiplied colour and alpha (R, K, 4) on rows (R,) 0 … 1 from the top."""
    color, alpha = seen[..., :3], seen[..., 3:]
    if background is None:
        straight = to_srgb(color / np.maximum(alpha, np.float32(1e-6)))
        opacity = np.rint(np.clip(alpha, 0, 1) * 255).astype(np.uint8)
        return np.concatenate([straight, opacity], axis=-1)
    top, bottom = np.array(background, np.float64)
    # Straight between the ends as the eye sees it, so mixed in sRGB.
    behind = _to_linear_exactly(top + (bottom - top) * down[:, None])
    return to_srgb(color + behind[:, None] * (1 - alpha))


def _to_linear_exactly(srgb: npt.NDArray[np.float64]) -> Float32:
    """Linear values of sRGB numbers 0 … 255 between the bytes, too."""
    steps = np.arange(256)
    return np.interp(srgb, steps, to_linear(steps)).astype(np.float32)


def _either(right: Bool, down: Bool) -> Bool:
    """Pixels (H, W) on either side of a crossing between neighbours."""
    found = np.zeros((len(right), down.shape[1]), np.bool_)
    found[:, 1:] |= right
    found[:, :-1] |= right
    found[1:] |= down
    found[:-1] |= down
    return found


def _in_threads(work: Callable[[Any], None], items: Iterable[Any]) -> None:
    """Do all the work; NumPy lets other threads run while it computes."""
    with ThreadPoolExecutor(_core.thread_count()) as pool:
        for _ in pool.map(work, items):
            pass
