"""Reading and writing MMD and BVH files, beside every peer that is installed.

Peers: mmd-bone-tools (keeps most of a PMX undecoded), pymeshio, pypmxvmd (knows of a PMX the mesh
only); pybvh and bvhtoolbox for BVH. All work in memory; those that insist on a path get one in
memory. pymeshio's VMD reader does not get past the magic under Python 3.
"""

from __future__ import annotations

import importlib
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Row, compare, table
from bunraku.formats.bvh import BvhFile, BvhJoint, bvh_bytes, character_from_bvh, read_bvh
from bunraku.formats.mmd import (
    BONE_KEY,
    LINEAR,
    MORPH_KEY,
    OFFSETS,
    BoneFlag,
    MorphKind,
    PmxBone,
    PmxFile,
    PmxIk,
    PmxIkLink,
    PmxMaterial,
    PmxMorph,
    PmxOrigin,
    PmxVertices,
    VmdFile,
    bone_curves,
    character_from_pmx,
    clip_from_vmd,
    encode_bone_curves,
    pmx_bytes,
    pmx_from_character,
    read_pmx,
    read_vmd,
    tracks,
    vmd_bytes,
    vmd_from_clip,
)
from bunraku.model import Character

VERTICES = 100_000
BONES = 300
KEYS = 100_000
FRAMES = 2_000
ROUNDS = 3


def run() -> Iterator[str]:
    """Yield one table for each format."""
    folder = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder) as name:
        for part in (_pmx, _vmd, _bvh):
            with redirect_stdout(io.StringIO()):  # some peers talk while they work
                result = part(Path(name))
            yield result


