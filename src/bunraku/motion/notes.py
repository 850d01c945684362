"""What there is to say of the tracks of a clip, one note for each kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bunraku.errors import Note
from bunraku.model import Track

_NAMED = 5
_LACKING = "move what the character does not have"


@dataclass(frozen=True)
class Finding:
    """Something about one track.

    Attributes:
        note: as it stands if it is the only one of its kind.
        track: the track.
        said: what several such tracks do, after their number: "move what …".
    """

    note: Note
    track: Track
    said: str


def unbound(note: Note, track: Track) -> Finding:
    """A track that moves nothing."""
    return Finding(note, track, _LACKING)


def summed(findings: Iterable[Finding], clip: str, tracks: int, moving: bool) -> tuple[Note, ...]:
    """One note for each kind of finding, in order of first appearance.

    What the character lacks, and the motion keeps at rest, is only counted.

    Args:
        clip: name of the motion.
        tracks: how many it has.
        moving: whether any of them moves something.
    """
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for each in findings:
        kinds.setdefault((each.note.code, each.said), []).append(each)
    notes = []
    for (code, said), found in kinds.items():
        nothing = said == _LACKING and not moving
        telling = found
        if said == _LACKING:
            telling = [each for each in found if not keeps_rest(each.track)]
            telling = telling or (found if nothing else [])
        if not telling:
            continue
        message, place = telling[0].note.message, telling[0].note.place
        if len(telling) > 1 or (nothing and tracks > 1):
            names, place = listed(_named(each.track) for each in telling), ""
            message = f"{len(telling)} of {tracks} tracks of {clip!r} {said}: {names}"
            if nothing:
                message = f"none of the {tracks} tracks of {clip!r} moves the character: {names}"
        if len(telling) < len(found):
            message += f"; {len(found) - len(telling)} more keep such things at rest"
        notes.append(Note(code, message, place))
    return tuple(notes)


def keeps_rest(track: Track) -> bool:
    """Whether a track leaves what it moves as it is, in a format that keys everything (VMD)."""
    if track.path == "translation":
        return track.relative and not track.values.any()
    if track.path == "rotation":
        return bool((track.values == [0, 0, 0, 1]).all())
    if track.path == "ik":
        return bool(track.values.all())
    return track.path == "expression" and not track.values.any()


def _named(track: Track) -> str:
    if isinstance(track.target, str):
        return repr(track.target[:40])
    return f"{'expression' if track.path == 'expression' else 'node'} {track.target}"


def listed(names: Iterable[str]) -> str:
    """The first few of some names.

    >>> listed("abcdefg")
    'a, b, c, d, e …'
    """
    different = list(dict.fromkeys(names))
    return ", ".join(different[:_NAMED]) + (" …" if len(different) > _NAMED else "")
