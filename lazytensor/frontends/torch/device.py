"""The device `lazytensor`: its registration with torch, and the module `torch.lazytensor`."""

from __future__ import annotations

import types
from typing import Any, Final

import torch
from torch.utils import backend_registration

from lazytensor.core import place, runtime
from lazytensor.frontends.torch import randomness
from lazytensor.frontends.torch.kernels import prepare_thread
from lazytensor.frontends.torch.tensor import is_lazy

NAME: Final = "lazytensor"
MODULE: Final[Any] = types.ModuleType("torch.lazytensor")


class _Hooks(torch._C._acc.PrivateUse1Hooks):
    """What torch asks of a device type; it calls them from C++."""

    def is_available(self) -> bool:
        return True

    def has_primary_context(self, device_index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class _Guard(torch._C._acc.DeviceGuard):
    def type_(self) -> Any:
        return torch._C._autograd.DeviceType.PrivateUse1


def synchronize(device: Any = None) -> None:
    """Compute everything that this thread has pending."""
    runtime.sync(cause="torch.lazytensor.synchronize()")


def _fill(module: Any) -> None:
    module.is_available = module.is_initialized = lambda: True
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module.set_device = lambda device: None
    module.get_device_name = lambda device=None: "lazytensor (XLA)"
    module._is_in_bad_fork = lambda: False
    module.synchronize = synchronize
    module.manual_seed = module.manual_seed_all = randomness.seed
    module.get_rng_state = randomness.state
    module.set_rng_state = randomness.set_state
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]


def _print_from_host() -> None:
    """Printing looks at slices and elements one by one; a copy on the host is one observation."""
    formatted = torch._tensor_str._tensor_str

    def _tensor_str(self: Any, indent: int) -> str:
        text: str = formatted(self.detach().cpu() if is_lazy(self) else self, indent)
        return text

    torch._tensor_str._tensor_str = _tensor_str


def attach() -> None:
    """Register the device."""
    _fill(MODULE)
    backend_registration._setup_privateuseone_for_python_backend(
        NAME, backend_module=MODULE, hook=_Hooks(), device_guard=_Guard()
    )
    place.hide_folder(torch.__path__[0])
    prepare_thread()
    _print_from_host()
