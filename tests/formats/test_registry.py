from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bunraku.errors import FormatError, UnsupportedError
from bunraku.formats import load, load_clips, recognised, save, save_clip
from tests.formats.mmd.sketch import VPD, pmd_sections, vmd_sections, whole_pmx
from tests.formats.sketch import Sketch, triangle
from tests.formats.test_bvh import PLAIN


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


# ------------------------------------------------------------------------- MMD and captures

MMD = {
    "model.pmx": whole_pmx,
    "model.pmd": lambda: b"".join(pmd_sections()),
    "capture.bvh": lambda: PLAIN,
}
MOTIONS = {
    "motion.vmd": lambda: b"".join(vmd_sections()),
    "pose.vpd": lambda: VPD,
    "capture.bvh": lambda: PLAIN,
}


@pytest.mark.parametrize("name", MMD)
def test_figures_of_other_formats(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_bytes(MMD[name]())
    character = load(path)
    assert len(character.skeleton) > 1
    assert recognised(path).load is not None


@pytest.mark.parametrize("name", ["model.pmx", "model.pmd", "motion.vmd", "pose.vpd"])
def test_mmd_is_recognised_by_its_first_bytes(tmp_path: Path, name: str):
    path = tmp_path / "x.bin"
    path.write_bytes((MMD | MOTIONS)[name]())
    assert f".{name[-3:]}" in recognised(path).suffixes


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_of_other_formats_are_written_back_bit_for_bit(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_bytes(MOTIONS[name]())
    (clip,) = load_clips(path)
    character = load(path) if name.endswith("bvh") else None
    out = tmp_path / f"out{path.suffix}"
    assert save_clip(clip, out, character) == ()
    assert out.read_bytes() == path.read_bytes()


def test_a_motion_is_no_character_and_a_model_no_motion(tmp_path: Path):
    (tmp_path / "a.vmd").write_bytes(b"".join(vmd_sections()))
    (tmp_path / "a.pmx").write_bytes(whole_pmx())
    with pytest.raises(UnsupportedError, match=r"a\.vmd: holds no character; known are \.bvh"):
        load(tmp_path / "a.vmd")
    with pytest.raises(UnsupportedError, match=r"a\.pmx: holds no clips; known are \.bvh"):
        load_clips(tmp_path / "a.pmx")


def test_motions_are_not_written_to_what_holds_none(animated: Path, tmp_path: Path):
    (clip,) = load_clips(animated)
    with pytest.raises(UnsupportedError, match=r"unknown suffix '\.glb'; known are \.bvh, \.vmd"):
        save_clip(clip, tmp_path / "out.glb")
    with pytest.raises(UnsupportedError, match="needs the character"):
        save_clip(clip, tmp_path / "out.bvh")
    assert not list(tmp_path.glob("out.*"))


def test_a_figure_with_several_motions_is_a_capture_of_the_first(tmp_path: Path):
    (tmp_path / "a.bvh").write_bytes(PLAIN)
    character = load(tmp_path / "a.bvh")
    assert save(character, tmp_path / "b.bvh") == ()
    assert (tmp_path / "b.bvh").read_bytes() == PLAIN
    twice = replace(character, clips=character.clips * 2)
    assert [note.code for note in save(twice, tmp_path / "b.bvh")] == ["clips-dropped"]
    assert save(replace(character, clips=()), tmp_path / "c.bvh") == ()
    assert load(tmp_path / "c.bvh").clips[0].end == 0


def test_a_pmd_is_saved_as_pmx(tmp_path: Path):
    (tmp_path / "a.pmd").write_bytes(b"".join(pmd_sections()))
    character = load(tmp_path / "a.pmd")
    save(character, tmp_path / "a.pmx")
    again = load(tmp_path / "a.pmx")
    assert again.skeleton.names == character.skeleton.names
    with pytest.raises(UnsupportedError, match=r"unknown suffix '\.pmd'"):
        save(character, tmp_path / "b.pmd")
