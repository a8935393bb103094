"""Torch's functional collectives, which `DTensor` and its plans call: a row for each operator.

Torch's own kernels ask a group for a backend in C++, and a group in Python has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from lazytensor.core.trace import collectives
from lazytensor.core.trace.collectives import Ranks
from lazytensor.frontends.torch.distributed.process_group import exchanged, reduced
from lazytensor.frontends.torch.tensors.tensor import node, wrap

Tensors = Sequence[torch.Tensor]


def _ranks(group: Any) -> Ranks:
    """The processes of a group, which is given by name or itself."""
    if isinstance(group, str):
        group = torch._C._distributed_c10d._resolve_process_group(group)
    ranks: Ranks = group.ranks
    return ranks


def _all_reduce(x: torch.Tensor, kind: str, group: Any) -> torch.Tensor:
    return reduced(collectives.all_reduce, x, kind.upper(), _ranks(group))


def _all_reduce_(x: torch.Tensor, kind: str, group: Any) -> torch.Tensor:
    return x.copy_(_all_reduce(x, kind, group))


def _broadcast(x: torch.Tensor, rank: int, group: Any) -> torch.Tensor:
    ranks = _ranks(group)
    made: torch.Tensor = wrap(collectives.broadcast(node(x), ranks[rank], ranks))
    return made


def _broadcast_(x: torch.Tensor, rank: int, group: Any) -> torch.Tensor:
    return x.copy_(_broadcast(x, rank, group))


def _all_gather(x: torch.Tensor, size: int, group: Any) -> torch.Tensor:
    made: torch.Tensor = wrap(collectives.all_gather(node(x), _ranks(group)))
    return made.reshape(size * x.shape[0], *x.shape[1:])


def _reduce_scatter(x: torch.Tensor, kind: str, size: int, group: Any) -> torch.Tensor:
    rows = x.reshape(size, x.shape[0] // size, *x.shape[1:])
    return reduced(collectives.reduce_scatter, rows, kind.upper(), _ranks(group))


def _all_to_all(
    x: torch.Tensor, outputs: Sequence[int], inputs: Sequence[int], group: Any
) -> torch.Tensor:
    return exchanged(x, outputs, inputs, _ranks(group))


def _each(function: Callable[..., torch.Tensor]) -> Callable[..., list[torch.Tensor]]:
    """The operator for lists of tensors."""
    return lambda tensors, *rest: [function(x, *rest) for x in tensors]


def _into(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The operator that writes to `out`."""
    return lambda *args, out: out.copy_(function(*args))


def _wait(x: torch.Tensor) -> torch.Tensor:
    return x


KERNELS: Final[dict[str, Callable[..., Any]]] = {
    "all_reduce": _all_reduce,
    "all_reduce_": _all_reduce_,
    "all_reduce_coalesced": _each(_all_reduce),
    "all_reduce_coalesced_": _each(_all_reduce_),
    "broadcast": _broadcast,
    "broadcast_": _broadcast_,
    "all_gather_into_tensor": _all_gather,
    "all_gather_into_tensor_out": _into(_all_gather),
    "all_gather_into_tensor_coalesced": _each(_all_gather),
    "reduce_scatter_tensor": _reduce_scatter,
    "reduce_scatter_tensor_out": _into(_reduce_scatter),
    "reduce_scatter_tensor_coalesced": _each(_reduce_scatter),
    "all_to_all_single": _all_to_all,
    "wait_tensor": _wait,
}
_library: Final = torch.library.Library("_c10d_functional", "IMPL")


def attach() -> None:
    """Register the kernels."""
    for name, kernel in KERNELS.items():
        _library.impl(name, kernel, "PrivateUse1")
