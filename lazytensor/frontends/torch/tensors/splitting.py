"""Tensors that are split over the devices of a mesh, and modules whose batches are."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map

from lazytensor.core.ir.sharding import Mesh, Spec, sharding
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace.splitting import joined, split
from lazytensor.frontends.torch.tensors.tensor import is_lazy, node, wrap


class _Split(torch.autograd.Function):
    """A tensor, split; gradients pass unchanged, and are split as the partitioner sees fit."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, mesh: Mesh, spec: Spec) -> torch.Tensor:
        made: torch.Tensor = wrap(split(node(x), sharding(mesh, spec, tuple(x.shape))))
        return made

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0], None, None


def shard(x: torch.Tensor, mesh: Mesh, spec: Spec = ()) -> torch.Tensor:
    """A tensor like `x`, which is on the device or moved there, split over a mesh.

    spec: per axis of `x` the name of the mesh's axis that splits it, None for nothing, or several
    names. Gradients flow through. Raises: ValueError, ShapeError, as `lazytensor.shard`.
    """
    there = x if is_lazy(x) else x.to("lazytensor")
    made: torch.Tensor = _Split.apply(there, mesh, spec)
    return made


def from_local(local: torch.Tensor, mesh: Mesh, spec: Spec = ()) -> torch.Tensor:
    """A tensor of which each process gives its own part: one batch of the data of all.

    local: this process's part. No gradient flows through. See `lazytensor.from_local`.
    """
    own = scheduler.fetch(node(local if is_lazy(local) else local.to("lazytensor")))
    made: torch.Tensor = wrap(joined(own, mesh, spec))
    return made


def data_parallel(module: torch.nn.Module, mesh: Mesh) -> torch.nn.Module:
    """`module`, moved to the device, with every batch that it is called with split over a mesh.

    The first axis of each tensor argument is split along the mesh's first axis, where the number of
    its devices divides it; every device has all parameters. XLA adds the gradients up, in one
    exchange a step or few. Where each process has a batch of its own, it is joined by `from_local`
    before. The result is `module` itself.
    """
    if not isinstance(module, torch.nn.Module):
        given = type(module).__name__
        raise TypeError(f"data_parallel: a torch.nn.Module was expected, got {given}")
    parts = mesh.shape[0]

    def part(x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or not x.ndim or x.shape[0] % parts:
            return x
        return shard(x, mesh, mesh.names[:1])

    def split_batch(_: Any, args: Any, kwargs: Any) -> Any:
        return tree_map(part, (args, kwargs))

    module.to("lazytensor").register_forward_pre_hook(split_batch, with_kwargs=True)
    return module
