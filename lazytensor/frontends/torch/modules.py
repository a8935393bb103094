"""Modules that move to the device and back: their parameters stay the same objects.

torch makes new parameters where the two devices' tensors are of different kinds. Tied weights would
come apart, silently, and an optimizer made before would go on with the old ones.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Final

import torch

from lazytensor.frontends.torch.tensor import is_lazy

_apply: Final = torch.nn.Module._apply


def _crosses(module: Any, fn: Callable[[Any], Any]) -> bool:
    """Whether `fn` takes the module's tensors to the device, or from it."""
    first = next(chain(module.parameters(), module.buffers()), None)
    if first is None:
        return False
    with torch.no_grad():
        probe = torch.empty(0, dtype=first.dtype, device=first.device)
        return is_lazy(fn(probe)) != is_lazy(probe)


def _without_graphs(module: Any, fn: Callable[[Any], Any]) -> None:
    """Move what hooks have computed of parameters (`weight_norm`), without its graph: a graph keeps
    parameters from being swapped, and what is computed in the next forward takes its place."""
    for part in module.modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor) and value.grad_fn is not None:
                vars(part)[name] = fn(value.detach())


def _convert(self: Any, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
    swaps = torch.__future__.get_swap_module_params_on_conversion()
    if swaps or not _crosses(self, fn):
        return _apply(self, fn, recurse)
    _without_graphs(self, fn)
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return _apply(self, fn, recurse)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


def attach() -> None:
    """Make modules keep their parameters' identities."""
    torch.nn.Module._apply = _convert
