"""What an installed Bunraku brings along, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files

import pytest

import bunraku

# NumPy alone takes longer to import than all of Bunraku may.
HEAVY = ("numpy", "typer", "rich", "PIL", "scipy", "DracoPy", "matplotlib", "asyncio")


def loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running `code`."""
    program = f"{code}\nimport sys; print(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(result.stdout.splitlines()[-1].split())


def test_import_alone_loads_no_heavy_module() -> None:
    assert loaded_by("import bunraku") & set(HEAVY) == set()


def test_a_character_is_loaded_without_command_line_or_imaging() -> None:
    heavy = loaded_by("import bunraku; bunraku.load, bunraku.Stage, bunraku.bake") & set(HEAVY)
    assert heavy <= {"numpy"}


def test_help_loads_no_numpy() -> None:
    code = "import sys; sys.argv = ['bunraku', '--help']\nfrom bunraku.cli import main\n"
    assert "numpy" not in loaded_by(code + "try: main()\nexcept SystemExit: pass")


def test_type_information_is_shipped() -> None:
    package = files(bunraku)
    assert (package / "py.typed").is_file()
    assert (package / "_core.pyi").is_file()


def test_version_is_the_distribution_s() -> None:
    assert bunraku.__version__ == version("bunraku")


@pytest.mark.parametrize("name", bunraku.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(bunraku, name) is not None


def test_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bunraku.nonsense  # noqa: B018


def test_public_names_are_not_hidden_by_the_rooms_they_live_in() -> None:
    # Importing bunraku.x sets the attribute `x` of bunraku, whatever the public face meant by it.
    program = (
        "import importlib, types, bunraku\n"
        "for room in bunraku._ROOMS: importlib.import_module(room)\n"
        "print([n for n in bunraku.__all__ if isinstance(getattr(bunraku, n), types.ModuleType)])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
