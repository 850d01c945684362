"""A character into a PMX document.

A character is first written as if there were no document. One that came from a PMX or PMD is
then patched: what its document says is written the same way, and where the two differ the
document's record takes the new value, field by field and vertex by vertex. All else (edges,
toons, rigid bodies, display frames, comments) stays as it was, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.from_pmd import pmx_from_pmd
from bunraku.formats.mmd.from_pmx import character_from_pmx
from bunraku.formats.mmd.pmd import PmdFile
from bunraku.formats.mmd.pmx import PmxBone, PmxFile, PmxFrame
from bunraku.formats.mmd.pmx_morphs import PmxMorph
from bunraku.formats.mmd.pmx_vertices import Deform, PmxVertices
from bunraku.formats.mmd.standard_names import note_of_names, standard_names
from bunraku.formats.mmd.surfaces import write_materials
from bunraku.formats.mmd.textures import texture_paths
from bunraku.formats.mmd.write_bones import write_bones, write_frames
from bunraku.formats.mmd.write_mesh import place, rest_matrices, write_faces, write_vertices
from bunraku.formats.mmd.write_morphs import write_morphs
from bunraku.model import Character, Image, differences

Array = npt.NDArray[Any]
_Named = TypeVar("_Named", PmxBone, PmxMorph)


@np.errstate(all="ignore")
def pmx_from_character(
    character: Character, *, textures: str = "textures", comment: str = ""
) -> tuple[PmxFile, dict[str, bytes], tuple[Note, ...]]:
    """The document of a character, the pictures that belong beside it, and notes.

    Nodes, materials, images and expressions keep their indices as bones, materials, textures
    and morphs. A character that has fewer of them than its document is written from scratch
    (noted): what else the document holds would refer to the wrong ones.

    Who does not come from MMD gets MMD's standard names for the bones of the humanoid and for
    preset expressions (`standard_names`), and keeps its own as English names.

    Args:
        character: who.
        textures: folder, relative to the file, of pictures whose names are no paths.
        comment: of who does not come from MMD; who does keeps the own.

    Returns:
        The file; content of each picture by its path in the file; what could not be said.

    Raises:
        RigError: as of the model's parts.
    """
    base = _document(character)
    if base is None:
        named = standard_names(character)
        notes = note_of_names(character, named)
        file = _written(named, textures, notes)
        spoken = (expression.name for expression in character.expressions)
        file = replace(
            file,
            comment=comment.replace("\n", "\r\n"),
            bones=_in_english(file.bones, character.skeleton.names),
            morphs=_in_english(file.morphs, spoken),
        )
        return file, _pictures(file, character.images), tuple(notes)
    baseline = character_from_pmx(base)
    if not differences(replace(baseline, name=character.name), _unmoved(character)):
        if character.name == baseline.name:
            return base, _pictures(base, character.images), _clips(character)
        return replace(base, name=character.name), _pictures(base, character.images), ()
    for kind in ("materials", "images", "expressions"):
        was, now = len(getattr(baseline, kind)), len(getattr(character, kind))
        if now < was:
            break
    else:
        kind, was, now = "nodes", len(baseline.skeleton), len(character.skeleton)
    notes = []
    new = _written(character, textures, notes)
    if now < was:
        message = f"{now} {kind} are left of {was}: written from scratch, without what else"
        notes.append(Note("written-from-scratch", f"{message} {base.source} holds"))
        new = replace(new, comment=base.comment, comment_english=base.comment_english)
        return new, _pictures(new, character.images), tuple(notes)
    file = _patched(base, _written(baseline, textures, []), new)
    return file, _pictures(file, character.images), tuple(notes)


def _document(character: Character) -> PmxFile | None:
    document = character.document
    if isinstance(document, PmdFile):
        return pmx_from_pmd(document)
    return document if isinstance(document, PmxFile) else None


def _unmoved(character: Character) -> Character:
    """The character without what no PMX holds."""
    return replace(character, clips=())


def _clips(character: Character) -> tuple[Note, ...]:
    if not character.clips:
        return ()
    message = f"{len(character.clips)} clips are no part of a PMX; save them as VMD"
    return (Note("clips-dropped", message),)


def _written(character: Character, textures: str, notes: list[Note]) -> PmxFile:
    """The character as a new document."""
    notes += _clips(character)
    world = rest_matrices(character.skeleton)
    placed = place(character, world)
    vertices = write_vertices(character, placed, notes)
    faces, corners = write_faces(character, placed, notes)
    bones = write_bones(character, world, notes)
    morphs = write_morphs(character, placed, notes)
    return PmxFile(
        character.name,
        vertices=vertices,
        faces=faces,
        textures=texture_paths(character.images, textures),
        materials=write_materials(character, corners, notes),
        bones=bones,
        morphs=morphs,
        frames=write_frames(bones, morphs),
        version=2.1 if (vertices.deform == Deform.QDEF).any() else 2.0,
        source=f"{character.name or 'character'}.pmx",
    )


def _in_english(records: tuple[_Named, ...], names: Iterable[str]) -> tuple[_Named, ...]:
    """The records, with those of the names that they do not have as their English ones."""
    return tuple(
        record if name in ("", record.name) else replace(record, name_english=name)
        for record, name in zip(records, chain(names, repeat("")), strict=False)
    )


def _pictures(file: PmxFile, images: tuple[Image, ...]) -> dict[str, bytes]:
    pairs = zip(file.textures, images, strict=False)
    return {path: image.data for path, image in pairs if image.data}


def _patched(base: PmxFile, old: PmxFile, new: PmxFile) -> PmxFile:
    """`base`, with what differs between `old` and `new` made as in `new`."""
    vertices = new.vertices
    if len(old.vertices) == len(new.vertices) == len(base.vertices):
        vertices = _patched_vertices(base.vertices, old.vertices, new.vertices)
    names = [
        path if i >= len(base.textures) or path != old.textures[i] else base.textures[i]
        for i, path in enumerate(new.textures)
    ]
    return replace(
        base,
        name=new.name if new.name != old.name else base.name,
        vertices=vertices,
        faces=base.faces if np.array_equal(old.faces, new.faces) else new.faces,
        textures=tuple(names),
        materials=_patched_list(base.materials, old.materials, new.materials),
        bones=_patched_list(base.bones, old.bones, new.bones),
        morphs=_patched_list(base.morphs, old.morphs, new.morphs),
        frames=_extended(base, len(new.bones), len(new.morphs)),
        version=new.version if new.is_2_1 > base.is_2_1 else base.version,
        notes=(),
    )


def _patched_list(
    base: tuple[Any, ...], old: tuple[Any, ...], new: tuple[Any, ...]
) -> tuple[Any, ...]:
    kept = [_patched_record(*each) for each in zip(base, old, new, strict=False)]
    return (*kept, *new[len(old) :])


def _patched_record(base: Any, old: Any, new: Any) -> Any:
    changes: dict[str, Any] = {}
    for each in fields(base):
        was, now = getattr(old, each.name), getattr(new, each.name)
        if isinstance(was, np.ndarray):
            if was.dtype != now.dtype or not np.array_equal(was, now):
                changes[each.name] = now
        elif was != now:
            flags = each.name == "flags"
            changes[each.name] = base.flags ^ was ^ now if flags else now
    return replace(base, **changes) if changes else base


def _patched_vertices(base: PmxVertices, old: PmxVertices, new: PmxVertices) -> PmxVertices:
    arrays: dict[str, Array] = {"edge_scales": base.edge_scales}
    for name in ("positions", "normals", "uvs", "additional_uvs"):
        was, now, kept = (getattr(each, name) for each in (old, new, base))
        if was.shape != now.shape or now.shape != kept.shape:
            arrays[name] = now
        else:
            arrays[name] = np.where(was == now, kept, now)
    olds, news, kepts = _centres(old), _centres(new), _centres(base)
    same = (old.deform == new.deform) & (old.bones == new.bones).all(axis=1)
    same &= (old.weights == new.weights).all(axis=1) & (olds == news).all(axis=(1, 2))
    for name in ("deform", "bones", "weights"):
        kept, now = getattr(base, name), getattr(new, name)
        arrays[name] = np.where(same if now.ndim == 1 else same[:, None], kept, now)
    centres = np.where(same[:, None, None], kepts, news)
    arrays["sdef"] = centres[arrays["deform"] == Deform.SDEF]
    return PmxVertices(**arrays)


def _centres(vertices: PmxVertices) -> Array:
    """(V, 3, 3) C, R0 and R1, 0 for vertices without."""
    centres = np.zeros((len(vertices), 3, 3), np.float32)
    centres[vertices.deform == Deform.SDEF] = vertices.sdef
    return centres


def _extended(base: PmxFile, bones: int, morphs: int) -> tuple[PmxFrame, ...]:
    """The display frames, new morphs listed with the others and new bones in a frame of theirs."""
    frames = list(base.frames)
    if morphs > len(base.morphs):
        added = [(1, i) for i in range(len(base.morphs), morphs)]
        for k, frame in enumerate(frames):
            if frame.special and frame.name == "表情":
                elements = np.concatenate([frame.elements, np.array(added, np.int32)])
                frames[k] = replace(frame, elements=elements)
    if bones > len(base.bones):
        listed = [(0, i) for i in range(len(base.bones), bones)]
        frames.append(PmxFrame("追加", "Added", 0, np.array(listed, np.int32)))
    return tuple(frames)
