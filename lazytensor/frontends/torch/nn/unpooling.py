"""Places and classes made wide: maxima put back where they were, and one-hot vectors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.device.backend import on_host
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.losses import one_hot
from lazytensor.core.lib.pooling import max_unpool
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import functional, rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.rows.creation import filled


def _require_places(x: Any, indices: Any, n: int, sizes: Sequence[int], steps: Any) -> None:
    """Refuse places that are not one for each element of the planes, and sizes that are none."""
    require(indices.dtype == torch.int64 and x.shape == indices.shape)
    require(x.ndim in (n + 1, n + 2) and 0 not in x.shape[-n - 1 :] and len(sizes) == n)
    require(all(len(numbers) == n and min(numbers) >= 0 for numbers in steps))
    require(not steps or min(steps[0]) > 0)


def _unpooled(n: int) -> Row:
    def row(x: Any, indices: Any, output_size: Sequence[int], *steps: Sequence[int]) -> Node:
        _require_places(x, indices, n, output_size, steps)
        given, places = operand(x), operand(indices)
        inside = (places >= 0) & (places < prod(output_size))
        volumes = "x".join(map(str, output_size))
        text = f"Found an invalid max index: output volumes are of size {volumes}"
        return max_unpool(given, sure(places, inside, text), tuple(output_size))

    return row


_NEGATIVE = "Class values must be non-negative."
_LARGE = "Class values must be smaller than num_classes."


def _one_hot(x: Any, num_classes: int = -1) -> Node:
    require(x.dtype == torch.int64 and (num_classes == -1 or num_classes >= 1 or not x.numel()))
    given = operand(x)
    if not given.type.size:
        require(num_classes > 0)
        return filled((*x.shape, num_classes), 0, S64)
    given = sure(given, given >= 0, _NEGATIVE)
    if num_classes == -1:  # the shape is data
        axes = tuple(range(given.type.ndim))
        num_classes = int(on_host(scheduler.observe(ops.reduce_max(given, axes=axes)))) + 1
    else:
        given = sure(given, given < like(num_classes, given), _LARGE)
    return cast_to(one_hot(given, num_classes, x.ndim), S64)


ROWS: dict[str, Row] = {f"max_unpool{n}d": _unpooled(n) for n in (2, 3)}


rows(ROWS, images=True, asks=True)
register("one_hot", functional("one_hot", _one_hot), has_derivative=True, translated=True)
