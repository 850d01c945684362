"""What `info` says of a figure beyond its meshes: bones, expressions, rig."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from bunraku.model import Character, Expression


def describe_figure(character: Character) -> dict[str, Any]:
    """Facing, humanoid, expressions and rig as plain data."""
    humanoid, rig = character.humanoid, character.rig
    described: dict[str, Any] = {
        "facing": character.facing,
        "humanoid": None if humanoid is None else dict(humanoid.bones),
        "humanoid_missing": [] if humanoid is None else list(humanoid.missing),
        "expressions": [_describe_expression(each) for each in character.expressions],
    }
    if rig is None:
        return described
    gaze = rig.look_at
    return described | {
        "look_at": None if gaze is None else gaze.kind,
        "constraints": [
            {
                "kind": type(each).__name__.removesuffix("Constraint").lower(),
                "node": each.node,
                "source": each.source,
                "weight": each.weight,
            }
            for each in rig.constraints
        ],
        "springs": [
            {
                "name": spring.name,
                "joints": [joint.node for joint in spring.joints],
                "colliders": len(spring.colliders),
                "center": spring.center,
            }
            for spring in rig.springs
        ],
        "colliders": len(rig.colliders),
        "ik_chains": [
            {"goal": chain.goal, "effector": chain.effector, "links": len(chain.links)}
            for chain in rig.chains
        ],
        "appends": len(rig.appends),
    }


def _describe_expression(expression: Expression) -> dict[str, Any]:
    kinds = [type(bind).__name__.removesuffix("Bind").lower() for bind in expression.binds]
    overrides = {
        what: getattr(expression, f"override_{what}")
        for what in ("mouth", "blink", "look")
        if getattr(expression, f"override_{what}") != "none"
    }
    return {
        "name": expression.name,
        "preset": expression.preset,
        "binary": expression.binary,
        "binds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "overrides": overrides,
    }


def print_figure(console: Console, described: dict[str, Any], names: tuple[str, ...]) -> None:
    """The same for a person; nothing for a character that has none of it."""
    from rich.markup import escape

    humanoid = described["humanoid"]
    if humanoid is not None:
        missing = described["humanoid_missing"]
        tail = f", without {', '.join(missing)}" if missing else ""
        console.print(
            f"humanoid: {len(humanoid)} bones, facing {described['facing']}{tail}", soft_wrap=True
        )
    _print_expressions(console, described["expressions"])
    if described.get("look_at"):
        console.print(f"gaze: by {described['look_at']}")
    for each in described.get("constraints", ()):
        node, source = (escape(names[each[key]]) for key in ("node", "source"))
        console.print(
            f"constraint: {node} follows {source} by {each['kind']}, weight {each['weight']:g}",
            soft_wrap=True,
        )
    _print_springs(console, described, names)
    rules = [
        f"{count} {what}"
        for count, what in (
            (len(described.get("ik_chains", ())), "IK chains"),
            (described.get("appends", 0), "appended nodes"),
        )
        if count
    ]
    if rules:
        console.print(f"rig: {', '.join(rules)}")


def _counted(kind: str, count: int) -> str:
    return f"{count} {kind}" if count == 1 else f"{count} {kind}s"


def _print_expressions(console: Console, expressions: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not expressions:
        return
    table = Table("expression", "preset", "moves", "binary", "overrides")
    for each in expressions:
        table.add_row(
            escape(each["name"]),
            each["preset"] or "",
            ", ".join(_counted(*bind) for bind in each["binds"].items()),
            "yes" if each["binary"] else "",
            ", ".join(f"{what}: {how}" for what, how in each["overrides"].items()),
        )
    console.print(table)


def _print_springs(console: Console, described: dict[str, Any], names: tuple[str, ...]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not described.get("springs"):
        return
    table = Table("spring", "joints", "from", "colliders", "center")
    for each in described["springs"]:
        table.add_row(
            escape(each["name"]),
            str(len(each["joints"])),
            escape(names[each["joints"][0]]) if each["joints"] else "",
            str(each["colliders"]),
            "" if each["center"] is None else escape(names[each["center"]]),
        )
    console.print(table)
