"""Many instances of trees, each with a transform of its own: a tree of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bunraku import _core
from bunraku.errors import RigError
from bunraku.model.arrays import Float32, Float64, Int32, checked, in_range
from bunraku.query.bvh import Bvh
from bunraku.query.hits import AllHits, Hits, shaped, unwritten
from bunraku.query.rays import Reach, broadcast_rays, numbers


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class SceneHits(Hits):
    """The closest hit of each ray in a scene: as `Hits`, in the world, and the instance.

    Attributes:
        instance: int32, -1 for a miss. `primitive` is the index within its tree.
    """

    instance: Int32 | None = None


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class SceneAllHits(AllHits):
    """Every hit of N rays in a scene: as `AllHits`, at the same t by instance, then primitive.

    Attributes:
        instance: (first[N],) int32. `primitive` is the index within its tree.
    """

    instance: Int32


class Scene:
    """Instances of trees: N transforms, each showing one of several trees.

    A ray is taken into an instance's own space, rounded to float32 there, and asks its tree: the
    answers are those of asking every instance so, to the bit. t is the same in both spaces. Of
    hits at the same t the lowest instance is the closest. Instances share their tree's memory;
    moving them costs what a tree over N boxes costs.

    Args:
        trees: what is placed.
        tree_of: (N,) int32, which tree each instance shows.
        transforms: (N, 4, 4) or (N, 3, 4) float64, each tree's space to the world; mirrors and
            any scale but 0 are fine.

    Raises:
        RigError: wrong shapes, an index outside the trees, a transform that cannot be inverted or
            whose last row differs from (0, 0, 0, 1) by more than 1e-6.

    >>> ball = Bvh.of_spheres([[0, 0, 0]], [1])
    >>> there = np.eye(4)
    >>> there[0, 3] = 10
    >>> scene = Scene([ball], [0, 0], [np.eye(4), there])
    >>> hits = scene.closest_hit([[-5, 0, 0], [20, 0, 0]], [[1, 0, 0], [-1, 0, 0]])
    >>> hits.t.tolist(), hits.instance.tolist()
    ([4.0, 9.0], [0, 1])
    """

    def __init__(
        self, trees: Sequence[Bvh], tree_of: npt.ArrayLike, transforms: npt.ArrayLike
    ) -> None:
        self.trees = tuple(trees)
        self.tree_of: Int32 = checked(tree_of, np.int32, (None,), "tree_of")
        in_range(self.tree_of, len(self.trees), "tree_of", "tree")
        self._top: Bvh | None = None
        self.move(transforms)

    def move(self, transforms: npt.ArrayLike) -> None:
        """Place the instances anew; also needed after one of the trees was refitted.

        Args:
            transforms: (N, 4, 4) or (N, 3, 4) float64.

        Raises:
            RigError: as the scene itself.
        """
        placed = _affine(transforms, len(self.tree_of))
        linear = placed[:, :3, :3]
        with np.errstate(all="ignore"):
            condition = np.linalg.cond(linear) if len(linear) else np.ones(0)
        if not (condition < 1e12).all():
            at = int(np.argmax(~(condition < 1e12)))
            raise RigError(f"transforms[{at}]: expected one that can be inverted")
        inverses = np.linalg.inv(placed)[:, :3] if len(placed) else np.zeros((0, 3, 4))
        self.transforms: Float64 = placed
        self._inverses = np.ascontiguousarray(inverses)
        self._widen = 4 * float(condition.max(initial=1.0))
        low, high = self._boxes()
        if self._top is None:
            self._top = Bvh.of_boxes(low, high)
        else:
            self._top.update(low, high)

    def _boxes(self) -> tuple[Float32, Float32]:
        """Boxes of the instances in the world, rounded outwards."""
        bounds = np.array([tree.bounds for tree in self.trees], np.float64).reshape(-1, 2, 3)
        low, high = bounds[self.tree_of, 0], bounds[self.tree_of, 1]
        nothing = ~(low <= high).all(axis=1)
        low, high = np.where(nothing[:, None], 0, low), np.where(nothing[:, None], 0, high)
        linear, middle, half = self.transforms[:, :3, :3], (low + high) / 2, (high - low) / 2
        center = np.einsum("nij,nj->ni", linear, middle) + self.transforms[:, :3, 3]
        reach = np.einsum("nij,nj->ni", np.abs(linear), half)
        slack = 2.0**-22 * (np.abs(center) + reach)
        outer = np.stack([center - reach - slack, center + reach + slack])
        outer[:, nothing] = np.nan
        return outer[0].astype(np.float32), outer[1].astype(np.float32)

    def closest_hit(
        self,
        origins: npt.ArrayLike,
        directions: npt.ArrayLike,
        *,
        normals: bool = False,
        **limits: Unpack[Reach],
    ) -> SceneHits:
        """The closest hit of each ray with t_min ≤ t ≤ t_max; arguments as in `Bvh.closest_hit`.

        Normals are in the world. An instance keeps its front under a mirror, as in glTF.
        """
        rays, shape = broadcast_rays(origins, directions, **limits)
        t, primitive, u, v, normal = unwritten(len(rays[0]), normals=normals)
        instance = np.empty(len(rays[0]), np.int32)
        asked = (*self._placed(), *rays)
        _core.query.in_scene(*asked, None, t, instance, primitive, u, v, normal)
        return SceneHits(*shaped((t, primitive, u, v, normal, None, None, instance), shape))

    def any_hit(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Reach]
    ) -> npt.NDArray[np.bool_]:
        """Whether each ray hits anything with t_min ≤ t ≤ t_max."""
        rays, shape = broadcast_rays(origins, directions, **limits)
        hit = np.empty(len(rays[0]), np.bool_)
        asked = (*self._placed(), *rays)
        _core.query.in_scene(*asked, hit, None, None, None, None, None, None)
        return hit.reshape(shape)

    def all_hits(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Reach]
    ) -> SceneAllHits:
        """Every hit with t_min ≤ t ≤ t_max, sorted by t; `np.diff(hits.first)` counts them."""
        rays, _ = broadcast_rays(origins, directions, **limits)
        asked = (*self._placed(), *rays)
        return SceneAllHits(*_core.query.all_in_scene(*asked))

    def _placed(
        self,
    ) -> tuple[_core.query.Tree, list[_core.query.Tree], Int32, Float64, float]:
        """What the core wants to know of the instances; each tree once, however often it stands."""
        assert self._top is not None
        unique = {id(tree): tree for tree in self.trees}
        place = {key: i for i, key in enumerate(unique)}
        names = np.array([place[id(tree)] for tree in self.trees], np.int32)
        return (
            self._top._tree,
            [tree._tree for tree in unique.values()],
            names[self.tree_of] if len(names) else self.tree_of,
            self._inverses,
            self._widen,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.trees, self.tree_of, self.transforms)

    def __repr__(self) -> str:
        return f"Scene({len(self.tree_of)} instances of {len(self.trees)} trees)"


def _affine(transforms: npt.ArrayLike, count: int) -> Float64:
    """(N, 4, 4), with a last row of (0, 0, 0, 1) exactly; smaller deviations are rounding."""
    numerical = numbers(transforms, "transforms")
    rows = 3 if numerical.shape[-2:] == (3, 4) else 4
    given = checked(numerical, np.float64, (count, rows, 4), "transforms")
    off = np.abs(given[:, 3:] - [0, 0, 0, 1]).max(axis=(1, 2), initial=0)
    if (off > 1e-6).any():
        at = int(np.argmax(off))
        found = given[at, 3].tolist()
        raise RigError(f"transforms[{at}]: expected last row (0, 0, 0, 1), found {found}")
    placed = np.tile(np.eye(4), (count, 1, 1))
    placed[:, :3] = given[:, :3]
    placed.flags.writeable = False
    return placed
