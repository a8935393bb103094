"""Ordinary, eager-looking arrays whose operations are recorded, compiled by XLA and run.

import lazytensor.numpy as np      # a lazy NumPy
lazytensor.sync()                  # compute everything pending now; never needed
lazytensor.trace(fn, *args)        # the Program of a function's result
lazytensor.metrics.report()        # counts and seconds
lazytensor.export(fn, *args)       # a program that runs without this code; `load` reads it
"""

from typing import TYPE_CHECKING, Any

from lazytensor.core import binaries  # isort: skip  # noqa: F401  # first: it chooses what is imported
from lazytensor.core.device import garbage

with garbage.importing():
    from lazytensor import distributed, environment, launched, sharding
    from lazytensor.api import programs, sync, trace
    from lazytensor.core.device import backend, malloc
    from lazytensor.core.errors import (
        DTypeError,
        LazyTensorError,
        LazyTensorWarning,
        ProcessError,
        ShapeError,
        ShardingError,
        Unsupported,
    )
    from lazytensor.core.ir.module_scope import scope
    from lazytensor.core.observe import metrics
    from lazytensor.core.runtime import fork
    from lazytensor.core.settings import settings
    from lazytensor.inspection import explain, load_ipython_extension, profile
    from lazytensor.inspection.program import Program
    from lazytensor.sharding import Mesh, from_local, shard

if TYPE_CHECKING:
    from lazytensor import checkpoint
    from lazytensor.artifacts import Artifact, export, load

malloc.keep_freed_memory()
environment.prepare()
backend.provide("lazytensor.backends.xla", environment.is_accelerator_likely, launched.devices)
fork.watch()
if settings.logged:
    from lazytensor.inspection import log

    log.attach(settings.logged)
if settings.eager or settings.check:
    from lazytensor.core.trace import eager_mode

    eager_mode.attach()

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`checkpoint`, `export`, `load` and `Artifact`, whose modules most programs do not need."""
    if name == "checkpoint":
        from importlib import import_module

        return import_module("lazytensor.checkpoint")
    if name not in ("Artifact", "export", "load"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lazytensor import artifacts

    return getattr(artifacts, name)


__all__ = [
    "Artifact",
    "DTypeError",
    "LazyTensorError",
    "LazyTensorWarning",
    "Mesh",
    "ProcessError",
    "Program",
    "ShapeError",
    "ShardingError",
    "Unsupported",
    "checkpoint",
    "distributed",
    "explain",
    "export",
    "from_local",
    "load",
    "load_ipython_extension",
    "metrics",
    "profile",
    "programs",
    "scope",
    "settings",
    "shard",
    "sharding",
    "sync",
    "trace",
]
