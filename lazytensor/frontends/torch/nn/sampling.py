"""Reading a grid of places out of images and volumes, and the gradients.

Each axis has taps: where an element is read, what it weighs, and how that changes with the place.
A sample is the sum over all combinations of taps, whose weights are multiplied.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.grid_sampling import BICUBIC, grid_sample, grid_sample_backward
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import operand
from lazytensor.frontends.torch.dispatch.registry import Row


def _given(x: Any, grid: Any, interpolation: int) -> tuple[Node, Node]:
    """The operands; refused if they do not fit to each other."""
    given, places = operand(x), operand(grid)
    shape = given.type.shape
    require(places.type.shape[0] == shape[0] and places.type.shape[-1] == len(shape) - 2)
    require(0 not in shape[2:] and given.type.dtype == places.type.dtype)
    require(interpolation != BICUBIC or len(shape) <= 4)
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
