"""The short way of a cut whose program was run before: it is run as it was then.

Data flow: numbered graph, and the entry that its key led to → whether all is as it was → NumPy or
the executable → settled outputs. All that the long way asks (`executor.py`) was answered there:
`remember` marks the programs whose answers hold as long as the entry does not change. What is not
as it was, leaves the cut to the long way.

Invariants:
- Nothing is decided here: no job is queued, no executable is made, nothing is timed by turns.
- Inputs are overwritten only if they are nobody else's, as those were that the executable assumed.
- If the host finds a guard false, nothing has changed. The long way runs it again, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.device import host_threads, interrupts
from lazytensor.core.device.backend import backend, is_apart
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.interpreter.ready_program import ReadyProgram
from lazytensor.core.interpreter.rows import HOST_KERNELS
from lazytensor.core.ir.graph import NumberedGraph
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe.events import Event, event_of, record
from lazytensor.core.observe.metrics import counts, spent
from lazytensor.core.passes.specialize import pack
from lazytensor.core.runtime import background, cost_model, locking, tiers
from lazytensor.core.runtime.arguments import arguments, host_value, in_rows
from lazytensor.core.runtime.attendance import wait
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.interrupted import settle_computed
from lazytensor.core.runtime.program_cache import Entry, ran
from lazytensor.core.runtime.run import Request, Run
from lazytensor.core.settings import settings

OBSERVING_CAUSES: Final = frozenset(["observation", "boolean mask"])
"""Causes of cuts after which the host does nothing until it has the results."""
_LONG_WAY: Final = frozenset([Failure, Sharded])
"""Classes of values with which a program is run the long way."""


def remember(run: Run) -> None:
    """Let the program of this run go the short way from now on, if it is a plain one."""
    program = run.found.program
    if run.recorded is None and run.exact is None and not run.request.once:
        run.entry.is_plain = not program.needs_backend


def run(entry: Entry, graph: NumberedGraph, request: Request, start: float) -> bool:
    """Settle the graph's outputs, as the runs before; say whether that was possible.

    start: when the cut began.
    """
    if request.once or request.compiles or request.runs is not None:
        return False
    how = way(entry)
    if how == "interpreted":
        is_run = _interpret(entry, graph, start)
    else:
        is_run = how == "cached" and _execute(entry, graph, start)
    if is_run:
        account(entry, request.cause, how, start)
    return is_run


def way(entry: Entry) -> str:
    """What runs the program now, "interpreted" or "cached"; "" if the long way has to decide."""
    if not _is_as_before(entry):
        return ""
    if settings.tier == "interpret" or tiers.is_numpys(entry):
        return "interpreted"
    if entry.executable is not None:
        return "cached"
    return "interpreted" if settings.tier == "auto" and _is_left_to_numpy(entry) else ""


def _is_as_before(entry: Entry) -> bool:
    """Whether nothing has come up that the long way has to look at."""
    if not entry.is_plain or entry.broken or entry.outdated:
        return False
    if entry.arrived is not None or entry.twin is not None:
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
    """Whether nothing is to be done for an executable: none is due yet, and nobody waits for it."""
    if is_apart() or cost_model.outlasts_compile(entry):
        return False
    return not (cost_model.is_overdue(entry) if entry.job is not None else tiers.is_due(entry))


def account(entry: Entry, cause: str, how: str, start: float) -> None:
    """Take note of a run, "cached" or "interpreted", that has ended and began at `start`."""
    counts["cache_hits" if how == "cached" else how] += 1
    before, entry.runs = entry.runs, entry.runs + 1
    if entry.executable is None:  # the quickest run's, as others may have waited for a processor
        entry.owe(entry.trial.by_host)
    seconds = perf_counter() - start
    fields = user_place(), cause, entry.program, how, None, seconds, before
    tell(entry, event_of(fields), 1.0)


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
        if value is None or type(value) in _LONG_WAY:
            return False
    return True


def _interpret(entry: Entry, graph: NumberedGraph, cut_at: float) -> bool:
    """Let the host run it; say whether that was possible."""
    if not are_computed(graph.leaves):
        return False
    ready = ready_program(entry)
    if ready.take(graph.slots):
        entry.observe(pack(entry.program, graph.slots), graph.owned)
    start = cut_at + spent("cutting", cut_at)
    given = ready.given(graph.leaves, graph.owned)
    values = ready.values_of([host_value(leaf) for leaf in graph.leaves])
    try:
        results, seconds = by_host(entry, values, given, graph.outputs, start)
        entry.trial.interpreted(seconds)
        if is_broken(entry, results):
            return False
        _settle(graph.outputs, results)
    except BaseException:
        locking.resume()
        if given:
            settle_computed(graph.nodes, values)
        raise
    return True


def ready_program(entry: Entry) -> ReadyProgram:
    """The entry's program, ready for the host."""
    if entry.ready is None:
        entry.ready = ReadyProgram(entry.program)
    return entry.ready


def by_host(
    entry: Entry, values: list[Any], given: list[int], outputs: Sequence[Node], start: float
) -> tuple[list[Any], float]:
    """What the host gives for the program's outputs and guards, and seconds since `start`.

    values: what the run begins with, of which results may take the memory of those `given`.
    outputs: the nodes to be settled.
    """
    ready, extent = ready_program(entry), entry.extent
    narrowed: host_threads.Narrowed = ()
    if host_threads.SPINNING or extent.largest >= locking.OUTSIDE_ELEMENTS:
        narrowed = host_threads.narrow(extent.convolves and ops.convolution.name in HOST_KERNELS)
    try:
        with locking.outside(outputs, extent.largest):
            results = [in_rows(value) for value in ready.run(values, given)]
            seconds = spent("interpreting", start)
    finally:
        if narrowed:
            host_threads.widen(narrowed)
    return results, seconds


def is_broken(entry: Entry, results: list[Any]) -> bool:
    """Whether a guard is false. Their flags follow the outputs among a run's results."""
    outputs = len(entry.program.outputs)
    if outputs < len(results):
        entry.broken = not all(results[outputs:])
    return entry.broken


def _settle(outputs: Sequence[Node], values: Sequence[Any]) -> None:
    for at, node in enumerate(outputs):
        node.settle(values[at])


def _execute(entry: Entry, graph: NumberedGraph, cut_at: float) -> bool:
    """Run the executable, if all is as it was when that was made; say whether it was."""
    executable = entry.executable
    if executable is None or tiers.is_timed(entry) or entry.program.guards:
        return False
    if graph.owned != entry.owned or not are_computed(graph.leaves):
        return False
    buffers = arguments(graph.leaves)
    if graph.slots:
        data = entry.history.operands(entry.program, graph.slots)
        if data is None:
            return False
        if data:
            buffers += backend().slots(data)
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
