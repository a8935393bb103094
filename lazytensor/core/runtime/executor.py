"""Running a cut: by the interpreter, or by a compiled executable."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from lazytensor.core.device import interrupts
from lazytensor.core.device.backend import Executable, backend
from lazytensor.core.device.padded import Padded
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe import metrics
from lazytensor.core.observe.events import Event
from lazytensor.core.observe.recompile_reason import Change
from lazytensor.core.runtime import locking, peers, replay_program, sharded, variants
from lazytensor.core.runtime.arguments import argument, host_value, with_room
from lazytensor.core.runtime.attendance import wait
from lazytensor.core.runtime.compilation import obtain
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.interrupted import settle_computed
from lazytensor.core.runtime.program_cache import Entry
from lazytensor.core.runtime.run import Run
from lazytensor.core.runtime.settling import defer, settle
from lazytensor.core.runtime.tiers import Tier, executable_entry, is_timed, tier_of
from lazytensor.core.settings import settings


def run(run: Run) -> None:
    """Run the program and settle its outputs."""
    run = variants.known(run)
    tier = tier_of(run)
    while tier is Tier.COMPILE and (other := variants.sparing(run)) is not None:
        run, tier = other, tier_of(other)
    if tier is Tier.HOST:
        _run_by_numpy(run)
    else:
        _run_by_xla(run, tier)


def _run_by_numpy(run: Run) -> None:
    """Let the interpreter run the whole of it, compiled or not."""
    replay_program.remember(run)
    _interpret(run)


def _run_by_xla(run: Run, tier: Tier) -> None:
    """Run the executable, made now where there is none; timed, where tiers are compared."""
    how, new, before = "cached", None, run.entry.runs
    if tier is Tier.COMPILE:
        how, new = obtain(run)
    entry = executable_entry(run)
    assert entry is not None
    if entry.arrived is not None:
        (how, new), entry.arrived = entry.arrived, None
    if how == "cached":
        metrics.count("cache_hits")
    try:
        if is_timed(entry):
            _try(run, entry)
        elif entry is run.entry:
            replay_program.remember(run)
            _execute(run, entry)
            entry.trial.ran()
        else:
            _execute(run, entry)
    finally:
        _log(run, how, new, before)


def _try(run: Run, entry: Entry) -> None:
    """Run the executable, and time it, results waited for.

    The programs that make its inputs are waited for before, as they may have been started long ago.
    """
    _wait_for(leaf.value for leaf in run.found.leaves)  # with the lock: the executable stays
    start = time.perf_counter()
    _execute(run, entry)
    values = [node.value for node in run.outputs if node.value.__class__ is not Failure]
    with locking.outside():
        _wait_for(values)
        seconds = time.perf_counter() - start
    if entry.trial.is_open():  # else another thread was first
        entry.trial.compiled(seconds * run.room)


def _wait_for(values: Iterable[Any]) -> None:
    """Return when the device has these values."""
    for value in values:
        buffer = value.buffer if value.__class__ is Padded else value
        if buffer.__class__ is not np.ndarray:
            backend().wait(buffer)


def _log(run: Run, how: str, new: Change | None, before: int) -> None:
    seconds = time.perf_counter() - run.started
    program = run.recorded or run.found.program
    event = Event(user_place(), run.request.cause, program, how, new, seconds, before)
    replay_program.tell(run.entry, event, run.room)


def _interpret(run: Run) -> None:
    entry, exact = run.entry, run.exact or run
    before, start, worked = entry.runs, time.perf_counter(), time.thread_time()
    ready, found = replay_program.ready_program(exact.entry), exact.found
    ready.take(found.slots)
    given = [] if exact.recorded is not None else ready.given(found.leaves, exact.owned)
    values = ready.values_of([host_value(leaf) for leaf in found.leaves])
    try:
        results, seconds = replay_program.by_host(exact.entry, values, given, exact.outputs, start)
        entry.trial.interpreted(seconds * run.room)
        # Not the clock's time: where the machine is busy, every program would look worth compiling.
        entry.owe(time.thread_time() - worked)
        entry.runs += 1
        metrics.count("interpreted")
        settle(exact, found.program.outputs, results).tell()
    except BaseException:
        locking.resume()
        if given:
            settle_computed(found.nodes, values)
        raise
    finally:
        _log(run, "interpreted", None, before)


def _execute(run: Run, entry: Entry) -> None:
    executable = entry.executable
    assert executable is not None
    start = time.perf_counter()
    donated = {position for position, _ in entry.donated}
    shared = [i in donated and not owned for i, owned in enumerate(run.owned)]
    device, data = backend(), entry.history.data(run.packed)
    if entry.program.meshes:
        if peers.members:
            peers.runs(entry.program.meshes[0], entry.agreed, user_place())
        buffers = sharded.arguments(run.found.leaves, shared, entry.program.meshes[0])
        buffers += sharded.slots(data, entry.program.meshes[0])
    else:
        if run.exact is None:
            buffers = list(map(argument, run.found.leaves, shared))
        else:
            metrics.count("padded")
            buffers = with_room(run.found, shared)
        buffers += device.slots(data)
    metrics.spent("transferring", start)
    with metrics.timed("running"):
        # One C call from the arguments to `results`: a Ctrl-C either comes before the program
        # runs, or finds its results there to settle, donated inputs being gone by then.
        results: list[Any] = []
        try:
            results.extend(executable.start(buffers))
            values = sharded.results(entry.program, executable, results[0])
            if _may_be_deferred(run, entry, executable):
                defer(run, entry.program.outputs, values)
                entry.runs += 1
                return
            if entry.program.guards:
                with locking.outside(run.outputs):
                    device.wait(results[0][-1])
            outcome = settle(run, entry.program.outputs, values)
        except BaseException as error:
            locking.resume()
            if results:
                values = sharded.results(entry.program, executable, results[0])
                settle(run, entry.program.outputs, values)
            interrupts.raise_instead(error)
            raise
        wait(executable, results[0])
    entry.runs += 1
    outcome.tell()


def _may_be_deferred(run: Run, entry: Entry, executable: Executable) -> bool:
    """Whether the guards are looked at later: nobody waits, for this run or for what it takes."""
    if not (run.defers and entry.program.guards) or entry.program.meshes or run.exact is not None:
        return False
    if settings.wait or executable.calls_back or is_timed(entry):
        return False
    return entry.extent.largest >= locking.OUTSIDE_ELEMENTS  # shorter ones have ended
