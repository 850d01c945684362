from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import FormatError
from bunraku.formats.gltf import (
    BufferBuilder,
    GltfFile,
    dequantize,
    quantize,
    quantize_weights,
    read_accessor,
    read_gltf,
)
from tests.formats.sketch import Sketch, glb
from tests.reference import accessors as oracle

COMPONENTS = sorted(oracle.FORMATS)
TYPES = sorted(oracle.ROWS)


def file_of(sketch: Sketch) -> GltfFile:
    return read_gltf(sketch.glb())


def sparse_sketch(rows: list[int], dtype: str = "u1", **base: Any) -> Sketch:
    sketch = Sketch()
    code = {"u1": 5121, "u2": 5123, "u4": 5125}[dtype]
    sparse = {
        "count": len(rows),
        "indices": {
            "bufferView": sketch.view(np.array(rows, dtype).tobytes()),
            "componentType": code,
        },
        "values": {"bufferView": sketch.view(np.full((len(rows), 3), 7, "f4").tobytes())},
    }
    accessor = {"componentType": 5126, "count": 5, "type": "VEC3", "sparse": sparse}
    if base:
        accessor["bufferView"] = sketch.view(np.full((5, 3), 1, "f4").tobytes())
    sketch.accessor(**accessor)
    return sketch


INVALID = {
    "a sparse index twice": ([1, 1], "expected more than 1, found 1"),
    "sparse indices that fall": ([3, 2], "accessors[0].sparse.indices[1]: expected more than 3"),
    "a sparse index beyond the end": ([0, 5], "sparse.indices[1]: expected less than 5, found 5"),
}


@pytest.mark.parametrize(("rows", "message"), INVALID.values(), ids=INVALID.keys())
def test_invalid_sparse_indices(rows: list[int], message: str):
    with pytest.raises(FormatError) as caught:
        read_accessor(file_of(sparse_sketch(rows)), 0)
    assert message in str(caught.value)


def test_an_unknown_type_cannot_be_read():
    sketch = Sketch()
    sketch.accessor(componentType=5126, count=1, type="VEC5")
    with pytest.raises(FormatError, match="unknown type 'VEC5'"):
        read_accessor(file_of(sketch), 0)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4"])
def test_sparse_over_nothing_and_over_data(dtype: str):
    nothing = read_accessor(file_of(sparse_sketch([1, 4], dtype)), 0)
    assert nothing[:, 0].tolist() == [0, 7, 0, 0, 7]
    data = read_accessor(file_of(sparse_sketch([1, 4], dtype, over="data")), 0)
    assert data[:, 2].tolist() == [1, 7, 1, 1, 7]


def test_an_accessor_over_nothing_is_zeros():
    sketch = Sketch()
    sketch.accessor(componentType=5123, count=2, type="VEC2")
    sketch.accessor(componentType=5126, count=2, type="MAT4")
    assert read_accessor(file_of(sketch), 0).tolist() == [[0, 0], [0, 0]]
    assert read_accessor(file_of(sketch), 1).shape == (2, 4, 4)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("stride", ["tight", "wide"])
def test_every_layout_agrees_with_the_oracle(component: int, kind: str, stride: str):
    rng = np.random.default_rng(COMPONENTS.index(component) * 7 + TYPES.index(kind))
    size, count, offset = oracle.element_size(kind, component), 4, 8
    step = size if stride == "tight" else (size + 3) // 4 * 4 + 4
    sketch = Sketch()
    sketch.view(b"1234")
    data = rng.integers(0, 120, offset + step * count + 3, np.uint8).tobytes()
    extra = {} if stride == "tight" else {"byteStride": step}
    view = sketch.view(data, **extra)
    sketch.accessor(
        bufferView=view, byteOffset=offset, componentType=component, count=count, type=kind
    )
    found = read_accessor(file_of(sketch), 0)
    expected = oracle.decode(sketch.tree, bytes(sketch.data), 0)
    assert np.array_equal(found, np.array(expected), equal_nan=True)
    assert found.dtype == np.dtype("<" + oracle.FORMATS[component])


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_sparse_overlays_agree_with_the_oracle(data):
    component = data.draw(st.sampled_from(COMPONENTS))
    kind = data.draw(st.sampled_from(TYPES))
    count = data.draw(st.integers(1, 6))
    rows = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1)))
    size = oracle.element_size(kind, component)
    sketch = Sketch()
    code, dtype = data.draw(st.sampled_from([(5121, "u1"), (5123, "u2"), (5125, "u4")]))
    numbers = st.binary(min_size=size * count, max_size=size * count)
    indices = sketch.view(np.array(rows, dtype).tobytes())
    sparse = {
        "count": len(rows),
        "indices": {"bufferView": indices, "componentType": code},
        "values": {"bufferView": sketch.view(data.draw(numbers))},
    }
    accessor = {"componentType": component, "count": count, "type": kind, "sparse": sparse}
    if data.draw(st.booleans()):
        accessor["bufferView"] = sketch.view(data.draw(numbers))
    sketch.accessor(**accessor)
    found = read_accessor(file_of(sketch), 0)
    expected = np.array(oracle.decode(sketch.tree, bytes(sketch.data), 0), found.dtype)
    assert np.array_equal(found, expected, equal_nan=component == 5126)


def test_small_matrices_have_padded_columns():
    # MAT3 of bytes: three columns of four bytes, the last byte of each unused
    sketch = Sketch()
    columns = struct.pack("3B x 3B x 3B", *range(1, 10))
    sketch.accessor(bufferView=sketch.view(columns), componentType=5121, count=1, type="MAT3")
    assert read_accessor(file_of(sketch), 0)[0].tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]


