"""`torch.accelerator` for the device, which lacks the allocator and streams torch's C++ expects."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import torch

from lazytensor.frontends.torch.device import namespace
from lazytensor.frontends.torch.random.randomness import DEVICE


def _memory_stats(device_index: Any = None, /) -> OrderedDict[str, Any]:
    return OrderedDict(sorted(namespace.memory_stats(device_index).items()))


def _nothing(device_index: Any = None, /) -> None:
    """Do nothing: the device accumulates no statistics and caches no free memory."""


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "empty_cache": _nothing,
    "memory_stats": _memory_stats,
    "get_memory_info": namespace.mem_get_info,
    "reset_accumulated_memory_stats": _nothing,
    "reset_peak_memory_stats": namespace.reset_peak_memory_stats,
}
CHOICES: Final[dict[str, Callable[..., Any]]] = {
    "device_count": namespace.device_count,
    "set_device_index": namespace.set_device,
    "synchronize": namespace.synchronize,
}
"""By torch's names; torch's other functions of that module are built on `memory_stats`."""


def _either(ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`ours` if the current accelerator is the device, else `theirs`."""

    def function(*args: Any) -> Any:
        found = torch.accelerator.current_accelerator()
        return (ours if found is not None and found.type == DEVICE else theirs)(*args)

    function.__name__ = function.__qualname__ = theirs.__name__
    function.__doc__ = theirs.__doc__
    return function


def attach() -> None:
    """Replace torch's functions by ones that know the device; torch before 2.9 has fewer."""
    module = getattr(torch.accelerator, "memory", None)
    for name, ours in FUNCTIONS.items():
        theirs = getattr(module, name, None)
        if theirs is not None:
            function = _either(ours, theirs)
            setattr(module, name, function)
            setattr(torch.accelerator, name, function)
    for name, ours in CHOICES.items():
        setattr(torch.accelerator, name, _either(ours, getattr(torch.accelerator, name)))
