"""What the README and the handbook say is true: their code runs, in both languages."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.cli import app
from bunraku.demo import run_demo
from bunraku.model import Clip, Humanoid, Track
from bunraku.model.humanoid import PARENTS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf8")
JAPANESE = (ROOT / "README.ja.md").read_text(encoding="utf8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced code of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def without_comments(code: str) -> list[str]:
    return [re.sub(r"\s*#.*$", "", line) for line in code.splitlines()]


@pytest.fixture(scope="module")
def after_the_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's demo command has been run, and other files lie ready."""
    folder = tmp_path_factory.mktemp("readme")
    run_demo(folder / "demo-out")
    puppet = bunraku.make_puppet()
    bones = {name: i for i, name in enumerate(puppet.skeleton.names) if name in PARENTS}
    avatar = replace(puppet, humanoid=Humanoid(bones), clips=())
    bunraku.save(avatar, folder / "avatar.vrm")
    bunraku.save(avatar, folder / "model.pmx")
    baked = bunraku.bake(bunraku.Stage(puppet, 0), folder / "dance.vmd")
    assert baked.frames > 30
    bunraku.bake(bunraku.Stage(puppet, 0), folder / "walk.bvh")
    still = Clip("idle", (Track("hips", "rotation", [0, 1], [[0, 0, 0, 1]] * 2),))
    bunraku.save_clip(still, folder / "idle.vrma", avatar)
    return folder


def test_python_of_the_readme_runs(after_the_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(after_the_demo)
    names: dict[str, object] = {}
    code = blocks(README, "python")
    assert code
    for block in code:
        exec(compile(block, "README.md", "exec"), names)
    assert (after_the_demo / "out.npz").exists()
    assert bunraku.load("copy.glb").clips


def shell_lines() -> list[str]:
    lines = [line for block in blocks(README, "bash") for line in without_comments(block)]
    return [line for line in lines if line.startswith("bunraku ")]


def test_the_readme_shows_the_command() -> None:
    assert {line.split()[1] for line in shell_lines()} >= {"info", "bake"}


@pytest.mark.parametrize("line", shell_lines())
def test_shell_of_the_readme_runs(
    line: str, after_the_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(after_the_demo)
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert (result.exit_code, result.exception) == (0, None)
    assert result.stdout.strip()


@pytest.mark.parametrize("language", ["python", "bash"])
def test_both_languages_show_the_same_code(language: str) -> None:
    english, japanese = blocks(README, language), blocks(JAPANESE, language)
    assert [without_comments(code) for code in japanese] == [
        without_comments(code) for code in english
    ]


@pytest.mark.parametrize("text", [README, JAPANESE], ids=["en", "ja"])
def test_links_into_the_repository_lead_somewhere(text: str) -> None:
    targets = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("name", bunraku.__all__)
def test_reference_lists_every_public_name(name: str) -> None:
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf8")
    assert f"`{name} <bunraku." in reference
