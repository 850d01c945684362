"""`bunraku pick FILE`: what stands under a ray, or under a pixel of the picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.bake import Method
from bunraku.cli.motions import ClipName, MotionFile, Physics, chosen_clip
from bunraku.cli.render import View

if TYPE_CHECKING:
    import bunraku
    from bunraku.query import Pick

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
POINT = rf"({NUMBER}),({NUMBER}),({NUMBER})"
SHOWN = 4  # joints


def _ray(text: str | None) -> str | None:
    if text is not None and re.fullmatch(rf"{POINT}\s+{POINT}", text.strip()) is None:
        raise typer.BadParameter(f"expected 'ox,oy,oz dx,dy,dz', found {text!r}")
    return text


def _pixel(text: str | None) -> str | None:
    if text is not None and re.fullmatch(r"\d{1,5},\d{1,5}", text) is None:
        raise typer.BadParameter(f"expected x,y, e.g. 320,240, found {text!r}")
    return text


def _size(text: str) -> str:
    if re.fullmatch(r"[1-9]\d{0,4}x[1-9]\d{0,4}", text) is None:
        raise typer.BadParameter(f"expected WIDTHxHEIGHT, e.g. 640x480, found {text!r}")
    return text


def pick(
    file: Annotated[Path, typer.Argument(help="The character.")],
    motion: MotionFile = None,
    clip: ClipName = None,
    physics: Physics = False,
    time: Annotated[float, typer.Option(help="Seconds.")] = 0.0,
    ray: Annotated[
        str | None,
        typer.Option(
            callback=_ray,
            metavar="'OX,OY,OZ DX,DY,DZ'",
            help="Origin and direction, metres, world space.",
        ),
    ] = None,
    pixel: Annotated[
        str | None,
        typer.Option(
            callback=_pixel,
            metavar="X,Y",
            help="A pixel of the picture that `bunraku render` makes, 0,0 at the upper left.",
        ),
    ] = None,
    method: Annotated[Method, typer.Option(help="Linear blend or dual quaternions.")] = Method.lbs,
    view: Annotated[
        View, typer.Option(help="Where the picture's camera stands.")
    ] = View.three_quarter,
    size: Annotated[
        str, typer.Option(callback=_size, metavar="WIDTHxHEIGHT", help="Pixels of the picture.")
    ] = "640x480",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Say which triangle of which mesh a ray meets first, where, and which joints hold it there.

    The character is in the pose of its clip at --time; nothing is deformed for it but what the
    ray comes close to. What a texture cuts out is looked through.
    """
    import bunraku
    from bunraku.render import CutOuts

    if (ray is None) == (pixel is None):
        raise typer.BadParameter("expected one of --ray and --pixel")
    character = bunraku.load(file)
    played = chosen_clip(character, motion, clip)
    stage = bunraku.Stage(character, played)
    if physics:
        stage = stage.simulated()
    if ray is not None:
        numbers = [float(x) for x in re.findall(NUMBER, ray)]
        origin, direction = numbers[:3], numbers[3:]
    else:
        origin, direction = _through(stage, str(pixel), size, time, method, view)
    cut_out = CutOuts(stage, time)
    found = stage.pick(time, origin, direction, method=method.value, ignore=cut_out)
    for note in [*character.notes, *stage.notes, *cut_out.notes]:
        typer.echo(f"note: {note}", err=True)
    report: dict[str, Any] = {
        "hit": found is not None,
        "time": time,
        "method": method.value,
        "origin": origin,
        "direction": direction,
    }
    if found is not None:
        report |= _report(character, found)
    if as_json:
        typer.echo(json.dumps(report, ensure_ascii=False, indent=2))
    elif found is None:
        typer.echo("nothing there")
    else:
        typer.echo(_told(report))


def _through(
    stage: bunraku.Stage, pixel: str, size: str, time: float, method: Method, view: View
) -> tuple[list[float], list[float]]:
    """The ray through the middle of a pixel of the picture that `render` makes of that moment."""
    from bunraku.errors import RigError
    from bunraku.render.renderer import Renderer

    width, height = map(int, size.split("x"))
    x, y = map(int, pixel.split(","))
    if not (x < width and y < height):
        raise RigError(f"pixel: {pixel} is outside the picture of {size}")
    renderer = Renderer(
        stage, method=method.value, view=view.value, size=(width, height), ground=False
    )
    origins, directions = renderer.camera(time).rays(x + 0.5, y + 0.5, (width, height))
    return origins.tolist(), directions.tolist()


def _report(character: bunraku.Character, found: Pick) -> dict[str, Any]:
    names = character.skeleton.names
    mesh = character.meshes[found.mesh]
    material = mesh.parts[found.part].material
    return {
        "node": names[found.node],
        "mesh": mesh.name,
        "part": found.part,
        "material": None if material is None else character.materials[material].name,
        "triangle": found.triangle,
        "barycentrics": found.barycentrics.tolist(),
        "point": found.point.tolist(),
        "normal": found.normal.tolist(),
        "distance": found.distance,
        "joints": [{"name": names[node], "weight": weight} for node, weight in found.joints],
    }


def _told(report: dict[str, Any]) -> str:
    def numbers(name: str) -> str:
        return " ".join(f"{x:.6g}" for x in report[name])

    joints = report["joints"]
    held = ", ".join(f"{each['name']} {each['weight']:.3f}" for each in joints[:SHOWN])
    more = f" and {len(joints) - SHOWN} more" if len(joints) > SHOWN else ""
    material = f" ({report['material']})" if report["material"] else ""
    return "\n".join(
        [
            f"mesh          {report['mesh'] or '(no name)'} on node {report['node']}",
            f"triangle      {report['triangle']} of part {report['part']}{material}",
            f"barycentrics  {numbers('barycentrics')}",
            f"point         {numbers('point')}",
            f"normal        {numbers('normal')}",
            f"distance      {report['distance']:.6g} m",
            f"joints        {held + more if joints else 'none: it moves with its node'}",
        ]
    )
