"""The XLA backend on a CPU as a device that is not the host: no buffer may be looked at in place.

With the environment variable LAZYTENSOR_TESTS_APART the whole suite runs on it (see `conftest.py`).
A test can count what moves between the two memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lazytensor import launched
from lazytensor.backends import xla
from lazytensor.backends.xla import *  # noqa: F403
from lazytensor.backends.xla import slot_buffers
from lazytensor.core.device import backend
from lazytensor.core.ir.sharding import Sharding
from lazytensor.environment import is_accelerator_likely

moved: Final = Counter[str]()
"""How often something was moved, and the bytes: "up", "up bytes", "down", "down bytes"."""


def take_over() -> None:
    """Be the backend of this process from now on."""
    slot_buffers.are_joined = lambda _: True
    backend.provide(__name__, lambda: True, launched.devices)
    backend.backend.cache_clear()
    backend.backend()


def give_back() -> None:
    """Let XLA be the backend as it is."""
    slot_buffers.are_joined = lambda platform: platform != backend.HOST_PLATFORM
    backend.provide(xla.__name__, is_accelerator_likely, launched.devices)
    backend.backend.cache_clear()
    backend.backend()


def platform() -> str:
    """No CPU."""
    return "apart"


def device_count() -> int:
    """As many as a CPU is shown as."""
    return launched.devices()


def to_device(array: np.ndarray, *, owned: bool) -> Any:
    """A copy, even of memory that nobody will write to."""
    return xla.to_device(_noted("up", array), owned=False)


def slots(packed: Sequence[np.ndarray]) -> list[Any]:
    """Buffers of slots."""
    made = xla.slots(packed)
    for buffer in made:
        _noted("up", np.asarray(buffer))
    return made


def place(array: np.ndarray, sharding: Sharding) -> Any:
    """Parts of a copy."""
    return xla.place(np.array(_noted("up", array)), sharding)


def to_host(buffer: Any) -> np.ndarray:
    """A copy."""
    return _noted("down", xla.to_host(buffer))


host_view = to_host


def _noted(way: str, array: np.ndarray) -> np.ndarray:
    moved[way] += 1
    moved[f"{way} bytes"] += array.nbytes
    return array