def model() -> PmxFile:
    """100,000 vertices, 200,000 faces, 300 bones, 100 morphs.

    All deform types but QDEF, which pymeshio does not know, in no order.
    """
    rng = np.random.default_rng(1)
    deform = rng.choice(5, VERTICES, p=[0.4, 0.35, 0.2, 0.05, 0]).astype(np.uint8)
    weights = np.zeros((VERTICES, 4), np.float32)
    weights[:, 0] = rng.uniform(0, 1, VERTICES)
    weights[:, 1] = 1 - weights[:, 0]
    weights[deform == 0] = 1, 0, 0, 0
    bones = rng.integers(0, BONES, (VERTICES, 4), np.int32)
    bones[np.arange(4) >= np.array([1, 2, 4, 2, 4])[deform][:, None]] = 0
    vertices = PmxVertices(
        positions=rng.normal(size=(VERTICES, 3)).astype(np.float32),
        normals=rng.normal(size=(VERTICES, 3)).astype(np.float32),
        uvs=rng.uniform(size=(VERTICES, 2)).astype(np.float32),
        additional_uvs=np.zeros((VERTICES, 0, 4), np.float32),
        deform=deform,
        bones=bones,
        weights=weights,
        sdef=rng.normal(size=(np.count_nonzero(deform == 3), 3, 3)).astype(np.float32),
        edge_scales=np.ones(VERTICES, np.float32),
    )
    offsets = np.zeros(1000, OFFSETS[MorphKind.VERTEX])
    offsets["vertex"] = rng.choice(VERTICES, 1000, replace=False)
    return PmxFile(
        "速さの見本",
        vertices=vertices,
        faces=rng.integers(0, VERTICES, (2 * VERTICES, 3), np.int32),
        materials=tuple(PmxMaterial(f"材質{i}", index_count=VERTICES * 6 // 20) for i in range(20)),
        bones=tuple(PmxBone(f"ボーン{i}", parent=i - 1) for i in range(BONES)),
        morphs=tuple(PmxMorph(f"表情{i}", offsets=offsets) for i in range(100)),
    )


def skeleton() -> PmxFile:
    """500 bones, of which every tenth is an IK of three links, and 200 morphs of ten bones."""
    ik = PmxIk(1, 40, 2.0, tuple(PmxIkLink(i) for i in (2, 3, 4)))
    goal = {"flags": BoneFlag.IK | BoneFlag.ROTATABLE, "ik": ik}
    offsets = np.zeros(10, OFFSETS[MorphKind.BONE])
    return PmxFile(
        "骨",
        bones=tuple(
            PmxBone(f"ボーン{i}", f"bone {i}", parent=i - 1, **(goal if i % 10 == 9 else {}))
            for i in range(500)
        ),
        morphs=tuple(PmxMorph(f"表情{i}", "", 1, MorphKind.BONE, offsets) for i in range(200)),
    )


def motion() -> VmdFile:
    """100,000 bone keys of 100 bones and as many morph keys of 50 morphs, in order of time."""
    rng = np.random.default_rng(2)
    bones, morphs = np.zeros(KEYS, BONE_KEY), np.zeros(KEYS, MORPH_KEY)
    bones["name"] = [f"ボーン{i % 100}".encode("cp932") for i in range(KEYS)]
    bones["frame"] = np.arange(KEYS) // 100
    bones["rotation"] = rng.normal(size=(KEYS, 4))
    bones["interpolation"] = encode_bone_curves(np.tile(LINEAR, (KEYS, 4, 1)))
    morphs["name"] = [f"表情{i % 50}".encode("cp932") for i in range(KEYS)]
    morphs["frame"] = np.arange(KEYS) // 50
    return VmdFile("速さの見本", bones=bones, morphs=morphs)


def capture() -> BvhFile:
    """2,000 frames of a chain of 60 joints."""
    turns, up = ("Zrotation", "Xrotation", "Yrotation"), (0.0, 1.0, 0.0)
    root = BvhJoint("joint0", -1, up, ("Xposition", "Yposition", "Zposition", *turns))
    joints = tuple(BvhJoint(f"joint{i}", i - 1, up, turns) for i in range(1, 60))
    values = np.random.default_rng(3).uniform(-180, 180, (FRAMES, 183)).round(4)
    return BvhFile((root, *joints, BvhJoint("Site", 59, up, is_end=True)), 1 / 30, values)


def peer(module: str) -> Any:
    """The module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def _pmx(folder: Path) -> str:
    path, data = folder / "model.pmx", pmx_bytes(model())
    path.write_bytes(data)
    reads: dict[str, Callable[[], Any]] = {"bunraku": lambda: read_pmx(data)}
    writes: dict[str, Contender] = {}
    ours, few = read_pmx(data), pmx_bytes(skeleton())
    copies: dict[str, Contender] = {"bunraku": lambda: pmx_bytes(ours)}
    small: dict[str, Contender] = {"bunraku": lambda: read_pmx(few)}
    encoded = replace(ours, origin=PmxOrigin())
    writes["bunraku"] = lambda: pmx_bytes(encoded)
    if tools := peer("mmd_bone_tools.pmx"):
        reads["mmd-bone-tools"] = lambda: tools.read_pmx(data)
        small["mmd-bone-tools"] = lambda: tools.read_pmx(few)
        undecoded = tools.read_pmx(data)
        copies["mmd-bone-tools"] = lambda: tools.write_pmx(undecoded)
    if (reader := peer("pymeshio.pmx.reader")) and (writer := peer("pymeshio.pmx.writer")):
        reads["pymeshio"] = lambda: reader.read(io.BytesIO(data))
        small["pymeshio"] = lambda: reader.read(io.BytesIO(few))
        objects = reader.read(io.BytesIO(data))
        writes["pymeshio"] = lambda: writer.write(io.BytesIO(), objects)
    if package := peer("pypmxvmd"):
        reads["pypmxvmd"] = lambda: package.load_pmx(path)
        records = package.load_pmx(path)
        writes["pypmxvmd"] = lambda: package.save_pmx(records, folder / "out.pmx")
    character = character_from_pmx(ours)
    moved = replace(character, document=None)
    rows = [
        Row(f"read, {len(data) / 1e6:.1f} MB", compare(_working(reads), ROUNDS), VERTICES),
        Row("read 500 bones, 200 morphs, no mesh", compare(_working(small), ROUNDS), 700),
        Row("write, nothing changed", compare(_working(copies), ROUNDS), VERTICES),
        Row("write, all encoded", compare(_working(writes), ROUNDS), VERTICES),
        _own("read as a character", lambda: character_from_pmx(read_pmx(data)), VERTICES),
        _own("write a character of its own file", lambda: _pmx_of(character), VERTICES),
        _own("write a character anew", lambda: _pmx_of(moved), VERTICES),
    ]
    return table(
        "PMX, 100,000 vertices of mixed deform types",
        "vertices (second row: bones and morphs) per second",
        rows,
    )


def _vmd(folder: Path) -> str:
    path, data = folder / "motion.vmd", vmd_bytes(motion())
    path.write_bytes(data)

    def prepared() -> None:
        file = read_vmd(data)
        tracks(file.bones), tracks(file.morphs), bone_curves(file.bones["interpolation"])

    ours = read_vmd(data)
    anew = replace(clip_from_vmd(ours), document=None)
    reads: dict[str, Contender] = {"bunraku": prepared}
    views: dict[str, Contender] = {"bunraku": lambda: read_vmd(data)}
    writes: dict[str, Contender] = {"bunraku": lambda: vmd_bytes(ours)}
    if tools := peer("mmd_bone_tools.vmd"):
        reads["mmd-bone-tools"] = lambda: tools.read_vmd(data)
        keys = tools.read_vmd(data)
        writes["mmd-bone-tools"] = lambda: tools.write_vmd(keys)
    if package := peer("pypmxvmd"):
        reads["pypmxvmd"] = lambda: package.load_vmd(path)
        records = package.load_vmd(path)
        writes["pypmxvmd"] = lambda: package.save_vmd(records, folder / "out.vmd")
    rows = [
        Row("read, by bone, curves decoded", compare(_working(reads), ROUNDS), 2 * KEYS),
        Row(f"read as records, {len(data) / 1e6:.1f} MB", compare(views, ROUNDS), 2 * KEYS),
        Row("write", compare(_working(writes), ROUNDS), 2 * KEYS),
        _own("read as a clip", lambda: clip_from_vmd(read_vmd(data)), 2 * KEYS),
        _own("write a clip anew", lambda: vmd_bytes(vmd_from_clip(anew)[0]), 2 * KEYS),
    ]
    return table("VMD, 100,000 bone keys and 100,000 morph keys", "keys per second", rows)


def _bvh(folder: Path) -> str:
    path, made = folder / "capture.bvh", capture()
    data = bvh_bytes(made)
    path.write_bytes(data)
    reads: dict[str, Contender] = {"bunraku": lambda: read_bvh(data)}
    if package := peer("pybvh"):
        reads["pybvh"] = lambda: package.read_bvh_file(path)
    if toolbox := peer("bvhtoolbox"):
        text = data.decode()
        reads["bvhtoolbox"] = lambda: toolbox.Bvh(text)
    rows = [
        Row(f"read, {len(data) / 1e6:.1f} MB", compare(_working(reads), ROUNDS), FRAMES),
        Row("write", compare({"bunraku": lambda: bvh_bytes(made)}, ROUNDS), FRAMES),
        _own("read as a figure", lambda: character_from_bvh(read_bvh(data)), FRAMES),
    ]
    return table("BVH, 2,000 frames of 60 joints", "frames per second", rows)


def _pmx_of(character: Character) -> bytes:
    return pmx_bytes(pmx_from_character(character)[0])


def _own(name: str, contender: Contender, count: int) -> Row:
    """What no peer does: into the model, with its units, and back."""
    return Row(name, compare({"bunraku": contender}, ROUNDS), count)


def _working(contenders: dict[str, Contender]) -> dict[str, Contender]:
    """Those that get through: a peer that fails on the file is left out and named."""
    working = {}
    for name, contender in contenders.items():
        try:
            contender()
        except Exception as error:
            print(f"{name} fails: {type(error).__name__}: {error}", file=sys.stderr)
        else:
            working[name] = contender
    return working
