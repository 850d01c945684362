"""Who hangs below whom, answered at once for any pair of nodes."""

from __future__ import annotations

from bunraku.model import Skeleton


def spans(skeleton: Skeleton) -> tuple[list[int], list[int]]:
    """Rank of each node, depth first, and the rank after its last descendant.

    b hangs below a if ranks[a] < ranks[b] < ends[a].

    >>> spans(Skeleton(("hip", "knee", "tail", "foot"), [-1, 0, 0, 1]))
    ([0, 1, 3, 2], [4, 3, 4, 3])
    """
    count = len(skeleton)
    ends = [1] * count  # at first: how many nodes there are from here down
    for node in skeleton.order[::-1].tolist():
        parent = int(skeleton.parents[node])
        if parent >= 0:
            ends[parent] += ends[node]
    ranks, free, roots = [0] * count, [0] * count, 0
    for node in skeleton.order.tolist():
        parent = int(skeleton.parents[node])
        ranks[node] = roots if parent < 0 else free[parent]
        free[node] = ranks[node] + 1
        if parent < 0:
            roots += ends[node]
        else:
            free[parent] += ends[node]
    return ranks, [rank + size for rank, size in zip(ranks, ends, strict=True)]
