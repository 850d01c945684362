"""Expressions into VRM 1.0 (by node) and 0.x (by mesh).

An expression that did not change keeps its object; a changed one keeps what the model does not
know of it (extensions, extras, names).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bunraku.formats.gltf.context import Context, Place
from bunraku.formats.gltf.encoding import put
from bunraku.formats.vrm.fields import Tree
from bunraku.formats.vrm.names import COLORS, COLORS_OF_0, PRESETS, PRESETS_OF_0
from bunraku.model import (
    Bind,
    Character,
    Expression,
    GroupBind,
    MaterialBind,
    MorphBind,
    differences,
)
from bunraku.model.expression_groups import group_links
from bunraku.model.expression_names import MMD_EXPRESSIONS, plain_name
from bunraku.model.material import to_display

_COLORS_1 = {name: key for key, name in COLORS.items()}
_COLORS_0 = {name: key for key, name in COLORS_OF_0.items()}
_PRESETS_0 = {name: key for key, name in PRESETS_OF_0.items()}
_OVERRIDES = {
    "overrideMouth": "override_mouth",
    "overrideBlink": "override_blink",
    "overrideLookAt": "override_look",
}


def with_presets(expressions: tuple[Expression, ...], context: Context) -> tuple[Expression, ...]:
    """The expressions, those that MMD's models have a name for as presets (noted).

    Programs blink and speak by preset; VRM 1.0 has no other name for one.
    """
    result = list(expressions)
    taken = {expression.preset for expression in expressions}
    free: dict[str, int] = {}
    for i, expression in enumerate(expressions):
        if expression.preset is None:
            free.setdefault(plain_name(expression.name), i)
    named = []
    for preset, names in MMD_EXPRESSIONS.items():
        found = [free[each] for each in map(plain_name, names) if each in free]
        if found and preset not in taken:
            result[found[0]] = replace(expressions[found[0]], preset=preset)
            named.append(f"{expressions[found[0]].name} is {preset}")
    if named:
        message = f"by their names these are presets of VRM: {', '.join(named)}"
        context.note("expression-preset", ("expressions",), message)
    return tuple(result)


def without_groups(expressions: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The expressions with what groups drive as binds of their own, weights multiplied.

    Only morph targets can be said so: a member that moves something else stays a group.

    >>> smile = Expression("smile", (GroupBind(1, 0.5),))
    >>> without_groups((smile, Expression("blink", (MorphBind(0, 3),))))[0].binds
    (MorphBind(attachment=0, target=3, weight=0.5),)
    """
    links = group_links(expressions)
    return tuple(
        replace(each, binds=tuple(_members(i, expressions, links)))
        if any(isinstance(bind, GroupBind) for bind in each.binds)
        else each
        for i, each in enumerate(expressions)
    )


def _members(
    index: int, expressions: tuple[Expression, ...], links: list[tuple[int, GroupBind]]
) -> Iterator[Bind]:
    shares = {index: 1.0}
    for at, group in links:
        if at in shares:
            share = shares.get(group.expression, 0.0) + group.weight * shares[at]
            shares[group.expression] = share
    weights: dict[tuple[int, int], float] = {}
    for member, share in shares.items():
        binds = [bind for bind in expressions[member].binds if not isinstance(bind, GroupBind)]
        for bind in binds:
            if isinstance(bind, MorphBind):
                key = bind.attachment, bind.target
                weights[key] = weights.get(key, 0.0) + bind.weight * share
            elif member == index:
                yield bind
        if member != index and not all(isinstance(bind, MorphBind) for bind in binds):
            yield GroupBind(member, share)
    for (attachment, target), weight in weights.items():
        if weight:
            yield MorphBind(attachment, target, weight)


