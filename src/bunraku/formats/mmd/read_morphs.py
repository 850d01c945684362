"""Morphs of a PMX as expressions: one for each, at the same index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.pmx import PmxFile
from bunraku.formats.mmd.pmx_morphs import MorphKind, PmxMorph
from bunraku.formats.mmd.space import metres, mirrored_rotations
from bunraku.model import (
    Bind,
    Expression,
    GroupBind,
    JointBind,
    MaterialBind,
    MorphBind,
    MorphTarget,
    UvBind,
)

Array = npt.NDArray[Any]

# Fields of a material morph, under the names `MaterialBind` gives the properties.
PROPERTIES = {
    "diffuse": "base_color",
    "specular": "specular",
    "specular_power": "specular_power",
    "ambient": "ambient",
    "edge_colour": "edge_color",
    "edge_size": "edge_size",
    "texture": "texture",
    "sphere": "sphere_texture",
    "toon": "toon_texture",
}
_UNSAID = {
    MorphKind.FLIP: "switches between morphs, which a weight cannot say",
    MorphKind.IMPULSE: "pushes rigid bodies, which are not simulated",
}
_NOTHING = MorphTarget(np.empty(0, np.int32), np.empty((0, 3), np.float32))


def read_targets(file: PmxFile, notes: list[Note]) -> tuple[dict[int, int], list[MorphTarget]]:
    """Morph targets of the vertex morphs, and which target each of those morphs is."""
    numbers: dict[int, int] = {}
    targets: list[MorphTarget] = []
    for i, morph in enumerate(file.morphs):
        if morph.kind != MorphKind.VERTEX:
            continue
        numbers[i] = len(targets)
        offsets = _usable(morph, "offset", len(file.vertices), f"morphs[{i}]", notes)
        targets.append(_target(offsets) if len(offsets) else _NOTHING)
    return numbers, targets


def _target(offsets: Array) -> MorphTarget:
    """Offsets of the same vertex add up."""
    indices, moves = offsets["vertex"], metres(offsets["offset"])
    if (np.diff(indices) <= 0).any():
        order = np.argsort(indices, kind="stable")
        indices, moves = indices[order], moves[order]
    if (np.diff(indices) == 0).any():
        first = np.flatnonzero(np.diff(indices, prepend=-1))
        indices, moves = indices[first], np.add.reduceat(moves, first)
    return MorphTarget(indices, moves.astype(np.float32))


def read_expressions(
    file: PmxFile, targets: dict[int, int], shown: bool, notes: list[Note]
) -> tuple[Expression, ...]:
    """An expression for each morph.

    Args:
        targets: morph target of each vertex morph.
        shown: whether there is a mesh to move.
    """
    expressions = []
    for i, morph in enumerate(file.morphs):
        place = f"morphs[{i}]"
        if morph.kind in _UNSAID:
            message = f"{morph.name[:60]!r} {_UNSAID[morph.kind]}; its expression does nothing"
            notes.append(Note("morph-unsaid", message, place))
        binds: tuple[Bind, ...] = ()
        if morph.kind == MorphKind.VERTEX:
            binds = (MorphBind(0, targets[i]),) if shown else ()
        elif len(morph.offsets):
            binds = tuple(_binds(file, morph, shown, place, notes))
        expressions.append(Expression(morph.name, binds))
    return tuple(expressions)


def _binds(
    file: PmxFile, morph: PmxMorph, shown: bool, place: str, notes: list[Note]
) -> Iterator[Bind]:
    if morph.kind == MorphKind.GROUP:
        for index, weight in _usable(morph, "weight", len(file.morphs), place, notes).tolist():
            yield GroupBind(index, weight)
    elif morph.kind == MorphKind.BONE:
        offsets = _usable(morph, "translation", len(file.bones), place, notes)
        moves, turns = metres(offsets["translation"]), _unit(offsets["rotation"])
        for bone, move, turn in zip(offsets["bone"].tolist(), moves, turns, strict=True):
            yield JointBind(bone, move, turn)
    elif morph.kind == MorphKind.MATERIAL:
        offsets = _usable(morph, "diffuse", len(file.materials), place, notes, all_=True)
        for record in offsets:
            yield from _material_binds(record)
    elif MorphKind.UV <= morph.kind <= MorphKind.UV4:
        uv_set = morph.kind - MorphKind.UV
        if not shown or uv_set > file.vertices.additional_uvs.shape[1]:
            message = f"shifts additional UV {uv_set}, which the vertices do not have"
            notes.append(Note("uv-morph-unsaid", message, place))
            return
        offsets = _usable(morph, "offset", len(file.vertices), place, notes)
        if offsets["offset"][:, 2:].any():
            message = "shifts the third and fourth numbers of UVs, which are in the document only"
            notes.append(Note("uv-components", message, place))
        yield UvBind(0, 0, uv_set, offsets["vertex"], offsets["offset"][:, :2])


def _material_binds(record: Any) -> Iterator[Bind]:
    """What the record changes; factors of 1 and terms of 0 do not."""
    material = int(record["material"])
    adds = bool(record["operation"])
    for field, name in PROPERTIES.items():
        value = np.atleast_1d(record[field]).astype(np.float64)
        if np.isfinite(value).all() and (value != (0 if adds else 1)).any():
            yield MaterialBind(
                None if material < 0 else material,
                name,
                tuple(value.tolist()),
                "add" if adds else "multiply",
            )


def _usable(
    morph: PmxMorph, values: str, count: int, place: str, notes: list[Note], *, all_: bool = False
) -> Array:
    """Offsets of what there is and that are numbers; `all_`: −1 stands for all there are."""
    offsets = morph.offsets
    indices = offsets[(offsets.dtype.names or ("",))[0]]
    good = (indices >= (-1 if all_ else 0)) & (indices < count)
    numbers = np.isfinite(offsets[values])
    if good.all() and numbers.all():
        return offsets
    good &= numbers if numbers.ndim == 1 else numbers.all(axis=1)
    message = f"{int((~good).sum())} of {len(offsets)} offsets of {morph.name[:60]!r} lead nowhere"
    notes.append(Note("morph-offsets-dropped", message + " or are no numbers; left out", place))
    kept: Array = offsets[good]
    return kept


def _unit(rotations: Array) -> Array:
    """Mirrored quaternions of length 1; those without direction or number do not turn."""
    turns = mirrored_rotations(rotations)
    lengths = np.linalg.norm(turns, axis=1, keepdims=True)
    good = np.isfinite(lengths) & (lengths > 0)
    unit: Array = np.where(good, turns / np.where(good, lengths, 1), [0.0, 0.0, 0.0, 1.0])
    return unit
