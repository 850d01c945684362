"""Rays on several posed surfaces as if they were one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bunraku.model.arrays import Int32
from bunraku.query.bvh import Bvh
from bunraku.query.hits import AllHits, Hits, shaped, unwritten
from bunraku.query.posed import Posed
from bunraku.query.rays import Limits, Rays, broadcast_rays


class PosedGroup:
    """Several posed geometries; their triangles count through, one geometry after another.

    Answers are those of one `Bvh` over all of their triangles, bent: of hits at the same t, the
    lowest triangle is the closest.

    Args:
        members: the surfaces; a `Bvh` of triangles is one that has been bent already.

    Attributes:
        members: as given.
        first: (M + 1,) the first triangle of each, and the number of all.

    >>> near, far = (Bvh([[0, 0, z], [1, 0, z], [0, 1, z]], [[0, 1, 2]]) for z in (2, 1))
    >>> hits = PosedGroup([far, near]).closest_hit([0.25, 0.25, 5], [0, 0, -1])
    >>> hits.t, hits.primitive
    (array(3., dtype=float32), array(1, dtype=int32))
    """

    def __init__(self, members: Sequence[Posed | Bvh]) -> None:
        self.members = tuple(members)
        counts = [
            member.primitive_count if isinstance(member, Bvh) else len(member.tree.faces)
            for member in self.members
        ]
        self.first: npt.NDArray[np.int64] = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

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
        (o, d, near, far, skipped, front_only), shape = _each(origins, directions, **limits)
        answers = unwritten(len(o), normals=normals)
        for column, miss in zip(answers, (np.inf, -1, 0, 0, 0), strict=True):
            if column is not None:
                column.fill(miss)
        t = answers[0]
        for member, first, triangles in self._counted():
            hits = member.closest_hit(
                o,
                d,
                t_min=near,
                t_max=np.minimum(far, t),
                skip=_own(skipped, first, triangles),
                front_only=front_only,
                normals=normals,
            )
            closer = hits.t < t
            found = (hits.t, hits.primitive + np.int32(first), hits.u, hits.v, hits.normal)
            for column, value in zip(answers, found, strict=True):
                if column is not None and value is not None:
                    column[closer] = value[closer]
        return Hits(*shaped(answers, shape))

    def any_hit(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> npt.NDArray[np.bool_]:
        """Whether each ray hits anything with t_min ≤ t ≤ t_max."""
        (o, d, near, far, skipped, front_only), shape = _each(origins, directions, **limits)
        hit = np.zeros(len(o), np.bool_)
        for member, first, triangles in self._counted():
            left = np.flatnonzero(~hit)
            own = _own(skipped, first, triangles)
            hit[left] = member.any_hit(
                o[left],
                d[left],
                t_min=near[left],
                t_max=far[left],
                skip=own[left],
                front_only=front_only,
            )
        return hit.reshape(shape)

    def all_hits(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
    ) -> AllHits:
        """Every hit with t_min ≤ t ≤ t_max, sorted by t."""
        (o, d, near, far, skipped, front_only), _ = _each(origins, directions, **limits)
        count = np.zeros(len(o), np.int64)
        found: list[tuple[npt.NDArray[Any], ...]] = []
        for member, first, triangles in self._counted():
            own = _own(skipped, first, triangles)
            hits = member.all_hits(o, d, t_min=near, t_max=far, skip=own, front_only=front_only)
            each = np.diff(hits.first)
            count += each
            ray = np.repeat(np.arange(len(o)), each)
            found.append((ray, hits.t, hits.primitive + np.int32(first), hits.u, hits.v))
        begin = np.concatenate([[0], np.cumsum(count)])
        if not found:
            nothing = np.zeros(0, np.float32)
            return AllHits(begin, nothing, np.zeros(0, np.int32), nothing, nothing)
        ray, t, primitive, u, v = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((primitive, t, ray))
        return AllHits(begin, t[order], primitive[order], u[order], v[order])

    def _counted(self) -> Iterator[tuple[Posed | Bvh, int, int]]:
        """Each member, its first triangle, and how many it has."""
        counts = np.diff(self.first).tolist()
        return zip(self.members, self.first[:-1].tolist(), counts, strict=True)

    def __copy__(self) -> PosedGroup:
        return self  # it never changes, and trees that were lent to it go back when it does

    def __repr__(self) -> str:
        return f"PosedGroup({len(self.members)} surfaces, {int(self.first[-1])} triangles)"


def _each(
    origins: npt.ArrayLike, directions: npt.ArrayLike, **limits: Unpack[Limits]
) -> tuple[Rays, tuple[int, ...]]:
    """As `broadcast_rays`, with limits of every ray's own."""
    (o, d, *limit, front_only), shape = broadcast_rays(origins, directions, **limits)
    near, far, skip = (np.broadcast_to(a, (len(o),)) for a in limit)
    return (o, d, near, far, skip, front_only), shape


def _own(skip: Int32, first: int, count: int) -> Int32:
    """Which of a member's triangles each ray skips."""
    own = (skip >= first) & (skip < first + count)
    return np.where(own, skip - np.int32(first), np.int32(-1)).astype(np.int32)
