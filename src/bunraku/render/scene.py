"""A surface at one moment, and what rays see of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Float32, Int32
from bunraku.query import Bvh, Camera
from bunraku.render.surface import Surface

Index = npt.NDArray[np.intp]
LAYERS = 16  # surfaces that a ray may pass unseen: cut out, clear, or seen from behind


@dataclass(frozen=True, eq=False, slots=True)
class Sight:
    """The first surface that is to be seen along each of K rays.

    Attributes:
        ray: (K,) which of the rays that were asked; those that see nothing are left out.
        t: (K,) float32.
        triangle: (K,) int32.
        weights: (K, 3) float32 barycentrics.
        color: (K, 4) float32 linear base colour and alpha, above 0.
    """

    ray: Index
    t: Float32
    triangle: Int32
    weights: Float32
    color: Float32


class Scene:
    """A surface in one pose and paint after another; trees are refit from each to the next."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        sides = np.array([each.double_sided for each in surface.materials])
        self._one_sided = ~sides[surface.material]
        self._front_only = bool(self._one_sided.all())
        self._tree: Bvh | None = None
        self._casters: Bvh | None = None

    def move(self, surface: Surface, positions: Float32, normals: Float32) -> None:
        """Take a pose: (V, 3) positions and unit normals, or normals of 0 for flat faces.

        Args:
            surface: the one this scene was made of, maybe repainted.
        """
        before, self.surface = self.surface, surface
        faces = surface.faces
        if self._tree is None:
            self._tree = Bvh(positions, faces)
        else:
            self._tree.update(positions)
        if self._casters is None or not np.array_equal(before.casts, surface.casts):
            self._casters = Bvh(positions, self._shading_faces())
        else:
            self._casters.update(positions)
        self.corners = positions[faces]
        self.corner_normals = normals[faces]
        one = self.corners[:, 1] - self.corners[:, 0]
        two = self.corners[:, 2] - self.corners[:, 0]
        with np.errstate(invalid="ignore", over="ignore"):
            cross = np.cross(one, two)
            double_area = np.sqrt(np.einsum("ij,ij->i", cross, cross))
            self.face_normals = cross / np.maximum(double_area, np.float32(1e-30))[:, None]
            # Texels along a metre of the surface.
            density = self.surface.texel_area / np.maximum(double_area / 2, np.float32(1e-30))
            self._density = np.sqrt(density)
        low, high = self.tree.bounds
        self.low, self.high = low, high
        self.diagonal = float(np.linalg.norm(high - low)) if (low <= high).all() else 0.0

    def _shading_faces(self) -> Int32:
        """Faces that light cannot pass, wound so that a ray towards it meets their front.

        Light sees a one-sided surface from its front only: what a ray from a shaded point sees
        from behind. So closed bodies shade by the side that is turned away from the point, and
        nothing shades itself where light grazes; walls that the camera looks through (and hulls
        turned inside out, which draw outlines) let light through, too.
        """
        solid = self.surface.casts
        faces, one_sided = self.surface.faces[solid], self._one_sided[solid]
        return np.concatenate([faces[:, ::-1], faces[~one_sided]])

    @property
    def casters(self) -> Bvh:
        """The triangles that throw shadows."""
        assert self._casters is not None, "move() first"
        return self._casters

    @property
    def tree(self) -> Bvh:
        """All triangles."""
        assert self._tree is not None, "move() first"
        return self._tree

    def look(
        self,
        origins: Float32,
        directions: Float32,
        camera: Camera,
        height: int,
        after: Float32 | float,
    ) -> Sight:
        """The first surface along each ray (N, 3) that is to be seen, from t = `after` on.

        Cut-out and clear places, and one-sided surfaces seen from behind, are looked through.
        """
        rays = np.arange(len(origins))
        start: Float32 | float = after
        found: list[Sight] = []
        for _ in range(LAYERS):
            hits = self.tree.closest_hit(
                origins[rays], directions[rays], t_min=start, front_only=self._front_only
            )
            at = np.flatnonzero(hits.primitive >= 0)
            rays, t, triangle = rays[at], hits.t[at], hits.primitive[at]
            u, v = hits.u[at], hits.v[at]
            weights = np.stack([1 - u - v, u, v], -1)
            texels = self._density[triangle] * camera.pixel_size(t, height)
            color = self.surface.paint(triangle, weights, texels)
            seen = color[:, 3] > 0
            if not self._front_only:
                facing = np.einsum("ij,ij->i", directions[rays], self.face_normals[triangle])
                seen &= (facing <= 0) | ~self._one_sided[triangle]
            if seen.all():
                found.append(Sight(rays, t, triangle, weights, color))
                break
            found.append(Sight(rays[seen], t[seen], triangle[seen], weights[seen], color[seen]))
            rays, start = rays[~seen], np.nextafter(t[~seen], np.float32(np.inf))
        return _joined(found)

    def lit_from(self, sight: Sight, directions: Float32) -> tuple[Float32, Float32]:
        """Where light is looked for and the shading normal (K, 3) there, on the side that is seen.

        Flat triangles under smooth normals shade themselves in facets where light grazes them.
        Starting from the tangent planes of the corners, on the curved surface that the normals
        mean, avoids it (Hanika, "Hacking the shadow terminator", Ray Tracing Gems II, 2021).
        """
        face = self.face_normals[sight.triangle]
        behind = np.einsum("ij,ij->i", directions[sight.ray], face) > 0
        side = np.where(behind, np.float32(-1), np.float32(1))[:, None]
        face = face * side
        corner_normals = self.corner_normals.take(sight.triangle, axis=0)
        smooth = np.einsum("nk,nkc->nc", sight.weights, corner_normals) * side
        length = np.sqrt(np.einsum("ij,ij->i", smooth, smooth))
        flat = ~(length > 1e-3)
        smooth /= np.where(flat, np.float32(1), length)[:, None]
        smooth[flat] = face[flat]
        corners = self.corners.take(sight.triangle, axis=0)
        points = np.einsum("nk,nkc->nc", sight.weights, corners)
        away = points[:, None] - corners
        below = np.minimum(np.einsum("nkc,nkc->nk", away, corner_normals) * side, 0)
        points -= np.einsum("nk,nkc->nc", below * sight.weights * side, corner_normals)
        points += face * np.float32(1e-4 * self.diagonal)
        return points, smooth

    def blocked(self, origins: Float32, directions: Float32) -> npt.NDArray[np.bool_]:
        """Whether something keeps light from coming down each ray."""
        return self.casters.any_hit(origins, directions, front_only=True)


def _joined(parts: list[Sight]) -> Sight:
    if len(parts) == 1:
        return parts[0]
    return Sight(
        np.concatenate([part.ray for part in parts]),
        np.concatenate([part.t for part in parts]),
        np.concatenate([part.triangle for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.color for part in parts]),
    )
