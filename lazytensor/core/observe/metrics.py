"""Counts and seconds since the start of the process, or since `reset`."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from lazytensor.core import binaries
from lazytensor.core.ir.recording import nodes_made

COUNTS: Final = {
    "nodes": "Operations, leaves and scalars recorded.",
    "cuts": "Programs that were run.",
    "automatic_cuts": "Cuts made because enough was pending, at the head of a loop.",
    "compiles": "Programs that XLA compiled.",
    "cache_hits": "Programs found compiled in memory.",
    "disk_hits": "Executables loaded from disk.",
    "interpreted": "Programs run by the interpreter.",
    "fallbacks": "Calls answered by the host framework.",
    "padded": "Runs of a program with room for more elements than there were.",
    "unpadded": "Programs that got no room, though their sizes change.",
    "evictions": "Programs dropped from memory, which keeps a bounded number.",
}
SECONDS: Final = {
    "recording": "Recording: an estimate, nodes times the cost of one, measured on this machine.",
    "cutting": "Making programs of graphs, and looking them up.",
    "lowering": "Emitting StableHLO.",
    "compiling": "In XLA's compiler.",
    "loading": "Reading executables from disk.",
    "running": "Starting programs: XLA is asynchronous, unless `settings.wait` is set.",
    "interpreting": "Running programs, or parts of them, with NumPy.",
    "transferring": "To and from the device, waiting for what is still running included.",
}

modes: Final = {"hot path": binaries.mode}
"""What may run compiled, and whether it does; a frontend adds its own."""
counts: Final[Counter[str]] = Counter()
seconds: Final[defaultdict[str, float]] = defaultdict(float)
tracers: Final[list[Callable[[str, float, float], None]]] = []
"""Called with each timer's name, start and end (of `time.perf_counter`), in its thread."""
_start = 0
_seconds_per_node: list[float] = []


def count(name: str, n: int = 1) -> None:
    """Add to a counter."""
    counts[name] += n


def spent(name: str, start: float) -> float:
    """Add the seconds since `start`, of `time.perf_counter`, to a timer; how many they are."""
    end = time.perf_counter()
    seconds[name] += end - start
    for trace in tracers:
        trace(name, start, end)
    return end - start


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Add the seconds of a block to a timer."""
    start = time.perf_counter()
    try:
        yield
    finally:
        spent(name, start)


@contextmanager
def uncounted() -> Iterator[None]:
    """What is recorded in the block is not the user's, and not counted."""
    global _start
    before = nodes_made()
    try:
        yield
    finally:
        _start += nodes_made() - before


def _node_cost() -> float:
    """Seconds to record one node on this machine, measured once."""
    if not _seconds_per_node:
        import numpy as np

        from lazytensor.core.ir.node import Input
        from lazytensor.core.ir.op import PARAMETER, element
        from lazytensor.core.ir.recording import Signature, record
        from lazytensor.core.ir.types import tensor_type

        with uncounted():
            x = Input(PARAMETER, tensor_type(np.dtype(np.float64)))
            signature = Signature(element, (0,), x.type)
            start = time.perf_counter()
            for _ in range(200):
                record(signature, (x,))
            _seconds_per_node.append((time.perf_counter() - start) / 200)
    return _seconds_per_node[0]


def html_table(rows: Iterable[Iterable[str]]) -> str:
    """Rows of texts as a table of HTML."""
    import html  # here, so that `import lazytensor` stays cheap

    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


class Snapshot(dict[str, float]):
    """Every count and every timer, by name; notebooks show a table."""

    def _repr_html_(self) -> str:
        rows = [(name, f"{self[name]:,}", text) for name, text in COUNTS.items()]
        for name, text in SECONDS.items():
            rows.append((f"{name} seconds", f"{self[f'{name}_seconds']:.6f}", text))
        return html_table(rows)


def snapshot() -> Snapshot:
    """Every count, and every timer as `…_seconds`; what they are is said in `COUNTS`, `SECONDS`."""
    nodes = nodes_made() - _start
    shown = Snapshot({name: counts[name] for name in COUNTS}, nodes=nodes)
    shown.update({f"{name}_seconds": float(seconds[name]) for name in SECONDS})
    shown["recording_seconds"] = nodes * _node_cost()
    return shown


def prometheus() -> str:
    """The snapshot in the text format that Prometheus scrapes.

    All are counters: they only grow, until `reset` or the end of the process.
    """
    values = snapshot()
    lines = []
    for table, unit in ((COUNTS, ""), (SECONDS, "_seconds")):
        for name, text in table.items():
            metric = f"lazytensor_{name}{unit}_total"
            lines += [f"# HELP {metric} {text}", f"# TYPE {metric} counter"]
            lines.append(f"{metric} {float(values[name + unit])!r}")
    return "\n".join([*lines, ""])


def report() -> str:
    """The snapshot as text, a line each, after what runs compiled."""
    lines = [f"{what}  {mode}" for what, mode in modes.items()]
    for name, value in snapshot().items():
        shown = f"{value:.6f} s" if name.endswith("_seconds") else f"{value:,}"
        lines.append(f"{name.removesuffix('_seconds'):<16}{shown:>16}")
    return "\n".join(lines)


def reset() -> None:
    """Start counting from zero."""
    global _start
    from lazytensor.core.observe import events

    counts.clear()
    seconds.clear()
    events.clear()
    _start = nodes_made()
