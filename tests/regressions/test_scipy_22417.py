"""SciPy #22417: a reflection was silently turned into some other rotation.

https://github.com/scipy/scipy/issues/22417
"""

import numpy as np
import pytest

from bunraku.errors import RigError
from bunraku.rotation import dual_quaternion, quaternion


def test_a_mirror_is_no_rotation():
    with pytest.raises(RigError, match=r"reflection \(determinant -1\)"):
        quaternion.from_matrix(np.diag([-1, 1, 1]))
    with pytest.raises(RigError, match="reflection"):
        dual_quaternion.from_matrix(np.diag([-1, 1, 1, 1]))


def test_a_matrix_far_from_orthonormal_is_not_repaired_in_silence():
    with pytest.raises(RigError, match="not orthonormal"):
        quaternion.from_matrix([[0, -0.5, 0], [0.5, 0, 0], [0, 0, 0.5]])
