"""raylib #6048: at and after the last key, a pose from the start of the clip came back.

https://github.com/raysan5/raylib/pull/6048
"""

import numpy as np

from bunraku.model import Character, Clip, Skeleton, Track
from bunraku.motion import bind, sample


def test_frames_up_to_the_last_key_reach_its_value():
    fps, frames = 60, 61
    times = (np.arange(frames) / fps).astype("f4")
    values = np.stack([np.arange(frames), np.zeros(frames), np.zeros(frames)], axis=1)
    track = Track(0, "translation", times, values)
    bound = bind(Clip("c", (track,)), Character(Skeleton(("root",), [-1])))
    ours = sample(bound, np.arange(frames + 5) / fps).translations[:, 0, 0]
    np.testing.assert_array_equal(ours, [*range(frames), *[frames - 1] * 5])
