"""Geometry caches hold what was streamed into them, or are not written at all."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.formats.cache import Faces, write_npy, write_npz, write_obj, write_pc2

FRAMES = np.random.default_rng(7).normal(size=(5, 4, 3)).astype(np.float32)


def blocks(array: np.ndarray) -> list[np.ndarray]:
    return [array[:2], array[2:3], array[3:]]


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_npy(path, (6, 4, 3), blocks(FRAMES)),
        lambda path: write_npy(path, (5, 3, 3), blocks(FRAMES)),
        lambda path: write_pc2(path, 4, 6, blocks(FRAMES)),
        lambda path: write_pc2(path, 5, 5, blocks(FRAMES)),
        lambda path: write_npz(path, (4, 4, 3), [{"positions": FRAMES}], ("positions",), {}),
    ],
)
def test_wrong_counts_leave_no_file_behind(tmp_path: Path, write) -> None:
    with pytest.raises(RigError, match="expected"):
        write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_bake_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.npy"
    write_npy(target, (5, 4, 3), blocks(FRAMES))
    with pytest.raises(RigError):
        write_npy(target, (9, 4, 3), blocks(FRAMES))
    np.testing.assert_array_equal(np.load(target), FRAMES)


def test_npy_equals_what_was_streamed(tmp_path: Path) -> None:
    write_npy(tmp_path / "a.npy", (5, 4, 3), blocks(FRAMES))
    loaded = np.load(tmp_path / "a.npy")
    assert loaded.dtype == np.float32
    np.testing.assert_array_equal(loaded, FRAMES)


def test_npz_streams_several_arrays_in_one_pass(tmp_path: Path) -> None:
    passes = 0

    def frames():
        nonlocal passes
        passes += 1
        for block in blocks(FRAMES):
            yield {"positions": block, "normals": -block}

    times = np.arange(5) / 30
    write_npz(tmp_path / "a.npz", (5, 4, 3), frames(), ("positions", "normals"), {"times": times})
    assert passes == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    with np.load(tmp_path / "a.npz") as loaded:
        assert sorted(loaded) == ["normals", "positions", "times"]
        np.testing.assert_array_equal(loaded["positions"], FRAMES)
        np.testing.assert_array_equal(loaded["normals"], -FRAMES)
        np.testing.assert_array_equal(loaded["times"], times)


def test_pc2_layout(tmp_path: Path) -> None:
    write_pc2(tmp_path / "a.pc2", 4, 5, blocks(FRAMES), start=1, step=0.5)
    data = (tmp_path / "a.pc2").read_bytes()
    assert struct.unpack("<12siiffi", data[:32]) == (b"POINTCACHE2\0", 1, 4, 1.0, 0.5, 5)
    np.testing.assert_array_equal(np.frombuffer(data[32:], "<f4").reshape(5, 4, 3), FRAMES)


@pytest.mark.parametrize("with_normals", [False, True])
@pytest.mark.parametrize("with_uvs", [False, True])
def test_obj_text(tmp_path: Path, with_normals: bool, with_uvs: bool) -> None:
    positions = FRAMES[0]
    uvs = np.array([[0, 0], [1, 0], [1, 1], [0.25, 0.5]], np.float32)
    groups = [Faces("a", np.array([[0, 1, 2]])), Faces("b", np.array([[0, 2, 3]]))]
    write_obj(
        tmp_path / "a.obj",
        positions,
        groups,
        normals=positions if with_normals else None,
        uvs=uvs if with_uvs else None,
    )
    lines = (tmp_path / "a.obj").read_text().splitlines()
    rows = [line.split() for line in lines if line.startswith("v ")]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], np.float32), positions)
    corner = {
        (False, False): "{0}",
        (False, True): "{0}/{0}",
        (True, False): "{0}//{0}",
        (True, True): "{0}/{0}/{0}",
    }[with_normals, with_uvs]
    faces = [line for line in lines if line[0] in "of"]
    expected = " ".join(corner.format(i) for i in (1, 3, 4))
    assert faces[2:] == ["o b", f"f {expected}"]
    assert any(line.startswith("vn") for line in lines) == with_normals
    if with_uvs:
        assert "vt 0.25 0.5" in lines
        assert "vt 1 0" in lines  # top of the picture in glTF is v = 0


def test_obj_faces_refer_to_what_their_vertices_have(tmp_path: Path) -> None:
    positions, triangle = FRAMES[0], np.array([[0, 1, 2]])
    write_obj(
        tmp_path / "a.obj",
        positions,
        [
            Faces("both", triangle),
            Faces("bare", triangle + 1, normals=False, uvs=False),
            Faces("flat", triangle, normals=False),
        ],
        normals=positions,
        uvs=positions[:, :2],
    )
    lines = (tmp_path / "a.obj").read_text().splitlines()
    faces = [line for line in lines if line.startswith("f ")]
    assert faces == ["f 1/1/1 2/2/2 3/3/3", "f 2 3 4", "f 1/1 2/2 3/3"]
    write_obj(
        tmp_path / "b.obj", positions, [Faces("bare", triangle, normals=False)], normals=positions
    )
    text = (tmp_path / "b.obj").read_text()
    assert "vn" not in text
    assert text.endswith("f 1 2 3\n")
