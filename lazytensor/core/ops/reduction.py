"""Reductions."""

from __future__ import annotations

from lazytensor.core.dtypes import NUMBERS
from lazytensor.core.op import check_dtype, primitive
from lazytensor.core.shapes import check_axes, without
from lazytensor.core.types import TensorType


@primitive
def reduce_sum(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
    """Sum over `axes`, which are dropped. x: numbers. Result: dtype of x."""
    check_dtype("reduce_sum", NUMBERS, x)
    return x.with_shape(without(x.shape, check_axes("reduce_sum", x, axes)))
