"""Where a picture is taken from: rays through pixels, pixels of points, points behind pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Float64, checked
from bunraku.query.rays import numbers, triples


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera; it looks along its −Z, its +X is right and its +Y up in the picture, as in glTF.

    Attributes:
        eye: (3,) float64 position, metres.
        axes: (3, 3) float64; rows are right, up and backwards, orthonormal, in world space.
        half_height: half the picture's height: of a perspective picture one metre ahead (the
            tangent of half the vertical field of view, glTF's yfov), of an orthographic one in
            metres (its ymag).
        orthographic: whether all rays are parallel.

    Pixel coordinates run right and down from the upper left corner of a picture whose size is
    (width, height); the middle of the first pixel is (0.5, 0.5).

    Raises:
        RigError: axes that are no right-handed rotation, a height of 0 or below, numbers that are
            not finite.

    >>> camera = Camera([0, 0, 5], np.eye(3), 1.0)
    >>> camera.project([[0, 0, 0], [5, 5, 0]], (64, 64)).tolist()
    [[32.0, 32.0, 5.0], [64.0, 0.0, 5.0]]
    """

    eye: Float64
    axes: Float64
    half_height: float
    orthographic: bool = False

    def __post_init__(self) -> None:
        axes = checked(self.axes, np.float64, (3, 3), "camera.axes")
        if not np.allclose(axes @ axes.T, np.eye(3), atol=1e-6) or np.linalg.det(axes) < 0:
            raise RigError("camera.axes: expected right-handed orthonormal rows")
        half = numbers(self.half_height, "camera.half_height")
        if half.ndim or not 0 < half < np.inf:
            raise RigError(f"camera.half_height: expected above 0, found {self.half_height}")
        object.__setattr__(self, "half_height", float(half))
        object.__setattr__(self, "eye", checked(self.eye, np.float64, (3,), "camera.eye"))
        object.__setattr__(self, "axes", axes)

    def rays(
        self, x: npt.ArrayLike, y: npt.ArrayLike, size: tuple[int, int]
    ) -> tuple[Float32, Float32]:
        """Origins and unit directions (…, 3) through pixels: what `Bvh.closest_hit` takes.

        Rays of a perspective camera start at its eye, those of an orthographic one beside it.
        """
        plane = self._plane(x, y, size)
        if self.orthographic:
            origins = (self.eye + plane).astype(np.float32)
            return origins, np.broadcast_to((-self.axes[2]).astype(np.float32), origins.shape)
        directions = plane - self.axes[2]
        directions /= np.sqrt(np.einsum("...i,...i->...", directions, directions))[..., None]
        return (
            np.broadcast_to(self.eye.astype(np.float32), directions.shape),
            directions.astype(np.float32),
        )

    def project(self, points: npt.ArrayLike, size: tuple[int, int]) -> Float64:
        """Pixel x, y and the distance ahead (…, 3) of points (…, 3).

        A point that is not in front of a perspective camera is on no pixel: x and y are NaN.
        """
        width, height = size
        local = (triples(points, "points").astype(np.float64) - self.eye) @ self.axes.T
        ahead = -local[..., 2]
        depth = np.ones_like(ahead) if self.orthographic else np.where(ahead > 0, ahead, np.nan)
        plane = local[..., :2] * (height / (2 * self.half_height)) / depth[..., None]
        return np.stack([width / 2 + plane[..., 0], height / 2 - plane[..., 1], ahead], -1)

    def unproject(self, pixels: npt.ArrayLike, size: tuple[int, int]) -> Float64:
        """Points (…, 3) at pixel x, y and a distance ahead (…, 3): the inverse of `project`."""
        x, y, ahead = np.moveaxis(triples(pixels, "pixels").astype(np.float64), -1, 0)
        spread = np.ones_like(ahead) if self.orthographic else ahead
        plane = self._plane(x, y, size) * spread[..., None]
        return np.asarray(self.eye + plane - ahead[..., None] * self.axes[2])

    def _plane(self, x: npt.ArrayLike, y: npt.ArrayLike, size: tuple[int, int]) -> Float64:
        """Ways (…, 3) from the middle to pixels on the plane where the picture is 2 half_height."""
        width, height = size
        scale = 2 * self.half_height / height
        right = (numbers(x, "x").astype(np.float64) - width / 2) * scale
        up = (height / 2 - numbers(y, "y").astype(np.float64)) * scale
        return np.asarray(right[..., None] * self.axes[0] + up[..., None] * self.axes[1])

    def orbited(self, turn: float, pivot: npt.ArrayLike) -> Camera:
        """This camera gone around the upright through a point, counter-clockwise from above."""
        sin, cos = np.sin(float(turn)), np.cos(float(turn))
        around = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])
        middle = checked(pivot, np.float64, (3,), "pivot")
        eye = middle + around @ (self.eye - middle)
        return Camera(eye, self.axes @ around.T, self.half_height, self.orthographic)

    def pixel_size(self, distance: Float32, height: int) -> Float32:
        """How large a pixel is, in metres, at distances along rays."""
        size = np.float32(2 * self.half_height / height)
        return np.full_like(distance, size) if self.orthographic else distance * size

    def __repr__(self) -> str:
        at, along = (", ".join(f"{x:g}" for x in v) for v in (self.eye, 0 - self.axes[2]))
        kind = "orthographic" if self.orthographic else "perspective"
        return f"Camera({kind}, at ({at}), looking along ({along}))"
