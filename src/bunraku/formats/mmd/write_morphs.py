"""Expressions as the morphs of a PMX, at the same indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.pmx_morphs import OFFSETS, MorphKind, PmxMorph
from bunraku.formats.mmd.read_morphs import PROPERTIES
from bunraku.formats.mmd.space import mirrored_rotations, units
from bunraku.formats.mmd.surfaces import display_color
from bunraku.formats.mmd.write_mesh import Placed, turned
from bunraku.model import (
    Character,
    Expression,
    GroupBind,
    JointBind,
    MaterialBind,
    MorphBind,
    UvBind,
)

Array = npt.NDArray[Any]
Pieces = dict[MorphKind, Array]

_FIELDS = {name: field for field, name in PROPERTIES.items()}
_EYE, _MOUTH, _OTHER = 2, 3, 4
_MOUTHS = ("aa", "ih", "ou", "ee", "oh")


def write_morphs(
    character: Character, placed: list[Placed], notes: list[Note]
) -> tuple[PmxMorph, ...]:
    """A morph for each expression; for a character without any, one for each morph target.

    A PMX morph has offsets of one kind. An expression of several becomes a group of morphs
    that follow after all others.
    """
    expressions = character.expressions or _of_targets(character)
    _note_settings(expressions, notes)
    morphs: list[PmxMorph] = []
    behind: list[PmxMorph] = []
    for i, expression in enumerate(expressions):
        pieces = _pieces(character, placed, expression, f"expressions[{i}]", notes)
        name, panel = expression.name or f"morph{i}", _panel(expression)
        if len(pieces) <= 1:
            kind, offsets = next(iter(pieces.items()), (MorphKind.VERTEX, _none(MorphKind.VERTEX)))
            morphs.append(PmxMorph(name, "", panel, kind, offsets))
            continue
        groups = [pieces.pop(MorphKind.GROUP, _none(MorphKind.GROUP))]
        for kind, offsets in pieces.items():
            number = len(expressions) + len(behind)
            groups.append(np.array([(number, 1.0)], OFFSETS[MorphKind.GROUP]))
            behind.append(PmxMorph(f"{name}_{kind.name.lower()}", "", _OTHER, kind, offsets))
        morphs.append(PmxMorph(name, "", panel, MorphKind.GROUP, np.concatenate(groups)))
    return (*morphs, *behind)


def _note_settings(expressions: tuple[Expression, ...], notes: list[Note]) -> None:
    binary = sum(expression.binary for expression in expressions)
    settings = ("override_mouth", "override_blink", "override_look")
    over = sum(any(getattr(each, name) != "none" for name in settings) for each in expressions)
    there = [f"{binary} are on or off"] if binary else []
    there += [f"{over} override others"] if over else []
    if there:
        message = f"{' and '.join(there)}, which no morph does"
        notes.append(Note("override-dropped", message, "expressions"))


def _of_targets(character: Character) -> tuple[Expression, ...]:
    """An expression for each name of a morph target; those without a name stay apart."""
    binds: dict[str, list[MorphBind]] = {}
    for i, attachment in enumerate(character.attachments):
        for target in range(len(character.meshes[attachment.mesh].morph_names)):
            binds.setdefault(target_name(character, i, target), []).append(MorphBind(i, target))
    return tuple(Expression(name, tuple(each)) for name, each in binds.items())


def target_name(character: Character, attachment: int, target: int) -> str:
    """What the morph of a target is called, where targets become morphs."""
    mesh = character.meshes[character.attachments[attachment].mesh]
    return mesh.morph_names[target] or f"morph{attachment}_{target}"


def _panel(expression: Expression) -> int:
    preset = expression.preset or ""
    if preset in _MOUTHS:
        return _MOUTH
    return _EYE if preset.startswith(("blink", "look")) else _OTHER


def _none(kind: MorphKind) -> Array:
    return np.empty(0, OFFSETS[kind])


def _pieces(
    character: Character,
    placed: list[Placed],
    expression: Expression,
    where: str,
    notes: list[Note],
) -> Pieces:
    """Offsets by kind, in the order in which kinds come up."""
    pieces: dict[MorphKind, list[Array]] = {}
    for bind in expression.binds:
        if isinstance(bind, MorphBind):
            made: Iterable[tuple[MorphKind, Array]] = _vertex(character, placed, bind)
        elif isinstance(bind, JointBind):
            move = units(turned(bind.translation, character.facing))
            turn = mirrored_rotations(bind.rotation)
            record = (bind.node, move, turn)
            made = [(MorphKind.BONE, np.array([record], OFFSETS[MorphKind.BONE]))]
        elif isinstance(bind, GroupBind):
            record_ = (bind.expression, bind.weight)
            made = [(MorphKind.GROUP, np.array([record_], OFFSETS[MorphKind.GROUP]))]
        elif isinstance(bind, UvBind):
            made = _uv(character, placed, bind)
        else:
            made = _material(character, bind, where, notes)
        for kind, offsets in made:
            pieces.setdefault(kind, []).append(offsets)
    return {kind: np.concatenate(offsets) for kind, offsets in pieces.items()}


def _vertex(
    character: Character, placed: list[Placed], bind: MorphBind
) -> Iterable[tuple[MorphKind, Array]]:
    mesh = character.meshes[character.attachments[bind.attachment].mesh]
    for each in placed:
        if each.attachment != bind.attachment:
            continue
        target = mesh.geometries[each.geometry].morphs[bind.target]
        moves = target.positions
        if moves is None:
            moves = np.zeros((len(target.indices), 3), np.float32)
        offsets = np.empty(len(target.indices), OFFSETS[MorphKind.VERTEX])
        offsets["vertex"] = target.indices + each.start
        moved = turned(each.deltas(target.indices, moves), character.facing)
        offsets["offset"] = units(moved) * bind.weight
        yield MorphKind.VERTEX, offsets


def _uv(
    character: Character, placed: list[Placed], bind: UvBind
) -> Iterable[tuple[MorphKind, Array]]:
    kind = MorphKind(MorphKind.UV + bind.uv_set) if bind.uv_set <= 4 else None
    for each in placed:
        shown = character.attachments[each.attachment].mesh == bind.mesh
        if kind is None or not shown or each.geometry != bind.geometry:
            continue
        offsets = np.zeros(len(bind.indices), OFFSETS[kind])
        offsets["vertex"] = bind.indices + each.start
        offsets["offset"][:, :2] = bind.offsets
        yield kind, offsets


def _material(
    character: Character, bind: MaterialBind, where: str, notes: list[Note]
) -> Iterable[tuple[MorphKind, Array]]:
    adds = bind.mode != "multiply"
    record = np.zeros(1, OFFSETS[MorphKind.MATERIAL])
    for field in PROPERTIES:
        record[field] = 0 if adds else 1
    record["material"] = -1 if bind.material is None else bind.material
    record["operation"] = adds
    value: Any = bind.value
    field_ = _FIELDS.get(bind.property)
    if bind.mode == "toward":
        # towards a colour is that much more of it than there is
        if field_ != "diffuse" or bind.material is None or len(bind.value) != 4:
            field_ = None
        else:
            base = display_color(character.materials[bind.material].base_color)
            red, green, blue, alpha = bind.value
            value = np.subtract(display_color((red, green, blue, alpha)), base)
    if field_ is None or np.size(value) != record[field_][0].size:
        message = f"changes {bind.property} of a material, which a PMX morph cannot; left out"
        notes.append(Note("bind-dropped", message, where))
        return
    record[field_] = value if np.size(value) > 1 else value[0]
    yield MorphKind.MATERIAL, record
