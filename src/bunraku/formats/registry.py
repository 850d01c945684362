"""Which file format is read and written by whom.

A file is recognised by its first bytes where the format has a signature, else by its suffix.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bunraku.errors import Note, UnsupportedError
from bunraku.model import Character, Clip


@dataclass(frozen=True)
class Format:
    """A file format Bunraku knows.

    Attributes:
        name: as people call it.
        suffixes: lower case, with the dot.
        signature: what the file's first bytes are, empty if it has none.
        load, load_clips, save, save_clip: None where the format has no such content.
    """

    name: str
    suffixes: tuple[str, ...]
    signature: bytes = b""
    load: Callable[[Path], Character] | None = None
    load_clips: Callable[[Path], tuple[Clip, ...]] | None = None
    save: Callable[[Character, Path], tuple[Note, ...]] | None = None
    save_clip: Callable[[Clip, Path, Character | None], tuple[Note, ...]] | None = None


def _comes_from(character: Character, family: str) -> bool:
    """Whether the document is of a family, told without importing that: it takes a while."""
    return type(character.document).__module__.startswith(f"bunraku.formats.{family}.")


def _load_gltf(path: Path) -> Character:
    from bunraku.formats.gltf import read_gltf
    from bunraku.formats.vrm import character_from_vrm, character_from_vrma, is_vrma

    file = read_gltf(path)
    return character_from_vrma(file) if is_vrma(file) else character_from_vrm(file)


def _load_gltf_clips(path: Path) -> tuple[Clip, ...]:
    from bunraku.formats.gltf import clips_from_gltf, read_gltf
    from bunraku.formats.vrm import clips_from_vrma, is_vrma

    file = read_gltf(path)
    return clips_from_vrma(file) if is_vrma(file) else clips_from_gltf(file)


def _save_gltf(character: Character, path: Path) -> tuple[Note, ...]:
    from bunraku.formats.gltf import write_gltf
    from bunraku.formats.vrm import gltf_from_any

    left = tuple[Note, ...]()
    if _comes_from(character, "mmd"):
        from bunraku.formats.crossing import to_gltf

        left = to_gltf(character)
    file, notes = gltf_from_any(character)
    return (*left, *notes, *write_gltf(file, path))


def _save_vrm(character: Character, path: Path) -> tuple[Note, ...]:
    from bunraku.formats.gltf import write_gltf
    from bunraku.formats.vrm import vrm_from_character

    meta, left = None, tuple[Note, ...]()
    if _comes_from(character, "mmd"):
        from bunraku.formats.crossing import to_vrm

        meta, left = to_vrm(character)
    file, notes = vrm_from_character(character, meta=meta)
    return (*left, *notes, *write_gltf(file, path))


def _save_vrma(character: Character, path: Path) -> tuple[Note, ...]:
    from bunraku.formats.gltf import write_gltf
    from bunraku.formats.vrm import vrma_from_character

    file, notes = vrma_from_character(character)
    return (*notes, *write_gltf(file, path))


def _save_vrma_clip(clip: Clip, path: Path, character: Character | None) -> tuple[Note, ...]:
    from bunraku.formats.gltf import GltfFile
    from bunraku.formats.vrm import character_from_vrma, is_vrma

    if character is None:
        if not (isinstance(clip.document, GltfFile) and is_vrma(clip.document)):
            raise UnsupportedError(
                f"{path.name}: a VRM animation holds a figure; its motion needs the character"
            )
        character = character_from_vrma(clip.document)
    return _save_vrma(replace(character, clips=(clip,)), path)


def _load_pmx(path: Path) -> Character:
    from bunraku.formats.mmd import character_from_pmx, read_pmx

    return character_from_pmx(read_pmx(path))


def _save_pmx(character: Character, path: Path) -> tuple[Note, ...]:
    from bunraku.formats.binary import write_files
    from bunraku.formats.mmd import picture_files, pmx_bytes, pmx_from_character

    own = f"{path.stem}_textures"
    comment, dropped = "", tuple[Note, ...]()
    if _comes_from(character, "gltf"):
        from bunraku.formats.crossing import to_pmx

        comment, dropped = to_pmx(character)
    file, pictures, notes = pmx_from_character(character, textures=own, comment=comment)
    data = pmx_bytes(file)
    files, left = picture_files(pictures, path, own)
    for picture in files:
        picture.parent.mkdir(parents=True, exist_ok=True)
    write_files({**files, path: [data]})
    return (*dropped, *notes, *left)


def _load_pmd(path: Path) -> Character:
    from bunraku.formats.mmd import character_from_pmd, read_pmd

    return character_from_pmd(read_pmd(path))


def _load_vmd_clips(path: Path) -> tuple[Clip, ...]:
    from bunraku.formats.mmd import clip_from_vmd, read_vmd

    return (clip_from_vmd(read_vmd(path)),)


def _save_vmd(clip: Clip, path: Path, character: Character | None) -> tuple[Note, ...]:
    from bunraku.formats.mmd import vmd_from_clip, write_vmd

    file, notes = vmd_from_clip(clip, character)
    write_vmd(file, path)
    return notes


def _save_vpd(clip: Clip, path: Path, character: Character | None) -> tuple[Note, ...]:
    from bunraku.formats.mmd import vpd_from_clip, write_vpd

    file, notes = vpd_from_clip(clip, character)
    write_vpd(file, path)
    return notes


def _load_vpd_clips(path: Path) -> tuple[Clip, ...]:
    from bunraku.formats.mmd import clip_from_vpd, read_vpd

    return (clip_from_vpd(read_vpd(path)),)


def _load_bvh(path: Path) -> Character:
    from bunraku.formats.bvh import character_from_bvh, read_bvh

    return character_from_bvh(read_bvh(path))


def _load_bvh_clips(path: Path) -> tuple[Clip, ...]:
    from bunraku.formats.bvh import clip_from_bvh, read_bvh

    return (clip_from_bvh(read_bvh(path)),)


def _save_bvh(character: Character, path: Path) -> tuple[Note, ...]:
    clip = character.clips[0] if character.clips else Clip("", ())
    left_out = len(character.clips) - 1
    message = f"{left_out} more clips are left out; a BVH holds one"
    extra = (Note("clips-dropped", message),) if left_out > 0 else ()
    return (*extra, *_save_bvh_clip(clip, path, character))


def _save_bvh_clip(clip: Clip, path: Path, character: Character | None) -> tuple[Note, ...]:
    from bunraku.formats.bvh import bvh_from_clip, write_bvh

    if character is None:
        raise UnsupportedError(f"{path.name}: a BVH holds a figure; its motion needs the character")
    file, notes = bvh_from_clip(clip, character)
    write_bvh(file, path)
    return notes


FORMATS = (
    Format(
        "glTF binary",
        (".glb",),
        b"glTF",
        _load_gltf,
        _load_gltf_clips,
        _save_gltf,
    ),
    Format("VRM", (".vrm",), b"", _load_gltf, _load_gltf_clips, _save_vrm),
    Format(
        "VRM animation",
        (".vrma",),
        b"",
        _load_gltf,
        _load_gltf_clips,
        _save_vrma,
        _save_vrma_clip,
    ),
    Format("glTF", (".gltf",), b"", _load_gltf, _load_gltf_clips, _save_gltf),
    Format("PMX", (".pmx",), b"PMX ", _load_pmx, save=_save_pmx),
    Format("PMD", (".pmd",), b"Pmd", _load_pmd),
    Format(
        "VMD", (".vmd",), b"Vocaloid Motion Data", load_clips=_load_vmd_clips, save_clip=_save_vmd
    ),
    Format(
        "VPD", (".vpd",), b"Vocaloid Pose Data", load_clips=_load_vpd_clips, save_clip=_save_vpd
    ),
    Format("BVH", (".bvh",), b"", _load_bvh, _load_bvh_clips, _save_bvh, _save_bvh_clip),
)


def load(path: str | os.PathLike[str]) -> Character:
    """Read a character from a file.

    Raises:
        FormatError: the file is malformed; the message names place, expected and found.
        UnsupportedError: a format, or a required feature of it, that Bunraku does not read.
        OSError: the file cannot be opened.

    >>> import bunraku, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = bunraku.save(bunraku.make_puppet(0.5), f"{folder}/doll.glb")
    ...     bunraku.load(f"{folder}/doll.glb").skeleton.names[:3]
    ('root', 'hips', 'spine')
    """
    file = Path(path)
    reader = recognised(file).load
    if reader is None:
        raise UnsupportedError(f"{file.name}: holds no character" + _known("load"))
    return reader(file)


def load_clips(path: str | os.PathLike[str]) -> tuple[Clip, ...]:
    """Read only the motions of a file; errors as for `load`.

    >>> import bunraku, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = bunraku.save(bunraku.make_puppet(0.5), f"{folder}/doll.glb")
    ...     [clip.name for clip in bunraku.load_clips(f"{folder}/doll.glb")]
    ['bow and offer']
    """
    file = Path(path)
    reader = recognised(file).load_clips
    if reader is None:
        raise UnsupportedError(f"{file.name}: holds no clips" + _known("load_clips"))
    return reader(file)


def save(character: Character, path: str | os.PathLike[str]) -> tuple[Note, ...]:
    """Write a character in the format the suffix names; returns what could not be said in it.

    A character that was read from the same format keeps everything of its file that was not
    changed, bit for bit. The file appears whole or not at all.

    Raises:
        UnsupportedError: a suffix Bunraku does not write.
        OSError: the file cannot be written.

    >>> import bunraku, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = bunraku.save(bunraku.make_puppet(0.5), f"{folder}/doll.pmx")
    >>> notes[0].code
    'clips-dropped'
    """
    file = Path(path)
    form = _by_suffix(file)
    if form is None or form.save is None:
        raise UnsupportedError(f"{file.name}: unknown suffix {file.suffix!r}" + _known("save"))
    return form.save(character, file)


def save_clip(
    clip: Clip, path: str | os.PathLike[str], character: Character | None = None
) -> tuple[Note, ...]:
    """Write a motion in the format the suffix names; returns what could not be said in it.

    A motion that was read from the same format and not changed is written bit for bit. The file
    appears whole or not at all.

    Args:
        character: who moves so. A VMD or VPD can do without, where tracks have names and
            translations are relative; a BVH cannot.

    Raises:
        UnsupportedError: a suffix that Bunraku writes no motions to, or keys that the format
            has no way to say; the message says how to get others.
        OSError: the file cannot be written.

    >>> import bunraku, tempfile
    >>> nod = bunraku.Clip("nod", (bunraku.Track("頭", "rotation", [0], [[0.6, 0, 0, 0.8]]),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = bunraku.save_clip(nod, f"{folder}/nod.vmd")
    ...     bunraku.load_clips(f"{folder}/nod.vmd")[0].tracks[0].target
    '頭'
    """
    file = Path(path)
    form = _by_suffix(file)
    if form is None or form.save_clip is None:
        raise UnsupportedError(f"{file.name}: unknown suffix {file.suffix!r}" + _known("save_clip"))
    return form.save_clip(clip, file, character)


def recognised(path: str | os.PathLike[str]) -> Format:
    """The format of a file, by its first bytes, else by its suffix.

    Raises:
        UnsupportedError: none that Bunraku knows.
        OSError: the file cannot be opened.
    """
    file = Path(path)
    with open(file, "rb") as handle:
        start = handle.read(64)
    for form in FORMATS:
        if form.signature and start.startswith(form.signature):
            return form
    found = _by_suffix(file)
    if found is None:
        raise UnsupportedError(f"{file.name}: unknown suffix {file.suffix!r}" + _known("load"))
    return found


def _by_suffix(file: Path) -> Format | None:
    suffix = file.suffix.lower()
    return next((form for form in FORMATS if suffix in form.suffixes), None)


def _known(ability: str) -> str:
    suffixes = [s for form in FORMATS if getattr(form, ability) for s in form.suffixes]
    return f"; known are {', '.join(sorted(suffixes))}"
