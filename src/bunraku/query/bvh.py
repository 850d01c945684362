"""A bounding-volume hierarchy: rays, closest points and overlaps against many primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Int32, checked
from bunraku.query.hits import AllHits, Hits, Nearest, shaped, unwritten
from bunraku.query.primitives import Builder, Kind, extents_of, limited, need_triangles
from bunraku.query.rays import (
    INFINITY,
    Limits,
    broadcast_rays,
    numbers,
    per_ray,
    points_of,
    truth,
)

# The `quality` at which `update` builds anew. Rays slow down as it says: 1.2, 1.5, 2.0, 2.8 for a
# twisted sphere of 80k triangles take 1.2, 1.45, 1.9, 2.3 × as long as in a new tree. A build costs
# about 18 refits; at 1.5 it is earned back by two rays a triangle, at 2 by one.
WORN = 1.5


class Bvh:
    """A tree over triangles, or over boxes or spheres (`Bvh.of_boxes`, `Bvh.of_spheres`).

    Answers are those of testing every primitive in float32, to the bit, whatever the tree, the
    instruction set and the number of threads; of hits at the same t, the lowest index is the
    closest. Triangles are watertight (Woop, Benthin and Wald 2013): no ray passes between two
    that share an edge or a vertex. A triangle that is degenerate seen along the ray, a primitive
    with a coordinate that is not finite or beyond 1.1e18, and a ray with a direction of zero or
    numbers that are not finite hit nothing; they never hide anything else.

    Any number of threads may ask at once, and Python runs on while they do. A `refit` waits for
    queries under way to finish, and queries that come later wait for it. Copies and pickles hold
    the primitives where they are then, and build a tree of their own.

    Args:
        vertices: (V, 3) float32, metres.
        faces: (F, 3) int32, vertices of each triangle, counter-clockwise seen from its front.
        builder: "sah" splits by surface area in 16 bins (MacDonald and Booth 1990, Wald 2007);
            "median" in two halves along the longest axis, as text-books do.
        width: children of a node, 2 … 8.
        leaf_size: primitives of a leaf, 1 … 8. With `width=2`, "median" and 2 the tree is the
            text-books'.

    Raises:
        RigError: wrong shapes or types, a face outside the vertices, an unknown builder.

    >>> quad = Bvh([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], [[0, 1, 2], [0, 2, 3]])
    >>> hits = quad.closest_hit([[1, 1, 5], [3, 1, 5]], [0, 0, -1])
    >>> hits.t, hits.primitive
    (array([ 5., inf], dtype=float32), array([ 0, -1], dtype=int32))
    """

    cast: Callable[..., tuple[float, int, float, float] | None]
    """One ray at the least cost: `cast(ox, oy, oz, dx, dy, dz, t_min=0, t_max=inf)`, or
    `cast(origin, direction, t_min=0, t_max=inf)` with three numbers each, fastest as arrays of
    float32 or float64. Answers (t, primitive, u, v), or None for a miss."""

    def __init__(
        self,
        vertices: npt.ArrayLike,
        faces: npt.ArrayLike,
        *,
        builder: Builder = "sah",
        width: int = 8,
        leaf_size: int = 8,
    ) -> None:
        points = checked(vertices, np.float32, (None, 3), "vertices", finite=False)
        # The core checks the range: a second look would cost a tenth of the build.
        exact = isinstance(faces, np.ndarray) and faces.dtype == np.int32 and faces.ndim == 2
        triangles = (
            np.ascontiguousarray(faces) if exact else checked(faces, np.int32, (None, 3), "faces")
        )
        self._set("triangles", points, None, triangles, builder, width, leaf_size)

    @classmethod
    def of_boxes(
        cls,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        *,
        builder: Builder = "sah",
        width: int = 8,
        leaf_size: int = 8,
    ) -> Bvh:
        """A tree over N axis-aligned boxes, corners (N, 3) float32 each.

        Rays meet their surface: t is where one enters, or leaves if it starts inside. A ray that
        runs in a face or touches an edge meets the box. A box with low > high is never met.

        >>> boxes = Bvh.of_boxes([[-1, -1, -1]], [[1, 1, 1]])
        >>> boxes.closest_hit([[-3, 0, 0], [0, 0, 0], [-3, 1, 0]], [1, 0, 0]).t
        array([2., 1., 2.], dtype=float32)
        """
        points, extents = extents_of("boxes", low, high, "low", "high")
        self = cls.__new__(cls)
        self._set("boxes", points, extents, None, builder, width, leaf_size)
        return self

    @classmethod
    def of_spheres(
        cls,
        centers: npt.ArrayLike,
        radii: npt.ArrayLike,
        *,
        builder: Builder = "sah",
        width: int = 8,
        leaf_size: int = 8,
    ) -> Bvh:
        """A tree over N spheres, centres (N, 3) and radii (N,) float32.

        A sphere with a radius below 0 is never met.

        >>> balls = Bvh.of_spheres([[0, 0, 0], [5, 0, 0]], [1, 2])
        >>> balls.closest_hit([[-3, 0, 0], [2, 0, 0]], [1, 0, 0]).t
        array([2., 1.], dtype=float32)
        """
        points, extents = extents_of("spheres", centers, radii, "centers", "radii")
        self = cls.__new__(cls)
        self._set("spheres", points, extents, None, builder, width, leaf_size)
        return self

    def _set(
        self,
        kind: Kind,
        points: Float32,
        extents: Float32 | None,
        faces: Int32 | None,
        builder: Builder,
        width: int,
        leaf_size: int,
    ) -> None:
        if builder not in ("sah", "median"):
            raise RigError(f"builder: expected sah or median, found {builder!r}")
        self.kind = kind
        self._faces = faces
        self._options = (
            builder == "median",
            limited(width, 2, 8, "width"),
            limited(leaf_size, 1, 8, "leaf_size"),
        )
        self._build(points, extents)

    def _build(self, points: Float32, extents: Float32 | None) -> None:
        self._points, self._extents = points, extents
        try:
            tree = _core.query.Tree(self.kind, points, extents, self._faces, *self._options)
        except ValueError as error:
            raise RigError(str(error)) from None
        self._tree = tree
        self.cast = self._tree.cast

    # --- rays --------------------------------------------------------------------------------

    def closest_hit(
        self,
        origins: npt.ArrayLike,
        directions: npt.ArrayLike,
        *,
        normals: bool = False,
        counts: bool = False,
        by_force: bool = False,
        **limits: Unpack[Limits],
    ) -> Hits:
        """The closest hit of each ray with t_min ≤ t ≤ t_max.

        Args:
            origins, directions: (…, 3) float32, broadcast against one another; directions need
                no unit length, t counts in theirs.
            normals: fill `Hits.normal`.
            counts: fill `Hits.box_tests` and `Hits.primitive_tests`, for a walk that tests the
                root's box, then a node's boxes when it is entered, and a leaf's primitives all
                together.
            by_force: test every primitive instead of walking the tree, for the same answers.
            limits: `t_min`, `t_max`, `skip` and `front_only`; see `Limits`.

        Raises:
            RigError: wrong shapes or types.
        """
        rays, shape = broadcast_rays(origins, directions, **limits)
        n = len(rays[0])
        answers = unwritten(n, normals=normals)
        boxes, tests = (np.empty(n, np.int32) if counts else None for _ in range(2))
        self._tree.closest(*rays, truth(by_force, "by_force"), *answers, boxes, tests)
        return Hits(*shaped((*answers, boxes, tests), shape))

    def any_hit(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> npt.NDArray[np.bool_]:
        """Whether each ray hits anything with t_min ≤ t ≤ t_max; arguments as in `closest_hit`."""
        rays, shape = broadcast_rays(origins, directions, **limits)
        hit = np.empty(len(rays[0]), np.bool_)
        self._tree.any(*rays, hit)
        return hit.reshape(shape)

    def all_hits(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> AllHits:
        """Every hit with t_min ≤ t ≤ t_max, sorted by t; arguments as in `closest_hit`.

        >>> tree = Bvh.of_spheres([[0, 0, 0], [5, 0, 0]], [1, 1])
        >>> found = tree.all_hits([[9, 0, 0], [9, 9, 9]], [-1, 0, 0])
        >>> found.first.tolist(), found.t.tolist(), found.primitive.tolist()
        ([0, 2, 2], [3.0, 8.0], [1, 0])
        """
        rays, _ = broadcast_rays(origins, directions, **limits)
        return AllHits(*self._tree.all(*rays))

    def count_hits(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> Int32:
        """How many primitives each ray hits; on a shared edge both triangles count."""
        rays, shape = broadcast_rays(origins, directions, **limits)
        counts = np.empty(len(rays[0]), np.int32)
        self._tree.count(*rays, False, counts)
        return counts.reshape(shape)

    # --- points and volumes ------------------------------------------------------------------

    def closest_point(
        self, points: npt.ArrayLike, *, max_distance: npt.ArrayLike = INFINITY
    ) -> Nearest:
        """The closest point of the triangles to each point (…, 3), at most `max_distance` away.

        >>> quad = Bvh([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]], [[0, 1, 2], [0, 2, 3]])
        >>> near = quad.closest_point([[3, 1, 0], [1, 0.5, 4]])
        >>> near.distance, near.point
        (array([1., 4.], dtype=float32), array([[2. , 1. , 0. ],
               [1. , 0.5, 0. ]], dtype=float32))
        """
        need_triangles(self.kind, "closest_point")
        given = points_of(points, "points")
        shape, flat = given.shape[:-1], given.reshape(-1, 3)
        n = len(flat)
        distance, u, v = (np.empty(n, np.float32) for _ in range(3))
        primitive, closest = np.empty(n, np.int32), np.empty((n, 3), np.float32)
        limit = per_ray(max_distance, np.float32, shape, "max_distance")
        self._tree.nearest(flat, limit, distance, primitive, closest, u, v)
        return Nearest(*shaped((distance, primitive, closest, u, v), shape))

    def winding(self, points: npt.ArrayLike) -> Int32:
        """How often a closed surface winds around each point (…, 3): 0 outside.

        Counts the crossings of a ray in +Z, from behind minus from the front. An edge or vertex
        that the ray meets counts once, as if the ray lay infinitesimally beside it. A point on
        the surface is on either side.
        """
        need_triangles(self.kind, "winding")
        given = points_of(points, "points")
        shape, flat = given.shape[:-1], given.reshape(-1, 3)
        up = np.broadcast_to(np.array([0, 0, 1], np.float32), flat.shape)
        rays, _ = broadcast_rays(flat, up)
        counts = np.empty(len(flat), np.int32)
        self._tree.count(*rays, True, counts)
        return counts.reshape(shape)

    def inside(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which points (…, 3) a closed surface encloses: those with a winding that is not 0.

        >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> tetrahedron = Bvh(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
        >>> tetrahedron.inside([[0.2, 0.2, 0.2], [1, 1, 1]])
        array([ True, False])
        """
        return np.not_equal(self.winding(points), 0)

    def signed_distance(self, points: npt.ArrayLike) -> Float32:
        """Distance of each point (…, 3) to a closed surface, negative inside."""
        distance = self.closest_point(points).distance
        return np.where(self.inside(points), -distance, distance)

    def overlap_box(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Int32:
        """Primitives that touch an axis-aligned box, ascending; boxes and spheres are solid here.

        >>> Bvh.of_spheres([[0, 0, 0], [5, 0, 0]], [1, 2]).overlap_box([1, -1, -1], [2, 1, 1])
        array([0], dtype=int32)
        """
        given = (checked(v, np.float32, (3,), n) for v, n in ((low, "low"), (high, "high")))
        return self._tree.overlap_box(*given)

    def overlap_sphere(self, center: npt.ArrayLike, radius: float) -> Int32:
        """Primitives that touch a ball, ascending; boxes and spheres are solid here.

        Raises:
            RigError: a radius below 0.
        """
        reach = numbers(radius, "radius")
        if reach.ndim or not reach >= 0:
            raise RigError(f"radius: expected 0 or more, found {radius}")
        return self._tree.overlap_ball(checked(center, np.float32, (3,), "center"), float(reach))

    # --- motion ------------------------------------------------------------------------------

    def refit(self, vertices: npt.ArrayLike, extents: npt.ArrayLike | None = None) -> None:
        """Move the primitives: the tree stays, its boxes follow, in one linear pass.

        Args:
            vertices: as many as at build; boxes take `refit(low, high)`, spheres
                `refit(centers, radii)`.

        Raises:
            RigError: wrong shapes, or another number of them than at build.
        """
        points, more = self._moved(vertices, extents)
        self._tree.refit(points, more, self._faces)
        self._points, self._extents = points, more

    def rebuild(
        self, vertices: npt.ArrayLike | None = None, extents: npt.ArrayLike | None = None
    ) -> None:
        """Build a new tree, where the primitives are now or from new positions as in `refit`."""
        if vertices is None:
            self._build(self._points, self._extents)
        else:
            self._build(*self._moved(vertices, extents))

    def update(
        self, vertices: npt.ArrayLike, extents: npt.ArrayLike | None = None
    ) -> Literal["refit", "rebuild"]:
        """Refit, and build anew where `quality` then exceeds 1.5; says which was done.

        From there on rays take half as long again as in a new tree, which two rays a triangle
        earn back. With fewer rays at each position `refit` is better, with many `rebuild`.
        """
        self.refit(vertices, extents)
        if self.quality <= WORN:
            return "refit"
        self.rebuild()
        return "rebuild"

    def _moved(
        self, vertices: npt.ArrayLike, extents: npt.ArrayLike | None
    ) -> tuple[Float32, Float32 | None]:
        count = len(self._points)
        points = checked(vertices, np.float32, (count, 3), "vertices", finite=False)
        if self.kind == "triangles":
            if extents is not None:
                raise RigError("extents: expected with boxes and spheres only")
            return points, None
        if extents is None:
            raise RigError(f"extents: expected with {self.kind}")
        return points, extents_of(self.kind, points, extents, "vertices", "extents")[1]

    # --- the tree itself ---------------------------------------------------------------------

    @property
    def sah_cost(self) -> float:
        """Nodes and leaves that a random line through the bounds is expected to touch, now."""
        return self._tree.cost

    @property
    def quality(self) -> float:
        """`sah_cost` now over that at build: 1 when new, more as refits wear the tree out."""
        built = self._tree.built_cost
        return self._tree.cost / built if built > 0 else 1.0

    @property
    def depth(self) -> int:
        """Nodes on the longest way down; 0 when everything fits one leaf."""
        return self._tree.depth

    @property
    def primitive_count(self) -> int:
        """Triangles, boxes or spheres, those that can never be hit included."""
        return self._tree.primitive_count

    @property
    def nbytes(self) -> int:
        """Bytes that the tree holds, without the caller's arrays."""
        return self._tree.bytes

    @property
    def bounds(self) -> Float32:
        """(2, 3) low and high corner of everything finite; (inf, -inf) when there is nothing."""
        return np.array(self._tree.bounds, np.float32)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("_tree", "cast")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._build(self._points, self._extents)

    def __repr__(self) -> str:
        return f"Bvh({self.primitive_count} {self.kind}, depth {self.depth})"
