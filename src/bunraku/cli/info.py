"""`bunraku info FILE`: what is in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.figure import describe_figure, print_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from bunraku.errors import Note
    from bunraku.model import Character, Clip, Mesh


def info(
    file: Annotated[Path, typer.Argument(help="A .glb, .gltf, .vrm, .pmx, .vmd … file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Show meshes, joints, skins, bones, expressions, rig, clips and notes of a file."""
    from bunraku.formats import load, load_clips, recognised

    if recognised(file).load is None:
        motion_only(file, load_clips(file), as_json)
        return
    character = load(file)
    if as_json:
        typer.echo(json.dumps(describe(character), ensure_ascii=False, indent=2))
    else:
        _print(file, character)


def motion_only(file: Path, clips: tuple[Clip, ...], as_json: bool) -> None:
    """Show the clips of a file that holds no character, and the notes on them."""
    notes = [note for clip in clips for note in clip.notes]
    if as_json:
        report = {
            "name": file.stem,
            "clips": _describe_clips(clips),
            "notes": describe_notes(notes),
        }
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    console.print(f"[bold]{escape(str(file))}[/bold]: no character", soft_wrap=True)
    _print_clips(console, _describe_clips(clips))
    print_notes(console, notes)


def describe(character: Character) -> dict[str, Any]:
    """Everything `info` shows, as plain data."""
    skeleton = character.skeleton
    joints = sorted({int(node) for skin in character.skins for node in skin.joints})
    return {
        "name": character.name,
        "nodes": [
            {"name": name, "parent": int(parent) if parent >= 0 else None}
            for name, parent in zip(skeleton.names, skeleton.parents, strict=True)
        ],
        "joints": joints,
        "scenes": [
            {"name": scene.name, "roots": scene.roots.tolist()} for scene in character.scenes
        ],
        "default_scene": character.default_scene,
        "extensions": _extensions(character),
        "meshes": [_describe_mesh(mesh) for mesh in character.meshes],
        "skins": [{"name": skin.name, "joints": skin.joints.tolist()} for skin in character.skins],
        "attachments": [
            {"node": each.node, "mesh": each.mesh, "skin": each.skin}
            for each in character.attachments
        ],
        "materials": [material.name for material in character.materials],
        "images": [
            {"name": image.name, "type": image.mime_type, "bytes": len(image.data)}
            for image in character.images
        ],
        **describe_figure(character),
        "clips": _describe_clips(character.clips),
        "notes": describe_notes(character.notes),
    }


def _extensions(character: Character) -> list[str]:
    """Names of the glTF extensions that the file says it uses."""
    from bunraku.formats.gltf import GltfFile

    document = character.document
    return document.json.get("extensionsUsed", []) if isinstance(document, GltfFile) else []


def _describe_clips(clips: Iterable[Clip]) -> list[dict[str, Any]]:
    return [
        {
            "name": clip.name,
            "start": clip.start,
            "end": clip.end,
            "tracks": len(clip.tracks),
            "keys": sum(track.key_count for track in clip.tracks),
        }
        for clip in clips
    ]


