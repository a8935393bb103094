"""The arguments of convolutions and pools: layouts, padding, strides."""

from __future__ import annotations

from typing import NamedTuple

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


class Layout(NamedTuple):
    """Which axes of a tensor are what."""

    batch: int
    feature: int
    spatial: Ints

    @property
    def order(self) -> Ints:
        """Batch, feature, space."""
        return (self.batch, self.feature, *self.spatial)

    def inner(self, values: Ints) -> Ints:
        """The numbers of the spatial axes, of `values`, one an axis."""
        return tuple(values[axis] for axis in self.spatial)


def layout(data_format: str, ndim: int) -> Layout:
    """The axes of `NHWC`, `NCHW`, `NDHWC`, `NCDHW`. Raises: ValueError for any other."""
    if data_format in ("NHWC", "NDHWC"):
        return Layout(0, ndim - 1, tuple(range(1, ndim - 1)))
    if data_format in ("NCHW", "NCDHW"):
        return Layout(0, 1, tuple(range(2, ndim)))
    raise ValueError(data_format)


def paddings(
    kind: str, explicit: Ints, sizes: Ints, windows: Ints, steps: Ints, gaps: Ints, form: Layout
) -> Pairs:
    """What is padded before and after each spatial axis."""
    if kind == "EXPLICIT":
        pairs = tuple(zip(explicit[::2], explicit[1::2], strict=True))
        return tuple(pairs[axis] for axis in form.spatial)
    found = []
    for n, k, s, g in zip(sizes, windows, steps, gaps, strict=True):
        span = (k - 1) * g + 1
        total = max((-(-n // s) - 1) * s + span - n, 0) if kind == "SAME" else 0
        found.append((total // 2, total - total // 2))
    return tuple(found)
