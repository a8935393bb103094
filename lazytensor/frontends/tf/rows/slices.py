"""Strided slices, their gradients, and assignments to them. Starts are slots: they may move."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.ops import basic_index
from lazytensor.core.ops.basic_index import Window
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import number

MASKS: Final = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
"""Which entries have no start, no end, are an ellipsis, a new axis, an integer: a bit an entry."""


def window(
    shape: Shape, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, masks: dict[str, Any]
) -> Window:
    """What TF's five masks, starts, ends and steps mean for a tensor of this shape."""
    bits = [int(masks.get(f"{name}_mask") or 0) for name in MASKS]
    key: list[Any] = []
    for i in range(len(begin)):
        open_start, open_end, ellipsis, new, shrinks = [mask >> i & 1 for mask in bits]
        if ellipsis:
            key.append(...)
        elif new:
            key.append(None)
        elif shrinks:
            key.append(int(begin[i]))
        else:
            ends = None if open_start else int(begin[i]), None if open_end else int(end[i])
            key.append(slice(*ends, int(strides[i])))
    return basic_index.window(shape, tuple(key))


def _read(x: Node, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, **masks: Any) -> Node:
    return window(x.type.shape, begin, end, strides, masks).read(x)


def _gradient(
    shape: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, grad: Node,
    **masks: Any,
) -> Node:  # fmt: skip
    whole = tuple(int(n) for n in shape)
    zeros = ops.broadcast(number(0, grad), shape=whole)
    return window(whole, begin, end, strides, masks).write(zeros, grad)


def assigned(
    x: Node, value: Node, begin: np.ndarray, end: np.ndarray, strides: np.ndarray,
    masks: dict[str, Any],
) -> Node:  # fmt: skip
    """`x` with a strided slice of it replaced by `value`, broadcast to its shape."""
    found = window(x.type.shape, begin, end, strides, masks)
    if value.type.shape != found.shape:
        value = ops.broadcast(value, shape=found.shape)
    return found.write(x, value)


def _update(
    x: Node, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: Node, **masks: Any
) -> Node:
    return assigned(x, value, begin, end, strides, masks)


rows({"StridedSlice": _read}, host=(1, 2, 3), moving=True)
rows({"StridedSliceGrad": _gradient}, host=(0, 1, 2, 3), moving=True)
rows({"TensorStridedSliceUpdate": _update}, host=(1, 2, 3), moving=True)
