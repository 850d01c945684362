"""Characters of every format, copied and sent through pickles as to another process."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path

import pytest

import bunraku
from bunraku.model import differences

FORMATS = [".glb", ".gltf", ".vrm", ".pmx", ".bvh"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    puppet = bunraku.make_puppet(0.5)
    for suffix in FORMATS:
        if suffix != ".bvh":
            bunraku.save(puppet, folder / f"puppet{suffix}")
    for suffix in (".bvh", ".vmd"):
        bunraku.bake(bunraku.Stage(puppet, 0), folder / f"puppet{suffix}", fps=10)
    return folder


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_copy_is_the_same_and_is_saved_as_the_same(files: Path, suffix: str) -> None:
    original = bunraku.load(files / f"puppet{suffix}")
    for copied in (deepcopy(original), pickle.loads(pickle.dumps(original))):
        assert differences(original, copied) == []
        bunraku.save(copied, files / f"again{suffix}")
        assert (files / f"again{suffix}").read_bytes() == (files / f"puppet{suffix}").read_bytes()


def test_clips_of_every_format_go_through_pickles(files: Path) -> None:
    for name in ("puppet.glb", "puppet.vmd", "puppet.bvh"):
        clips = bunraku.load_clips(files / name)
        assert differences(clips, pickle.loads(pickle.dumps(clips))) == []
