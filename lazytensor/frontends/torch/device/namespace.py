"""The module `torch.lazytensor`: the device's counterpart of `torch.cuda`."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, Final

import torch

from lazytensor.core.device import backend, device_names
from lazytensor.core.observe import events
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.device.streams import (  # noqa: F401 -- the module offers it
    Event,
    Stream,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from lazytensor.frontends.torch.random.randomness import DEVICE, Generator, default
from lazytensor.frontends.torch.tensors.placement import At as device
from lazytensor.frontends.torch.tensors.placement import current as current_device  # noqa: F401
from lazytensor.frontends.torch.tensors.placement import exchange, number_of
from lazytensor.frontends.torch.tensors.tensor import is_lazy

_initialized: Final = True
"""Torch reads it before it saves and restores the random stream around a checkpoint."""
default_generators: Final = (Generator(stream=default),)


def is_available() -> bool:
    """Always: XLA has a CPU at least."""
    return True


def is_initialized() -> bool:
    """Always: the slow part happens when the first program is run."""
    return True


def init() -> None:
    """Do nothing: the backend is imported when the first program is run."""


_lazy_init: Final = init


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """XLA has it on every platform."""
    return True


def _is_in_bad_fork() -> bool:
    return False


def device_count() -> int:
    """How many devices a script can name; LAZYTENSOR_LOCAL_DEVICES says it of a CPU."""
    return device_names.count()


def set_device(device: Any) -> None:
    """Choose this thread's device. Raises: RuntimeError for one that is not there."""
    exchange(number_of(device))


class device_of(device):
    """The same, for the device of a tensor; nothing changes for other tensors."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device if is_lazy(obj) else None)


def get_device_name(device: Any = None) -> str:
    """What XLA runs on."""
    number_of(device)
    return f"{DEVICE} (XLA)"


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """Its name, and `total_memory` in bytes."""
    number_of(device)
    known = hasattr(os, "sysconf")  # not on Windows
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else 0
    return SimpleNamespace(name=get_device_name(), total_memory=total, major=0, minor=0)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Always (0, 0): the device has no versions."""
    return 0, 0


def synchronize(device: Any = None) -> None:
    """Compute everything that this thread has pending, and wait for it."""
    scheduler.sync(cause="torch.lazytensor.synchronize()")


def memory_allocated(device: Any = None) -> int:
    """Bytes of live results and data on the device; pending nodes have none."""
    return backend.backend().allocated() if backend.is_loaded() else 0


memory_reserved: Final = memory_allocated


class _Peak:
    """The peak of allocated memory at the ends of programs, since it was first asked for.

    Counting live memory takes longer than many programs run. So it begins at the first request.
    """

    def __init__(self) -> None:
        self.most = 0
        self.listens = False

    def listen(self) -> None:
        """Count from now on."""
        if not self.listens:
            self.listens = True
            events.listeners.append(self)
            self.most = memory_allocated()

    def __call__(self, event: Any) -> None:
        self.most = max(self.most, memory_allocated())

    def value(self) -> int:
        """In bytes."""
        self.listen()
        self.most = max(self.most, memory_allocated())
        return self.most


_peak: Final = _Peak()


def max_memory_allocated(device: Any = None) -> int:
    """The peak of live bytes at the ends of programs, since the first request or the last reset."""
    return _peak.value()


max_memory_reserved: Final = max_memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forget the peak."""
    _peak.listen()
    _peak.most = memory_allocated()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes: the host's, where the device is the host's processor."""
    total = get_device_properties(device).total_memory
    return max(total - memory_allocated(), 0), total


def memory_stats(device: Any = None) -> dict[str, int]:
    """The allocated bytes and their peak under the names of `torch.cuda.memory_stats`."""
    held, most = memory_allocated(), max_memory_allocated()
    names = ("allocated_bytes.all", "reserved_bytes.all")
    shown = {f"{name}.current": held for name in names}
    return shown | {f"{name}.peak": most for name in names}


def empty_cache() -> None:
    """Do nothing: the device caches no free memory."""


def manual_seed(seed: int) -> None:
    """Begin the random stream that belongs to `seed`."""
    default.begin(seed)


manual_seed_all: Final = manual_seed


def seed() -> int:
    """Begin a random stream with an unpredictable seed. Result: the seed."""
    return default_generators[0].seed()


seed_all: Final = seed


def initial_seed() -> int:
    """The seed of the random stream."""
    return default.seed


def get_rng_state(device: Any = None) -> torch.Tensor:
    """The random stream's position: seed and counter, as bytes in a CPU tensor."""
    return default_generators[0].get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = None) -> None:
    """Go on from a state of `get_rng_state`."""
    default_generators[0].set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    """The state of each device."""
    return [get_rng_state()]


def set_rng_state_all(new_states: Any) -> None:
    """Set the state of each device."""
    for state in new_states:
        set_rng_state(state)


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that `torch.autocast` may choose."""
    return [torch.bfloat16, torch.float16]
