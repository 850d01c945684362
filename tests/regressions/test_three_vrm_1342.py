"""three-vrm #1342: the animation's hips were taken to rest at 0, so theirs went to infinity.

https://github.com/pixiv/three-vrm/pull/1342
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.formats import load
from bunraku.model import Skeleton
from bunraku.motion import bind, sample
from bunraku.retargeting import retarget
from tests.formats.vrm.figures import figure_1, written
from tests.formats.vrm.test_vrma import motion


def test_the_way_of_the_hips_goes_by_both_heights(tmp_path: Path):
    steps = [[0, 0.9, 0], [0, 0.45, 1.8]]  # a figure whose hips rest at 0.9 m
    path = written(motion((0, "translation", steps)), tmp_path, "walk.vrma")
    walker, tall = load(path), load(written(figure_1(), tmp_path))
    s = tall.skeleton
    tall = replace(
        tall, skeleton=Skeleton(s.names, s.parents, 2 * s.translations, s.rotations, s.scales)
    )
    clip = retarget(walker.clips[0], walker, tall)
    hips = sample(bind(clip, tall), np.array([0.0, 1.0])).translations[:, 0]
    np.testing.assert_allclose(hips, [[0, 1.8, 0], [0, 0.9, 3.6]], atol=1e-6)


def test_hips_on_the_ground_move_nobody_to_infinity(tmp_path: Path):
    sketch = motion((0, "translation", [[0, 0, 0], [0, 0, 1]]))
    sketch.tree["nodes"][0]["translation"] = [0, 0, 0]
    crawler = load(written(sketch, tmp_path, "crawl.vrma"))
    figure = load(written(figure_1(), tmp_path))
    clip = retarget(crawler.clips[0], crawler, figure)
    pose = sample(bind(clip, figure), np.array([0.0, 1.0]))
    assert np.abs(pose.translations).max() < 10
