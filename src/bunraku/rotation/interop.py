"""To and from SciPy's Rotation, which also stores (x, y, z, w); SciPy must be installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import RigError, UnsupportedError
from bunraku.rotation._arrays import QUATERNION, Floats, read

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation  # type: ignore[import-untyped]


def to_scipy(q: ArrayLike) -> Rotation:
    """Return a `scipy.spatial.transform.Rotation` of quaternions (..., 4), any length but zero.

    SciPy before 1.17 takes one leading axis at most.

    Raises:
        UnsupportedError: SciPy is not installed.
        RigError: q is not (..., 4), or SciPy refuses it.

    >>> to_scipy([0, 0, 1, 1]).magnitude().round(4)
    np.float64(1.5708)
    """
    try:
        from scipy.spatial.transform import Rotation
    except ImportError as error:
        raise UnsupportedError("to_scipy needs SciPy: pip install scipy") from error
    (q_,) = read((q, QUATERNION))
    try:
        return Rotation.from_quat(q_)
    except ValueError as error:
        raise RigError(f"SciPy refuses these quaternions: {error}") from error


def from_scipy(rotation: Rotation) -> Floats:
    """Return the unit quaternions (..., 4) of a `scipy.spatial.transform.Rotation`, float64.

    Raises:
        RigError: it is none.

    >>> from_scipy(to_scipy([0, 0, 1, 1])).round(4)
    array([0.    , 0.    , 0.7071, 0.7071])
    """
    try:
        return np.asarray(rotation.as_quat())
    except AttributeError:
        found = type(rotation).__name__
        raise RigError(f"expected a Rotation of SciPy, found {found}") from None
