"""A picture that shows what linear blend loses: two joints, bent both ways, side by side."""

from __future__ import annotations

import numpy as np

from bunraku.errors import RigError
from bunraku.model.character import Character
from bunraku.render import Camera, Renderer
from bunraku.render.color import Bytes
from bunraku.render.framing import frame, view_axes
from bunraku.render.labels import beside
from bunraku.skinning.deform import METHODS, Method
from bunraku.stage import Stage

SIZE = (480, 360)
MOMENT = 2.45  # seconds; the elbow and the forearm turn furthest here
# Limb, joint around which the picture is taken, metres of limb in it, azimuth and elevation in
# degrees, and what is seen.
CLOSE_UPS = (
    ("rightArm", "rightHand", 0.20, (10, 14), "twisted forearm"),
    ("leftArm", "leftLowerArm", 0.17, (75, 42), "bent elbow"),
)
NAMES: dict[Method, str] = {"lbs": "linear blend (LBS)", "dqs": "dual quaternions (DQS)"}


def comparison(puppet: Character) -> Bytes:
    """The puppet's twisted forearm and bent elbow, by LBS on the left and by DQS on the right.

    Args:
        puppet: with its clip.

    Returns:
        (720, 960, 3) sRGB bytes.

    Raises:
        RigError: another character, without those limbs.
    """
    rows = []
    renderers = {
        method: Renderer(Stage(puppet, 0), method=method, size=SIZE, ground=False)
        for method in METHODS
    }
    for limb, joint, reach, degrees, what in CLOSE_UPS:
        camera = _camera(puppet, limb, joint, reach, degrees)
        pictures = [renderers[m].picture(MOMENT, camera=camera) for m in METHODS]
        rows.append(beside(pictures, [f"{NAMES[m]}: {what}" for m in METHODS]))
    return np.concatenate(rows)


def _camera(
    puppet: Character, limb: str, joint: str, reach: float, degrees: tuple[float, float]
) -> Camera:
    """A camera that sees the vertices of a limb within some distance of a joint."""
    stage = Stage(puppet, 0)
    spans = [span for span in stage.ranges if puppet.meshes[span.mesh].name == limb]
    if not spans:
        raise RigError(f"no mesh {limb!r} is shown")
    points = stage.deform(MOMENT, method="dqs").positions[0, spans[0].start : spans[0].stop]
    node = puppet.skeleton.index(joint)
    middle = stage.global_transforms(MOMENT)[0, node, :, 3]
    near = points[np.linalg.norm(points - middle, axis=1) < reach]
    azimuth, elevation = np.radians(degrees)
    return frame([near], view_axes((azimuth, elevation)), SIZE)
