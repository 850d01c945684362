from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats import load, load_clips, save
from tests.formats.sketch import Sketch, triangle


@pytest.fixture
def animated(tmp_path: Path) -> Path:
    sketch = Sketch(nodes=[{"name": "tip"}])
    samplers = [{"input": sketch.add([0, 1]), "output": sketch.add([[0, 0, 0], [1, 0, 0]])}]
    channels = [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]
    sketch.tree["animations"] = [{"name": "c", "channels": channels, "samplers": samplers}]
    path = tmp_path / "moves.glb"
    path.write_bytes(sketch.glb())
    return path


INVALID = {
    "an unknown suffix": ("x.docx", b"PK", UnsupportedError, "unknown suffix '.docx'; known are"),
    "no suffix": ("x", b"PK", UnsupportedError, "unknown suffix ''; known are .bvh, .glb"),
    "a suffix that lies": ("x.glb", b"PK", FormatError, "x.glb: expected a GLB or a JSON object"),
}


@pytest.mark.parametrize(("name", "data", "kind", "message"), INVALID.values(), ids=INVALID.keys())
def test_files_nobody_reads(tmp_path: Path, name, data, kind, message):
    path = tmp_path / name
    path.write_bytes(data)
    for read in (load, load_clips):
        with pytest.raises(kind) as caught:
            read(path)
        assert message in str(caught.value)


def test_missing_files_are_errors_of_the_system(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "gone.glb")


@pytest.mark.parametrize("name", ["a.glb", "a.vrm", "a.vrma", "a.GLB", "a.bin", "a"])
def test_binary_gltf_is_recognised_by_its_first_bytes(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_bytes(triangle().glb())
    character = load(path)
    assert character.name == "a"
    assert character.meshes[0].vertex_count == 3


def test_text_gltf_is_recognised_by_its_suffix(tmp_path: Path):
    path = tmp_path / "a.gltf"
    path.write_bytes(triangle().gltf())
    assert load(str(path)).meshes[0].vertex_count == 3


def test_clips_alone(animated: Path):
    (clip,) = load_clips(animated)
    assert (clip.name, clip.end) == ("c", 1.0)


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".vrm"])
def test_saving(animated: Path, tmp_path: Path, suffix: str):
    character = load(animated)
    codes = [note.code for note in save(character, tmp_path / f"out{suffix}")]
    assert codes == (["licence-assumed", "humanoid-incomplete"] if suffix == ".vrm" else [])
    assert load(tmp_path / f"out{suffix}").clips[0].name == "c"


def test_saving_to_an_unknown_suffix(animated: Path, tmp_path: Path):
    with pytest.raises(UnsupportedError, match=r"unknown suffix '\.fbx'; known are \.bvh, \.glb"):
        save(load(animated), tmp_path / "out.fbx")
    assert not (tmp_path / "out.fbx").exists()
