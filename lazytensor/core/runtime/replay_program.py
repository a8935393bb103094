"""The short way of a cut whose program was run before: it is run as it was then.

Data flow: numbered graph, and the entry that its key led to → whether all is as it was → NumPy or
the executable → settled outputs. All that the long way asks (`executor.py`) was answered there:
`remember` marks the programs whose answers hold as long as the entry does not change. What is not
as it was, leaves the cut to the long way.

Invariants:
- Nothing is decided here: no job is queued, no executable is made, nothing is timed by turns.
- NumPy runs small programs only, and single operations. It takes no input's memory.
- Inputs are overwritten only if they are nobody else's, as those were that the executable assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, Final

import numpy as np

from lazytensor.core.device import host_threads, interrupts
from lazytensor.core.device.backend import backend, is_apart, on_host
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.interpreter.interpreter import REUSE_BYTES
from lazytensor.core.interpreter.kernels import REFERENCES
from lazytensor.core.interpreter.small_program import SmallProgram
from lazytensor.core.interpreter.work import Work
from lazytensor.core.ir.graph import NumberedGraph
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe.events import Event, record
from lazytensor.core.observe.metrics import counts, spent
from lazytensor.core.passes.specialize import pack
from lazytensor.core.runtime import background, locking, tiers
from lazytensor.core.runtime.arguments import arguments, in_rows
from lazytensor.core.runtime.attendance import wait
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.program_cache import Entry, ran
from lazytensor.core.runtime.run import Request, Run
from lazytensor.core.settings import settings

OBSERVING_CAUSES: Final = frozenset(["observation", "boolean mask"])
"""Causes of cuts after which the host does nothing until it has the results."""
SMALL_ELEMENTS: Final = REUSE_BYTES // 8
"""Elements of a program's largest result, and an eighth of those of all, from which it is
interpreted the long way: results take each other's memory there."""
LOOKS_KEPT: Final = 256
_LONG_WAY: Final = frozenset([Failure, Sharded])
"""Classes of values with which a program is run the long way."""


def remember(run: Run) -> None:
    """Let the program of this run go the short way from now on, if it is a plain one."""
    program = run.found.program
    if run.recorded is None and run.exact is None and not run.request.once:
        run.entry.is_plain = not program.guards and not program.needs_backend


def run(entry: Entry, graph: NumberedGraph, request: Request, start: float) -> bool:
    """Settle the graph's outputs, as the runs before; say whether that was possible.

    start: when the cut began.
    """
    if request.once or request.compiles or request.runs is not None or not _is_as_before(entry):
        return False
    if settings.tier == "interpret" or tiers.is_numpys(entry):
        how, is_run = "interpreted", _interpret(entry, graph, start)
    elif entry.executable is not None:
        how, is_run = "cached", _execute(entry, graph, start)
    elif settings.tier == "auto" and _is_left_to_numpy(entry):
        how, is_run = "interpreted", _interpret(entry, graph, start)
        if is_run:  # the quickest run's, as others may have waited for a processor
            entry.owe(entry.trial.by_host)
    else:
        return False
    if is_run:
        account(entry, request.cause, how, start)
    return is_run


def _is_as_before(entry: Entry) -> bool:
    """Whether nothing has come up that the long way has to look at."""
    if not entry.is_plain or entry.outdated or entry.arrived is not None or entry.twin is not None:
        return False
    if entry.compiled_by or tiers.is_improvable(entry):
        return False
    if entry.job is not None and not background.is_under_way(entry):
        return False
    growth = entry.growth
    if growth is None or growth.refusal or entry.executable is not None:
        return True
    return growth.entry is None and growth.family.sizes < growth.family.wanted


def _is_left_to_numpy(entry: Entry) -> bool:
    """Whether nothing is to be done yet for an executable: none is due, and none has come."""
    return entry.job is not None or not tiers.is_due(entry)


def account(entry: Entry, cause: str, how: str, start: float) -> None:
    """Take note of a run, "cached" or "interpreted", that has ended and began at `start`."""
    counts["cache_hits" if how == "cached" else how] += 1
    before, entry.runs = entry.runs, entry.runs + 1
    event = Event(user_place(), cause, entry.program, how, None, perf_counter() - start, before)
    tell(entry, event, 1.0)


