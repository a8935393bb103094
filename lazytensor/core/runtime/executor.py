"""Running a cut: by the interpreter, by a compiled executable, or with the host's help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import RLock, get_ident
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.buffers.refcounts import has_own_array
from lazytensor.core.device.backend import backend, on_host
from lazytensor.core.device.padded import Padded
from lazytensor.core.interpreter.interpreter import apply, compute, references, takes, with_leaves
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import elements
from lazytensor.core.ir.program import Cut, Program
from lazytensor.core.ir.source_location import user_place
from lazytensor.core.observe import events, metrics
from lazytensor.core.observe.events import Event
from lazytensor.core.observe.recompile_reason import DONATION, Change, change, scalar_change
from lazytensor.core.passes.specialize import Packed
from lazytensor.core.runtime import equivalent_programs, guards, locking, replay_op, shape_buckets
from lazytensor.core.runtime.arguments import argument, host_operand, in_rows, with_room
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.host_partition import may_share, needed_before, needed_by_host
from lazytensor.core.runtime.program_cache import PATIENCE, Entry, cache, ran
from lazytensor.core.runtime.tier_timing import Trial
from lazytensor.core.settings import settings

ON_HOST: Final = "run by NumPy"
"""How the rest of a cut was run that is no program of its own."""
FEW: Final = 8
"""Operations of a program that is compared with NumPy where nothing but its text is known."""
WAITED_FOR: Final = frozenset(["observation", "boolean mask"])
"""Causes of cuts after which the host does nothing until it has the results."""


_compiling: Final = RLock()
"""One program is compiled at a time: a compiler that is interrupted by another has more states than
anybody has tested, and it uses all processors for one."""


class Run(NamedTuple):
    """One cut to be run. `outputs` are the nodes of the program's outputs, in order.

    `once`: compiling it would not pay, whatever it costs to interpret. `proved`: it would, as it is
    part of a program that was compiled. `recorded`: the program that was recorded, if a twin of it
    is run. `exact`: the run as it was recorded, if this is of a program with room for other sizes.
    `cutting`: the seconds between the graph and the program.
    """

    entry: Entry
    found: Cut
    outputs: list[Node]
    packed: Packed
    owned: list[bool]
    cause: str
    started: float
    once: bool = False
    proved: bool = False
    recorded: Program | None = None
    exact: Run | None = None
    cutting: float = 0.0

    @property
    def room(self) -> float:
        """How many times as much the program computes as what was recorded; 1 if that is it."""
        if self.exact is None:
            return 1.0
        return self.entry.extent.elements / max(self.exact.entry.extent.elements, 1)


def run(run: Run) -> list[Node] | None:
    """Run the program and settle its outputs.

    If some of its instructions are better run by the host, nothing is run, and the result is what
    has to be computed before `run_on_host`, maybe nothing; else it is None.
    """
    return _run(_as_twin(run) or run)


def _as_twin(run: Run) -> Run | None:
    """The run as one of the program that has taken this one's place, if one has."""
    twin = run.entry.twin
    return None if twin is None else twin.translated(run)


def _run(run: Run) -> list[Node] | None:
    entry, found = run.entry, run.found
    how, new, before = "cached", None, run.entry.runs
    if found.program.is_beyond_numpy:
        if entry.executable is None:
            _obtain(run)
        _execute(run, entry)
        return None
    if entry.executable is None and run.exact is None and (roomy := shape_buckets.padded(run)):
        return _run(roomy)
    if _is_shared(run):
        return needed_before(entry.shared or (), found)
    if _is_interpreted(run):
        _interpret(run)
        if entry.sharing.is_open():
            entry.sharing.compiled(time.perf_counter() - run.started)
        return None
    if entry.executable is None:
        wider = cache.superset(found.program, run.packed)
        if wider is not None:
            entry = wider
        elif not _is_to_compile(run) and not (entry.is_worth_a_look() and _load(run)):
            _remember_alone(run)
            _interpret(run)
            return None
        else:
            needed = needed_by_host(entry, found)
            if needed is not None and run.exact is not None:
                shape_buckets.refuse(run.exact, "NumPy runs a part of it")
                return _run(run.exact)
            if needed is not None and entry.hosted:
                _remember_alone(run)
                _interpret(run)
                return None
            if needed is not None:
                return needed
            if entry.twin is None and run.exact is None:
                entry.twin = equivalent_programs.find(entry)
                if (other := _as_twin(run)) is not None:
                    return _run(other)
            how, new = _obtain(run)
    if how == "cached":
        metrics.count("cache_hits")
    try:
        if settings.tier == "auto" and entry.trial.is_open():
            _try(run, entry, entry.trial)
        elif entry.sharing.is_open():
            _try(run, entry, entry.sharing)
        elif entry is run.entry:
            _remember_alone(run)
            _execute(run, entry)
            entry.trial.ran()
        else:
            _execute(run, entry)
    finally:
        _log(run, how, new, before)
    return None


