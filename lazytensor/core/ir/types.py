"""Tensor types, interned: two equal types are one object, so comparing them is comparing names."""

from __future__ import annotations

import itertools
import math
from typing import Final

import numpy as np

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import short_name
from lazytensor.core.policy import LOOP_OPERATIONS, NODE_WORK

Shape = tuple[int, ...]

MOVING_WORK: Final = LOOP_OPERATIONS * NODE_WORK
"""What an op that only moves elements counts for at most: XLA fuses it, or does it in place."""
WORK_BOUND: Final = 2**48
"""What one record counts for at most, in elements, so that the sum of all pending fits 64 bits."""


NUMPYS_AXES: Final = 64
"""How many axes an array of NumPy's may have."""


_numbers: Final = itertools.count()


class TensorType:
    """A dtype and a static shape. Made by `tensor_type`, which interns. `number` is its own."""

    __slots__ = ("dtype", "moving", "ndim", "number", "shape", "size", "work")

    def __init__(self, dtype: np.dtype, shape: Shape) -> None:
        self.number = next(_numbers)
        self.dtype = dtype
        self.shape = shape
        self.ndim = len(shape)
        self.size = math.prod(shape)
        self.work = min(self.size + NODE_WORK, WORK_BOUND)
        self.moving = min(self.size, MOVING_WORK) + NODE_WORK

    @property
    def nbytes(self) -> int:
        """Bytes that a dense array of this type takes."""
        return self.size * self.dtype.itemsize

    def with_shape(self, shape: Shape) -> TensorType:
        """The type of the same dtype with another shape."""
        return tensor_type(self.dtype, shape)

    def with_dtype(self, dtype: np.dtype) -> TensorType:
        """The type of the same shape with another dtype."""
        return tensor_type(dtype, self.shape)

    def __repr__(self) -> str:
        return f"{short_name(self.dtype)}[{','.join(map(str, self.shape))}]"

    def __reduce__(self) -> tuple[object, ...]:
        return tensor_type, (self.dtype, self.shape)


ResultType = TensorType | tuple[TensorType, ...]

_interned: dict[tuple[np.dtype, Shape], TensorType] = {}


def tensor_type(dtype: np.dtype, shape: Shape = ()) -> TensorType:
    """The one type of this dtype and shape."""
    key = (dtype, shape)
    found = _interned.get(key)
    if found is None:
        given: tuple[object, object] = (dtype, shape)  # callers without types get an error too
        if not isinstance(given[0], np.dtype) or not isinstance(given[1], tuple):
            raise TypeError(f"tensor_type: a np.dtype and a tuple, got {dtype!r}, {shape!r}")
        if min(shape, default=0) < 0:
            raise ShapeError(f"tensor_type: sizes are not negative, got {shape}")
        # setdefault is atomic: two threads that race get one object.
        found = _interned.setdefault(key, TensorType(dtype, tuple(map(int, shape))))
    return found
