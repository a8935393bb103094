"""Reading a grid of places out of images and volumes, and the gradients.

Each axis has taps: where an element is read, what it weighs, and how that changes with the place.
A sample is the sum over all combinations of taps, whose weights are multiplied.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.grid_sampling import BICUBIC, grid_sample, grid_sample_backward
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.tensor import TORCH


def _check(x: Node, grid: Node) -> None:
    """Raise torch's errors for what cannot be sampled, or not there."""
    shape, places, n = list(x.type.shape), list(grid.type.shape), x.type.ndim - 2
    if places[0] != shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {shape} and grid with sizes {places}"
        )
    if places[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with "
            f"sizes {places}"
        )
    if 0 in shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {shape} with dimension {shape.index(0, 2)} being empty"
        )
    if x.type.dtype != grid.type.dtype:
        names = [dtype_name(TORCH[t.type.dtype]) for t in (x, grid)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


def _given(x: Any, grid: Any, interpolation: int) -> tuple[Node, Node]:
    given, places = operand(x), operand(grid)
    _check(given, places)
    if interpolation == BICUBIC and given.type.ndim > 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return given, places


def _sample(x: Any, grid: Any, interpolation: int, padding: int, align: bool) -> Node:
    given = _given(x, grid, interpolation)
    return grid_sample(*given, interpolation, padding, bool(align))


def _backward(
    grad: Any, x: Any, grid: Any, interpolation: int, padding: int, align: bool, mask: Any
) -> tuple[Node | None, Node | None]:
    given = operand(grad), *_given(x, grid, interpolation)
    return grid_sample_backward(*given, interpolation, padding, bool(align), mask)


ROWS: dict[str, Row] = {
    "grid_sampler_2d": _sample,
    "grid_sampler_3d": _sample,
    "grid_sampler_2d_backward": _backward,
    "grid_sampler_3d_backward": _backward,
}


rows(ROWS, composed=True)