def test_floats_are_views_of_the_file():
    sketch = Sketch()
    sketch.add(np.arange(12).reshape(4, 3))
    file = file_of(sketch)
    found = read_accessor(file, 0)
    assert np.shares_memory(found, np.frombuffer(file.buffers[0], np.uint8))
    assert not found.flags.writeable


def test_unaligned_floats_are_copied_to_where_the_core_can_read_them():
    sketch = Sketch()
    view = sketch.view(b"x" + np.arange(3, dtype="<f4").tobytes())
    sketch.accessor(bufferView=view, byteOffset=1, componentType=5126, count=1, type="VEC3")
    stored = read_accessor(file_of(sketch), 0)
    assert not stored.flags.aligned
    found = dequantize(stored, False)
    assert found.flags.aligned
    assert found.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("component", [5120, 5121, 5122, 5123])
def test_dequantised_integers_agree_with_the_oracle(component: int):
    kind = np.dtype(oracle.FORMATS[component])
    limits = np.iinfo(kind)
    values = np.unique(np.linspace(limits.min, limits.max, 1001).astype(kind))
    expected = [oracle.dequantized(int(v), component) for v in values]
    assert np.allclose(dequantize(values, True), expected, rtol=0, atol=6e-8)
    assert dequantize(values, False).tolist() == values.astype(np.float32).tolist()
    assert dequantize(values, True).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_quantising_undoes_dequantising(dtype: type):
    limits = np.iinfo(dtype)
    values = np.arange(-limits.max if limits.min else 0, limits.max + 1).astype(dtype)
    assert quantize(dequantize(values, True), dtype).tolist() == values.tolist()
    assert quantize([5.0, -5.0], dtype).tolist() == [limits.max, -limits.max if limits.min else 0]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.floats(0, 1), min_size=8, max_size=8), min_size=1, max_size=5),
    st.sampled_from([np.uint8, np.uint16]),
)
def test_quantised_weights_sum_to_the_largest_integer(rows, dtype):
    weights = np.array(rows)
    sums = weights.sum(axis=1)
    weights[sums > 0] /= sums[sums > 0, None]
    largest = np.iinfo(dtype).max
    found = quantize_weights(weights, dtype)
    assert found.sum(axis=1, dtype=np.int64).tolist() == np.where(sums > 0, largest, 0).tolist()
    assert np.abs(found / largest - weights).max() <= 8 / largest


def test_hundreds_of_equal_weights_do_not_wrap_around():
    found = quantize_weights(np.full((1, 400), 1 / 400), np.uint8)
    assert found.sum(dtype=np.int64) == 255


CASES = {
    "scalars": (np.arange(3, dtype=np.float32), "SCALAR", 5126),
    "indices": (np.arange(3, dtype=np.uint16), "SCALAR", 5123),
    "long indices": (np.arange(3, dtype=np.uint32), "SCALAR", 5125),
    "vectors": (np.arange(9, dtype=np.float32).reshape(3, 3), "VEC3", 5126),
    "bytes": (np.arange(9, dtype=np.int8).reshape(3, 3), "VEC3", 5120),
    "colours": (np.arange(12, dtype=np.uint8).reshape(3, 4), "VEC4", 5121),
    "shorts": (np.arange(9, dtype=np.int16).reshape(3, 3), "VEC3", 5122),
    "matrices": (np.arange(32, dtype=np.float32).reshape(2, 4, 4), "MAT4", 5126),
}


@pytest.mark.parametrize("target", [None, 34962])
@pytest.mark.parametrize(("values", "kind", "component"), CASES.values(), ids=CASES.keys())
def test_what_is_written_is_read_back(values, kind: str, component: int, target: int | None):
    tree: dict[str, Any] = {"asset": {"version": "2.0"}}
    builder = BufferBuilder(tree)
    builder.view(b"x")
    index = builder.accessor(values, target=target, bounds=values.ndim < 3)
    accessor, view = tree["accessors"][index], tree["bufferViews"][-1]
    assert (accessor["type"], accessor["componentType"]) == (kind, component)
    assert view["byteOffset"] % 4 == 0
    assert view.get("byteStride", 4) % 4 == 0
    assert view.get("target") == target
    if values.ndim < 3:
        flat = values.reshape(len(values), -1)
        assert accessor["min"] == flat.min(axis=0).tolist()
        assert accessor["max"] == flat.max(axis=0).tolist()
    data = b"".join(builder.pieces)
    tree["buffers"] = [{"byteLength": len(data)}]
    assert len(data) == builder.size
    file = GltfFile(tree, (memoryview(data),))
    found = read_accessor(file, index)
    assert found.reshape(values.shape).tolist() == values.tolist()


@pytest.mark.parametrize("moved", [[], [0], [1, 4], [0, 1, 2, 3, 4]])
def test_sparse_accessors_are_read_back(moved: list[int]):
    tree: dict[str, Any] = {"asset": {"version": "2.0"}}
    builder = BufferBuilder(tree)
    values = np.arange(1, 3 * len(moved) + 1, dtype=np.float32).reshape(-1, 3)
    index = builder.sparse(5, np.array(moved, np.int32), values)
    data = b"".join(builder.pieces)
    if data:
        tree["buffers"] = [{"byteLength": len(data)}]
    dense = np.zeros((5, 3), np.float32)
    dense[moved] = values
    file = read_gltf(glb(json.dumps(tree).encode(), data or None))
    assert file.notes == ()
    assert read_accessor(file, index).tolist() == dense.tolist()
    assert tree["accessors"][index]["max"] == dense.max(axis=0).tolist()
    assert tree["accessors"][index]["min"] == dense.min(axis=0).tolist()
