"""Expressions of VRM 1.0 (by node) and 0.x (by mesh, weights 0 … 100).

Sources: VRMC_vrm 1.0, expressions; VRM 0.0, blendShapeMaster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from bunraku.formats.binary import Budget
from bunraku.formats.vrm.fields import Fields
from bunraku.formats.vrm.names import COLORS, COLORS_OF_0, PRESETS, PRESETS_OF_0
from bunraku.model import Bind, Character, Expression, MaterialBind, MorphBind
from bunraku.model.expression import Override
from bunraku.model.material import to_linear

WHITE = (1.0, 1.0, 1.0, 1.0)
BIND_BYTES = 400  # of a bind object, generously


class ExpressionReader:
    """Reads expressions against the character whose morphs and materials they move."""

    def __init__(self, character: Character, budget: Budget) -> None:
        self.character = character
        self.budget = budget
        self.shown_on: dict[int, list[int]] = {}
        self.on_node: dict[int, int] = {}
        for i, attachment in enumerate(character.attachments):
            self.shown_on.setdefault(attachment.mesh, []).append(i)
            self.on_node[attachment.node] = i
        self.named: dict[str, list[int]] = {}
        for i, material in enumerate(character.materials):
            self.named.setdefault(material.name, []).append(i)

    def expressions_1(self, extension: Fields) -> tuple[Expression, ...]:
        """Presets, then custom ones, each in file order."""
        found = []
        root = extension.fields("expressions")
        for kind in ("preset", "custom"):
            group = None if root is None else root.fields(kind)
            for name, fields in group.members() if group is not None else ():
                preset = name if kind == "preset" else None
                if preset is not None and preset not in PRESETS:
                    fields.note("unknown-preset", "is no preset of VRM 1.0; read as a custom one")
                    preset = None
                found.append(self._expression_1(name, preset, fields))
        return noted_twice(tuple(found), extension)

    def _expression_1(self, name: str, preset: str | None, fields: Fields) -> Expression:
        binds: list[Bind] = []
        for each in fields.objects("morphTargetBinds"):
            binds += self._morph_1(each)
        for each in fields.objects("materialColorBinds"):
            binds += self._color_1(each)
        for each in fields.objects("textureTransformBinds"):
            material = each.index("material", "materials")
            scale = each.vector("scale", (1.0, 1.0))
            offset = each.vector("offset", (0.0, 0.0))
            if material is not None:
                binds.append(MaterialBind(material, "uv_scale", scale))
                binds.append(MaterialBind(material, "uv_offset", offset))
        self.budget.spend(BIND_BYTES * len(binds), "expressions")
        mouth, blink, look = (
            cast(Override, fields.choice(key, ("none", "block", "blend"), "none"))
            for key in ("overrideMouth", "overrideBlink", "overrideLookAt")
        )
        return Expression(name, tuple(binds), preset, fields.flag("isBinary"), mouth, blink, look)

    def _morph_1(self, fields: Fields) -> list[MorphBind]:
        weight = fields.number("weight", 1.0)
        node = fields.index("node", "nodes")
        if node is None:
            return []
        if node not in self.on_node:
            fields.note("bind-without-mesh", f"node {node} shows no mesh; left out", "node")
            return []
        attachment = self.on_node[node]
        target = fields.index("index", "morph targets", self._targets(attachment))
        return [] if target is None else [MorphBind(attachment, target, weight)]

    def _targets(self, attachment: int) -> int:
        mesh = self.character.attachments[attachment].mesh
        return len(self.character.meshes[mesh].morph_names)

    def _color_1(self, fields: Fields) -> list[MaterialBind]:
        material = fields.index("material", "materials")
        kind = fields.text("type")
        if kind not in COLORS:
            fields.note("unknown-value", f"is {kind[:40]!r}; the bind is left out", "type")
            return []
        value = fields.vector("targetValue", WHITE)
        return [] if material is None else [MaterialBind(material, COLORS[kind], value)]

    def expressions_0(self, extension: Fields) -> tuple[Expression, ...]:
        """The blend shape groups, in file order, with the names of 1.0 as presets."""
        found = []
        master = extension.fields("blendShapeMaster")
        for fields in master.objects("blendShapeGroups") if master is not None else ():
            binds: list[Bind] = []
            for each in fields.objects("binds"):
                binds += self._morphs_0(each)
            for each in fields.objects("materialValues"):
                binds += self._material_0(each)
            name = fields.text("name")
            old = fields.text("presetName", "unknown").lower()
            if old not in PRESETS_OF_0 and old != "unknown":
                fields.note("unknown-preset", f"{old[:40]!r} is no preset of VRM 0.x", "presetName")
            preset = PRESETS_OF_0.get(old)
            found.append(Expression(name, tuple(binds), preset, fields.flag("isBinary")))
        return noted_twice(tuple(found), extension)

    def _morphs_0(self, fields: Fields) -> Iterator[MorphBind]:
        """One for each node that shows the mesh."""
        weight = fields.number("weight", 100.0) / 100
        mesh = fields.index("mesh", "meshes")
        if mesh is None:
            return
        shown_on = self.shown_on.get(mesh, [])
        if not shown_on:
            fields.note("bind-without-mesh", f"no node shows mesh {mesh}; left out", "mesh")
        count = len(self.character.meshes[mesh].morph_names)
        target = fields.index("index", "morph targets", count)
        self.budget.spend(BIND_BYTES * len(shown_on), "blendShapeMaster")
        if target is not None:
            yield from (MorphBind(attachment, target, weight) for attachment in shown_on)

    def _material_0(self, fields: Fields) -> Iterator[MaterialBind]:
        """A value for every material of a name.

        Unity's colours are display values, and its textures' origin is at the bottom.
        """
        name, unity = fields.text("materialName"), fields.text("propertyName")
        materials = self.named.get(name, [])
        if not materials:
            message = f"no material is called {name[:60]!r}; left out"
            fields.note("dangling-reference", message, "materialName")
        value = fields.vector("targetValue", WHITE)
        self.budget.spend(2 * BIND_BYTES * len(materials), "blendShapeMaster")
        if unity in COLORS_OF_0:
            color = (*to_linear(value[:3]).tolist(), value[3])
            yield from (MaterialBind(i, COLORS_OF_0[unity], color) for i in materials)
            return
        if not unity.endswith(("_ST", "_ST_S", "_ST_T")):
            message = f"{unity[:60]!r} has no counterpart in VRM 1.0; kept in the document"
            fields.note("material-value-carried", message, "propertyName")
            return
        scale, offset = value[:2], (value[2], 1.0 - value[3] - value[1])
        for i in materials:
            own = self.character.materials[i]
            for name, given in (("uv_scale", scale), ("uv_offset", offset)):
                across, down = getattr(own, name)  # _S and _T leave the other one as it is
                x = across if unity.endswith("_ST_T") else given[0]
                y = down if unity.endswith("_ST_S") else given[1]
                yield MaterialBind(i, name, (x, y))


def noted_twice(expressions: tuple[Expression, ...], extension: Fields) -> tuple[Expression, ...]:
    """The expressions; a preset that occurs again is a custom one (noted)."""
    seen: set[str] = set()
    result = []
    for i, expression in enumerate(expressions):
        if expression.preset is not None and expression.preset in seen:
            message = f"preset {expression.preset} is there twice; the first one counts"
            extension.context.note("preset-twice", ("expressions", i), message)
            expression = replace(expression, preset=None)
        if expression.preset is not None:
            seen.add(expression.preset)
        result.append(expression)
    return tuple(result)
