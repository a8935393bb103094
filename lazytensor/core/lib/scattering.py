"""Writing at positions that are data, and reductions of the elements that meet at one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import cast_to, filled, is_inexact

MODES: Final = {
    "sum": "add",
    "prod": "mul",
    "amin": "min",
    "amax": "max",
    "mean": "add",
    "add": "add",
    "multiply": "mul",
}
"""The modes of scattering, by names of reductions."""


def scattered(
    given: Node, updates: Node, places: Sequence[Node], axes: tuple[int, ...], mode: str
) -> Node:
    """The core's scatter; the sum of flags is whether one is set, their product whether all are."""
    if given.type.dtype is BOOL:
        mode = {"add": "max", "mul": "min"}.get(mode, mode)
    return ops.scatter(given, updates, *places, axes=axes, mode=mode)


class Target:
    """Where updates go: a tensor, the axes that are indexed, and the indices."""

    def __init__(
        self, given: Node, updates: Node, places: Sequence[Node], axes: tuple[int, ...]
    ) -> None:
        self.given, self.updates, self.places, self.axes = given, updates, places, axes

    def with_(self, given: Node, mode: str, updates: Node | None = None) -> Node:
        """`given` combined with the updates."""
        values = self.updates if updates is None else updates
        return scattered(given, values, self.places, self.axes, mode)

    def counts(self) -> Node:
        """The number of updates of each element."""
        ones = filled(self.updates.type.shape, 1, S64)
        return self.with_(filled(self.given.type.shape, 0, S64), "add", ones)


def _identity(reduce: str, dtype: np.dtype) -> Node:
    if reduce in ("sum", "mean", "prod"):
        return cast_to(int(reduce == "prod"), dtype)
    lowest = reduce == "amax"
    if is_inexact(dtype):
        return cast_to(-np.inf if lowest else np.inf, dtype)
    if dtype is BOOL:
        return cast_to(not lowest, dtype)
    info = np.iinfo(dtype)
    return cast_to(int(info.min if lowest else info.max), dtype)


def reduced(target: Target, reduce: str, include_self: bool) -> Node:
    """The old values combined with the updates, or the updates alone where there are any."""
    base = target.given
    dtype = base.type.dtype
    if not include_self:
        base = ops.select(target.counts() > 0, _identity(reduce, dtype), base)
    made = target.with_(base, MODES[reduce])
    if reduce != "mean":
        return made
    counts = target.counts() + 1 if include_self else target.counts()
    divisor = cast_to(ops.maximum(counts, cast_to(1, S64)), dtype)
    return (ops.divide if is_inexact(dtype) else ops.floor_divide)(made, divisor)


def masked_scatter(x: Node, flags: Node, values: Node) -> Node:
    """`x` with the elements of `values`, in order, where the flags are set.

    flags: bools, shape of x. values: dtype of x, as many as there are flags at least.
    """
    count = ops.cumsum(cast_to(ops.line(flags), S64), axis=0)
    places = ops.maximum(count - 1, cast_to(0, S64))
    taken = ops.gather(ops.line(values), places, axes=(0,))
    return ops.select(flags, ops.reshape(taken, shape=x.type.shape), x)


def masked_scatter_gradient(grad: Node, flags: Node, sizes: Shape) -> Node:
    """For each of `values`, of shape `sizes`, the gradient at its place; 0 for unused ones."""
    count = prod(sizes)
    flags = ops.line(ops.broadcast(flags, shape=grad.type.shape))
    place = ops.cumsum(cast_to(flags, S64), axis=0) - 1
    place = ops.select(flags, place, cast_to(count, S64))  # dropped
    zeros = filled((count,), 0, grad.type.dtype)
    made = scattered(zeros, ops.line(grad), [place], (0,), "set") if count else zeros
    return ops.reshape(made, shape=tuple(sizes))
