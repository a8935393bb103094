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
from lazytensor.frontends.torch.dispatch.errors import sure
from lazytensor.frontends.torch.dispatch.kernels import functional, rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.rows.creation import filled


def _check_unpooled(x: Any, indices: Any, n: int, sizes: Sequence[int], steps: Any) -> None:
    """Raise an error for what cannot be put back; torch has the words for it."""
    fits = (
        indices.dtype == torch.int64
        and x.shape == indices.shape
        and x.ndim in (n + 1, n + 2)
        and len(sizes) == n
        and 0 not in x.shape[-n - 1 :]
        and all(len(numbers) == n and min(numbers) >= 0 for numbers in steps)
        and (not steps or min(steps[0]) > 0)
    )
    if not fits:
        raise RuntimeError(
            f"max_unpool{n}d: expected places of integers, one for each element of the planes of "
            f"{tuple(x.shape)}, but got {indices.dtype} of {tuple(indices.shape)}"
        )


def _unpooled(n: int) -> Row:
    def row(x: Any, indices: Any, output_size: Sequence[int], *steps: Sequence[int]) -> Node:
        _check_unpooled(x, indices, n, output_size, steps)
        given, places = operand(x), operand(indices)
        inside = (places >= 0) & (places < prod(output_size))
        volumes = "x".join(map(str, output_size))
        text = f"Found an invalid max index: output volumes are of size {volumes}"
        return max_unpool(given, sure(places, inside, text), tuple(output_size))

    return row


_NEGATIVE = "Class values must be non-negative."
_LARGE = "Class values must be smaller than num_classes."


def _one_hot(x: Any, num_classes: int = -1) -> Node:
    if x.dtype != torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    given = operand(x)
    if not given.type.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return filled((*x.shape, num_classes), 0, S64)
    if num_classes != -1 and num_classes < 1:
        raise RuntimeError(_LARGE)
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
