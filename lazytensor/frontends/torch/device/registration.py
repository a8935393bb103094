"""The device `lazytensor`: its registration with torch."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import backend_registration

from lazytensor.core.ir import library_files
from lazytensor.frontends.torch.device import namespace
from lazytensor.frontends.torch.device.hooks import clear_exception, failing
from lazytensor.frontends.torch.dispatch.registry import library, prepare_thread
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.random import randomness
from lazytensor.frontends.torch.tensors.tensor import is_lazy


class _Hooks(torch._C._acc.PrivateUse1Hooks):
    """Torch's questions to a device type, asked from C++."""

    def is_available(self) -> bool:
        return True

    def has_primary_context(self, device_index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class _Guard(torch._C._acc.DeviceGuard):
    def type_(self) -> Any:
        if failing:
            clear_exception()
        return torch._C._autograd.DeviceType.PrivateUse1


def _print_from_host() -> None:
    """Print from a copy on the host: one observation, where torch reads element by element."""
    formatted = torch._tensor_str._tensor_str

    def _tensor_str(self: Any, indent: int) -> str:
        text: str = formatted(self.detach().cpu() if is_lazy(self) else self, indent)
        return text

    torch._tensor_str._tensor_str = _tensor_str


def _pin_memory(self: Any, device: Any = None) -> Any:
    """`pin_memory` without pinning: uploads copy from any memory."""
    return self


def attach() -> None:
    """Register the device."""
    backend_registration._setup_privateuseone_for_python_backend(
        randomness.DEVICE, backend_module=namespace, hook=_Hooks(), device_guard=_Guard()
    )
    if boxed is not None:
        boxed.guard()
    library_files.hide_folder(torch.__path__[0])
    prepare_thread()
    randomness.attach()
    if not torch.cuda.is_available():
        library.impl("_pin_memory", _pin_memory, "CPU")
    _print_from_host()
