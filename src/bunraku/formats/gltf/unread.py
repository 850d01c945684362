"""What an edit leaves without a reader.

Extensions that Bunraku does not know, and extras, may mean anything by an index. What they
might mean therefore neither goes nor moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bunraku.formats.gltf.rules import CARRIED, CARRIED_PREFIXES, DECODED

Tree = dict[str, Any]


def mentioned(tree: Any) -> set[int]:
    """All whole numbers that stand in extras and in extensions Bunraku does not know.

    >>> sorted(mentioned({"extras": {"id": 3, "at": "/accessors/7"}, "name": "4"}))
    [3, 7]
    """
    found: set[int] = set()
    rest = [tree]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest += value
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key == "extras":
                    found.update(_numbers(inner))
                elif key == "extensions" and isinstance(inner, dict):
                    for name, extension in inner.items():
                        if is_known(name):
                            rest.append(extension)
                        else:
                            found.update(_numbers(extension))
                else:
                    rest.append(inner)
    return found


def is_known(extension: str) -> bool:
    """Whether Bunraku knows which indices an extension holds."""
    return extension in DECODED | CARRIED or extension.startswith(CARRIED_PREFIXES)


def _numbers(value: Any) -> Iterator[int]:
    """Whole numbers in opaque data; in strings too, for paths such as ``/accessors/7``."""
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest += value
        elif isinstance(value, dict):
            rest += value.values()
        elif isinstance(value, str):
            yield from map(int, re.findall(r"\d{1,9}", value, re.ASCII))
        elif isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0:
            yield int(value)


def places_without(freed: set[int], count: int, pinned: set[int]) -> dict[int, int]:
    """New indices of `count` things once those in `freed` are gone; the pinned keep theirs.

    Some of `freed` stay where the things before a pinned one would not fill the gap.

    >>> places_without({1, 2}, 4, set()), places_without({1, 2}, 4, {3})
    ({0: 0, 3: 1}, {0: 0, 1: 1, 2: 2, 3: 3})
    """
    pinned = {i for i in pinned if i < count}
    gone = sorted(freed - pinned)
    least = max(pinned, default=-1) + 1
    stay = set(gone[: max(0, least - (count - len(gone)))])
    kept = [i for i in range(count) if i in stay or i in pinned or i not in freed]
    movable = [i for i in kept if i not in pinned]
    spaces = [i for i in range(len(kept)) if i not in pinned]
    return dict(sorted([*zip(movable, spaces, strict=True), *((i, i) for i in pinned)]))
