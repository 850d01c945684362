from __future__ import annotations

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import FormatError
from bunraku.formats.binary import Budget, ByteReader, read_source, write_files

BEYOND_THE_END = {
    "u8": lambda reader: reader.u8("x"),
    "u16": lambda reader: reader.u16("x"),
    "u32": lambda reader: reader.u32("x"),
    "f32": lambda reader: reader.f32("x"),
    "unpack": lambda reader: reader.unpack("HI", "x"),
    "a negative size": lambda reader: reader.take(-1, "x"),
    "an array": lambda reader: reader.array(np.float32, 1, "x"),
    "an enormous array": lambda reader: reader.array(np.float64, 10**18, "x"),
    "a negative count": lambda reader: reader.array(np.uint8, -1, "x"),
}


@pytest.mark.parametrize("read", BEYOND_THE_END.values(), ids=BEYOND_THE_END.keys())
def test_reading_past_the_end_is_an_error_that_names_the_place(read):
    reader = ByteReader(b"12", "small.bin")
    reader.u16("header")
    with pytest.raises(FormatError, match=r"small\.bin: x at byte 0x2: needs .* 0 are left"):
        read(reader)
    assert reader.position == 2


def test_values_are_little_endian():
    reader = ByteReader(bytes(range(1, 16)), "x")
    assert reader.u8("a") == 1
    assert reader.u16("b") == 0x0302
    assert reader.u32("c") == 0x07060504
    assert reader.unpack("BH", "d") == (8, 0x0A09)
    assert reader.remaining == 5
    assert ByteReader(b"\xff\xff\xff\xff", "x").i32("a") == -1
    assert ByteReader(b"\0\0\x80\x3f", "x").f32("a") == 1.0


def test_arrays_are_views_nobody_can_write_to():
    data = bytes(range(8))
    array = ByteReader(data, "x").array(np.uint16, 4, "values")
    assert array.tolist() == [0x0100, 0x0302, 0x0504, 0x0706]
    assert not array.flags.writeable
    assert np.shares_memory(array, np.frombuffer(data, np.uint8))


def test_budget_counts_what_is_spent():
    budget = Budget(1, "x.bin")
    budget.spend(budget.granted - 10, "first")
    budget.spend(10, "second")
    with pytest.raises(FormatError, match=r"x\.bin: third: needs 1 bytes with 0 left"):
        budget.spend(1, "third")


def test_files_appear_whole_or_not_at_all(tmp_path: Path):
    target = tmp_path / "out.bin"
    target.write_bytes(b"before")

    def broken():
        yield b"half"
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_files({tmp_path / "other.bin": [b"whole"], target: broken()})
    assert target.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["out.bin"]

    write_files({target: [b"af", memoryview(b"ter")]})
    assert target.read_bytes() == b"after"
    assert [path.name for path in tmp_path.iterdir()] == ["out.bin"]


def test_writing_keeps_links_and_permissions(tmp_path: Path):
    real = tmp_path / "real.bin"
    real.write_bytes(b"")
    real.chmod(0o640)
    link = tmp_path / "link.bin"
    os.symlink(real, link)
    write_files({link: [b"new"]})
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize("count", [-1, 3, 2**62])
def test_records_that_cannot_follow_are_refused(count: int):
    reader = ByteReader(bytes(5), "x.bin")
    assert reader.fits(2, 2, "records") == 2
    with pytest.raises(FormatError, match=rf"x\.bin: records at byte 0x0: {count} are declared"):
        reader.fits(count, 2, "records")


def test_sources_are_paths_or_bytes(tmp_path: Path):
    (tmp_path / "a.bin").write_bytes(b"12")
    assert read_source(tmp_path / "a.bin", "", "x") == (b"12", "a.bin")
    assert read_source(str(tmp_path / "a.bin"), "b", "x") == (b"12", "b")
    assert read_source(memoryview(b"12"), "", "x") == (b"12", "x")
