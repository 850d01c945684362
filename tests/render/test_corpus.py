"""Real files whose pictures say themselves whether they are right."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bunraku import load
from bunraku.model import Clip, Track
from bunraku.render import Renderer, render
from bunraku.stage import Stage

WEIGHTS = (0.0, 0.3, 0.5, 0.6, 1.0)


@pytest.mark.parametrize("name", ["Overridden", "Overrides"])
def test_the_window_of_the_specifications_models_is_green(corpus: Path, name: str) -> None:
    # textureTransformBinds move the window over an atlas that is red where the weights are wrong.
    file = f"vrm-c__vrm-specification__VRMC_vrm_expressions_isBinary_{name}.vrm"
    character = load(corpus / "vrm_mmd" / file)
    asked = np.array(list(product(WEIGHTS, WEIGHTS)))
    times = np.arange(len(asked))
    tracks = (
        Track(e, "expression", times, asked[:, [i]]) for i, e in enumerate(("happy", "blink"))
    )
    stage = Stage(character, Clip("", tuple(tracks)))
    renderer = Renderer(stage, view="front", size=(80, 80), ground=False, smooth_edges=False)
    for time in times:
        red, green, _ = np.moveaxis(renderer.picture(float(time)).astype(int), -1, 0)
        assert (green > red + 60).sum() > 1500, asked[time]
        assert (red > green + 80).sum() < 60, asked[time]  # its rim lies between two texels


def test_quantized_texture_coordinates_are_put_back(corpus: Path) -> None:
    models = corpus / "gltf_usd_fbx_bvh"
    plain, packed = (
        render(Stage(load(models / path)), size=(96, 72)).astype(int)
        for path in (
            "khronos-sample-assets/Models/Fox/glTF-Binary/Fox.glb",
            "generated/Fox.gltfpack-q.glb",
        )
    )
    assert np.abs(plain - packed).mean() < 0.5
