"""Convolution and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ops.convolutions import ConvolutionLayout
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled

Ints = tuple[int, ...]


def spread(values: Sequence[int], n: int) -> Ints:
    """One number for each of `n` axes."""
    return tuple(values) * n if len(values) == 1 else tuple(values)


def _convolution(
    x: Node,
    weight: Node,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Node:
    n = weight.type.ndim - 2
    every = (stride, padding, dilation, output_padding)
    require(groups > 0 and all(len(values) in (1, n) for values in every))
    steps, pads, gaps, extra = (spread(values, n) for values in every)
    require(min((*pads, *extra), default=0) >= 0 and min((*steps, *gaps), default=1) > 0)
    _require_channels(x, weight, bias, transposed, groups)
    plan = _plan(steps, pads, gaps, groups)
    if transposed:
        made = plan.of_input(weight, x, _grown(x, weight, steps, pads, gaps, extra))
    else:
        _require_room(x, weight, pads, gaps)
        made = plan.of(x, weight)
    if not x.type.shape[1]:
        return part(made, 1, 0, 0)  # what has no channels has none afterwards, in torch
    if bias is None:
        return made
    shape = (1, made.type.shape[1]) + (1,) * n
    return made + ops.reshape(bias, shape=shape)


def _require_channels(x: Node, w: Node, bias: Node | None, transposed: bool, groups: int) -> None:
    """Refuse operands whose ranks or channels do not go together."""
    shape = w.type.shape
    require(x.type.ndim == len(shape) and shape[0] >= groups and not shape[0] % groups)
    require(x.type.shape[1] == (shape[0] if transposed else shape[1] * groups))
    features = shape[1] * groups if transposed else shape[0]
    require(bias is None or bias.type.shape == (features,))


def _require_room(x: Node, w: Node, pads: Ints, gaps: Ints) -> None:
    """Refuse a kernel that is larger than the padded input."""
    sizes = zip(x.type.shape[2:], pads, w.type.shape[2:], gaps, strict=True)
    require(all(m + 2 * p >= g * (k - 1) + 1 for m, p, k, g in sizes))


def _grown(x: Node, w: Node, steps: Ints, pads: Ints, gaps: Ints, extra: Ints) -> Ints:
    """The sizes in space of a transposed convolution's result."""
    given = x.type.shape[2:]
    found = tuple(
        (m - 1) * s - 2 * p + g * (k - 1) + 1 + e
        for m, s, p, g, k, e in zip(given, steps, pads, gaps, w.type.shape[2:], extra, strict=True)
    )
    require(min(found, default=1) >= 1)
    require(all(e < s or e < g for e, s, g in zip(extra, steps, gaps, strict=True)))
    return found


def _plan(steps: Ints, pads: Ints, gaps: Ints, groups: int) -> ConvolutionLayout:
    axes = tuple(range(len(steps) + 2))
    return ConvolutionLayout(steps, tuple((p, p) for p in pads), gaps, groups, axes, axes)


def _backward(
    grad: Node,
    x: Node,
    weight: Node,
    bias_sizes: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Node | None, Node | None, Node | None]:
    n = weight.type.ndim - 2
    if not x.type.shape[1]:
        shapes = x.type.shape, weight.type.shape, bias_sizes or (0,)
        zeros = [filled(shape, 0, grad.type.dtype) for shape in shapes]
        first, second, third = (
            z if wanted else None for z, wanted in zip(zeros, output_mask, strict=True)
        )
        return first, second, third
    steps, pads, gaps = (spread(v, n) for v in (stride, padding, dilation))
    plan = _plan(steps, pads, gaps, groups)
    of_data = of_weight = of_bias = None
    if output_mask[0] and transposed:
        of_data = _convolution(grad, weight, None, steps, pads, gaps, False, (0,) * n, groups)
        if of_data.type.shape != x.type.shape:  # output_padding that no input came to
            none, ones = ops.starts((0,) * (n + 2)), (1,) * (n + 2)
            of_data = ops.slice(of_data, none, sizes=x.type.shape, strides=ones)
    elif output_mask[0]:
        of_data = plan.of_input(weight, grad, x.type.shape[2:])
    if output_mask[1]:
        pair = (grad, x) if transposed else (x, grad)
        of_weight = plan.of_kernel(*pair, weight.type.shape[2:])
    if output_mask[2]:
        of_bias = ops.reduce_sum(grad, axes=(0, *range(2, n + 2)))
    return of_data, of_weight, of_bias


ROWS: dict[str, Row] = {
    "convolution": _convolution,
    "convolution_overrideable": _convolution,
    "convolution_backward": _backward,
    "convolution_backward_overrideable": _backward,
}


rows(of_nodes(ROWS), images=True, pure=True)
