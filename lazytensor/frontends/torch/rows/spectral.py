"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from lazytensor.core.ir.dtypes import complex_of
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.spectral import fourier
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of


def _scaled(x: Node, normalization: int, count: int, done: bool) -> Node:
    """`x` by the factor that torch asks for; `done`: it has been divided by `count` already."""
    factor = {0: 1.0, 1: 1 / sqrt(count), 2: 1 / count}[normalization] * (count if done else 1)
    if factor == 1:
        return x
    return x * cast_to(factor, x.type.dtype)


def _axes(x: Node, dim: Sequence[int]) -> list[int]:
    return [axis_of(d, x.type.ndim) for d in dim]


def _lengths(x: Node, axes: Sequence[int]) -> list[int]:
    return [x.type.shape[axis] for axis in axes]


def _count(x: Node, axes: Sequence[int]) -> int:
    return prod(_lengths(x, axes))


def _c2c(x: Any, dim: Sequence[int], normalization: int, forward: bool) -> Node:
    given = operand(x)
    axes = _axes(given, dim)
    made = fourier(given, "FFT" if forward else "IFFT", _lengths(given, axes), axes)
    return _scaled(made, normalization, _count(given, axes), not forward)


def _r2c(x: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Node:
    given = operand(x)
    axes = _axes(given, dim)
    count = _count(given, axes)
    if onesided:
        made = fourier(given, "RFFT", _lengths(given, axes), axes)
    else:
        wide = cast_to(given, complex_of(given.type.dtype))
        made = fourier(wide, "FFT", _lengths(given, axes), axes)
    return _scaled(made, normalization, count, False)


def _c2r(x: Any, dim: Sequence[int], normalization: int, last_dim_size: int) -> Node:
    given = operand(x)
    axes = _axes(given, dim)
    lengths = [*_lengths(given, axes[:-1]), last_dim_size]
    made = fourier(given, "IRFFT", lengths, axes)
    return _scaled(made, normalization, _count(made, axes), True)


ROWS: dict[str, Row] = {"_fft_c2c": _c2c, "_fft_r2c": _r2c, "_fft_c2r": _c2r}


rows(ROWS)
