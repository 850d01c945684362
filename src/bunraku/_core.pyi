"""The compiled core. Each class below is a submodule; arrays are checked, never converted."""

import numpy as np
from numpy.typing import NDArray

def level() -> str: ...
def available_levels() -> list[str]: ...
def thread_count() -> int: ...
def set_thread_count(count: int) -> None: ...

class meshopt:  # noqa: N801
    """Buffer views packed by EXT_meshopt_compression and KHR_meshopt_compression.

    A stream that breaks its specification raises ValueError with the reason. Filters work in
    place; after a ValueError drop the elements.
    """

    @staticmethod
    def decode_vertex(data: NDArray[np.uint8], count: int, stride: int) -> NDArray[np.uint8]: ...
    @staticmethod
    def decode_triangles(
        data: NDArray[np.uint8], count: int, index_size: int
    ) -> NDArray[np.uint8]: ...
    @staticmethod
    def decode_indices(
        data: NDArray[np.uint8], count: int, index_size: int
    ) -> NDArray[np.uint8]: ...
    @staticmethod
    def apply_filter(data: NDArray[np.uint8], count: int, stride: int, name: str) -> None: ...
