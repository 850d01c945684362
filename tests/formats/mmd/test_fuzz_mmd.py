"""Broken MMD and BVH files: each gives a document or a clear error, soon, in the memory promised.

So does each document a character or clip. BUNRAKU_FUZZ sets how many mutations are tried; each
is made from its number alone, so a failure is repeated by its number. A document that could be
read is written back as it was, and so is what became of it.
"""

from __future__ import annotations

import os
import random
import re
import struct
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.formats.bvh import bvh_bytes, bvh_from_clip, character_from_bvh, read_bvh
from bunraku.formats.mmd import (
    PmxOrigin,
    bone_curves,
    camera_curves,
    character_from_pmd,
    character_from_pmx,
    clip_from_vmd,
    clip_from_vpd,
    physics_switch,
    pmd_bytes,
    pmx_bytes,
    pmx_from_character,
    read_pmd,
    read_pmx,
    read_vmd,
    read_vpd,
    tracks,
    vmd_bytes,
    vmd_from_clip,
    vpd_bytes,
    vpd_from_clip,
)
from bunraku.model import Character, Clip
from bunraku.stage import Stage
from tests.conftest import shared_folder
from tests.formats.mmd.sketch import (
    VPD,
    named,
    pack,
    pmd_sections,
    pmx_header,
    vmd_sections,
    whole_pmx,
)
from tests.formats.test_bvh import PLAIN

COUNT = int(os.environ.get("BUNRAKU_FUZZ", "1500"))
SECONDS = 10
LARGEST_SEED = 6_000

FORMATS: dict[str, tuple[Callable[..., Any], Callable[[Any], bytes]]] = {
    "pmx": (read_pmx, pmx_bytes),
    "pmd": (read_pmd, pmd_bytes),
    "vmd": (read_vmd, vmd_bytes),
    "vpd": (read_vpd, vpd_bytes),
    "bvh": (read_bvh, bvh_bytes),
}
BRIDGES: dict[str, Callable[[Any], Character | Clip]] = {
    "pmx": character_from_pmx,
    "pmd": character_from_pmd,
    "vmd": clip_from_vmd,
    "vpd": clip_from_vpd,
    "bvh": character_from_bvh,
}
WRITERS = {kind: write for kind, (_, write) in FORMATS.items()} | {"pmd": pmx_bytes}
FIGURE = character_from_pmx(read_pmx(whole_pmx()))
NUMBERS = [0, 1, 2, 3, 4, 5, 8, 11, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24]
NUMBERS += [10**9, 2**31 - 1, 2**31, 2**32 - 1]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e38, 1e-45]
WORDS = [b"-1", b"0", b"7", b"1e999", b"nan", b"9" * 400, b"1_0", b"{", b"}", b";", b"//", b"\xff"]
WORDS += [b"MOTION", b"End", b"JOINT", b"CHANNELS", b"Bone0{", b"\0", b"", b"0x10", b"\xef\xbc\x91"]


def seeds() -> list[tuple[str, bytes]]:
    found = [
        ("pmx", whole_pmx()),
        ("pmd", b"".join(pmd_sections())),
        ("vmd", b"".join(vmd_sections())),
        ("vpd", VPD),
        ("bvh", PLAIN),
    ]
    corpus = shared_folder("corpus")
    for path in sorted(corpus.rglob("*.*md") if corpus else []):
        if path.suffix == ".vmd" and path.stat().st_size < LARGEST_SEED:
            found.append(("vmd", path.read_bytes()))
    for path in sorted(corpus.rglob("*.pmx") if corpus else []):
        if path.stat().st_size < LARGEST_SEED:
            found.append(("pmx", path.read_bytes()))
    return found


