"""Expressions and gaze, from one figure's names and eyes to another's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.errors import Note
from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.model.expression_names import MMD_EXPRESSIONS, plain_name, preset_by_name
from bunraku.motion import bind, clip_from_pose, sample
from bunraku.motion.notes import listed
from bunraku.posing.look_at import turn_eyes
from bunraku.rotation import quaternion

GAZE = "lookAt"


def expression_tracks(
    motion: Clip, source: Character, target: Character
) -> tuple[list[Track], list[Note]]:
    """The expression tracks, on the target's expressions of the same preset, meaning or name.

    What the target has no expression for is left out, with a note if the motion shows it.
    """
    places: dict[str, int] = {}
    for i, expression in enumerate(target.expressions):
        places.setdefault(plain_name(expression.name), i)
    by_preset = {
        expression.preset: i
        for i, expression in reversed(list(enumerate(target.expressions)))
        if expression.preset is not None
    }
    tracks: dict[int, Track] = {}
    lost: list[str] = []
    for track in motion.tracks:
        if track.path != "expression":
            continue
        name, preset = _meaning(track, source)
        wanted = [plain_name(each) for each in (name, *MMD_EXPRESSIONS.get(preset or "", ()))]
        found = by_preset.get(preset) if preset is not None else None
        if found is None:
            found = next((places[each] for each in wanted if each in places), None)
        if found is not None:
            tracks.setdefault(found, replace(track, target=found))
        elif track.values.any():
            lost.append(name)
    notes = []
    if lost:
        message = f"the figure has no expression for {listed(lost)}: left out"
        notes.append(Note("expression-missing", message))
    return list(tracks.values()), notes


def _meaning(track: Track, source: Character) -> tuple[str, str | None]:
    """Name and preset of what an expression track moves."""
    known = source.expressions
    if isinstance(track.target, int):
        if not 0 <= track.target < len(known):
            return str(track.target), None
        own = known[track.target]
        return own.name, own.preset or preset_by_name(own.name)
    for own in known:
        if own.name == track.target and own.preset is not None:
            return own.name, own.preset
    own_preset = track.target if track.target in MMD_EXPRESSIONS else None
    return track.target, own_preset or preset_by_name(track.target)


def gaze_tracks(motion: Clip, target: Character, fps: float) -> list[Track]:
    """A VRM animation's gaze as what the target's eyes do, by its own maps; none without them."""
    gaze = [track for track in motion.tracks if track.target == GAZE and track.path == "rotation"]
    if not gaze or target.rig is None or target.rig.look_at is None:
        return []
    track = replace(gaze[0], target=0)
    grid = np.arange(np.ceil(track.times[0] * fps), np.floor(track.times[-1] * fps) + 1) / fps
    times = np.unique(np.concatenate([track.times, grid]))
    pointer = Character(Skeleton((GAZE,), np.array([-1], np.int32)))
    turns = sample(bind(Clip("", (track,)), pointer), times).rotations[:, 0]
    x, y, z = quaternion.rotate(turns, [0.0, 0, 1]).T
    rest = target.rest_pose()
    still = replace(
        rest,
        **{
            name: np.repeat(getattr(rest, name), len(times), 0)
            for name in ("translations", "rotations", "scales", "expressions", "ik", "visible")
        },
        morph_weights=tuple(np.repeat(each, len(times), 0) for each in rest.morph_weights),
    )
    pose = turn_eyes(target, still, np.arctan2(x, z), np.arctan2(-y, np.hypot(x, z)))
    tracks = list(clip_from_pose(pose, times, target, "").tracks)
    for i in np.flatnonzero(pose.expressions.any(axis=0)).tolist():
        weights = pose.expressions[:, i : i + 1].astype(np.float32)
        tracks.append(Track(i, "expression", times, weights))
    return tracks
