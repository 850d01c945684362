"""glTF-Transform #1404: requantised weights of CesiumMan did not sum to 1 and grew spikes.

https://github.com/donmccurdy/glTF-Transform/issues/1404
"""

import numpy as np

from bunraku.formats.gltf import quantize_weights


def test_requantised_rows_sum_to_255_and_stay_close():
    rng = np.random.default_rng(1404)
    rows = rng.dirichlet([0.3, 0.3, 0.3, 0.3], 5000)
    found = quantize_weights(rows, np.uint8)
    assert (found.sum(axis=1) == 255).all()
    assert np.abs(found / 255 - rows).max() < 2.5 / 255
    assert np.array_equal(quantize_weights(found / 255, np.uint8), found)
