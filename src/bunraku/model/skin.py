"""Which joints hold a mesh, and where they stood when it was bound to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bunraku.errors import RigError
from bunraku.model.arrays import Float64, Int32, checked
from bunraku.model.frozen import Frozen


@dataclass(frozen=True, eq=False, repr=False)
class Skin(Frozen):
    """Joints and inverse bind matrices.

    The inverse bind matrix of a joint takes a vertex from the mesh's space to the joint's, as
    they stood when the mesh was bound. It need not be the inverse of the rest pose, and is
    never rebuilt from it.

    Attributes:
        joints: (J,) int32 node of each joint slot.
        inverse_bind_matrices: (J, 4, 4) float64, acting on column vectors; identity if omitted.
        name: may be empty.

    Raises:
        RigError: wrong shapes, negative nodes, non-finite numbers, a last row other than
            (0, 0, 0, 1) beyond 1e-6 (smaller deviations are rounding, and are removed).

    >>> Skin([0, 1]).inverse_bind_matrices.shape
    (2, 4, 4)
    """

    joints: Int32
    inverse_bind_matrices: Float64 = None  # type: ignore[assignment]
    name: str = ""

    if TYPE_CHECKING:

        def __init__(
            self,
            joints: npt.ArrayLike,
            inverse_bind_matrices: npt.ArrayLike | None = None,
            name: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        place = f"skin {self.name!r}"
        joints = checked(self.joints, np.int32, (None,), f"{place}.joints")
        if joints.size and joints.min() < 0:
            raise RigError(f"{place}.joints: expected nodes from 0, found {joints.min()}")
        count = len(joints)
        given = self.inverse_bind_matrices
        matrices = checked(
            np.tile(np.eye(4), (count, 1, 1)) if given is None else given,
            np.float64,
            (count, 4, 4),
            f"{place}.inverse_bind_matrices",
        )
        off = np.abs(matrices[:, 3] - [0, 0, 0, 1]).max(axis=1, initial=0)
        if count and off.max() > 1e-6:
            slot = int(np.argmax(off))
            raise RigError(
                f"{place}.inverse_bind_matrices[{slot}]: expected last row (0, 0, 0, 1), "
                f"found {matrices[slot, 3].tolist()}"
            )
        if count and off.max() > 0:
            exact = matrices.copy()
            exact[:, 3] = [0, 0, 0, 1]
            matrices = checked(exact, np.float64, (count, 4, 4), place)
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "inverse_bind_matrices", matrices)