def mutate(rng: random.Random, kind: str, data: bytes) -> bytes:
    broken = bytearray(data)
    actions = ["bits", "truncate", "copy", "remove"]
    actions += ["words"] * 4 if kind in ("vpd", "bvh") else ["number"] * 4 + ["float"]
    action = rng.choice(actions)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(max(1, len(broken) - 4))
        if action == "bits":
            broken[at] ^= 1 << rng.randrange(8)
        elif action == "number":
            raw = struct.pack("<I", rng.choice(NUMBERS))[: rng.choice([1, 2, 4])]
            broken[at : at + len(raw)] = raw
        elif action == "float":
            broken[at : at + 4] = struct.pack("<f", rng.choice(FLOATS))
        elif action == "words":
            spots = list(re.finditer(rb"[^\s,;{}]+", bytes(broken)))
            spot = rng.choice(spots)
            broken[spot.start() : spot.end()] = rng.choice(WORDS)
        elif action == "copy":
            piece = broken[at : at + rng.choice([1, 4, 40, 400])]
            broken[at:at] = piece * rng.choice([1, 1, 30])
        elif action == "remove":
            del broken[at : at + rng.choice([1, 2, 4, 100])]
        elif broken:
            del broken[rng.randrange(len(broken)) :]
        if len(broken) < 8:
            break
    return bytes(broken)


def use(kind: str, file: Any) -> None:
    """What a reader of the document would do first."""
    repr(file)
    if kind == "vmd":
        tracks(file.bones), tracks(file.morphs)
        bone_curves(file.bones["interpolation"]), physics_switch(file.bones["interpolation"])
        camera_curves(file.cameras["interpolation"])


def check(kind: str, data: bytes, label: str, floor: int = 16 * 2**20) -> str:
    """Read the bytes and make of them what they describe; what must never happen fails."""
    read, write = FORMATS[kind]
    name = f"fuzz.{kind}"
    tracemalloc.start()
    start, message, file, made = time.process_time(), f"{name}: ", None, None
    try:
        file = read(data, name=name)
        outcome = "document"
        made = BRIDGES[kind](file)
        outcome = "model"
    except BunrakuError as error:
        outcome, message = type(error).__name__, str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - start < SECONDS, f"{label}: {time.process_time() - start:.1f} s"
    assert peak < 64 * len(data) + floor, f"{label}: {peak} bytes for {len(data)}"
    assert message.startswith(f"{name}: "), f"{label}: no file in {message}"
    assert len(message) < 1000, f"{label}: {len(message)} characters"
    if file is not None:
        use(kind, file)
        if kind == "pmx":
            assert write(file) == data, label
        # a list that was read is written as its bytes, unless its origin is forgotten
        again = write(replace(file, origin=PmxOrigin()) if kind == "pmx" else file)
        if again != data:  # a signalling NaN comes back as a quiet one
            assert len(again) == len(data), f"{label}: {len(again)} bytes of {len(data)}"
            assert write(read(again)) == again, label
    if made is not None:
        start = time.process_time()
        with suppress(BunrakuError):  # numbers may be too large to be a pose
            move(made)
        assert time.process_time() - start < SECONDS, (
            f"{label}: solved {time.process_time() - start:.1f} s"
        )
        again = written(made, kind)
        assert again is file or kind == "pmd", label
        with suppress(BunrakuError):  # nor does what was read from nowhere
            WRITERS[kind](written(replace(made, document=None), kind))
    return outcome


def move(made: Character | Clip) -> None:
    """One frame of it, with every expression on; motions move a figure that has their names."""
    character = FIGURE if isinstance(made, Clip) else made
    clip = made if isinstance(made, Clip) else next(iter(made.clips), None)
    stage = Stage(character, clip)
    pose = stage.pose(stage.clip.end / 2 if stage.clip else 0.0)
    stage.deform_pose(replace(pose, expressions=np.ones_like(pose.expressions)))


def written(made: Character | Clip, kind: str) -> Any:
    """The document that a character or clip becomes."""
    if isinstance(made, Clip):
        return (vmd_from_clip if kind == "vmd" else vpd_from_clip)(made)[0]
    return bvh_from_clip(made.clips[0], made)[0] if kind == "bvh" else pmx_from_character(made)[0]


