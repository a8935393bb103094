"""Fourier transforms over axes at any place, as many as one likes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lazytensor.core import ops
from lazytensor.core.ir.node import Node

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