def tell(entry: Entry, event: Event, room: float) -> None:
    """Count a cut, and tell of it. room: how many times as much was computed as was recorded."""
    counts["cuts"] += 1
    is_observed = event.cause in OBSERVING_CAUSES
    for note in ran:
        note(entry, is_observed, room)
    record(event)


def are_computed(operands: Iterable[Node]) -> bool:
    """Whether all have their values, and none is a failure or on a mesh."""
    # In a frame of its own, which does not go on referring to the last one: that is counted.
    for operand in operands:
        value = operand.value
        if value is None or value.__class__ in _LONG_WAY:
            return False
    return True


def _interpret(entry: Entry, graph: NumberedGraph, cut_at: float) -> bool:
    """Let NumPy run it, if it is small enough; say whether it was."""
    program, extent = entry.program, entry.extent
    if not _is_for_numpy(program, extent) or not are_computed(graph.leaves):
        return False
    if entry.small is None:
        entry.small = SmallProgram(program)
    if entry.small.take(graph.slots):
        entry.observe(pack(program, graph.slots), graph.owned)
    start = cut_at + spent("cutting", cut_at)
    values = entry.small.values_of([_host_value(leaf) for leaf in graph.leaves])
    narrowed = host_threads.narrow() if host_threads.SPINNING else ()
    try:
        with locking.outside(graph.outputs, extent.largest):
            found = [in_rows(value) for value in entry.small.run(values)]
            seconds = spent("interpreting", start)
    finally:
        if narrowed:
            host_threads.widen(narrowed)
    entry.trial.interpreted(seconds)
    _settle(graph.outputs, found)
    return True


def _is_for_numpy(program: Program, extent: Work) -> bool:
    """Whether it is small, or a single operation that NumPy has a kernel for."""
    if extent.convolves:
        return False
    if extent.largest < SMALL_ELEMENTS and extent.elements < 8 * SMALL_ELEMENTS:
        return True
    return program.size == 1 and program.instructions[program.outputs[0]][0] in REFERENCES


def _settle(outputs: Sequence[Node], values: Sequence[Any]) -> None:
    for at, node in enumerate(outputs):
        node.settle(values[at])


_looks: Final[dict[int, int]] = {}
"""How often `_host_value` has looked at a leaf whose value is on the device, by serial number."""


def _host_value(leaf: Node) -> np.ndarray:
    """The leaf's value on the host. It stays there when it is looked at for the second time.

    To look costs as much as some whole operations. Not at the first time: a loop that looks at each
    of its results once donates them, which would then cost a copy. If a program has taken it back
    to the device, at the fourth, the eighth time, and so on. Not at all where that would be a copy
    to another memory.
    """
    value: Any = leaf.value
    if value.__class__ is np.ndarray:
        return value
    found = on_host(value)
    if is_apart():
        return found
    if len(_looks) >= LOOKS_KEPT:
        _looks.clear()
    looks = _looks[leaf.serial] = _looks.get(leaf.serial, 0) + 1
    if looks > 1 and not looks & (looks - 1):
        leaf.value = found
    return found


def _execute(entry: Entry, graph: NumberedGraph, cut_at: float) -> bool:
    """Run the executable, if all is as it was when that was made; say whether it was."""
    executable = entry.executable
    if executable is None or tiers.is_timed(entry):
        return False
    if graph.owned != entry.owned or not are_computed(graph.leaves):
        return False
    buffers = arguments(graph.leaves)
    if graph.slots:
        packed = pack(entry.program, graph.slots)
        if not entry.history.allows(packed):
            return False
        buffers += backend().slots(entry.history.data(packed))
    start = cut_at + spent("cutting", cut_at)
    results: list[Any] = []  # see `executor._execute`
    try:
        results.extend(executable.start(buffers))
        _settle(graph.outputs, results[0])
    except BaseException as error:
        locking.resume()
        if results:
            _settle(graph.outputs, results[0])
        interrupts.raise_instead(error)
        raise
    wait(executable, results[0])
    spent("running", start)
    entry.trial.ran()
    return True
