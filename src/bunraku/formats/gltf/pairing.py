"""Which old thing a new one continues.

Indices alone mislead as soon as something was removed or put elsewhere: what a document says of
the old thing beside the model (extras, extensions, custom attributes) would go to another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from bunraku.model import Image, Material, Mesh, MorphTarget, Part, Scene, Skin, differences

Thing = TypeVar("Thing", Mesh, Skin, Material, Image, Scene)
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


def paired_things(old: Sequence[Thing], new: Sequence[Thing]) -> list[int | None]:
    """Which of the old meshes, skins, … each new one continues: by content, name, then place.

    By place alone only when none was taken away. Materials are alike easily: one of the same name
    at the same place was edited, whatever others look like.
    """

    def content(i: int, k: int) -> bool:
        return not differences(replace(old[k], name=new[i].name), new[i])

    def name(i: int, k: int) -> bool:
        return new[i].name == old[k].name

    return paired(
        len(old),
        len(new),
        lambda i, k: name(i, k) and content(i, k),
        lambda i, k: i == k and name(i, k),
        content,
        lambda i, k: bool(new[i].name) and name(i, k),
        lambda i, k: i == k and len(new) >= len(old),
    )


def paired_parts(old: Mesh, new: Mesh) -> list[int | None]:
    """Which old part each new one continues: at another index, edited, with another material.

    One that was edited is known by what of it is unlike all other parts; by its index only when
    no part was taken away.
    """
    were, are = old.parts, new.parts
    complete = len(are) >= len(were)

    @cache
    def same_geometry(i: int, k: int) -> bool:
        return not differences(old.geometries[k], new.geometries[i])

    def geometry(i: int, k: int) -> bool:
        return same_geometry(are[i].geometry, were[k].geometry)

    def faces(i: int, k: int) -> bool:
        return are[i].topology == were[k].topology and not differences(are[i].faces, were[k].faces)

    def material(i: int, k: int) -> bool:
        return are[i].material == were[k].material

    def alone(k: int, *alike: Callable[[Part, Part], bool]) -> bool:
        return sum(all(test(part, were[k]) for test in alike) for part in were) == 1

    def painted(a: Part, b: Part) -> bool:
        return a.material == b.material

    return paired(
        len(were),
        len(are),
        lambda i, k: material(i, k) and faces(i, k) and geometry(i, k),
        lambda i, k: faces(i, k) and geometry(i, k),
        lambda i, k: (
            material(i, k)
            and geometry(i, k)
            and alone(k, painted, lambda a, b: a.geometry == b.geometry)
        ),
        lambda i, k: (
            material(i, k)
            and faces(i, k)
            and alone(k, painted, lambda a, b: not differences(a.faces, b.faces))
        ),
        lambda i, k: i == k and complete,
    )


def paired_targets(
    old_names: tuple[str, ...],
    old: tuple[MorphTarget, ...],
    new_names: tuple[str, ...],
    new: tuple[MorphTarget, ...],
) -> list[int | None]:
    """Which old morph target each new one continues: by name, by content, by place."""
    complete = len(new) >= len(old)

    def named(i: int, k: int) -> bool:
        return bool(new_names[i]) and new_names[i] == old_names[k]

    def same(i: int, k: int) -> bool:
        return not differences(old[k], new[i])

    return paired(
        len(old),
        len(new),
        lambda i, k: named(i, k) and same(i, k),
        named,
        lambda i, k: same(i, k) and (complete or sum(not differences(old[k], o) for o in old) == 1),
        lambda i, k: i == k and complete,
    )
