"""Who hangs below whom, answered at once for any pair of nodes, and who should."""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.model import Humanoid, Skeleton


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


def bones_apart(humanoid: Humanoid, skeleton: Skeleton) -> Iterator[str]:
    """What to say of each bone that does not hang below the next one above, as VRM requires.

    >>> pair = Skeleton(("lower body", "upper body"), [-1, -1])
    >>> list(bones_apart(Humanoid({"hips": 0, "spine": 1}), pair))
    ['spine, node 1, is not below hips, node 0']
    """
    ranks, ends = spans(skeleton)
    for bone, node in humanoid.bones.items():
        above = humanoid.parent(bone)
        if above is None:
            continue
        parent = humanoid.bones[above]
        if not ranks[parent] < ranks[node] < ends[parent]:
            yield f"{bone}, node {node}, is not below {above}, node {parent}"
