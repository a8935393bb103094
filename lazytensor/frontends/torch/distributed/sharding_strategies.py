"""How `DTensor` splits the operators that only devices with kernels of their own have."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch


@cache
def attach() -> None:
    """Tell torch's `DTensor`, which is imported now."""
    from torch.distributed.tensor import Partial, Replicate, Shard
    from torch.distributed.tensor.experimental import register_sharding

    whole, parts, addends = Replicate(), Shard, Partial()

    def strategies(x: Any, grad: Any, weight: Any, mask: Any) -> list[tuple[Any, Any]]:
        """Per strategy the results (of x, weight, bias) and the operands; the mask has none."""
        last = len(x.shape) - 1
        found = [
            ([whole, whole, whole], [whole, whole, whole]),
            ([addends, parts(0), parts(0)], [whole, parts(last), parts(0)]),  # by columns
            ([parts(last), parts(1), whole], [parts(last), whole, parts(1)]),  # by rows
        ]
        found += [  # by examples
            ([parts(axis), addends, addends], [parts(axis), parts(axis), whole])
            for axis in range(last)
        ]
        return [(results, [*operands, None]) for results, operands in found]

    register_sharding(torch.ops.aten.linear_backward.default)(strategies)
