"""Every MMD model with every motion: at rest nothing moves, and no motion breaks one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bunraku import BunrakuError, Clip, Stage, load, load_clips
from tests.conftest import shared_folder

CORPUS = shared_folder("corpus")
MODELS = (
    sorted(path for path in CORPUS.rglob("*") if path.suffix.lower() in (".pmx", ".pmd"))
    if CORPUS is not None
    else []
)


@cache
def motions() -> list[Clip]:
    assert CORPUS is not None
    clips = []
    for path in sorted(CORPUS.rglob("*.vmd")):
        try:
            clips += load_clips(path)
        except BunrakuError:
            continue
    return clips


@pytest.mark.skipif(not MODELS, reason="no corpus: set BUNRAKU_CORPUS")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_models_stand_at_rest_and_move_with_every_motion(path: Path) -> None:
    try:
        character = load(path)
    except BunrakuError as error:
        pytest.skip(f"refused: {error}")
    stage = Stage(character)
    # Appends and IK of a figure at rest leave it there, even where children precede parents.
    for span, rest in zip(
        stage.ranges,
        (geometry for mesh in character.meshes for geometry in mesh.geometries),
        strict=True,
    ):
        bent = stage.deform(0.0).positions[0, span.start : span.stop]
        size = max(float(np.abs(rest.positions).max(initial=0)), 1.0)
        np.testing.assert_allclose(bent, rest.positions, rtol=0, atol=1e-6 * size)
    for clip in motions():
        dancing = Stage(character, clip)
        end = min(clip.end, 20.0)
        assert np.isfinite(dancing.global_transforms(np.linspace(0, end, 7))).all()
        bent = dancing.deform(end / 2, normals=True)
        assert np.isfinite(bent.positions).all()
        assert bent.normals is not None
        assert np.isfinite(bent.normals).all()
