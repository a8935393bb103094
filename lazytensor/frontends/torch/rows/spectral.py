"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import complex_of
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of

MOST_AXES = 3
"""Axes that the core transforms at a time."""


def _along(x: Node, axes: Sequence[int], kind: str, lengths: Sequence[int]) -> Node:
    """The core's transform, over any axes."""
    rest = [axis for axis in range(x.type.ndim) if axis not in axes]
    order = (*rest, *axes)
    moved = ops.transpose(x, axes=order)
    made = ops.fft(moved, kind=kind, lengths=tuple(lengths))
    back = tuple(order.index(axis) for axis in range(x.type.ndim))
    return ops.transpose(made, axes=back)


def _complex(x: Node, axes: Sequence[int], forward: bool) -> Node:
    for start in range(0, len(axes), MOST_AXES):
        part = axes[start : start + MOST_AXES]
        lengths = [x.type.shape[axis] for axis in part]
        x = _along(x, part, "FFT" if forward else "IFFT", lengths)
    return x


def _scaled(x: Node, normalization: int, count: int, done: bool) -> Node:
    """`x` by the factor that torch asks for; `done`: it has been divided by `count` already."""
    factor = {0: 1.0, 1: 1 / sqrt(count), 2: 1 / count}[normalization] * (count if done else 1)
    if factor == 1:
        return x
    return x * cast_to(factor, x.type.dtype)


def _axes(x: Node, dim: Sequence[int]) -> list[int]:
    return [axis_of(d, x.type.ndim) for d in dim]


def _count(x: Node, axes: Sequence[int]) -> int:
    return prod(x.type.shape[axis] for axis in axes)


def _c2c(x: Any, dim: Sequence[int], normalization: int, forward: bool) -> Node:
    given = operand(x)
    axes = _axes(given, dim)
    made = _complex(given, axes, forward)
    return _scaled(made, normalization, _count(given, axes), not forward)


def _r2c(x: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Node:
    given = operand(x)
    axes = _axes(given, dim)
    count = _count(given, axes)
    if onesided:
        last = axes[-1]
        made = _along(given, [last], "RFFT", [given.type.shape[last]])
        made = _complex(made, axes[:-1], True)
    else:
        made = _complex(cast_to(given, complex_of(given.type.dtype)), axes, True)
    return _scaled(made, normalization, count, False)


def _c2r(x: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Node:
    given = operand(x)
    axes = _axes(given, dim)
    made = _complex(given, axes[:-1], False)
    made = _along(made, [axes[-1]], "IRFFT", [last_dim_size])
    return _scaled(made, normalization, _count(made, axes), True)


ROWS: dict[str, Row] = {"_fft_c2c": _c2c, "_fft_r2c": _r2c, "_fft_c2r": _c2r}


rows(ROWS)
