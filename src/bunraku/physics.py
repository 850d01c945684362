"""A motion with its springs: what swings, swung once from the start and kept as keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bunraku.errors import RigError
from bunraku.model import Character, Clip, Pose, Track
from bunraku.model.arrays import Float64, number
from bunraku.posing.evaluate import resolved
from bunraku.posing.springs import STEP, Springs, swing
from bunraku.rotation import slerp

_BLOCK = 600  # steps in memory at a time


def swung(
    character: Character,
    clip: Clip,
    pose_at: Callable[[Float64], Pose],
    start: float,
    end: float,
) -> Clip:
    """Return the clip with rotation tracks of the character's springs in place of its own.

    What springs could not do as the file has it is added to the clip's notes.

    At `start` everything that swings is at rest; from there on it is simulated in steps of 1/60 s,
    a key for each, and one at `end`. The result at a time does not depend on `end`.

    Args:
        character: whose rig has the springs; without any the clip is handed back.
        clip: the motion.
        pose_at: the character's pose at times (F,), without springs.
        start, end: seconds.

    Raises:
        RigError: a tail that does not hang on its joint, times that are not in order.
    """
    start, end = number(start, "physics: start"), number(end, "physics: end")
    if start > end:
        raise RigError(f"physics: expected a start before an end, found {start:g} and {end:g} s")
    rig = character.rig
    if rig is None or not rig.springs:
        return clip
    springs = Springs(character.skeleton, rig)
    steps = int(np.ceil((end - start) / STEP - 1e-6))
    if steps > 10**7:
        raise RigError(f"physics: {end - start:g} s would be {steps:.3g} steps")
    times = np.asarray(start + np.arange(steps + 1) * STEP, np.float64)
    tails = None
    parts = []
    for first in range(0, len(times), _BLOCK):
        pose = resolved(character, pose_at(times[first : first + _BLOCK]))
        moved, tails = swing(springs, pose, tails)
        parts.append(moved.rotations[:, springs.nodes])
    turns = np.concatenate(parts)
    if steps and times[-1] > end:
        share = (end - times[-2]) / STEP
        turns[-1] = slerp(turns[-2], turns[-1], share)
        times[-1] = end
    swinging = set(springs.nodes.tolist())
    names = {character.skeleton.names[node] for node in swinging}
    kept = [
        track
        for track in clip.tracks
        if track.path != "rotation" or track.target not in (swinging | names)
    ]
    swings = [
        Track(node, "rotation", times, turns[:, i].astype(np.float32))
        for i, node in enumerate(springs.nodes.tolist())
    ]
    return replace(clip, tracks=(*kept, *swings), notes=(*clip.notes, *springs.notes))
