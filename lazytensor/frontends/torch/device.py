"""The device `lazytensor`: its registration with torch, and the module `torch.lazytensor`."""

from __future__ import annotations

import threading
import types
from typing import Any, Final

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils import backend_registration

from lazytensor.core import place, runtime
from lazytensor.core.recorder import thread
from lazytensor.frontends.torch import creation, randomness
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


def _is_ours(optimizer: Any) -> bool:
    return any(is_lazy(p) for group in optimizer.param_groups for p in group["params"][:1])


def _begin_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    creation.stepping.optimizer = _is_ours(optimizer)


class _Steps(threading.local):
    credit = 0
    serial = -1


_steps: Final = _Steps()
"""Work that may be pending before automatic cuts, and the node count at the cut that began it."""
LEAST: Final = 2**24
"""Work, in elements, of the smallest step that is given credit for: some 4,000 nodes."""


def _give_credit(done: int) -> None:
    """Let twice the work of a step be recorded before a graph is cut by itself.

    Steps end by themselves: an automatic cut in one would make two programs of it, and outputs of
    all that its backward needs.
    """
    recorder = thread.recorder
    _steps.credit = 2 * max(done, LEAST)
    _steps.serial = recorder.serial
    recorder.work = -_steps.credit


def _end_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    """A step of an optimizer ends here: the graph is cut, so that the next one repeats it."""
    creation.stepping.optimizer = False
    if not _is_ours(optimizer):
        return
    recorder = thread.recorder
    whole = recorder.serial == _steps.serial
    done = recorder.work + _steps.credit if whole else max(recorder.work, _steps.credit // 2)
    runtime.sync(cause="optimizer.step()")
    _give_credit(done)


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
    _give_credit(LEAST)
    _print_from_host()
    register_optimizer_step_pre_hook(_begin_step)
    register_optimizer_step_post_hook(_end_step)
