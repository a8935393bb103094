"""Run something on the host, and compile all its programs for a device that is not here.

`python -m tests.accelerators.compiling TARGET script PATH [ARGUMENT ...]`, or `torch MODEL`,
`tf MODEL`, `reuse FRONTEND WORKLOAD`. A line of JSON for each program says how it went.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from lazytensor.backends.xla import targets
from lazytensor.backends.xla.limits import Refused
from lazytensor.core.ir.program import Program
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import sync
from lazytensor.core.settings import settings


def script(path: str, *arguments: str) -> None:
    """Run a NumPy program as `lazytensor run` does."""
    from lazytensor.cli.entry import commands

    launch = commands.main(["run", path, *arguments], "lazytensor", standalone_mode=False)
    with suppress(SystemExit):
        launch.start()


def torch(name: str) -> None:
    """Train a model of transformers, at a tiny size."""
    import lazytensor.torch  # noqa: F401  registers the device
    from tests.pytorch.models import SAMPLES
    from tests.pytorch.test_models import OPTIMIZERS, losses

    net = SAMPLES[name].build().train().to("lazytensor")
    batch = {key: value.to("lazytensor") for key, value in SAMPLES[name].batch().items()}
    losses(net, batch, OPTIMIZERS["AdamW"](net.parameters()))


def tf(name: str) -> None:
    """Train a model of Keras, at a tiny size."""
    import lazytensor.tf
    from tests.tensorflow_frontend.models import TASKS, train

    with lazytensor.tf.enabled():
        train(TASKS[name], 2)


def reuse(frontend: str, workload: str) -> None:
    """Run a workload of the reuse report."""
    from importlib import import_module

    import numpy as np

    from lazytensor.core.trace.layout_probe import results
    from lazytensor.reuse.dynamic import AROUND
    from lazytensor.reuse.workloads import WORKLOADS

    (chosen,) = [x for x in WORKLOADS if x.name == workload]
    module = import_module(f"lazytensor.reuse.workloads.in_{frontend}")
    run = getattr(module, workload.replace("-", ""))
    with AROUND.get(frontend, nullcontext)():
        kept = results(run(chosen.data(np.random.default_rng(0))))
        sync()
    del kept


KINDS: dict[str, Callable[..., None]] = {f.__name__: f for f in (script, torch, tf, reuse)}


def compiled(program: Program, target: str) -> dict[str, Any]:
    """How compiling one program goes."""
    try:
        made = targets.compiled(program, target)
    except Refused as refused:
        return {"size": program.size, "refused": str(refused)}
    return {"size": program.size, "seconds": made.seconds, "kernels": len(made.kernels)}


def main(target: str, kind: str, *arguments: str) -> None:
    """Run, and compile what was run."""
    settings.tier, settings.small = "interpret", 0
    KINDS[kind](*arguments)
    sync()
    for entry in cache.entries():
        print(json.dumps(compiled(entry.program, target)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