def test_mutated_files():
    files = seeds()
    outcomes: dict[tuple[str, str], int] = {}
    for number in range(COUNT):
        rng = random.Random(number)
        kind, data = rng.choice(files[:5] if rng.random() < 0.7 else files)
        broken = mutate(rng, kind, data)
        try:
            outcome = check(kind, broken, f"mutation {number}")
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}") from error
        outcomes[kind, outcome] = outcomes.get((kind, outcome), 0) + 1
    # both ends are reached: the mutations are neither harmless nor hopeless
    for kind in FORMATS:
        assert outcomes.get((kind, "model"), 0) > COUNT // 200, (kind, outcomes)
        assert outcomes.get((kind, "FormatError"), 0) > COUNT // 200, (kind, outcomes)


def pmx_of(position: int, items: bytes, count: int) -> bytes:
    """A model with `count` of the same record in one list, in as few bytes as the format allows."""
    lists = [pack("i", 0)] * 10
    lists[position] = pack("i", count) + items * count
    return pmx_header() + named("") * 2 + b"".join(lists)


BARE = named("")
BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "textures": ("pmx", lambda: pmx_of(2, pack("i", 0), 10_000)),
    "odd textures": ("pmx", lambda: pmx_of(2, pack("i", 1) + b"\xff", 10_000)),
    "materials": ("pmx", lambda: pmx_of(3, BARE + bytes(78), 2_000)),
    "bones": ("pmx", lambda: pmx_of(4, BARE + pack("3fbiHb", 0, 0, 0, 0, 0, 1, 0), 5_000)),
    "bones with all": (
        "pmx",
        lambda: pmx_of(4, BARE + bytes(17) + pack("H", 0x3F21) + bytes(55) + bytes(4), 2_000),
    ),
    "IK links": (
        "pmx",
        lambda: pmx_of(
            4,
            BARE + pack("3fbiHbbifi", 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 60_000) + bytes(12_000),
            2,
        ),
    ),
    "morphs": ("pmx", lambda: pmx_of(5, BARE + pack("BBi", 0, 8, 0), 5_000)),
    "frames": ("pmx", lambda: pmx_of(6, BARE + pack("Bi", 0, 0), 5_000)),
    "frame elements": (
        "pmx",
        lambda: pmx_of(6, BARE + pack("Bi", 0, 20_000) + b"\0\x7f" * 20_000, 1),
    ),
    "bodies": ("pmx", lambda: pmx_of(7, BARE + bytes(62), 3_000)),
    "joints": ("pmx", lambda: pmx_of(8, BARE + bytes(99), 2_000)),
    "properties": (
        "vmd",
        lambda: vmd_sections()[0] + bytes(20) + pack("I", 6_000) + bytes(9 * 6_000),
    ),
    "skins": (
        "pmd",
        lambda: (
            b"Pmd"
            + pack("f", 1)
            + bytes(276 + 12 + 4)
            + pack("H", 6_000)
            + bytes(25 * 6_000)
            + bytes(7)
        ),
    ),
    "short values": ("bvh", lambda: PLAIN + b"0 " * 50_000),
    "a chain": ("bvh", lambda: b"HIERARCHY ROOT a{OFFSET 0 0 0 " + b"JOINT{OFFSET 0 0 0 " * 3_000),
    "braces": ("bvh", lambda: b"HIERARCHY ROOT a" + b"{}" * 20_000 + b"\nMOTION"),
    "lines before MOTION": ("bvh", lambda: b"HIERARCHY\n" + b" \n" * 100_000 + b"   " * 10_000),
    "small bones": ("vpd", lambda: VPD[:120].split(b"Bone")[0] + b"Bone{\n0 0 0 0 0 0 0}" * 3_000),
    "line ends in a block": ("vpd", lambda: VPD + b"Bone{" + b"\r\n" * 100_000),
    "spaces in a block": ("vpd", lambda: VPD + b"Bone{ " + b" " * 100_000),
    "comments": ("vpd", lambda: VPD + b" //" * 20_000),
}


@pytest.mark.parametrize(("kind", "make"), BOMBS.values(), ids=BOMBS.keys())
def test_files_that_describe_more_than_they_hold(kind: str, make: Callable[[], bytes]):
    # records by the thousand, so that what each takes shows before the 16 MB hide it
    assert check(kind, make(), "bomb", floor=2**19) in ("model", "document", "FormatError")