def _is_interpreted(run: Run) -> bool:
    """Whether the interpreter has this run, compiled or not."""
    if settings.tier == "auto" and run.entry.trial.interprets():
        _remember_alone(run)
        return True
    return run.once or settings.tier == "interpret"


def _is_to_compile(run: Run) -> bool:
    return run.proved or run.entry.should_compile()


def _is_shared(run: Run) -> bool:
    """Whether NumPy has the end of this run, for the trial's sake or as the faster one."""
    entry = run.entry
    if settings.tier != "auto" or entry.executable is None or not entry.trial.is_decided():
        return False
    if run.recorded is not None or run.exact is not None:
        return False  # there are no nodes of another program's instructions
    if entry.shared is None:
        entry.shared = may_share(entry.program)
        if entry.shared:
            entry.sharing.interpreted(0.0)  # nothing is known of it, so it is to be tried
    return entry.sharing.interprets()


def _remember_alone(run: Run) -> None:
    """If this program, which `replay_op` may run from now on, is one operation, let it know."""
    program = run.found.program
    is_own = run.recorded is None and run.exact is None
    if program.size == 1 and not program.guards and is_own:
        (node,) = run.outputs
        replay_op.remember(node, run.entry)


def _try(run: Run, entry: Entry, trial: Trial) -> None:
    """Run the executable, and time it, results waited for."""
    start = time.perf_counter()
    _execute(run, entry)
    values = [node.value for node in run.outputs if node.value.__class__ is not Failure]
    with locking.outside():
        for value in values:
            backend().wait(value.buffer if value.__class__ is Padded else value)
        seconds = time.perf_counter() - start
    if trial.is_open():  # else another thread was first
        trial.compiled(seconds * run.room)


def _log(run: Run, how: str, new: Change | None, before: int) -> None:
    seconds = time.perf_counter() - run.started
    program = run.recorded or run.found.program
    events.record(Event(user_place(), run.cause, program, how, new, seconds, before))
    if how != ON_HOST:
        metrics.count("cuts")
        cutting = run.cutting if run.cause in WAITED_FOR else None
        for note in ran:
            note(run.entry, seconds, cutting, run.room)


def _obtain(run: Run) -> tuple[str, Change | None]:
    """Make sure of the entry's executable; how it was got, and why it had to be compiled."""
    entry = run.entry
    if entry.executable is not None or _load(run):
        return "loaded from disk", None
    new = _change(run)
    from lazytensor.core.runtime import disk_cache

    backend()  # made with the lock held
    entry.compiled_by = get_ident()
    try:
        with locking.outside(run.outputs), _compiling:
            disk_cache.compile_and_store(entry, run.owned, entry.program.places)
    finally:
        entry.compiled_by = 0
    _remember(run)
    return "compiled", new


def _load(run: Run) -> bool:
    # A program that compiles nothing does not wait for its imports.
    from lazytensor.core.runtime import disk_cache

    entry = run.entry
    loaded = disk_cache.load(entry, run.owned)
    if loaded:
        cache.loaded += 1
        _remember(run)
        # Else it would never be compared with NumPy. Of longer ones few are NumPy's.
        if not entry.runs and entry.program.size <= FEW:
            entry.trial.interpreted(entry.estimate)
    return loaded


def _remember(run: Run) -> None:
    """Let other programs run in the place of this one, if that is one that was recorded."""
    if run.exact is None:
        equivalent_programs.remember(run.entry)


def _change(run: Run) -> Change:
    """Why the program is not among the compiled ones."""
    entry, program = run.entry, run.found.program
    if entry.history.changes:
        return scalar_change(program, entry.history, run.packed)
    if entry.disowned == PATIENCE:
        text = "an input is no longer shared, and its memory is used for a result"
        return Change(DONATION, text)
    entries = (e for e in cache.entries() if not e.padded)
    mine = run.exact or run
    known = [e.program for e in entries if e is not mine.entry][-events.NEAREST :]
    found = change(mine.found.program, known)
    said = shape_buckets.remark(mine)
    return found._replace(text=f"{found.text}{said}") if said else found


def _interpret(run: Run) -> None:
    entry, exact = run.entry, run.exact or run
    program = exact.found.program
    references()  # whose import is no part of what a program takes
    before, start, worked = entry.runs, time.perf_counter(), time.thread_time()
    given = _given(exact)
    leaves = exact.found.leaves
    values: list[Any] = [None] * len(program.instructions)
    try:
        with locking.outside(exact.outputs, exact.entry.extent.largest):
            values[:] = with_leaves(program, [on_host(x.value) for x in leaves])
            compute(program, values, exact.found.slots, given)
            results = [in_rows(values[i]) for i in program.results]
            seconds = metrics.spent("interpreting", start)
        entry.trial.interpreted(seconds * run.room)
        # Not the clock's time: where the machine is busy, every program would look worth compiling.
        entry.owe(time.thread_time() - worked)
        entry.runs += 1
        metrics.count("interpreted")
        failed = _settle(exact, program.outputs, results)
        guards.warn(exact.found, program.outputs, results)
        _raise_first(failed)
    except BaseException:
        locking.resume()
        if given:
            _settle_computed(exact, values)
        raise
    finally:
        _log(run, "interpreted", None, before)


