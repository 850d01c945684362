"""Which node of one skeleton is which of another, and a motion led from the one to the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bunraku.errors import Note
from bunraku.model import Clip, Skeleton
from bunraku.motion.notes import listed

NODE_PATHS = ("translation", "rotation", "scale", "weights", "ik")


def counterparts(source: Skeleton, target: Skeleton) -> list[int]:
    """For each node of `source` its like in `target`, -1 for those that have none.

    A name that is there once in both tells. A node without such a name is known by its place:
    its parent, and the how many-th it is of the children that are called so, if there are equally
    many. Skeletons of the same names and parents are the same, names or not.

    >>> fox, led = Skeleton(("hips", "tail"), [-1, 0]), Skeleton(("", "tail", "hips"), [-1, 2, 0])
    >>> counterparts(fox, led), counterparts(led, fox)
    ([2, 1], [-1, 1, 0])
    """
    if source.names == target.names and (source.parents == target.parents).all():
        return list(range(len(source)))
    telling = _once(source) & _once(target)
    places: dict[object, int] = {}
    theirs = {place: node for node, place in enumerate(_places(target, telling, places))}
    return [theirs.get(place, -1) for place in _places(source, telling, places)]


def _once(skeleton: Skeleton) -> set[str]:
    return {name for name, count in Counter(skeleton.names).items() if name and count == 1}


def _places(skeleton: Skeleton, telling: set[str], places: dict[object, int]) -> list[int]:
    """A number for each node that is the same as another's where they are each other's like."""
    parents = skeleton.parents.tolist()
    siblings = Counter(zip(parents, skeleton.names, strict=True))
    seen: Counter[tuple[int, str]] = Counter()
    found = [0] * len(skeleton)
    for node in skeleton.order.tolist():
        name, parent = skeleton.names[node], parents[node]
        place: object = name
        if name not in telling:
            group = (parent, name)
            # the roots of two files have nothing in common but that they are roots
            above = found[parent] if parent >= 0 else (id(skeleton), node)
            place = (above, name, seen[group], siblings[group])
            seen[group] += 1
        found[node] = places.setdefault(place, len(places))
    return found


def led(clip: Clip, source: Skeleton, target: Skeleton, nodes: list[int]) -> Clip:
    """A clip whose node indices mean `source`, with those of `target` in their place.

    A track whose node has no like there keeps its name, so that binding the clip says so; one
    whose name does not tell is left out, with a note.

    Args:
        nodes: `counterparts(source, target)`.
    """
    if nodes == list(range(len(target))):
        return clip
    tracks, lost = [], []
    telling = _once(source)
    for track in clip.tracks:
        node = track.target
        if track.path not in NODE_PATHS or not isinstance(node, int):
            tracks.append(track)
        elif nodes[node] >= 0:
            tracks.append(replace(track, target=nodes[node]))
        elif source.names[node] in telling:
            tracks.append(replace(track, target=source.names[node]))
        else:
            lost.append(source.names[node] or f"node {node}, which has no name")
    notes = clip.notes
    if lost:
        message = (
            f"{len(lost)} of {len(clip.tracks)} tracks move nodes that the character has not, or"
            f" whose names do not tell: {listed(lost)}; left out"
        )
        notes = (*notes, Note("unbound-track", message))
    return replace(clip, tracks=tuple(tracks), notes=notes)
