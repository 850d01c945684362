"""`bunraku demo [FOLDER]`: the whole path, on a puppet the package makes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to write.")] = Path("bunraku-demo"),
) -> None:
    """Make a puppet, bend it by LBS and DQS, and compare pictures and volumes of its joints."""
    from rich.console import Console

    from bunraku.demo import run_demo

    with Console(stderr=True).status("making, posing and baking a puppet"):
        files = run_demo(folder)
    for path in files:
        typer.echo(f"{path}  {path.stat().st_size / 1024:,.0f} kB")
    reports = [path for path in files if path.suffix in (".md", ".txt")]
    for path in reports:
        typer.echo("\n" + path.read_text(encoding="utf8").rstrip())
