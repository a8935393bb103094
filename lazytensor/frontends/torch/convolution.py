"""Convolution and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazytensor.core import ops
from lazytensor.core.node import Node
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import operand

Ints = tuple[int, ...]


def spread(values: Sequence[int], n: int) -> Ints:
    """One number for each of `n` axes."""
    return tuple(values) * n if len(values) == 1 else tuple(values)


def _convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Node:
    data, kernel = operand(x), operand(weight)
    n = kernel.type.ndim - 2
    if data.type.ndim != n + 2:
        raise RuntimeError(f"Expected {n + 2}D input to convolution, got {data.type}")
    steps, pads, gaps = (spread(v, n) for v in (stride, padding, dilation))
    _check(data, kernel, steps, pads, gaps, transposed, groups)
    if transposed:
        made = _transposed(data, kernel, steps, pads, gaps, spread(output_padding, n), groups)
    else:
        made = ops.convolution(
            data, kernel, strides=steps, padding=tuple((p, p) for p in pads),
            rhs_dilation=gaps, feature_groups=groups,
        )  # fmt: skip
    if bias is None:
        return made
    shape = (1, made.type.shape[1]) + (1,) * n
    found: Node = ops.add(made, ops.reshape(operand(bias), shape=shape))
    return found


def _check(
    x: Node, w: Node, steps: Ints, pads: Ints, gaps: Ints, transposed: bool, groups: int
) -> None:
    """Raise torch's errors for what is no convolution."""
    if min(steps, default=1) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(pads, default=0) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(gaps, default=1) <= 0:
        raise RuntimeError("dilation should be greater than zero")
    shape, channels = list(w.type.shape), x.type.shape[1]
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {shape} instead"
        )
    wanted = shape[0] if transposed else shape[1] * groups
    if channels != wanted:
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else f'groups={groups}, '}weight of size "
            f"{shape}, expected input{list(x.type.shape)} to have {wanted} channels, but got "
            f"{channels} channels instead"
        )


def _transposed(
    data: Node,
    kernel: Node,
    steps: Ints,
    pads: Ints,
    gaps: Ints,
    extra: Ints,
    groups: int,
) -> Node:
    """The gradient of a convolution of its input, which is what a transposed one is."""
    n = len(steps)
    features, each, *sizes = kernel.type.shape
    if groups > 1:  # (in, out / groups) becomes (in / groups, out)
        split = ops.reshape(kernel, shape=(groups, features // groups, each, *sizes))
        order = (1, 0, *range(2, n + 3))
        kernel = ops.reshape(
            ops.transpose(split, axes=order), shape=(features // groups, groups * each, *sizes)
        )
    padding = tuple(
        (g * (k - 1) - p, g * (k - 1) - p + e)
        for k, p, g, e in zip(sizes, pads, gaps, extra, strict=True)
    )
    dense = tuple(range(n + 2))
    made: Node = ops.convolution(
        data, kernel, strides=(1,) * n, padding=padding, lhs_dilation=steps, rhs_dilation=gaps,
        feature_groups=groups, reversal=(True,) * n,
        dimensions=(dense, (1, 0, *range(2, n + 2)), dense),
    )  # fmt: skip
    return made


def _of_weight(
    data: Node, grad: Node, sizes: Ints, steps: Ints, pads: Ints, gaps: Ints, groups: int
) -> Node:
    """The gradient of a convolution of its weight: features and batch change places."""
    n = len(steps)
    padding = tuple(
        (p, (k - 1) * g + (o - 1) * s + 1 - m - p)
        for k, g, o, s, m, p in zip(
            sizes, gaps, grad.type.shape[2:], steps, data.type.shape[2:], pads, strict=True
        )
    )
    swapped = (1, 0, *range(2, n + 2))
    made: Node = ops.convolution(
        data, grad, strides=gaps, padding=padding, rhs_dilation=steps, batch_groups=groups,
        dimensions=(swapped, swapped, swapped),
    )  # fmt: skip
    return made


def _backward(
    grad: Any,
    x: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Node | None, Node | None, Node | None]:
    given, data, kernel = operand(grad), operand(x), operand(weight)
    n = kernel.type.ndim - 2
    sizes = kernel.type.shape[2:]
    steps, pads, gaps = (spread(v, n) for v in (stride, padding, dilation))
    of_data = of_weight = of_bias = None
    if output_mask[0] and transposed:
        of_data = _convolution(grad, weight, None, steps, pads, gaps, False, (0,) * n, groups)
        if of_data.type.shape != data.type.shape:  # output_padding that no input came to
            none, ones = ops.starts((0,) * (n + 2)), (1,) * (n + 2)
            of_data = ops.slice(of_data, none, sizes=data.type.shape, strides=ones)
    elif output_mask[0]:
        extra = tuple(
            m - ((o - 1) * s - 2 * p + g * (k - 1) + 1)
            for m, o, s, p, g, k in zip(
                data.type.shape[2:], given.type.shape[2:], steps, pads, gaps, sizes, strict=True
            )
        )
        of_data = _transposed(given, kernel, steps, pads, gaps, extra, groups)
    if output_mask[1]:
        pair = (given, data) if transposed else (data, given)
        of_weight = _of_weight(*pair, sizes, steps, pads, gaps, groups)
    if output_mask[2]:
        of_bias = ops.reduce_sum(given, axes=(0, *range(2, n + 2)))
    return of_data, of_weight, of_bias


ROWS: dict[str, Row] = {
    "convolution": _convolution,
    "convolution_overrideable": _convolution,
    "convolution_backward": _backward,
    "convolution_backward_overrideable": _backward,
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, images=True)
