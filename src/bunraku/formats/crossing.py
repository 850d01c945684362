"""What a character takes along, and what stays behind, on its way between MMD and glTF or VRM.

The writers know the model; this knows the document of the other family that a character came
with: its terms of use, which cross as text, and all that only its own family has a place for.
"""

from __future__ import annotations

from typing import Any

from bunraku.errors import Note
from bunraku.formats.gltf import GltfFile
from bunraku.formats.mmd import PmdFile, PmxFile, pmx_from_pmd
from bunraku.formats.mmd.left_behind import quoted_comment, stays_in_pmx, whole_comment
from bunraku.formats.vrm.left_behind import stays_in_gltf
from bunraku.formats.vrm.licence import LICENCE, licence_text
from bunraku.model import Character


def to_gltf(character: Character) -> tuple[Note, ...]:
    """What a PMX or PMD loses in a glTF file."""
    file = _pmx(character)
    if file is None:
        return ()
    comment = quoted_comment(file)
    notes = stays_in_pmx(file)
    if comment:
        message = f"the comment has no place in glTF; it says: {comment}"
        notes = (Note("licence-comment", message, "comment"), *notes)
    return notes


def to_vrm(character: Character) -> tuple[dict[str, Any] | None, tuple[Note, ...]]:
    """The meta of a VRM 1.0 for a PMX or PMD, and what it loses there.

    The comment, in which MMD's models state their terms, becomes `thirdPartyLicenses`, the only
    free text on terms that a VRM has. Nothing is allowed by it: every permission stays at VRM's
    default. None, and so what the writer assumes, without a comment or for a VRM 0.x.
    """
    file = _pmx(character)
    if file is None:
        return None, ()
    comment = quoted_comment(file)
    if not comment or character.facing == "-Z":
        return None, to_gltf(character)
    meta = {
        "name": character.name or "character",
        "authors": ["unknown"],
        "licenseUrl": LICENCE,
        "thirdPartyLicenses": whole_comment(file),
    }
    message = (
        "nobody is known as author: written as unknown, with VRM's defaults, which allow next to"
        " nothing"
    )
    assumed = Note("licence-assumed", message, "extensions.VRMC_vrm.meta")
    message = f"the comment is written as thirdPartyLicenses; it says: {comment}"
    return meta, (assumed, Note("licence-comment", message, "comment"), *stays_in_pmx(file))


def to_pmx(character: Character) -> tuple[str, tuple[Note, ...]]:
    """The comment of a PMX for a glTF or VRM, with its terms, and what that loses there."""
    file = character.document
    if not isinstance(file, GltfFile):
        return "", ()
    terms = licence_text(file)
    notes = stays_in_gltf(file)
    if terms:
        message = "authors and terms of use are written as text, into the comment"
        notes = (Note("licence-comment", message, "comment"), *notes)
    return terms, notes


def _pmx(character: Character) -> PmxFile | None:
    document = character.document
    if isinstance(document, PmdFile):
        return pmx_from_pmd(document)
    return document if isinstance(document, PmxFile) else None