def describe_notes(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Notes as plain data."""
    return [{"code": note.code, "place": note.place, "message": note.message} for note in notes]


def print_notes(console: Console, notes: Iterable[Note]) -> None:
    """One line each."""
    from rich.markup import escape

    for note in notes:
        console.print(f"[yellow]note[/yellow] {escape(str(note))}", soft_wrap=True)


def _describe_mesh(mesh: Mesh) -> dict[str, Any]:
    return {
        "name": mesh.name,
        "vertices": mesh.vertex_count,
        "triangles": sum(len(part.faces) for part in mesh.parts if part.topology == "triangles"),
        "geometries": len(mesh.geometries),
        "parts": len(mesh.parts),
        "morphs": list(mesh.morph_names),
        "influences": influence_histogram(mesh),
    }


def influence_histogram(mesh: Mesh) -> dict[str, int]:
    """How many vertices are held by 0, 1, 2 … joints; empty for a mesh without influences.

    >>> import numpy as np
    >>> from bunraku.model import Geometry, Mesh
    >>> held = Geometry(np.zeros((2, 3)), joints=[[0, 1], [0, 0]], weights=[[0.5, 0.5], [1, 0]])
    >>> influence_histogram(Mesh("m", (held,), ()))
    {'1': 1, '2': 1}
    """
    import numpy as np

    counts = [
        np.count_nonzero(geometry.weights, axis=1)
        for geometry in mesh.geometries
        if geometry.weights is not None
    ]
    if not counts:
        return {}
    totals = np.bincount(np.concatenate(counts))
    return {str(k): int(n) for k, n in enumerate(totals) if n}


def _print(file: Path, character: Character) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    data = describe(character)
    console.print(
        f"[bold]{escape(str(file))}[/bold]: {len(data['nodes'])} nodes, "
        f"{len(data['joints'])} joints, {len(data['materials'])} materials, "
        f"{len(data['images'])} images",
        soft_wrap=True,
    )
    if len(data["scenes"]) > 1:
        shown = data["default_scene"] or 0
        scenes = [
            f"{scene['name'] or i}{' (shown)' if i == shown else ''}"
            for i, scene in enumerate(data["scenes"])
        ]
        console.print(f"scenes: {escape(', '.join(scenes))}", soft_wrap=True)
    if data["extensions"]:
        console.print(f"extensions: {escape(', '.join(data['extensions']))}", soft_wrap=True)
    if data["meshes"]:
        table = Table("mesh", "vertices", "triangles", "parts", "influences", "morphs")
        for mesh in data["meshes"]:
            influences = ", ".join(f"{k}: {n}" for k, n in mesh["influences"].items())
            table.add_row(
                escape(mesh["name"]),
                f"{mesh['vertices']:,}",
                f"{mesh['triangles']:,}",
                str(mesh["parts"]),
                influences or "not skinned",
                escape(", ".join(filter(None, mesh["morphs"])) or str(len(mesh["morphs"]))),
            )
        console.print(table)
    if data["skins"]:
        table = Table("skin", "joints", "shown on")
        for i, skin in enumerate(data["skins"]):
            nodes = [
                data["nodes"][a["node"]]["name"] or f"node {a['node']}"
                for a in data["attachments"]
                if a["skin"] == i
            ]
            table.add_row(escape(skin["name"]), str(len(skin["joints"])), escape(", ".join(nodes)))
        console.print(table)
    print_figure(console, data, character.skeleton.names)
    _print_clips(console, data["clips"])
    for line in _hierarchy(character):
        console.print(line, soft_wrap=True, highlight=False)
    print_notes(console, character.notes)


def _print_clips(console: Console, clips: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not clips:
        return
    table = Table("", "clip", "seconds", "tracks", "keys")
    for i, clip in enumerate(clips):
        span = f"{clip['start']:g} … {clip['end']:g}"
        table.add_row(str(i), escape(clip["name"]), span, str(clip["tracks"]), f"{clip['keys']:,}")
    console.print(table)


def _hierarchy(character: Character) -> Iterator[str]:
    """One line a node, parents above children, joints in bold."""
    from rich.markup import escape

    skeleton = character.skeleton
    joints = {int(node) for skin in character.skins for node in skin.joints}
    meshes = {each.node: character.meshes[each.mesh].name for each in character.attachments}
    waiting = [(int(node), 0) for node in skeleton.children(-1)[::-1]]
    children: list[list[int]] = [[] for _ in range(len(skeleton))]
    for node, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            children[parent].append(node)
    while waiting:
        node, depth = waiting.pop()
        waiting += [(child, depth + 1) for child in children[node][::-1]]
        label = escape(skeleton.names[node] or f"node {node}")
        if node in joints:
            label = f"[bold]{label}[/bold]"
        if node in meshes:
            label += f" [dim]shows {escape(meshes[node] or 'a mesh')}[/dim]"
        # Past the depth of any figure, a number says it better than blanks.
        yield "  " * min(depth, 40) + (f"({depth}) " if depth > 40 else "") + label
