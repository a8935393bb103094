"""A module whose callers need not know of the device: CPU tensors in, CPU tensors out."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_leaves, tree_map

from lazytensor.frontends.torch.tensors.tensor import is_lazy


class Wrapped(torch.nn.Module):
    """What `wrap` gives; `module` is the module itself, on the device."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module.to("lazytensor")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        held = next(self.module.parameters(), None)
        if held is not None and not is_lazy(held):  # the module was moved since
            return self.module(*args, **kwargs)
        given = tree_leaves((args, kwargs), is_leaf=_is_packed)
        args, kwargs = tree_map(_there, (args, kwargs), is_leaf=_is_packed)
        made = self.module(*args, **kwargs)
        return made if any(map(_is_there, given)) else tree_map(_back, made, is_leaf=_is_packed)


def _is_packed(x: Any) -> bool:
    """Sequences that are one tensor; how many there are at each place stays on the CPU."""
    return isinstance(x, PackedSequence)


def _is_there(x: Any) -> bool:
    return is_lazy(x.data if isinstance(x, PackedSequence) else x)


def _there(x: Any) -> Any:
    return x.to("lazytensor") if isinstance(x, torch.Tensor | PackedSequence) else x


def _back(x: Any) -> Any:
    return x.cpu() if _is_there(x) else x


def wrap(module: torch.nn.Module) -> Wrapped:
    """`module`, moved to the device, as one that takes and gives CPU tensors.

    Arguments are moved there, also in tuples, lists and dicts; results are moved back, unless some
    argument was on the device already. A module that is moved elsewhere later is called as it is.
    Gradients flow through, so that losses may be computed and optimizers made as on the CPU, of the
    result's `parameters()`. The names of its state begin with "module.", as those of torch's own
    wrappers do. Raises: TypeError for what is no module.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"wrap: a torch.nn.Module was expected, got {type(module).__name__}")
    return Wrapped(module)
