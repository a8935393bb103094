"""Libraries for kernels that outlive torch's cleanup at the interpreter's exit.

Exit functions that were registered earlier run after that cleanup, and may save a model.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch


def lasting(namespace: str) -> torch.library.Library:
    """A library for kernels that stay as long as the process."""
    made = torch.library.Library(namespace, "IMPL")
    known: dict[Any, Any] = getattr(weakref.finalize, "_registry", {})
    for finalizer, info in list(known.items()):
        if info.weakref() is made:
            finalizer.atexit = False
    return made
