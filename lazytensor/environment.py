"""Environment variables of XLA and jax, set and read when the library is imported.

A thread of the library's imports XLA, and jax for some programs. What they would set then, or read,
is set here: a variable that is new moves the process's table of variables, and a thread that reads
the table meanwhile crashes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Final

DEVICES: Final = "/sys/bus/pci/devices"
MAKER_OF_TPUS: Final = "0x1ae0"


def prepare() -> None:
    """Set the variables, unless the user has."""
    # jax sets both, too. Without the first, XLA logs each client that it makes.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    if not _has_tpu():
        os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")


def _has_tpu() -> bool:
    with suppress(OSError):
        return any(_maker(name) == MAKER_OF_TPUS for name in os.listdir(DEVICES))
    return False


def _maker(device: str) -> str:
    with suppress(OSError), open(os.path.join(DEVICES, device, "vendor")) as vendor:
        return vendor.read().strip()
    return ""


@cache
def is_accelerator_likely() -> bool:
    """Whether the user has chosen one, or jax has a plugin for one: before the backend is there."""
    chosen = os.environ.get("LAZYTENSOR_PLATFORM") or os.environ.get("JAX_PLATFORMS")
    if chosen:
        return chosen.strip() != "cpu"
    try:
        return any(find_spec(name) for name in ("jax_plugins", "libtpu"))
    except ImportError:  # imports are restricted
        return False
