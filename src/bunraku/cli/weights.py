"""`bunraku weights FILE`: how much each joint holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.info import describe_notes, print_notes

if TYPE_CHECKING:
    from bunraku.errors import Note
    from bunraku.model import Character

ABOUT_WEIGHTS = ("weight", "influences-", "skin-without-influences")  # how codes of notes begin


class Order(StrEnum):
    """What comes first."""

    MASS = "mass"
    VERTICES = "vertices"
    NAME = "name"
    INDEX = "index"


@dataclass(frozen=True)
class JointWeight:
    """What one joint holds.

    Attributes:
        index, name: of its node.
        vertices: that have any weight on it.
        mostly: that have no more weight on another.
        mass: sum of the weights on it; all joints together have one for each held vertex.
        share: of the mass of all joints, 0 … 1.
    """

    index: int
    name: str
    vertices: int
    mostly: int
    mass: float
    share: float


def weights(
    file: Annotated[Path, typer.Argument(help="A .glb, .gltf, .vrm, .pmx … file.")],
    sort: Annotated[Order, typer.Option(help="What comes first.")] = Order.MASS,
    mesh: Annotated[
        str | None, typer.Option(help="Name or index of the mesh; all if omitted.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """List vertices and weight mass of every joint.

    A joint that holds far more or less than its neighbours, or nothing, is where to look when a
    figure bends wrongly. What had to be repaired of the weights in the file is noted.
    """
    from bunraku.formats import load

    character = load(file)
    meshes = chosen_meshes(character, mesh)
    table = ordered(joint_weights(character, meshes), sort)
    held, loose = held_vertices(character, meshes)
    notes = [note for note in character.notes if note.code.startswith(ABOUT_WEIGHTS)]
    if as_json:
        report = {
            "name": character.name,
            "meshes": sorted(meshes),
            "vertices": held + loose,
            "unheld": loose,
            "joints": [asdict(each) for each in table],
            "notes": describe_notes(notes),
        }
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        _print(file, table, held, loose, notes)


def chosen_meshes(character: Character, mesh: str | None) -> set[int]:
    """Indices of the meshes that are shown with a skin, or of those among them that are meant.

    Raises:
        RigError: no such mesh.
    """
    from bunraku.errors import RigError

    names = [each.name for each in character.meshes]
    if mesh is None:
        wanted = set(range(len(names)))
    else:
        wanted = {i for i, name in enumerate(names) if name == mesh}
        if not wanted and mesh.isdecimal() and int(mesh) < len(names):
            wanted = {int(mesh)}
        if not wanted:
            known = ", ".join(f"{i} {name!r}" for i, name in enumerate(names[:20]))
            raise RigError(f"{character.name}: no mesh {mesh!r}; there are: {known or 'none'}")
    return {a.mesh for a in character.attachments if a.skin is not None and a.mesh in wanted}


def joint_weights(character: Character, meshes: set[int]) -> list[JointWeight]:
    """One entry for every joint of the skins that show the meshes, in node order.

    A mesh that several nodes show with a skin counts once for each.

    >>> import numpy as np
    >>> from bunraku.model import Attachment, Character, Geometry, Mesh, Skeleton, Skin
    >>> rod = Geometry(np.zeros((2, 3)), joints=[[0, 1], [0, 0]], weights=[[0.25, 0.75], [1, 0]])
    >>> arm = Character(
    ...     Skeleton(("upper", "fore", "mesh"), [-1, 0, -1]),
    ...     (Mesh("rod", (rod,), ()),), (Skin([0, 1]),), (Attachment(2, 0, 0),),
    ... )
    >>> [(each.name, each.vertices, each.mostly, each.mass) for each in joint_weights(arm, {0})]
    [('upper', 2, 1, 1.25), ('fore', 1, 1, 0.75)]
    """
    import numpy as np

    count = len(character.skeleton)
    vertices, mostly = np.zeros(count, np.int64), np.zeros(count, np.int64)
    mass = np.zeros(count)
    joints: set[int] = set()
    for attachment in character.attachments:
        if attachment.skin is None or attachment.mesh not in meshes:
            continue
        nodes = character.skins[attachment.skin].joints
        joints |= set(nodes.tolist())
        for geometry in character.meshes[attachment.mesh].geometries:
            if geometry.joints is None or geometry.weights is None:
                continue
            # slots without weight may name any joint
            vertex, slot = np.nonzero(geometry.weights)
            held = nodes[geometry.joints[vertex, slot]]
            weight = geometry.weights[vertex, slot].astype(np.float64)
            # one entry for each vertex and joint, also where slots repeat a joint
            pairs, place = np.unique(vertex * count + held, return_inverse=True)
            sums = np.bincount(place, weight, len(pairs))
            vertex, held = np.divmod(pairs, count)
            mass += np.bincount(held, sums, count)
            vertices += np.bincount(held, minlength=count)
            heaviest = np.lexsort((held, -sums, vertex))
            first = np.unique(vertex[heaviest], return_index=True)[1]
            mostly += np.bincount(held[heaviest[first]], minlength=count)
    total = float(mass.sum()) or 1.0
    return [
        JointWeight(
            node,
            character.skeleton.names[node],
            int(vertices[node]),
            int(mostly[node]),
            float(mass[node]),
            float(mass[node]) / total,
        )
        for node in sorted(joints)
    ]


def held_vertices(character: Character, meshes: set[int]) -> tuple[int, int]:
    """How many vertices of the meshes joints hold, and how many none does."""
    import numpy as np

    held = loose = 0
    for attachment in character.attachments:
        if attachment.skin is None or attachment.mesh not in meshes:
            continue
        for geometry in character.meshes[attachment.mesh].geometries:
            some = 0
            if geometry.weights is not None:
                some = int(np.count_nonzero(geometry.weights.any(axis=1)))
            held += some
            loose += geometry.vertex_count - some
    return held, loose


def ordered(table: list[JointWeight], order: Order) -> list[JointWeight]:
    """The table with the largest first, or by name or node."""
    if order == Order.MASS:
        return sorted(table, key=lambda each: -each.mass)
    if order == Order.VERTICES:
        return sorted(table, key=lambda each: -each.vertices)
    if order == Order.NAME:
        return sorted(table, key=lambda each: each.name)
    return table


def _print(file: Path, table: list[JointWeight], held: int, loose: int, notes: list[Note]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    tail = f", {loose:,} held by none" if loose else ""
    console.print(
        f"[bold]{escape(str(file))}[/bold]: {len(table)} joints hold {held:,} vertices{tail}",
        soft_wrap=True,
    )
    print_notes(console, notes)
    if not table:
        return
    shown = Table("joint", "name", "vertices", "mostly", "mass", "share")
    for column in shown.columns:
        if column.header != "name":
            column.justify = "right"
    for each in table:
        shown.add_row(
            str(each.index),
            escape(each.name),
            f"{each.vertices:,}",
            f"{each.mostly:,}",
            f"{each.mass:,.2f}",
            f"{each.share:.2%}",
            style=None if each.vertices else "dim",
        )
    console.print(shown)
