"""The physics switches of a motion's document, for the keys of what became of the motion.

A clip has no place for them: they ride in two bytes of the bones' keys, without a value of their
own in between. Like camera and light they stay in the document, at its frames; a key that is
written has the switch of the bone's last key of the document at or before its frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bunraku.errors import Note
from bunraku.formats.mmd.vmd import VmdFile, tracks
from bunraku.formats.mmd.vmd_curves import encode_switches, physics_switch

Array = npt.NDArray[Any]


def hold_switches(keys: Array, document: VmdFile) -> tuple[Note, ...]:
    """Write the switches of the document into keys of bones that it turns off anywhere.

    Args:
        keys: (N,) records `BONE_KEY`; changed in place.

    Returns:
        A note, where a key that switches has no successor in its frame.

    >>> from bunraku.formats.mmd import BONE_KEY, LINEAR, encode_bone_curves, physics_switch
    >>> was, now = np.zeros(2, BONE_KEY), np.zeros(3, BONE_KEY)
    >>> was["frame"], now["frame"] = [0, 30], [0, 30, 40]
    >>> was["interpolation"] = encode_bone_curves([[LINEAR] * 4] * 2, physics=[True, False])
    >>> hold_switches(now, VmdFile(bones=was))
    ()
    >>> physics_switch(now["interpolation"]).tolist()
    [True, False, False]
    """
    on = physics_switch(document.bones["interpolation"])
    if on.all():
        return ()
    written, late = tracks(keys), 0
    for name, order in tracks(document.bones).items():
        switches, frames = on[order], document.bones["frame"][order]
        if switches.all():
            continue
        mine = written.get(name, np.zeros(0, np.int64))
        last = np.searchsorted(frames, keys["frame"][mine], side="right") - 1
        rows = keys["interpolation"][mine]
        keys["interpolation"][mine] = encode_switches(rows, switches[last.clip(0)])
        changes = frames[np.diff(switches, prepend=True)]
        late += int((~np.isin(changes, keys["frame"][mine])).sum())
    if not late:
        return ()
    message = (
        f"{late} keys that switch a bone's physics are gone; its next key does, if there is one"
    )
    return (Note("physics-switch-moved", message),)
