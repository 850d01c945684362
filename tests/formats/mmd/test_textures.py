from __future__ import annotations

import os
from pathlib import Path

import pytest

from bunraku.errors import Note
from bunraku.formats.mmd.textures import (
    has_alpha,
    media_type,
    picture_files,
    read_images,
    texture_paths,
)
from bunraku.model import Image

PNG = b"\x89PNG\r\n\x1a\n" + bytes(17) + b"\x06"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "model"
    (model / "Tex").mkdir(parents=True)
    (model / "Tex" / "Skin.PNG").write_bytes(PNG)
    (model / "eye.sph").write_bytes(b"BMeye")
    (tmp_path / "secret.png").write_bytes(b"secret")
    os.symlink(tmp_path / "secret.png", model / "link.png")
    return model


REFUSED = {
    "missing": ("gone.png", "does not exist"),
    "absolute": ("/etc/passwd", "is an absolute path"),
    "absolute elsewhere": ("C:\\tex\\a.png", "is an absolute path"),
    "a drive": ("c:a.png", "is an absolute path"),
    "a share": ("\\\\server\\a.png", "is an absolute path"),
    "out of the folder": ("..\\secret.png", "leads out of the folder"),
    "out and in again": ("../model/eye.sph", "leads out of the folder"),
    "out by a link": ("link.png", "leads out of the folder"),
    "a folder": ("Tex", "is no file"),
    "below a file": ("eye.sph/a.png", "cannot be read"),
    "nothing": ("", "is no file"),
    "no path": ("a\0b.png", "does not exist"),
    "too long": ("x" * 5000, "does not exist"),
}


@pytest.mark.parametrize(("path", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_paths_that_give_no_picture(folder: Path, path: str, reason: str):
    notes: list[Note] = []
    (image,) = read_images((path,), folder, notes)
    assert (image.data, image.mime_type, image.name) == (b"", "", path)
    assert [(note.code, note.place) for note in notes] == [("image-missing", "textures[0]")]
    assert reason in notes[0].message
    assert len(notes[0].message) < 300


@pytest.mark.parametrize(
    "path", ["Tex/Skin.PNG", "tex\\skin.png", "./TEX//SKIN.png", "tex/../Tex/skin.png"]
)
def test_case_and_slashes_do_not_matter(folder: Path, path: str):
    notes: list[Note] = []
    (image,) = read_images((path,), folder, notes)
    assert (image.data, image.mime_type) == (PNG, "image/png")
    assert notes == []


def test_the_exact_name_is_preferred(folder: Path):
    (folder / "a.bmp").write_bytes(b"BMsmall")
    (folder / "A.bmp").write_bytes(b"BMlarge")
    images = read_images(("a.bmp", "A.bmp"), folder, [])
    assert [image.data for image in images] == [b"BMsmall", b"BMlarge"]


def test_letters_composed_otherwise_are_the_same(folder: Path):
    (folder / "\u304b\u3099.png").write_bytes(PNG)  # が in two letters, as macOS keeps it
    assert read_images(("\u304c.png",), folder, [])[0].data == PNG


def test_without_a_folder_there_are_no_pictures():
    notes: list[Note] = []
    assert read_images(("a.png",), None, notes)[0].data == b""
    assert "read from bytes" in notes[0].message


def test_missing_pictures_without_end_are_counted():
    notes: list[Note] = []
    images = read_images(tuple(f"{i}.png" for i in range(100)), None, notes)
    assert len(images) == 100
    assert len(notes) == 21
    assert notes[-1].message.startswith("80 more")


def test_kinds_of_pictures():
    assert media_type(PNG, "a.bmp") == "image/png"
    assert media_type(b"\xff\xd8\xff", "a.sph") == "image/jpeg"
    assert media_type(b"DDS ", "a") == "image/vnd-ms.dds"
    assert media_type(b"\0\0\2", "a.TGA") == "image/x-tga"
    assert media_type(b"\0", "a.xyz") == ""


def test_alpha_is_told_from_the_header():
    assert has_alpha(Image(PNG, "image/png"))
    assert not has_alpha(Image(PNG[:-1] + b"\x02", "image/png"))
    assert has_alpha(Image(PNG[:-1] + b"\x03" + b"tRNS", "image/png"))
    assert has_alpha(Image(bytes(16) + b"\x20", "image/x-tga"))
    assert not has_alpha(Image(bytes(16) + b"\x18", "image/x-tga"))
    assert not has_alpha(Image(b"\xff\xd8\xff", "image/jpeg"))


def test_paths_of_pictures_that_have_none():
    images = (
        Image(b"", "image/png", "tex\\体.png"),
        Image(b"", "image/jpeg", "skin: face"),
        Image(b"", "image/png", ""),
        Image(b"", "", "../x.png"),
        Image(b"", "", "/x.png"),
    )
    paths = texture_paths(images, "t")
    assert paths == ("tex\\体.png", "t/1_skin_face.jpg", "t/2.png", "t/3_x.png", "t/4_x.png")


def test_pictures_are_put_beside_the_model(folder: Path):
    pictures = {"tex\\skin.png": PNG, "new/a.png": b"a", "eye.sph": b"other", "m_textures/b": b"b"}
    (folder / "m_textures").mkdir()
    (folder / "m_textures" / "b").write_bytes(b"old")
    files, notes = picture_files(pictures, folder / "m.pmx", "m_textures")
    assert files == {folder / "new" / "a.png": [b"a"], folder / "m_textures" / "b": [b"b"]}
    assert [str(note) for note in notes] == [
        "'eye.sph' is another file there [texture-not-written]"
    ]


def test_pictures_stay_in_the_folder(folder: Path):
    files, notes = picture_files({"../a.png": b"a", "C:\\b.png": b"b"}, folder / "m.pmx", "t")
    assert files == {}
    assert [note.code for note in notes] == ["texture-not-written"] * 2
