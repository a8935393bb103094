"""What steps cost on a device that need not be here, beside `jax.jit` of the same models.

`python -m benchmarks.accelerators.cost [h100|h200|v5e] [MODEL ...]` compiles both and reads the
programs: kernels, bytes read and written, temporary memory. Nothing is run on a device. Products of
f32 are in f32 on both sides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

STEPS: Final = 3
"""Runs of a step, by the host, before its program is taken: scalars are known then."""


def ours(make: Callable[[], Callable[[], Any]], target: str) -> Any:
    """The costs of our largest program of a step."""
    from lazytensor.backends.xla import targets
    from lazytensor.core.passes.donation import donations
    from lazytensor.core.runtime.program_cache import cache
    from lazytensor.core.runtime.scheduler import sync
    from lazytensor.core.settings import settings

    settings.tier, settings.small, settings.disk = "interpret", 0, False
    step = make()
    sync()
    cache.clear()
    for _ in range(STEPS):
        kept = step()
        sync()
    del kept
    entry = max(cache.entries(), key=lambda entry: (entry.size, entry.runs))
    program = entry.program
    pairs = donations(program, [True] * len(program.parameters))
    return targets.compiled(program, target, entry.history.assumptions(program), pairs)


def theirs(make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]], target: str) -> Any:
    """The costs of the step that jax compiles, which overwrites all of its state."""
    import jax

    from lazytensor.backends.xla import targets

    jax.config.update("jax_enable_x64", True)
    step, arguments = make()
    state = tuple(i for i, x in enumerate(arguments) if isinstance(x, list)) or (0,)
    with jax.default_matmul_precision("highest"):
        traced = jax.jit(step, donate_argnums=state).trace(*arguments)
        lowered = traced.lower(lowering_platforms=(targets.TARGETS[target].platform,))
    return targets.compiled_module(lowered.compiler_ir("stablehlo"), target)


def _cases() -> dict[str, tuple[Any, Any]]:
    import lazytensor.numpy
    import lazytensor.torch
    from benchmarks.accelerators import in_jax, in_numpy, in_torch

    models = {
        name: (partial(make, "lazytensor"), in_jax.MODELS[name])
        for name, make in in_torch.MODELS.items()
    }
    return models | {
        name: (partial(make, lazytensor.numpy), in_jax.MODELS[name])
        for name, make in in_numpy.MODELS.items()
    }


def main(target: str = "h100", *names: str) -> None:
    """Print the table."""
    print(f"| step, on {target} | kernels | jax | ratio | MB moved | jax | ratio | MB held | jax |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (mine, other) in _cases().items():
        if names and name not in names:
            continue
        a, b = ours(mine, target), theirs(other, target)
        n, m = len(a.kernels), len(b.kernels)
        moved = [x.nbytes / 1e6 for x in (a, b)]
        print(
            f"| {name} | {n} | {m} | {n / m:.2f} | {moved[0]:.2f} | {moved[1]:.2f} "
            f"| {moved[0] / moved[1]:.2f} | {a.memory / 1e6:.2f} | {b.memory / 1e6:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
