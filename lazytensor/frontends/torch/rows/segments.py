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
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of


def _bounds(data: Node, lengths: Any, offsets: Any, axis: int) -> Node:
    given = lengths if lengths is not None else offsets
    require(given is not None and given.dtype in (torch.int32, torch.int64))
    made = cast_to(operand(given), S64)
    require(axis_of(axis, data.type.ndim) == made.type.ndim - 1)
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
        lengths = sure(lengths, flag, text)
    return lengths


def _initial(reduce: str, given: Any, dtype: np.dtype) -> Node:
    return cast_to(IDENTITIES[reduce][1] if given is None else given, dtype)


def _segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None,
    axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Node:  # fmt: skip
    given = operand(data)
    bounds = _bounds(given, lengths, offsets, axis)
    require(indices is None and reduce in IDENTITIES and given.type.dtype in FLOATS)
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
