"""Which old thing a new one continues.

Indices alone mislead as soon as something was removed or put elsewhere: what a document says of
the old thing beside the model (extras, extensions, custom attributes) would go to another one.
"""

from __future__ import annotations

from collections.abc import Callable

Alike = Callable[[int, int], bool]


def paired(old: int, new: int, *alike: Alike) -> list[int | None]:
    """For each of `new` things the one of `old` that it continues, None when it is a new one.

    Each test sees the index of a new thing and of an old one that is still free. The first test
    that any pair passes decides; the old thing of the same index is asked before the others.

    >>> was, now = ["a", "b", "c"], ["b", "c", "x"]
    >>> paired(3, 3, lambda i, k: now[i] == was[k], lambda i, k: i == k)
    [1, 2, None]
    """
    found: list[int | None] = [None] * new
    free = set(range(old))
    for test in alike:
        for own in (True, False):
            for i in range(new):
                if found[i] is not None:
                    continue
                asked = free & {i} if own else free
                found[i] = next((k for k in sorted(asked) if test(i, k)), None)
                free -= {found[i]}
    return found
