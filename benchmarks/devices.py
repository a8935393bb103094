"""Programs on many devices: what one device computes, holds and exchanges, and what a call costs.

`python -m benchmarks.devices growth` compiles programs for 1 to 256 devices and reads their costs:
none of them is run. `python -m benchmarks.devices dispatch` compares a call over eight virtual
devices with `jax.jit` with the same shardings, on an idle machine; `lazytensor launch -n 2 -m
benchmarks.devices processes` over the devices of two processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy

from lazytensor.launched import LOCAL_DEVICES

DEVICES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ROWS: Final = 4096
WIDTH: Final = 256
ROUNDS, CALLS = 60, 10


class Cost(NamedTuple):
    """Of one device's part of a program: operations, bytes read and written, bytes exchanged."""

    flops: float
    memory: float
    exchanged: float


def step(np: Any, x: Any, w: Any, v: Any) -> Any:
    """One step of gradient descent of a network of two layers, by hand."""
    hidden = np.tanh(x @ w)
    error = hidden @ v - x
    back = (error @ v.T) * (1 - hidden * hidden)
    return w - 0.01 * (x.T @ back), v - 0.01 * (hidden.T @ error)


def stencil(np: Any, u: Any, *_: Any) -> Any:
    """One sweep of a five-point stencil."""
    v = u.copy()
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return v


PROGRAMS: Final[dict[str, Callable[..., Any]]] = {
    "a step of an MLP, batch split": step,
    "a stencil, rows split": stencil,
}


def arrays() -> list[numpy.ndarray]:
    """A batch, and two matrices."""
    draw = numpy.random.default_rng(0).standard_normal
    return [draw((ROWS, WIDTH)), *(draw((WIDTH, WIDTH)) / WIDTH for _ in range(2))]


def cost(program: Callable[..., Any], devices: int) -> Cost:
    """The cost of a program on a number of devices. It is compiled and not run."""
    import lazytensor
    import lazytensor.numpy as lnp
    from lazytensor.core.device.backend import backend
    from lazytensor.core.passes.specialize import SlotHistory, pack
    from lazytensor.core.runtime.sharded import traced

    mesh = lazytensor.Mesh((devices,), ("x",))
    batch, *rest = arrays()
    given = [lazytensor.shard(batch, mesh, ("x",)), *(lazytensor.shard(a, mesh) for a in rest)]
    found = program(lnp, *given)
    outputs = [x.node for x in (found if isinstance(found, tuple) else (found,))]
    cut = traced(outputs)
    made, history = cut.program, SlotHistory(cut.program.data)
    history.observe(pack(made, cut.slots))
    executable: Any = backend().compile(made, history.assumptions(made), (), ())
    read = executable._loaded.cost_analysis()
    read = read[0] if isinstance(read, list) else read
    exchanged = sum(c.nbytes for c in executable.collectives())
    return Cost(read["flops"], read["bytes accessed"], exchanged)


def growth(plot: Path | None) -> None:
    """Print the table, and draw it."""
    found: dict[str, list[Cost]] = {}
    for name, program in PROGRAMS.items():
        print(
            f"\n{name}\n| devices | Mflop | MB read and written | kB exchanged |\n|---|---|---|---|"
        )
        for devices in DEVICES:
            flops, memory, exchanged = cost(program, devices)
            found.setdefault(name, []).append(Cost(flops, memory, exchanged))
            print(f"| {devices} | {flops / 1e6:.2f} | {memory / 1e6:.3f} | {exchanged / 1e3:.1f} |")

    if plot is not None:
        _draw(found, plot)


def _draw(found: dict[str, list[Cost]], path: Path) -> None:
    """A picture: per program what one device does, beside what a part of one device's work is."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    pictures = figure.subplots(1, len(found))
    for axes, (name, costs) in zip(pictures, found.items(), strict=True):
        for field in Cost._fields:
            values = [getattr(one, field) for one in costs]
            first = next(filter(None, values))
            axes.plot(DEVICES, [value / first or None for value in values], "o-", label=field)
        axes.plot(DEVICES, [1 / n for n in DEVICES], "k:", label="1 / devices")
        axes.set(title=name, xscale="log", yscale="log", xlabel="devices", xticks=DEVICES)
        axes.set_xticklabels(map(str, DEVICES))
        axes.minorticks_off()
    pictures[0].set_ylabel("of one device, in its value for the fewest")
    pictures[0].legend()
    figure.savefig(path, dpi=120)
    print(f"\n{path}")


def dispatch() -> None:
    """Print the medians of ours and of `jax.jit`, waited for, over eight virtual devices."""
    _show_as(8)
    _compare(8)


def in_processes() -> None:
    """The same over the devices of the processes that `lazytensor launch` has started."""
    import lazytensor

    each = int(os.environ[LOCAL_DEVICES])
    _show_as(each)
    lazytensor.distributed.initialize()
    import jax

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    address = f"127.0.0.1:{os.environ['MASTER_PORT']}"
    rank, size = lazytensor.distributed.rank(), lazytensor.distributed.size()
    jax.distributed.initialize(address, size, rank)
    _compare(size * each, is_first=rank == 0)


def _show_as(devices: int) -> None:
    """Let jax show this process's CPU as this number of devices."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"


def _compare(devices: int, *, is_first: bool = True) -> None:
    """Time ours and `jax.jit` in turn. is_first: whether this process prints."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    import lazytensor
    import lazytensor.numpy as lnp

    jax.config.update("jax_enable_x64", True)
    mesh = lazytensor.Mesh((devices,), ("x",))
    there = jax.sharding.Mesh(numpy.array(jax.devices()[:devices]), ("x",))
    specs = ("x",), (), ()
    mine = [lazytensor.shard(a, mesh, s) for a, s in zip(arrays(), specs, strict=True)]
    theirs = [
        jax.make_array_from_callback(
            a.shape, NamedSharding(there, PartitionSpec(*s)), a.__getitem__
        )
        for a, s in zip(arrays(), specs, strict=True)
    ]
    compiled = jax.jit(partial(step, jnp))

    def ours() -> list[Any]:
        made = step(lnp, *mine)
        lazytensor.sync()
        return [x.node.value.buffer for x in made]

    def jits() -> list[Any]:
        return list(compiled(*theirs))

    for call in (ours, jits):
        for _ in range(CALLS):
            wait(call())
    seconds: dict[str, list[float]] = {"ours": [], "jax.jit": []}
    for _ in range(ROUNDS):
        for name, call in (("ours", ours), ("jax.jit", jits)):
            start = time.perf_counter()
            for _ in range(CALLS):
                wait(call())
            seconds[name].append((time.perf_counter() - start) / CALLS)
    mine_took, theirs_took = (statistics.median(found) for found in seconds.values())
    if not is_first:
        return
    print(f"ours {mine_took * 1e6:.0f} us, jax.jit {theirs_took * 1e6:.0f} us a call, waited for: ")
    print(f"{mine_took / theirs_took:.2f} times jax.jit's time")


def wait(buffers: list[Any]) -> None:
    """Return when these have their values."""
    for buffer in buffers:
        buffer.block_until_ready()


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.devices", description=__doc__)
    parser.add_argument("what", choices=("growth", "dispatch", "processes"))
    parser.add_argument("--plot", type=Path, help="growth: where to draw the table, as a picture")
    given = parser.parse_args()
    commands = {"growth": partial(growth, given.plot), "dispatch": dispatch}
    commands.get(given.what, in_processes)()
    return 0


if __name__ == "__main__":
    sys.exit(main())
