"""Reductions of neighbouring elements, by the lengths of segments or by where they begin."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import F32, FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import whole
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.errors import OutOfRangeError, dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.rows.sorting import search
from lazytensor.frontends.torch.tensors.strides import axis_of
from lazytensor.frontends.torch.tensors.tensor import TORCH

IDENTITIES: Final[dict[str, tuple[str, float]]] = {
    "sum": ("add", 0.0),
    "mean": ("add", 0.0),
    "prod": ("mul", 1.0),
    "max": ("max", -np.inf),
    "amax": ("max", -np.inf),
    "min": ("min", np.inf),
    "amin": ("min", np.inf),
}
"""Per reduction of torch's, how the core scatters, and what an empty segment gives."""


class _Segments(NamedTuple):
    """Segments along an axis. `places`: the segment of each element of the data.

    `inside`: whether an element is in any segment, [..., n, 1, ...]. `lengths`: number of elements
    of each segment, [..., s, 1, ...].
    """

    places: list[Node]
    inside: Node
    lengths: Node

    def of(self, x: Node) -> Node:
        """For each element of the data, what `x` has for its segment."""
        return ops.gather(x, *self.places, axes=tuple(range(len(self.places))))

    def combined(self, start: Node, values: Node, mode: str) -> Node:
        """`start`, an element each segment, with the values in it brought in."""
        axes = tuple(range(len(self.places)))
        return ops.scatter(start, values, *self.places, axes=axes, mode=mode)


def _segments(data: Node, bounds: Node, offsets: bool) -> _Segments:
    """`bounds`: lengths s64[..., s], or offsets s64[..., s + 1]."""
    axis = bounds.type.ndim - 1
    outer, n = data.type.shape[:axis], data.type.shape[axis]
    if offsets:
        count = bounds.type.shape[axis] - 1
        first, ends = part(bounds, axis, 0, count), part(bounds, axis, 1, count)
        lengths = ends - first
    else:
        count, lengths, ends = bounds.type.shape[axis], bounds, ops.cumsum(bounds, axis=axis)
        first = ends - lengths
    here = ops.iota(dtype=S64, shape=(*outer, n), axis=axis)
    found = search(ends, here, True)
    if count:
        begun = ops.take_along(first, ops.minimum(found, whole(count - 1)), axis=axis)
        inside = (found < count) & (here >= begun)
    else:
        inside = filled(here.type.shape, False, np.dtype(bool))
    at = ops.select(inside, found, whole(count))  # dropped
    places = [ops.iota(dtype=S64, shape=here.type.shape, axis=i) for i in range(axis)]
    ones = (1,) * (data.type.ndim - axis - 1)
    return _Segments(
        [*places, at],
        ops.reshape(inside, shape=(*inside.type.shape, *ones)),
        ops.reshape(lengths, shape=(*outer, count, *ones)),
    )


def _wide(x: Node) -> Node:
    """In f32 at least: what is added up of 16 bits would be rounded each time."""
    return cast_to(x, F32) if x.type.dtype.itemsize < 4 else x


def _reduced(
    data: Node, bounds: Node, initial: Node, *, reduce: str, offsets: bool, given: bool
) -> Node:
    """`initial` is what each segment begins with; `given`: by the user."""
    segments = _segments(data, bounds, offsets)
    axis = bounds.type.ndim - 1
    count = segments.lengths.type.shape[axis]
    shape = (*data.type.shape[:axis], count, *data.type.shape[axis + 1 :])
    values = _wide(data)
    start = ops.broadcast(cast_to(initial, values.type.dtype), shape=shape)
    made = segments.combined(start, values, IDENTITIES[reduce][0])
    if reduce == "mean":
        length = cast_to(segments.lengths, values.type.dtype)
        empty = ops.equal(length, like(0, length))
        made = made / ops.select(empty, like(1, length), length)
        if not given:
            made = ops.select(empty, like(np.nan, made), made)
    return cast_to(made, data.type.dtype)


def _without_one(data: Node, segments: _Segments, initial: Node, shape: tuple[int, ...]) -> Node:
    """For elements that are zero or NaN, the product of all others of the segment."""
    zero, nan = ops.equal(data, like(0, data)), ops.is_nan(data)
    one = like(1, data)
    plain = ops.select(zero | nan, one, data)
    made = segments.of(
        segments.combined(
            ops.broadcast(cast_to(initial, data.type.dtype), shape=shape), plain, "mul"
        )
    )
    for flags, factor in ((zero, 0.0), (nan, np.nan)):
        numbers = cast_to(flags, S64)
        all_ = segments.of(segments.combined(filled(shape, 0, S64), numbers, "add"))
        others = all_ - numbers > 0
        made = made * ops.select(others, like(factor, data), one)
    return made


def _slope(
    grad: Node, output: Node, data: Node, bounds: Node, initial: Node, *, reduce: str,
    offsets: bool,
) -> Node:  # fmt: skip
    segments = _segments(data, bounds, offsets)
    if not output.type.size:
        return filled(data.type.shape, 0, grad.type.dtype)
    mode = IDENTITIES[reduce][0]
    change = segments.of(grad)
    if reduce == "mean":
        length = ops.broadcast(cast_to(segments.lengths, grad.type.dtype), shape=output.type.shape)
        change = change / segments.of(length)
    elif mode in ("max", "min"):
        best = ops.is_nan(data) | ops.equal(data, segments.of(output))
        numbers = ops.select(best, like(1, data), like(0, data))
        several = segments.of(
            segments.combined(filled(output.type.shape, 0, data.type.dtype), numbers, "add")
        )
        # Torch divides nothing but what is positive by how many there are.
        shared = change / cast_to(several, grad.type.dtype)
        change = ops.select(change > 0, shared, change)
        change = ops.select(best, change, like(0, change))
    elif mode == "mul":
        rest = _without_one(data, segments, initial, output.type.shape)
        special = ops.is_nan(data) | ops.equal(data, like(0, data))
        product = segments.of(output) / data
        change = change * ops.select(special, rest, product)
    return ops.select(segments.inside, change, like(0, change))


REDUCED: Final = Composite("segment_reduce", _reduced)
SEGMENT_REDUCE_BACKWARD: Final = Composite("segment_reduce_backward", _slope)


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
    return REDUCED(
        given, bounds, _initial(reduce, initial, given.type.dtype), reduce=reduce,
        offsets=lengths is None, given=initial is not None,
    )  # fmt: skip


def _segment_reduce_backward(
    grad: Any, output: Any, data: Any, reduce: str, *, lengths: Any = None, offsets: Any = None,
    axis: int = 0, initial: Any = None,
) -> Node:  # fmt: skip
    given = operand(data)
    bounds = _bounds(given, lengths, offsets, axis)
    return SEGMENT_REDUCE_BACKWARD(
        operand(grad), operand(output), given, bounds,
        _initial(reduce, initial, given.type.dtype), reduce=reduce, offsets=lengths is None,
    )  # fmt: skip


ROWS: dict[str, Row] = {
    "segment_reduce": _segment_reduce,
    "_segment_reduce_backward": _segment_reduce_backward,
}


rows(ROWS)
