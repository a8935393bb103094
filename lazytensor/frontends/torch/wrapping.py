"""A module whose callers need not know of the device: CPU tensors in, CPU tensors out."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from lazytensor.frontends.torch.tensor import is_lazy


class Wrapped(torch.nn.Module):
    """What `wrap` gives; `module` is the module itself, on the device."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module.to("lazytensor")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = tree_leaves((args, kwargs))
        made = self.module(*tree_map(_there, args), **tree_map(_there, kwargs))
        return made if any(map(is_lazy, given)) else tree_map(_back, made)


def _there(x: Any) -> Any:
    return x.to("lazytensor") if isinstance(x, torch.Tensor) else x


def _back(x: Any) -> Any:
    return x.cpu() if is_lazy(x) else x


def wrap(module: torch.nn.Module) -> Wrapped:
    """`module`, moved to the device, as one that takes and gives CPU tensors.

    Arguments are moved there, also in tuples, lists and dicts; results are moved back, unless some
    argument was on the device already. Gradients flow through, so that losses may be computed and
    optimizers made as on the CPU, of the result's `parameters()`. The names of its state begin with
    "module.", as those of torch's own wrappers do. Raises: TypeError for what is no module.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"wrap: a torch.nn.Module was expected, got {type(module).__name__}")
    return Wrapped(module)
