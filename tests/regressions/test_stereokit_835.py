"""StereoKit #835: weights rounded to bytes one by one no longer summed to 255.

https://github.com/StereoKit/StereoKit/issues/835
"""

import numpy as np

from bunraku.formats.gltf import dequantize, quantize_weights


def test_rounded_weights_sum_to_255():
    # each of these rows rounds to 254 or 256 when its weights are rounded alone
    rows = np.array([[1 / 3, 1 / 3, 1 / 3, 0], [0.7, 0.1, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25]])
    alone = np.rint(rows * 255).sum(axis=1)
    assert (alone != 255).any()
    bytes_ = quantize_weights(rows, np.uint8)
    assert bytes_.sum(axis=1).tolist() == [255, 255, 255]
    sums = dequantize(bytes_, True).sum(axis=1, dtype=np.float64)
    assert np.abs(sums - 1).max() < 2e-7 * 4
