"""How the kernel of a convolution moves over data, and what of that meets any data."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.ir.types import Shape
from lazytensor.core.ops.contraction import Axes, Pairs

Span = tuple[int, int]
"""From the first to before the last."""


class Window(NamedTuple):
    """How a kernel moves over data: per axis of space a number; and which axis is which.

    `data`, `kernel`, `result`: batch and feature (a kernel's: out and in), then space.
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
        """What is left without taps and places that meet padding only; those that do not.

        Shapes are those of space. Taps are counted as they move, not as they are stored.
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
    """Which of `count` steps come to data with any of `others`; all, if none does.

    A step and another come to `i * step + j * other - low`; data are from 0 to before `long`.
    """

    def meets(i: int) -> bool:
        away = low - i * step
        return max(0, -(-away // other)) <= min(others - 1, (away + long - 1) // other)

    first = next((i for i in range(count) if meets(i)), None)
    if first is None:
        return 0, count
    return first, next(i for i in reversed(range(count)) if meets(i)) + 1
