"""What an edit leaves without a reader.

Extensions that Bunraku does not know, and extras, may mean anything by an index. What they
might mean therefore neither goes nor moves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from bunraku.formats.gltf.closing import close_up, ranges_of
from bunraku.formats.gltf.encoding import put
from bunraku.formats.gltf.rules import CARRIED, CARRIED_PREFIXES, DECODED, DRACO

Tree = dict[str, Any]
# An object and its key that hold an index.
Slot = tuple[Tree, str]

_PATHS = re.compile(r"(?:accessors|bufferViews|buffers|samplers)[/\[]([0-9]{1,9})")


def drop_unread(before: Tree, tree: Tree, buffers: list[memoryview]) -> list[memoryview]:
    """Take from `tree`, in place, the data that `before` read and it does not.

    What nobody read before stays. Accessors and bufferViews close up, bytes that only dropped
    bufferViews covered leave their buffers.

    Args:
        before: the document the edit started from; `tree` added to the ends of its lists.
        buffers: the data of the buffers of `tree`.

    Returns:
        The data of the buffers that are left.
    """
    pinned = mentioned(tree)
    accessors, views = tree.get("accessors", []), tree.get("bufferViews", [])
    kept = _drop(tree, "accessors", _freed(before, tree, accessor_slots), accessor_slots, pinned)
    gone = [accessor for i, accessor in enumerate(accessors) if i not in kept]
    kept = _drop(tree, "bufferViews", _freed(before, tree, view_slots), view_slots, pinned)
    for holder, key in view_slots({"accessors": gone}):
        holder[key] = kept.get(holder[key])
    dropped = [view for i, view in enumerate(views) if i not in kept]
    emptied = close_up(tree, buffers, dropped, gone, pinned)
    kept = _drop(tree, "buffers", emptied, buffer_slots, pinned)
    return [buffers[i] for i in sorted(kept, key=kept.__getitem__)]


def accessor_slots(tree: Tree) -> Iterator[Slot]:
    """Where indices of accessors stand."""
    for mesh in tree.get("meshes", ()):
        for primitive in mesh["primitives"]:
            for group in (primitive["attributes"], *primitive.get("targets", ())):
                yield from ((group, name) for name in group)
            if "indices" in primitive:
                yield primitive, "indices"
    for skin in tree.get("skins", ()):
        if "inverseBindMatrices" in skin:
            yield skin, "inverseBindMatrices"
    for animation in tree.get("animations", ()):
        for sampler in animation["samplers"]:
            yield from ((sampler, "input"), (sampler, "output"))
    count = len(tree.get("accessors", ()))
    for node in tree.get("nodes", ()):
        instancing = node.get("extensions", {}).get("EXT_mesh_gpu_instancing")
        group = instancing.get("attributes") if isinstance(instancing, dict) else None
        if not isinstance(group, dict):
            continue
        for name, index in group.items():
            if isinstance(index, int) and 0 <= index < count:
                yield group, name


def view_slots(tree: Tree) -> Iterator[Slot]:
    """Where indices of bufferViews stand."""
    for accessor in tree.get("accessors", ()):
        sparse = accessor.get("sparse", {})
        for holder in (accessor, sparse.get("indices", {}), sparse.get("values", {})):
            if "bufferView" in holder:
                yield holder, "bufferView"
    for image in tree.get("images", ()):
        if "bufferView" in image:
            yield image, "bufferView"
    for mesh in tree.get("meshes", ()):
        for primitive in mesh["primitives"]:
            if DRACO in primitive.get("extensions", {}):
                yield primitive["extensions"][DRACO], "bufferView"


def buffer_slots(tree: Tree) -> Iterator[Slot]:
    """Where indices of buffers stand."""
    for view in tree.get("bufferViews", ()):
        yield from ((part, "buffer") for part in ranges_of(view))


def _freed(before: Tree, tree: Tree, slots: Callable[[Tree], Iterator[Slot]]) -> set[int]:
    was, now = ({holder[key] for holder, key in slots(each)} for each in (before, tree))
    return was - now


def _drop(
    tree: Tree,
    kind: str,
    freed: set[int],
    slots: Callable[[Tree], Iterator[Slot]],
    pinned: set[int],
) -> dict[int, int]:
    """Remove objects of a kind; returns the new indices of those that stay."""
    objects = tree.get(kind, [])
    places = places_without(freed, len(objects), pinned)
    if len(places) == len(objects):
        return places
    put(tree, kind, [objects[i] for i in sorted(places, key=places.__getitem__)], [])
    done = set()
    for holder, key in slots(tree):
        if (id(holder), key) not in done:  # objects may be shared
            done.add((id(holder), key))
            holder[key] = places[holder[key]]
    return places


def mentioned(tree: Any) -> set[int]:
    """All whole numbers that stand in extras and in extensions Bunraku does not know.

    >>> sorted(mentioned({"extras": {"id": 3, "at": "/accessors/7", "of": "v2"}, "count": 4}))
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
    """Whole numbers in opaque data, and those of paths such as ``/accessors/7`` in its strings."""
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest += value
        elif isinstance(value, dict):
            rest += value.values()
        elif isinstance(value, str):
            yield from map(int, _PATHS.findall(value))
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
