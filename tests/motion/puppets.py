"""Characters whose tracks are sampled."""

import numpy as np

from bunraku.model import Attachment, Character, Clip, Geometry, Mesh, MorphTarget, Skeleton, Track
from bunraku.motion import bind, sample


def puppet(nodes: int = 1, morphs: int = 0) -> Character:
    """Nodes in a chain; the first one shows a mesh if there are morph targets."""
    skeleton = Skeleton(
        tuple(f"n{i}" for i in range(nodes)),
        np.arange(nodes) - 1,
        np.arange(nodes * 3).reshape(nodes, 3) + 0.1,
        np.tile([0, 0.6, 0, 0.8], (nodes, 1)),
        np.full((nodes, 3), 0.3),
    )
    if not morphs:
        return Character(skeleton)
    lifted = MorphTarget([0], positions=[[0, 1, 0]])
    geometry = Geometry([[0, 0, 0]], morphs=(lifted,) * morphs)
    mesh = Mesh("face", (geometry,), (), ("m",) * morphs, np.linspace(0.1, 0.9, morphs))
    return Character(skeleton, (mesh,), attachments=(Attachment(0, 0),))


def sampled(track: Track, times, character: Character | None = None) -> np.ndarray:
    """What one track on node 0 does to its own path."""
    pose = sample(bind(Clip("c", (track,)), character or puppet()), times)
    if track.path == "weights":
        return pose.morph_weights[0]
    return getattr(pose, f"{track.path}s")[:, 0]
