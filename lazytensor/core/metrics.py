"""Counts and seconds since the start of the process, or since `reset`."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lazytensor.core.node import nodes_made

COUNTS: Final = (
    "cuts",
    "automatic_cuts",
    "compiles",
    "cache_hits",
    "disk_hits",
    "interpreted",
    "fallbacks",
    "evictions",
)
SECONDS: Final = ("cutting", "lowering", "compiling", "loading", "running", "interpreting")

counts: Final[Counter[str]] = Counter()
seconds: Final[defaultdict[str, float]] = defaultdict(float)
_start = 0
_seconds_per_node: list[float] = []


def count(name: str, n: int = 1) -> None:
    """Add to a counter."""
    counts[name] += n


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Add the seconds of a block to a timer."""
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds[name] += time.perf_counter() - start


def _node_cost() -> float:
    """Seconds to record one node on this machine, measured once."""
    if not _seconds_per_node:
        import numpy as np

        from lazytensor.core.node import Node, Signature
        from lazytensor.core.op import element, leaf

        x = leaf(np.zeros(()))
        signature = Signature(element, (0,), x.type)
        start = time.perf_counter()
        for _ in range(200):
            Node(signature, (x,))
        _seconds_per_node.append((time.perf_counter() - start) / 200)
    return _seconds_per_node[0]


def snapshot() -> dict[str, float]:
    """Every count and every timer.

    Counts: `nodes` made (operations, leaves and scalars), `cuts` (`automatic_cuts` of them),
    `compiles`, `cache_hits` (programs found compiled in memory), `disk_hits` (executables loaded
    from disk), `interpreted` (programs run by the interpreter), `fallbacks` (calls answered by the
    host framework), `evictions`. Seconds: `recording_seconds` is an estimate, nodes times the cost
    of making one measured on this machine; `cutting_`, `lowering_`, `compiling_`, `loading_`,
    `running_`, `interpreting_seconds` are measured (`running` is dispatch: XLA is asynchronous).
    """
    nodes = nodes_made() - _start
    shown: dict[str, float] = {"nodes": nodes}
    shown.update({name: counts[name] for name in COUNTS})
    shown["recording_seconds"] = nodes * _node_cost()
    shown.update({f"{name}_seconds": float(seconds[name]) for name in SECONDS})
    return shown


def report() -> str:
    """The snapshot as text, a line each."""
    lines = []
    for name, value in snapshot().items():
        shown = f"{value:.6f} s" if name.endswith("_seconds") else f"{value:,}"
        lines.append(f"{name.removesuffix('_seconds'):<16}{shown:>16}")
    return "\n".join(lines)


def reset() -> None:
    """Start counting from zero."""
    global _start
    from lazytensor.core import events

    counts.clear()
    seconds.clear()
    events.clear()
    _start = nodes_made()
