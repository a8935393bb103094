"""How the kernel of a convolution moves over data, and which of its taps and places meet data."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.ir.types import Shape
from lazytensor.core.ops.contraction import Axes, Pairs

Span = tuple[int, int]
"""A range: the first index, and the end, which is excluded."""


class Window(NamedTuple):
    """How a kernel moves over data: one number per spatial axis; and the roles of the axes.

    `data`, `kernel`, `result`: the axes of batch and feature (a kernel's: out and in), then space.
    """

    strides: Axes
    padding: Pairs
    outer: Axes
    inner: Axes
    feature_groups: int
    batch_groups: int
    data: Axes
    kernel: Axes
    result: Axes
    backward: tuple[bool, ...]

    def met(
        self, data: Shape, kernel: Shape, result: Shape
    ) -> tuple[Window, list[Span], list[Span]]:
        """The window without taps and places that meet padding only; the other taps and places.

        The shapes are spatial. Taps are counted in the order of movement, not of storage.
        """
        padding, taps, places = [], [], []
        for i, (n, k, m) in enumerate(zip(data, kernel, result, strict=True)):
            step, gap, low = self.strides[i], self.inner[i], self.padding[i][0]
            long = (n - 1) * self.outer[i] + 1
            first, last = span = _meeting(k, gap, m, step, low, long)
            low -= first * gap
            begin, end = there = _meeting(m, step, last - first, gap, low, long)
            low -= begin * step
            high = (end - begin - 1) * step + (last - first - 1) * gap + 1 - long - low
            whole = span == (0, k) and there == (0, m)
            padding.append(self.padding[i] if whole else (low, high))
            taps.append(span)
            places.append(there)
        return self._replace(padding=tuple(padding)), taps, places


def _meeting(count: int, step: int, others: int, other: int, low: int, long: int) -> Span:
    """The range of the `count` steps that meet data with any of `others`; all steps if none does.

    Step i and other j meet position `i * step + j * other - low`; data are at 0 to `long - 1`.
    """

    def meets(i: int) -> bool:
        away = low - i * step
        return max(0, -(-away // other)) <= min(others - 1, (away + long - 1) // other)

    first = next((i for i in range(count) if meets(i)), None)
    if first is None:
        return 0, count
    return first, next(i for i in reversed(range(count)) if meets(i)) + 1
