"""Rays on a character in any pose, without bending its mesh."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Int32, checked, in_range
from bunraku.model.mesh import Geometry
from bunraku.query.bvh import Bvh
from bunraku.query.hits import AllHits, Hits, shaped, unwritten
from bunraku.query.rays import Limits, broadcast_rays

Method = Literal["lbs", "dqs"]

# Rays at one pose from which on bending the whole mesh and refitting a tree is cheaper: as many,
# and one more for each so many triangles. On 85,000 triangles bending takes 0.2 ms, a refit 0.9 ms,
# and a ray 2.5 µs (DQS: 16) instead of 0.4. A tree to refit takes twenty times that to build, so
# the first is built when the rays of all poses together are worth it.
FEWEST_RAYS = 32
TRIANGLES_PER_RAY: dict[Method, int] = {"lbs": 150, "dqs": 1000}
BUILD = 20
# Trees over bent meshes that wait for the next pose: one serves a caller who goes from pose to
# pose, the others threads that do so at once. What was lent beyond that is given back to memory.
IDLE = 4


class SkinTree:
    """A tree over a geometry at rest that answers rays in any pose.

    It is built once. In a pose, a group of triangles lies within the boxes that its joints hold,
    moved with them, and only the few vertices that a ray comes close to are bent: a ray costs
    microseconds, whatever the size of the mesh. Answers are those of bending everything with
    `skinning.deform` and testing every triangle, to the bit.

    Under "dqs", groups whose joints turn against each other by more than about 170°, or differ
    in scale, cannot be bounded: all of their vertices are bent. Copies and pickles build a tree of
    their own.

    Args:
        geometry: with or without influences; its morph targets count too.
        faces: (F, 3) int32 vertices of each triangle.

    Attributes:
        geometry, faces: as given.
        cast: one ray in one pose at the least cost: `cast(palette, method, morph_weights, ox, oy,
            oz, dx, dy, dz, t_min=0, t_max=inf)`, with a palette (J, 3, 4) float32 and weights
            (T,) float32 or None. Answers (t, face, u, v), or None for a miss.

    Raises:
        RigError: wrong shapes or types, a face outside the vertices.

    >>> arm = Geometry([[2, 0, 0], [2, 1, 0], [3, 0, 0]], joints=[[1]] * 3, weights=[[1]] * 3)
    >>> tree = SkinTree(arm, [[0, 1, 2]])
    >>> upper = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    >>> raised = [[1, 0, 0, 0], [0, 1, 0, 5], [0, 0, 1, 0]]
    >>> tree.at([upper, raised]).closest_hit([[2.25, 0.25, 1], [2.25, 5.25, 1]], [0, 0, -1]).t
    array([inf,  1.], dtype=float32)
    """

    cast: Callable[..., tuple[float, int, float, float] | None]

    def __init__(self, geometry: Geometry, faces: npt.ArrayLike) -> None:
        self.geometry = geometry
        self.faces: Int32 = checked(faces, np.int32, (None, 3), "faces")
        in_range(self.faces, geometry.vertex_count, "faces", "vertex")
        targets = [(morph.indices, morph.positions) for morph in geometry.morphs]
        self._tree = _core.posed.Tree(self._rig, geometry.positions, self.faces, targets)
        self.cast = self._tree.cast
        self._asked = 0
        # Trees over the bent mesh that poses have left; a full deque drops the oldest.
        self._idle: deque[Bvh] = deque(maxlen=IDLE)

    @cached_property
    def _rig(self) -> _core.skinning.Rig:
        geometry = self.geometry
        if geometry.joints is None or geometry.weights is None:
            shape = (geometry.vertex_count, 1)
            return _core.skinning.Rig(np.zeros(shape, np.int32), np.ones(shape, np.float32))
        return _core.skinning.Rig(geometry.joints, geometry.weights)

    @property
    def nbytes(self) -> int:
        """Bytes that the tree holds, without the geometry."""
        return self._tree.bytes

    def at(
        self,
        palette: npt.ArrayLike,
        *,
        method: Method = "lbs",
        morph_weights: npt.ArrayLike | None = None,
    ) -> Posed:
        """The surface in one pose.

        Args:
            palette: (J, 3, 4) float32, joint global × inverse bind matrix of each joint slot; one
                matrix for a geometry without joints.
            method: "lbs" or "dqs".
            morph_weights: (T,), T the geometry's morph targets; none active if omitted.

        Raises:
            RigError: wrong shapes, numbers that are not finite, a joint slot that the palette
                lacks, an unknown method.
        """
        return Posed(self, palette, method, morph_weights)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.geometry, self.faces)

    def __repr__(self) -> str:
        return f"SkinTree({len(self.faces)} triangles)"


class Posed:
    """A geometry in one pose, which no one has computed: made by `SkinTree.at`.

    Any number of threads may ask at once. Once so many rays have been asked for that bending the
    whole mesh would have been cheaper (about one for each 150 triangles under "lbs", 1000 under
    "dqs"), that is done, and a `Bvh` answers from then on; the answers are the same.
    """

    cast: Callable[..., tuple[float, int, float, float] | None]
    """One ray at the least cost: `cast(ox, oy, oz, dx, dy, dz, t_min=0, t_max=inf)`. Answers
    (t, face, u, v), or None for a miss. Never bends the whole mesh."""

    def __init__(
        self,
        tree: SkinTree,
        palette: npt.ArrayLike,
        method: Method,
        morph_weights: npt.ArrayLike | None,
    ) -> None:
        if method not in ("lbs", "dqs"):
            raise RigError(f"method: expected ['lbs', 'dqs'], found {method!r}")
        # Copies: poses look at them again whenever they are asked.
        matrices = checked(palette, np.float32, (None, 3, 4), "palette").copy()
        if tree.geometry.joints is None and len(matrices) != 1:
            raise RigError(
                f"palette: expected 1 matrix for a geometry without joints, found {len(matrices)}"
            )
        count = tree._tree.joint_count
        if len(matrices) < count:
            raise RigError(
                f"palette: expected at least {count} joints for this geometry, "
                f"found {len(matrices)}"
            )
        self._weights: Float32 | None = None
        if morph_weights is not None:
            morphs = tree.geometry.morphs
            given = checked(morph_weights, np.float32, (len(morphs),), "morph_weights")
            self._weights = given.copy()
        self.tree, self.method, self._palette = tree, method, matrices
        self._pose = tree._tree.pose(matrices, method, self._weights)
        self.cast = self._pose.cast
        self._asked = 0
        self._lock = threading.Lock()
        self._bvh: Bvh | None = None

    def closest_hit(
        self,
        origins: npt.ArrayLike,
        directions: npt.ArrayLike,
        *,
        normals: bool = False,
        **limits: Unpack[Limits],
    ) -> Hits:
        """The closest hit of each ray with t_min ≤ t ≤ t_max; arguments as in `Bvh.closest_hit`.

        Raises:
            RigError: wrong shapes or types.
        """
        rays, shape = broadcast_rays(origins, directions, **limits)
        bvh = self._bent(len(rays[0]))
        if bvh is not None:
            return bvh.closest_hit(origins, directions, normals=normals, **limits)
        answers = unwritten(len(rays[0]), normals=normals)
        self._pose.closest(*rays, *answers, None, None)
        return Hits(*shaped(answers, shape))

    def any_hit(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> npt.NDArray[np.bool_]:
        """Whether each ray hits anything with t_min ≤ t ≤ t_max."""
        rays, shape = broadcast_rays(origins, directions, **limits)
        bvh = self._bent(len(rays[0]))
        if bvh is not None:
            return bvh.any_hit(origins, directions, **limits)
        hit = np.empty(len(rays[0]), np.bool_)
        self._pose.any(*rays, hit)
        return hit.reshape(shape)

    def all_hits(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> AllHits:
        """Every hit with t_min ≤ t ≤ t_max, sorted by t."""
        rays, _ = broadcast_rays(origins, directions, **limits)
        bvh = self._bent(len(rays[0]))
        if bvh is not None:
            return bvh.all_hits(origins, directions, **limits)
        return AllHits(*self._pose.all(*rays))

    def positions(self) -> Float32:
        """(V, 3) float32: all vertices in this pose, bent now."""
        tree, geometry = self.tree, self.tree.geometry
        weights = np.zeros(0, np.float32) if self._weights is None else self._weights
        active = np.flatnonzero(weights)
        morphs = [geometry.morphs[i] for i in active]
        out = np.empty((1, geometry.vertex_count, 3), np.float32)
        _core.skinning.deform_into(
            tree._rig,
            self._palette[None],
            self.method,
            geometry.positions,
            None,
            None,
            None,
            [(m.indices, m.positions, None, None) for m in morphs],
            weights[None, active] if active.size else None,
            out,
            None,
            None,
        )
        bent: Float32 = out[0]
        return bent

    def _bent(self, rays: int) -> Bvh | None:
        """A tree over the bent mesh, from the ray on that makes it worth its while."""
        tree = self.tree
        self._asked += rays
        tree._asked += rays
        if self._bvh is None:
            even = FEWEST_RAYS + len(tree.faces) // TRIANGLES_PER_RAY[self.method]
            if self._asked < even or not (tree._idle or tree._asked >= BUILD * even):
                return None
            with self._lock:
                if self._bvh is None:
                    self._bvh = self._borrowed(self.positions())
        return self._bvh

    def _borrowed(self, positions: Float32) -> Bvh:
        """A refit takes a fraction of a build: poses leave their trees to those that come after."""
        idle = self.tree._idle
        try:
            bvh = idle.pop()
        except IndexError:
            bvh = Bvh(positions, self.tree.faces)
        else:
            bvh.update(positions)
        weakref.finalize(self, idle.append, bvh)
        return bvh

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tree, self._palette, self.method, self._weights)

    def __repr__(self) -> str:
        return f"Posed({len(self.tree.faces)} triangles, {self.method!r})"
