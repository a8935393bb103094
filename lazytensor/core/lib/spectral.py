"""Fourier transforms over axes at any place, as many as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Final

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.arranging import fitted

TRANSFORM_AXES: Final = 3
"""Axes that the core's op transforms at a time."""
_REST: Final = {"RFFT": "FFT", "IRFFT": "IFFT"}
"""The transform of the other axes, by that of the halved one."""


def transformed(x: Node, kind: str, lengths: Sequence[int], axes: Sequence[int]) -> Node:
    """The transform of `x` over `axes`, at most three, of these lengths.

    kind: `FFT`, `IFFT`, `RFFT`, `IRFFT`. The last two halve the last of the axes.
    """
    order = (*(axis for axis in range(x.type.ndim) if axis not in axes), *axes)
    back = tuple(order.index(axis) for axis in range(x.type.ndim))
    return ops.moved(ops.fft(ops.moved(x, order), kind=kind, lengths=tuple(lengths)), back)


def transform_groups(kind: str, axes: Sequence[int]) -> list[tuple[str, slice]]:
    """The steps of a transform over `axes`: of each the kind, and which of the axes it takes.

    The last axes come first. A real transform halves the last axis: a forward one in its first
    step, an inverse one in its last. An axis given twice is transformed twice.
    """
    step = TRANSFORM_AXES if len(set(axes)) == len(axes) else 1
    groups = [slice(max(i - step, 0), i) for i in range(len(axes), 0, -step)]
    if kind == "IRFFT":
        groups = groups[1:] + groups[:1]
    own = len(groups) - 1 if kind == "IRFFT" else 0
    return [(kind if i == own else _REST.get(kind, kind), group) for i, group in enumerate(groups)]


def fourier(x: Node, kind: str, lengths: Sequence[int], axes: Sequence[int]) -> Node:
    """The transform over any number of axes. An inverse one divides by the number of elements.

    x: complex; for `RFFT` floats. lengths: of the result of `IRFFT` and else of `x`, an axis each.
    """
    for each, group in transform_groups(kind, axes):
        x = transformed(x, each, lengths[group], axes[group])
    return x


def normalized_fourier(
    x: Node, kind: str, lengths: Sequence[int], axes: Sequence[int], norm: str
) -> Node:
    """The transform of `x`, cut or filled with zeros to `lengths`, with the factor of `norm`.

    norm: which direction divides by the number of elements: `backward`, `forward`, or `ortho`,
    with which both divide by its square root. See `fourier`.
    """
    for n, axis in zip(lengths, axes, strict=True):
        half = kind == "IRFFT" and axis == axes[-1]
        x = fitted(x, axis, n // 2 + 1 if half else n)
    made, count = fourier(x, kind, lengths, axes), prod(lengths)
    share = {"backward": 1.0, "ortho": sqrt(count), "forward": float(count)}[norm]
    if share == 1:
        return made
    return made * (share if kind in ("IFFT", "IRFFT") else 1 / share)
