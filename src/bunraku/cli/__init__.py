"""The `bunraku` command: one short module per subcommand."""

from __future__ import annotations

import sys

import typer

from bunraku.cli import bake, demo, info, pick, render, weights

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Pose, skin, check, convert and show rigged characters.",
)
app.command(name="info")(info.info)
app.command(name="weights")(weights.weights)
app.command(name="bake")(bake.bake)
app.command(name="render")(render.render)
app.command(name="pick")(pick.pick)
app.command(name="demo")(demo.demo)


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    if show:
        from bunraku import __version__

        typer.echo(f"bunraku {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; an error of ours or of the file system is one line and exit code 1."""
    from bunraku.errors import BunrakuError

    try:
        app()
    except BunrakuError as error:
        _fail(str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        _fail(f"{error.filename}: {reason}" if error.filename else reason)


def _fail(message: str) -> None:
    typer.echo(f"bunraku: {message}", err=True)
    sys.exit(1)
