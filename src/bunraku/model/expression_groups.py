"""Expressions that drive others: which of their links are followed, and in what order."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.model.expression import Expression, GroupBind


def group_links(expressions: Sequence[Expression]) -> list[tuple[int, GroupBind]]:
    """The links of groups to follow, a group's own after all that lead to it.

    The link that closes a circle of groups, in file order, is not among them.

    >>> smile = Expression("smile", (GroupBind(1, 0.5),))
    >>> group_links((smile, Expression("blink", (GroupBind(0),))))
    [(0, GroupBind(expression=1, weight=0.5))]
    """
    groups = [
        [bind for bind in expression.binds if isinstance(bind, GroupBind)]
        for expression in expressions
    ]
    links: list[tuple[int, GroupBind]] = []
    begun, done = set[int](), set[int]()
    for start in range(len(expressions)):
        walk = [(start, iter(groups[start]))] if start not in begun else []
        begun.add(start)
        kept: dict[int, list[GroupBind]] = {start: []}
        while walk:  # depth first without recursion: files may nest groups as deep as they like
            at, rest = walk[-1]
            for group in rest:
                member = group.expression
                if member in begun and member not in done:
                    continue  # closes a circle
                kept[at].append(group)
                if member not in begun:
                    begun.add(member)
                    kept[member] = []
                    walk.append((member, iter(groups[member])))
                    break
            else:
                walk.pop()
                done.add(at)
                links += [(at, group) for group in reversed(kept.pop(at))]
    return links[::-1]