def _given(run: Run) -> list[int]:
    """The parameters that the interpreter may overwrite: nobody else has the node, or its array.

    Not where there are guards: what is settled early would not be checked later.
    """
    program = run.found.program
    if run.recorded is not None or program.guards:
        return []
    return [
        program.parameters[at]
        for at in takes(program)
        if run.owned[at] and has_own_array(run.found.leaves[at])
    ]


def _settle_computed(run: Run, values: list[Any]) -> None:
    """Settle what an interrupted run has computed: its inputs may be gone, and it goes on there."""
    for node, value in zip(run.found.nodes, values, strict=True):
        if node is not None and value is not None and node.value is None:
            _settle_results(node, value)


def _settle_results(node: Node, value: Any) -> None:
    """Settle a node, or the nodes that pick from it if it has several results: a tuple."""
    if isinstance(value, tuple):
        for part in elements(node):
            part.settle(in_rows(value[part.attrs[0]]))
    else:
        node.settle(in_rows(value))


def _execute(run: Run, entry: Entry) -> None:
    executable = entry.executable
    assert executable is not None
    start = time.perf_counter()
    donated = {position for position, _ in entry.donated}
    shared = [i in donated and not owned for i, owned in enumerate(run.owned)]
    if run.exact is None:
        buffers = list(map(argument, run.found.leaves, shared))
    else:
        metrics.count("padded")
        buffers = with_room(run.found, shared)
    device = backend()
    buffers += [device.to_device(a, owned=True) for a in entry.history.data(run.packed)]
    metrics.spent("transferring", start)
    with metrics.timed("running"):
        # One C call from the arguments to `results`: a Ctrl-C either comes before the program
        # runs, or finds its results there to settle, donated inputs being gone by then.
        results: list[Any] = []
        try:
            results.extend(executable.start(buffers))
            if entry.program.guards:
                with locking.outside(run.outputs):
                    for flag in results[0][len(entry.program.outputs) :]:
                        device.wait(flag)
            failed = _settle(run, entry.program.outputs, results[0])
        except BaseException:
            locking.resume()
            if results:
                _settle(run, entry.program.outputs, results[0])
            raise
        if settings.wait:
            for buffer in results[0]:
                device.wait(buffer)
    entry.runs += 1
    guards.warn(run.found, entry.program.outputs, results[0])
    _raise_first(failed)


def _settle(run: Run, computed: tuple[int, ...], values: Sequence[Any]) -> dict[int, Failure]:
    """Give the values, which are of the instructions `computed` and the guards, to the nodes.

    The result says which instructions a guard has spoiled.
    """
    found = run.found
    by_index: dict[int, Any] = dict(zip(computed, values, strict=False))
    failed = guards.failed(found, computed, values)
    if run.exact is not None:
        lines = found.program.instructions
        for node, index in zip(run.outputs, found.program.outputs, strict=True):
            if lines[index][3] is not node.type:
                by_index[index] = Padded(by_index[index], node.type, lines[index][3])
    by_index.update(failed)
    for node, index in zip(run.outputs, found.program.outputs, strict=True):
        node.settle(by_index[index])
    return failed


def _raise_first(failed: dict[int, Failure]) -> None:
    """Raise the failure recorded first, if there is one."""
    if failed:
        failed[min(failed)].throw()


def only_hosts(run: Run) -> Run:
    """The run without nodes, but for those that the host computes, in order."""
    host = run.entry.host or run.entry.shared
    assert host is not None
    nodes = run.found.nodes
    return run._replace(found=run.found._replace(nodes=[nodes[i] for i in host]))


def run_on_host(run: Run, before: float) -> None:
    """Settle the nodes of an `only_hosts` run that have all they need: that took these seconds."""
    entry, mine = run.entry, [node for node in run.found.nodes if node is not None]
    for node in mine:
        if node.value is not None or any(x.value is None for x in node.operands):
            continue
        with locking.outside(mine), metrics.timed("interpreting"), np.errstate(all="ignore"):
            operands = [host_operand(x) for x in node.operands]
            result = apply(node.op, operands, node.attrs, node.type)
        _settle_results(node, result)
    if entry.shared:
        entry.sharing.interpreted(time.perf_counter() - run.started + before)
    _log(run, ON_HOST, None, entry.runs)
