"""Reductions of neighbouring elements, by the lengths of segments or by where they begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import whole
from lazytensor.core.lib.segments import IDENTITIES, segment_reduce, segment_reduce_backward
from lazytensor.frontends.torch.dispatch.errors import OutOfRangeError, dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of
from lazytensor.frontends.torch.tensors.tensor import TORCH


def _bounds(data: Node, lengths: Any, offsets: Any, axis: int) -> Node:
    given = lengths if lengths is not None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.dtype not in (torch.int32, torch.int64):
        raise NotImplementedError(
            '"_segment_reduce_lengths_cpu_kernel1" not implemented for '
            f"'{dtype_name(given.dtype)}'"
        )
    made = cast_to(operand(given), S64)
    if axis_of(axis, data.type.ndim) != made.type.ndim - 1:
        word = "lengths" if lengths is not None else "offsets"
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {word} but got "
            f"{axis_of(axis, data.type.ndim)}."
        )
    return made


def _checked(lengths: Node, size: int) -> Node:
    """Lengths that are not negative and add up to `size`: checked when the program runs."""
    axes = tuple(range(lengths.type.ndim))
    least = ops.reduce_and(lengths >= 0, axes=axes)
    total = ops.reduce_sum(lengths, axes=axes[-1:])
    exact = ops.reduce_and(ops.equal(total, whole(size)), axes=axes[:-1])
    texts = {
        "lengths contains negative value!": least,
        "segment_reduce(): Expected all rows of lengths along axis to sum to "
        "data.size(lengths.dim()-1) when !unsafe.": exact,
    }
    for text, flag in texts.items():
        lengths = ops.guarded(lengths, ops.guard(flag, error=OutOfRangeError, text=text))
    return lengths


def _initial(reduce: str, given: Any, dtype: np.dtype) -> Node:
    return cast_to(IDENTITIES[reduce][1] if given is None else given, dtype)


def _check(data: Node, reduce: str) -> None:
    if reduce not in IDENTITIES:
        raise RuntimeError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    if data.type.dtype not in FLOATS:
        name = dtype_name(TORCH[data.type.dtype])
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{name}'")


def _segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None,
    axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Node:  # fmt: skip
    given = operand(data)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    bounds = _bounds(given, lengths, offsets, axis)
    _check(given, reduce)
    if lengths is not None and not unsafe:
        bounds = _checked(bounds, given.type.shape[bounds.type.ndim - 1])
    return segment_reduce(
        given, bounds, _initial(reduce, initial, given.type.dtype), reduce=reduce,
        offsets=lengths is None, given=initial is not None,
    )  # fmt: skip


def _segment_reduce_backward(
    grad: Any, output: Any, data: Any, reduce: str, *, lengths: Any = None, offsets: Any = None,
    axis: int = 0, initial: Any = None,
) -> Node:  # fmt: skip
    given = operand(data)
    bounds = _bounds(given, lengths, offsets, axis)
    return segment_reduce_backward(
        operand(grad), operand(output), given, bounds,
        _initial(reduce, initial, given.type.dtype), reduce=reduce, offsets=lengths is None,
    )  # fmt: skip


ROWS: dict[str, Row] = {
    "segment_reduce": _segment_reduce,
    "_segment_reduce_backward": _segment_reduce_backward,
}


rows(ROWS)
