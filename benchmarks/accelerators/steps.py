"""What steps take on a platform: ours, the framework's own kernels, its compiler's, and `jax.jit`.

`python -m benchmarks --platform cuda` prints the table. A process measures one side of one model:
its first step, its first sixty, and then rounds of ten, of which the median counts. A step that the
script waits for is one whose loss it reads: that is the last one of a round.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from benchmarks.process import Failed, python

FIRST: Final = 60
"""Steps from the start that are counted as a whole."""
ROUNDS, STEPS = 20, 10
SIDES: Final = {
    "mlp": ("ours", "eager", "compiled", "jax"),
    "attention": ("ours", "eager", "compiled", "jax"),
    "bert": ("ours", "eager", "compiled", "jax"),
    "resnet": ("ours", "eager", "compiled", "jax"),
    "keras": ("ours", "eager"),
    "jacobi": ("ours", "eager", "jax"),
    "black_scholes": ("ours", "eager", "jax"),
}
"""Per model, the sides. "eager" is the framework itself; for NumPy that is the host."""
Step = Callable[[], Any]


def _torch(name: str, side: str, platform: str) -> Step:
    from benchmarks.accelerators import in_torch

    if side == "ours":
        import lazytensor.torch  # noqa: F401  registers the device

        return in_torch.MODELS[name]("lazytensor")
    return in_torch.MODELS[name](platform, side == "compiled")


def _numpy(name: str, side: str) -> Step:
    import numpy

    from benchmarks.accelerators import in_numpy

    if side == "ours":
        import lazytensor.numpy

        return in_numpy.MODELS[name](lazytensor.numpy)
    return in_numpy.MODELS[name](numpy)


def _jax(name: str) -> Step:
    import jax
    import numpy

    from benchmarks.accelerators import in_jax

    jax.config.update("jax_enable_x64", True)
    step, arguments = in_jax.MODELS[name]()
    draw = numpy.random.default_rng(0)

    def filled(x: Any) -> Any:
        if x.dtype.kind == "i":
            return jax.numpy.zeros(x.shape, x.dtype)
        return jax.numpy.asarray(
            draw.random(x.shape).astype(x.dtype) * 0.05 + 0.5 * (name[0] == "b")
        )

    given = list(jax.tree.map(filled, arguments))
    count = in_jax.STATE[name]
    with jax.default_matmul_precision("highest"):
        run = jax.jit(step, donate_argnums=tuple(range(count)))

        def once() -> Any:
            made = run(*given)
            results = made if isinstance(made, tuple) else (made,)
            given[:count] = results[:count]
            return jax.tree.leaves(results[-1])[-1]

    return once


def _keras(side: str) -> Step:
    from benchmarks.accelerators import in_keras

    return in_keras.step(side == "ours")


def step_of(name: str, side: str, platform: str) -> Step:
    """A step of a model, by one side."""
    if side == "jax":
        return _jax(name)
    if name == "keras":
        return _keras(side)
    if name in ("jacobi", "black_scholes"):
        return _numpy(name, side)
    return _torch(name, side, platform)


def waited(value: Any) -> float:
    """A number of the result, fetched: all that was started has ended."""
    import numpy

    if hasattr(value, "detach"):
        return float(value.detach().reshape(-1)[0])
    return float(numpy.asarray(value[(0,) * value.ndim] if value.ndim else value))


def measure(name: str, side: str, platform: str) -> dict[str, float]:
    """Seconds: of the first step, of each of the first sixty on average, of a step from then on."""
    start = perf_counter()
    step = step_of(name, side, platform)
    made = perf_counter()
    waited(step())
    first = perf_counter() - made
    for _ in range(FIRST - 1):
        value = step()
    waited(value)
    sixty = (perf_counter() - made) / FIRST
    rounds = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        for _ in range(STEPS):
            value = step()
        waited(value)
        rounds.append((perf_counter() - begin) / STEPS)
    steady = statistics.median(rounds)
    return {"set-up": made - start, "first": first, "sixty": sixty, "steady": steady}


def table(platform: str, names: Sequence[str] | None) -> None:
    """Print what each side takes, in milliseconds a step, and ours as a share of the others."""
    print(f"| step on {platform} | side | first | of the first 60 | then | ours / it |")
    print("|---|---|---|---|---|---|")
    for name in names or SIDES:
        ours = 0.0
        for side in SIDES[name]:
            found = _apart(name, side, platform)
            if isinstance(found, str):
                print(f"| {name} | {side} | {found} | | | |", flush=True)
                continue
            first, sixty, steady = (1e3 * found[key] for key in ("first", "sixty", "steady"))
            ours = steady if side == "ours" else ours
            said = "" if side == "ours" else f"{ours / steady:.2f}"
            line = f"{first:.0f} ms | {sixty:.2f} ms | {steady:.3f} ms | {said}"
            print(f"| {name} | {side} | {line} |", flush=True)


def _apart(name: str, side: str, platform: str) -> dict[str, float] | str:
    """What a process of its own has measured, or why it has not."""
    os.environ["LAZYTENSOR_PLATFORM"] = platform
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    with TemporaryDirectory(prefix="lazytensor-benchmark-") as cache:
        try:
            command = ("-m", "benchmarks.accelerators.steps", name, side, platform)
            answer: dict[str, float] = python(*command, cache=cache).answer
        except (Failed, TimeoutExpired) as error:
            return str(error).strip().splitlines()[-1][:120].replace("|", "/")
    return answer


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