class ExpressionWriter:
    """Writes the expressions of one character; `old` is what the document says so far."""

    def __init__(self, old: Character, new: Character, context: Context) -> None:
        self.old, self.new = old, new
        self.spread = without_groups(new.expressions)
        self.context = context

    def write_1(self, extension: Tree) -> None:
        """Bring `extension` (VRMC_vrm) to the expressions of the character."""
        if self._same():
            return
        before = extension.get("expressions") or {}
        groups: dict[str, Tree] = {"preset": {}, "custom": {}}
        known = [(each.preset, each.name) for each in self.old.expressions]
        for i, expression in enumerate(self.new.expressions):
            place: Place = ("expressions", i)
            kind, name = self._place_1(expression, groups, place)
            tree = (before.get(kind) or {}).get(name) or {}
            key = (expression.preset, expression.name)
            was = self.old.expressions[known.index(key)] if key in known else None
            if was is None or not self._equal(was, expression):
                tree = self._expression_1(tree, self.spread[i], place)
            groups[kind][name] = tree
        kept = {key: value for key, value in before.items() if key not in groups}
        put(extension, "expressions", kept | {k: g for k, g in groups.items() if g}, {})

    def _same(self) -> bool:
        old, new = self.old.expressions, self.new.expressions
        return len(old) == len(new) and all(map(self._equal, old, new))

    def _equal(self, old: Expression, new: Expression) -> bool:
        """Whether both say the same; attachments are compared by their nodes."""
        return not differences(_by_node(old, self.old), _by_node(new, self.new))

    def _place_1(
        self, expression: Expression, groups: dict[str, Tree], place: Place
    ) -> tuple[str, str]:
        """The group and key of an expression: keys are unique, custom ones no preset's."""
        if expression.preset in PRESETS and expression.preset not in groups["preset"]:
            return "preset", expression.preset
        name, number = expression.name or "expression", 1
        while name in PRESETS or name in groups["custom"]:
            number += 1
            name = f"{expression.name or 'expression'} {number}"
        if name != expression.name:
            message = f"{expression.name!r} is taken; written as {name!r}"
            self.context.note("expression-renamed", place, message)
        return "custom", name

    def _expression_1(self, before: Tree, expression: Expression, place: Place) -> Tree:
        tree = dict(before)
        put(tree, "isBinary", expression.binary, False)
        for key, name in _OVERRIDES.items():
            put(tree, key, getattr(expression, name), "none")
        morphs, colors = [], []
        transforms: dict[int, Tree] = {}
        for bind in self._sayable(expression, place):
            if isinstance(bind, MorphBind):
                node = self.new.attachments[bind.attachment].node
                morphs.append({"node": node, "index": bind.target, "weight": bind.weight})
            elif bind.property in _COLORS_1:
                kind = _COLORS_1[bind.property]
                value = list(bind.value)
                colors.append({"material": bind.material, "type": kind, "targetValue": value})
            else:
                assert bind.material is not None
                transform = transforms.setdefault(bind.material, {"material": bind.material})
                transform[bind.property.removeprefix("uv_")] = list(bind.value)
        put(tree, "morphTargetBinds", morphs, [])
        put(tree, "materialColorBinds", colors, [])
        put(tree, "textureTransformBinds", list(transforms.values()), [])
        return tree

    def _sayable(self, expression: Expression, place: Place) -> list[MorphBind | MaterialBind]:
        """The binds a VRM can hold; a bind of all materials becomes one for each."""
        result: list[MorphBind | MaterialBind] = []
        dropped: dict[str, int] = {}
        for bind in expression.binds:
            if isinstance(bind, MorphBind):
                result.append(bind)
            elif (
                isinstance(bind, MaterialBind)
                and bind.mode == "toward"
                and (bind.property in _COLORS_1 or bind.property in ("uv_scale", "uv_offset"))
            ):
                whole = range(len(self.new.materials)) if bind.material is None else [bind.material]
                result += [replace(bind, material=i) for i in whole]
            else:
                kind = type(bind).__name__
                dropped[kind] = dropped.get(kind, 0) + 1
        if dropped:
            what = ", ".join(f"{count} of kind {kind}" for kind, count in dropped.items())
            message = f"{expression.name!r}: binds that VRM cannot say are left out: {what}"
            self.context.note("bind-dropped", place, message)
        return result

    def write_0(self, extension: Tree) -> None:
        """Bring `extension` (VRM 0.x) to the expressions of the character."""
        # 0.x says by name which material is meant
        names = [[material.name for material in each.materials] for each in (self.old, self.new)]
        renamed = names[0] != names[1][: len(names[0])]
        if self._same() and not renamed:
            return
        master = dict(extension.get("blendShapeMaster") or {})
        before = master.get("blendShapeGroups") or []
        groups = []
        for i, expression in enumerate(self.new.expressions):
            was = self.old.expressions[i] if i < len(self.old.expressions) else None
            tree = before[i] if was is not None else {}
            if was is None or renamed or not self._equal(was, expression):
                tree = self._group_0(tree, self.spread[i], ("expressions", i))
            groups.append(tree)
        master["blendShapeGroups"] = groups
        extension["blendShapeMaster"] = master

    def _group_0(self, before: Tree, expression: Expression, place: Place) -> Tree:
        overrides = [n for n in _OVERRIDES.values() if getattr(expression, n) != "none"]
        if overrides:
            message = f"{expression.name!r}: VRM 0.x knows no {', '.join(overrides)}"
            self.context.note("override-dropped", place, message)
        binds: dict[tuple[int, int], float] = {}
        values: list[Tree] = []
        transforms: dict[int, dict[str, tuple[float, ...]]] = {}
        for bind in self._sayable(expression, place):
            if isinstance(bind, MorphBind):
                key = (self.new.attachments[bind.attachment].mesh, bind.target)
                if binds.setdefault(key, bind.weight) != bind.weight:
                    message = f"{expression.name!r}: VRM 0.x moves a mesh alike on all its nodes"
                    self.context.note("bind-merged", place, message)
                continue
            assert bind.material is not None
            if bind.property in _COLORS_0:
                color = (*to_display(bind.value[:3]).tolist(), *bind.value[3:])
                values.append(_value_0(self.new, bind.material, _COLORS_0[bind.property], color))
            elif bind.property in _COLORS_1:
                message = f"{expression.name!r}: VRM 0.x cannot change {bind.property}"
                self.context.note("bind-dropped", place, message)
            else:
                transforms.setdefault(bind.material, {})[bind.property] = bind.value
        for material, parts in transforms.items():
            scale_x, scale_y = parts.get("uv_scale", (1.0, 1.0))
            x, y = parts.get("uv_offset", (0.0, 0.0))
            flipped = (scale_x, scale_y, x, 1.0 - y - scale_y)  # Unity's v runs up
            values.append(_value_0(self.new, material, "_MainTex_ST", flipped))
        return {
            **before,
            "name": expression.name,
            "presetName": _PRESETS_0.get(expression.preset or "", "unknown"),
            "isBinary": expression.binary,
            "binds": [
                {"mesh": mesh, "index": target, "weight": weight * 100}
                for (mesh, target), weight in binds.items()
            ],
            "materialValues": [v for i, v in enumerate(values) if v not in values[:i]],
        }


def _value_0(
    character: Character, material: int, name: str, value: tuple[float, ...]
) -> dict[str, Any]:
    return {
        "materialName": character.materials[material].name,
        "propertyName": name,
        "targetValue": list(value),
    }


def _by_node(expression: Expression, character: Character) -> Expression:
    binds = tuple(
        replace(bind, attachment=character.attachments[bind.attachment].node)
        if isinstance(bind, MorphBind)
        else bind
        for bind in expression.binds
    )
    return replace(expression, binds=binds)
