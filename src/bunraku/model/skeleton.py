"""Every transform node of a character, joints or not, at rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float64, Int32, checked, in_range, index, unit_quaternions, whole
from bunraku.model.frozen import Frozen


@dataclass(frozen=True, eq=False, repr=False)
class Skeleton(Frozen):
    """The transform hierarchy: names, parents and rest transforms in file order.

    All nodes are here, joints or not, because every ancestor of a joint moves it
    (glTF 2.0, 3.7.3.2). A parent may stand after its child in the file; `order` is the
    evaluation order, parents first.

    Attributes:
        names: (N,) node names, not necessarily unique.
        parents: (N,) int32 index of each node's parent, -1 for a root.
        translations: (N, 3) float64 local rest translation, metres.
        rotations: (N, 4) float64 local rest rotation, unit quaternion (x, y, z, w).
        scales: (N, 3) float64 local rest scale; zero and negative scales are legal.
        order: (N,) int32 permutation of the nodes in which parents come before children;
            the file order itself when it already is one.

    Raises:
        RigError: wrong shapes, parents out of range or in a cycle, non-finite numbers,
            a rotation that is not of unit length (1e-3; lengths are then normalised exactly).

    >>> arm = Skeleton(("upper", "fore"), [-1, 0], [[0, 0, 0], [2, 0, 0]])
    >>> arm.parents, arm.index("fore")
    (array([-1,  0], dtype=int32), 1)
    """

    names: tuple[str, ...]
    parents: Int32
    translations: Float64 = None  # type: ignore[assignment]
    rotations: Float64 = None  # type: ignore[assignment]
    scales: Float64 = None  # type: ignore[assignment]
    order: Int32 = field(init=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            names: Iterable[str],
            parents: npt.ArrayLike,
            translations: npt.ArrayLike | None = None,
            rotations: npt.ArrayLike | None = None,
            scales: npt.ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        names = tuple(self.names)
        count = len(names)
        translations = np.zeros((count, 3)) if self.translations is None else self.translations
        rotations = (
            np.tile([0.0, 0, 0, 1], (count, 1)) if self.rotations is None else self.rotations
        )
        scales = np.ones((count, 3)) if self.scales is None else self.scales
        parents = checked(self.parents, np.int32, (count,), "skeleton.parents")
        in_range(parents, count, "skeleton.parents", "node", none=True)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "parents", parents)
        object.__setattr__(
            self,
            "translations",
            checked(translations, np.float64, (count, 3), "skeleton.translations"),
        )
        object.__setattr__(
            self, "rotations", unit_quaternions(rotations, (count, 4), "skeleton.rotations")
        )
        object.__setattr__(
            self, "scales", checked(scales, np.float64, (count, 3), "skeleton.scales")
        )
        object.__setattr__(self, "order", evaluation_order(parents, names))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Skeleton({len(self)} nodes)"

    def index(self, node: str | SupportsIndex) -> int:
        """Index of the first node of that name; an index is handed back.

        Raises:
            RigError: there is no such node.
        """
        if not isinstance(node, str):
            return index(node, len(self), "skeleton", "node")
        try:
            return self.names.index(node)
        except ValueError:
            raise RigError(f"skeleton: no node is called {node!r}") from None

    def children(self, node: str | SupportsIndex) -> Int32:
        """Indices of the nodes whose parent is `node` (-1 for the roots), in file order.

        Raises:
            RigError: there is no such node.
        """
        parent = -1 if whole(node) == -1 else self.index(node)
        return np.flatnonzero(self.parents == parent).astype(np.int32)


def evaluation_order(parents: Int32, names: tuple[str, ...]) -> Int32:
    """Order nodes so that parents come first: the file order if it already does, else by depth.

    Raises:
        RigError: the parents form a cycle; the message names a node on it.

    >>> evaluation_order(np.array([1, -1, 0], np.int32), ("hand", "arm", "finger"))
    array([1, 0, 2], dtype=int32)
    """
    count = len(parents)
    if (parents < np.arange(count)).all():
        order = np.arange(count, dtype=np.int32)
    else:
        children: list[list[int]] = [[] for _ in range(count)]
        ranks: list[int] = []
        for node, parent in enumerate(parents.tolist()):
            (ranks if parent < 0 else children[parent]).append(node)
        for node in ranks:  # grows while it is walked: breadth first, in time linear in the nodes
            ranks += children[node]
        if len(ranks) < count:
            node = next(iter(set(range(count)) - set(ranks)))
            for _ in range(count):  # enough steps up to be on the cycle itself
                node = int(parents[node])
            raise RigError(f"skeleton.parents[{node}]: node {names[node]!r} is its own ancestor")
        order = np.array(ranks, np.int32)
    order.flags.writeable = False
    return order
