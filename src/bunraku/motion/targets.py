"""What the tracks of a clip mean on a character: nodes, expressions, switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bunraku.model import Character, Track
from bunraku.model.names import name_key

NODE_NAME, CHAIN_NAME = 15, 20  # bytes that old motions keep of a name


@dataclass(frozen=True)
class Found:
    """What a track is about.

    Attributes:
        what: "moves the rotation of node 'arm'", for messages.
        indices: of nodes, expressions or IK chains; 0 for visibility.
        fault: why there are none.
        unfit: whether that is because the morph targets there are others.
        ambiguous: what was chosen where the name fits several nodes.
    """

    what: str
    indices: Sequence[int] = ()
    fault: str = ""
    unfit: bool = False
    ambiguous: str = ""


class Targets:
    """Everything a character has that a track can name."""

    def __init__(self, character: Character) -> None:
        self._nodes = _Names(character.skeleton.names)
        self._expressions = _Names([expression.name for expression in character.expressions])
        self._chains: dict[int, list[int]] = {}
        chains = character.rig.chains if character.rig is not None else ()
        for i, chain in enumerate(chains):
            self._chains.setdefault(chain.goal, []).append(i)
        self._morphs = {
            attachment.node: len(character.meshes[attachment.mesh].morph_names)
            for attachment in character.attachments
        }
        self._weights: dict[int, int] = {}
        start = 0
        for node, count in self._morphs.items():
            self._weights[node] = start
            start += count
        after = start + len(character.expressions)
        self._starts = {"expression": start, "ik": after, "visible": after + len(chains)}

    def column(self, index: int, path: str) -> int:
        """Where what belongs to (index, path) starts in a row of weights and switches."""
        return self._weights[index] if path == "weights" else self._starts[path] + index

    def of(self, track: Track) -> Found:
        """What a track is about, or why that is nothing."""
        target, path = track.target, track.path
        if path == "visible":
            return Found("shows and hides the character", (0,))
        if path == "expression":
            what = f"moves expression {target!r}"
            indices = self._expressions.find(target, NODE_NAME)
            return Found(what, indices, "" if indices else ", which there is not")
        if path == "ik":
            what = f"switches the IK of node {target!r}"
            for node in self._nodes.find(target, CHAIN_NAME):
                if node in self._chains:
                    return Found(what, self._chains[node])
            return Found(what, fault=", which has none")
        what = f"moves the {path} of node {target!r}"
        nodes = self._nodes.find(target, NODE_NAME)
        if not nodes:
            return Found(what, fault=", which there is not")
        node, ambiguous = nodes[0], ""
        if len(nodes) > 1:
            ambiguous = f"; of {len(nodes)} nodes with that name the first, {node}, is moved"
        shown = self._morphs.get(node, 0)
        if path == "weights" and not 0 < track.width == shown:
            fault = f" for {track.width} morph targets, but it shows {shown}"
            return Found(what, fault=fault, unfit=True)
        return Found(what, (node,), ambiguous=ambiguous)


class _Names:
    """Indices by name, and by what old motions keep of a name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._exact = _grouped(names)
        self._cut: dict[int, dict[str | bytes | None, list[int]]] = {}

    def find(self, target: int | str, size: int) -> list[int]:
        if not isinstance(target, str):
            return [target] if 0 <= target < len(self._names) else []
        if target in self._exact:
            return self._exact[target]
        key = name_key(target, size + 1)
        if key is None or len(key) != size:  # a longer name was not cut
            return []
        if size not in self._cut:
            self._cut[size] = _grouped([name_key(name, size) for name in self._names])
        return self._cut[size].get(key, [])


def _grouped(keys: Sequence[str | bytes | None]) -> dict[str | bytes | None, list[int]]:
    grouped: dict[str | bytes | None, list[int]] = {}
    for index, key in enumerate(keys):
        grouped.setdefault(key, []).append(index)
    return grouped
