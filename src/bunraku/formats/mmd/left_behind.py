"""What only a PMX has a place for, counted for who is written as something else."""

from __future__ import annotations

from bunraku.errors import Note
from bunraku.formats.mmd.pmx import MaterialFlag, PmxFile

_QUOTED = 200


def quoted_comment(file: PmxFile) -> str:
    """The beginning of the comment on one line; "" without one.

    >>> quoted_comment(PmxFile(comment="改変禁止\\r\\n再配布禁止"))
    '改変禁止 再配布禁止'
    """
    text = " ".join(whole_comment(file).split())
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def whole_comment(file: PmxFile) -> str:
    """The comment, and the English one after it where that says something else."""
    comments = [str(each).strip() for each in (file.comment, file.comment_english)]
    return "\n\n".join(dict.fromkeys(filter(None, comments)))


def stays_in_pmx(file: PmxFile) -> tuple[Note, ...]:
    """A note for each kind of what no glTF and no VRM holds.

    >>> from bunraku.formats.mmd.pmx_physics import PmxBody
    >>> [str(note) for note in stays_in_pmx(PmxFile(bodies=(PmxBody("hair"),)))]
    ['1 rigid bodies are left out [physics-dropped]']
    """
    materials = file.materials
    lists = (file.bones, file.morphs, materials, file.frames, file.bodies, file.joints)
    english = [file.name_english, *(each.name_english for records in lists for each in records)]
    kinds = {
        "physics-dropped": {
            "rigid bodies": len(file.bodies),
            "joints": len(file.joints),
            "soft bodies": len(file.soft_bodies),
        },
        "shading-dropped": {
            "toon ramps": sum(each.shared_toon or each.toon >= 0 for each in materials),
            "sphere maps": sum(each.sphere_mode > 0 for each in materials),
            "edges": sum(bool(each.flags & MaterialFlag.EDGE) for each in materials),
            "specular colours": sum(any(each.specular) for each in materials),
            "ambient colours": sum(any(each.ambient) for each in materials),
            "memos": sum(bool(each.memo) for each in materials),
        },
        "names-dropped": {"English names": sum(map(bool, english))},
        "display-dropped": {
            "display frames": len(file.frames),
            "local axes of bones": sum(bone.local_axes is not None for bone in file.bones),
        },
    }
    notes = []
    for code, counts in kinds.items():
        there = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        if there:
            notes.append(Note(code, f"{there} are left out"))
    return tuple(notes)
