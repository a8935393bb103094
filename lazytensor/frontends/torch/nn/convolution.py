"""ConvolutionLayout and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ops.convolutions import ConvolutionLayout
from lazytensor.core.ops.movement import part
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
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    steps, pads, gaps, extra = (
        _expanded(name, values, n)
        for name, values in (
            ("stride", stride), ("padding", padding), ("dilation", dilation),
            ("output_padding", output_padding),
        )
    )  # fmt: skip
    _check_numbers(steps, pads, gaps, extra)
    _check_channels(x, weight, bias, transposed, groups)
    plan = _plan(steps, pads, gaps, groups)
    if transposed:
        made = plan.of_input(weight, x, _grown(x, weight, steps, pads, gaps, extra))
    else:
        _check_fits(x, weight, pads, gaps)
        made = plan.of(x, weight)
    if not x.type.shape[1]:
        return part(made, 1, 0, 0)  # what has no channels has none afterwards, in torch
    if bias is None:
        return made
    shape = (1, made.type.shape[1]) + (1,) * n
    return made + ops.reshape(bias, shape=shape)


def _expanded(name: str, values: Sequence[int], n: int) -> Ints:
    if len(values) not in (1, n):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the "
            f"convolution dimensions, but got {name}={list(values)}"
        )
    return spread(values, n)


def _check_numbers(steps: Ints, pads: Ints, gaps: Ints, extra: Ints) -> None:
    """Raise torch's errors for numbers that no convolution has."""
    if min(pads, default=0) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(extra, default=0) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(steps, default=1) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(gaps, default=1) <= 0:
        raise RuntimeError("dilation should be greater than zero")


def _check_channels(x: Node, w: Node, bias: Node | None, transposed: bool, groups: int) -> None:
    """Raise torch's errors where the operands' ranks or channels do not go together."""
    shape, given = list(w.type.shape), list(x.type.shape)
    if len(given) != len(shape):
        raise RuntimeError(
            f"Expected {len(shape)}-dimensional input for {len(shape)}-dimensional weight {shape}, "
            f"but got {len(given)}-dimensional input of size {given} instead"
        )
    if shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {shape} instead"
        )
    if shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{shape}] instead"
        )
    wanted = shape[0] if transposed else shape[1] * groups
    if given[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else f'groups={groups}, '}weight of size "
            f"{shape}, expected input{given} to have {wanted} channels, but got "
            f"{given[1]} channels instead"
        )
    features = shape[1] * groups if transposed else shape[0]
    if bias is not None and bias.type.shape != (features,):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {shape}, expected bias "
            f"to be 1-dimensional with {features} elements, but got bias of size "
            f"{list(bias.type.shape)} instead"
        )


def _by(sizes: Sequence[int]) -> str:
    return f"({' x '.join(map(str, sizes))})"


def _check_fits(x: Node, w: Node, pads: Ints, gaps: Ints) -> None:
    """Raise torch's error where the kernel is larger than the padded input."""
    room = [m + 2 * p for m, p in zip(x.type.shape[2:], pads, strict=True)]
    needed = [g * (k - 1) + 1 for k, g in zip(w.type.shape[2:], gaps, strict=True)]
    if any(n < k for n, k in zip(room, needed, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: {_by(room)}. Kernel size: {_by(needed)}. "
            "Kernel size can't be greater than actual input size"
        )


_SIDES = ("depth", "height", "width")


def _grown(x: Node, w: Node, steps: Ints, pads: Ints, gaps: Ints, extra: Ints) -> Ints:
    """The sizes in space of a transposed convolution's result. Raises: RuntimeError, torch's."""
    given = x.type.shape[2:]
    found = tuple(
        (m - 1) * s - 2 * p + g * (k - 1) + 1 + e
        for m, s, p, g, k, e in zip(given, steps, pads, gaps, w.type.shape[2:], extra, strict=True)
    )
    if min(found, default=1) < 1:
        raise RuntimeError(
            f"Given input size per channel: {_by(given)}. Calculated output size per channel: "
            f"{_by(found)}. Output size is too small"
        )
    if any(e >= s and e >= g for e, s, g in zip(extra, steps, gaps, strict=True)):
        if len(steps) == 1:  # torch makes two axes of one
            steps, gaps, extra = (1, *steps), (1, *gaps), (0, *extra)
        words = [
            f"{name}_{side}: {value}"
            for name, values in (("output_padding", extra), ("stride", steps), ("dilation", gaps))
            for side, value in zip(_SIDES[-len(values) :], values, strict=True)
        ]
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            + " ".join(words)
        )
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
