"""Where nothing is to be seen although there are triangles."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bunraku.errors import Note
from bunraku.posing.expressions import materials
from bunraku.query import Pick
from bunraku.render.surface import Surface
from bunraku.stage import Stage


class CutOuts:
    """Says whether a place that a ray meets is cut out of its surface: `Stage.pick`'s `ignore`.

    That are places whose texture is below the cutoff of a masked material (glTF 2.0, 3.9.4), and
    wholly clear ones of a blended material: leaves, lashes, lace. Textures are read at their full
    size, and not before the first ray meets something that is not opaque.

    Args:
        stage: who.
        time: seconds, for expressions that change materials.

    >>> import bunraku
    >>> stage = bunraku.Stage(bunraku.make_puppet(), 0)
    >>> stage.pick(1.0, [0.02, 1, 5], [0, 0, -1], ignore=CutOuts(stage, 1.0)) is not None
    True
    """

    def __init__(self, stage: Stage, time: float = 0.0) -> None:
        self._stage, self._pose = stage, stage.pose(time)
        self._looks = materials(stage.character, self._pose)

    def __call__(self, met: Pick) -> bool:
        material = self._stage.character.meshes[met.mesh].parts[met.part].material
        if material is None or self._looks[material].alpha_mode == "opaque":
            return False
        weights = met.barycentrics[None].astype(np.float32)
        return not bool(self._surface.paint(np.array([met.row]), weights)[0, 3] > 0)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Textures that were needed and could not be read."""
        return self._surface.notes if "_surface" in self.__dict__ else ()

    @cached_property
    def _surface(self) -> Surface:
        return Surface.of(self._stage).repainted(self._stage.character, self._pose)
