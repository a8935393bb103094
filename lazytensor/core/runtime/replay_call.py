"""The short way of a call that is a whole cut: run before, it is neither recorded nor cut again.

A training step that is a function is one composite, and all that is pending when it ends. Its
program, which operand is which of its inputs and which result which of its outputs are the same
each time. What is found here that is not as it was leaves the call to the long way.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any, Final, NamedTuple

from lazytensor.core.device.backend import on_host
from lazytensor.core.device.garbage import uncollected
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER, Op
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place, nodes_made, thread, user_place
from lazytensor.core.ir.types import TensorType
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import donations
from lazytensor.core.runtime import replay_program, tiers
from lazytensor.core.runtime.arguments import arguments, host_value
from lazytensor.core.runtime.attendance import wait
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.locking import lock, resume
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.run import Run
from lazytensor.core.settings import settings

NOWHERE: Final = -1


class KnownCall(NamedTuple):
    """A call's program: per input the operand that it is, per output the result and its type.

    `overwrites`: whether the executable would overwrite an input, if nobody else had it.
    """

    entry: Entry
    overwrites: bool
    inputs: tuple[int, ...]
    outputs: tuple[tuple[int, TensorType], ...]


class _Replaced(threading.local):
    """Values that a step has replaced; to free hundreds of small ones takes 0.1 ms."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []


_replaced: Final = _Replaced()


def retire(nodes: list[Node]) -> None:
    """Keep what a step has replaced until the next one runs: it is freed meanwhile."""
    _replaced.nodes = nodes


class Call(NamedTuple):
    """A call that was recorded; serial numbers, as nobody is to refer to what may be donated."""

    op: Op[Any]
    operands: tuple[int, ...]
    results: tuple[int, ...]


def call(op: Op[Any], operands: Sequence[Node], results: Sequence[Node]) -> Call:
    """Take note of a call of an op that has one signature only."""
    return Call(op, tuple([x.serial for x in operands]), tuple([x.serial for x in results]))


def learn(made: Call, runs: Sequence[Run]) -> None:
    """These programs were run at the end of a call: if all of it was one, remember that."""
    if len(runs) != 1 or not _is_plain(runs[0]):
        return
    (run,) = runs
    operands, results = _places(made.operands), _places(made.results)
    inputs = [operands.get(leaf.serial, NOWHERE) for leaf in run.found.leaves]
    outputs = [results.get(node.serial, NOWHERE) for node in run.outputs]
    if NOWHERE in inputs + outputs or len(outputs) != len(made.results):
        return
    types = [node.type for node in run.outputs]
    pairs = tuple(zip(outputs, types, strict=True))
    overwrites = _overwrites(run.found.program)
    cache.calls[made.op] = KnownCall(run.entry, overwrites, tuple(inputs), pairs)


def _places(serials: tuple[int, ...]) -> dict[int, int]:
    """Where each node is that is there once."""
    found: dict[int, int] = {}
    for at, serial in enumerate(serials):
        found[serial] = NOWHERE if serial in found else at
    return found


@lru_cache(maxsize=64)
def _overwrites(program: Program) -> bool:
    """Whether the program would overwrite one of its inputs, if nobody else had it."""
    return bool(donations(program, [True] * len(program.parameters)))


def _is_plain(run: Run) -> bool:
    """Whether the program was run as it is, and may be so again."""
    entry = run.entry
    if entry.twin is not None or entry.padded or run.exact is not None:
        return False
    if run.found.slots or run.request.once or run.found.program.meshes:
        return False
    return all(node.value.__class__ is not Failure for node in run.outputs)


def repeated(op: Op[Any], operands: Sequence[Node], cause: str) -> list[Any] | None:
    """The results of a call, as leaves, if it was met before; None if it is to be recorded."""
    known: KnownCall | None = cache.calls.get(op)
    if known is None or thread.recorder.cells or settings.devices > 1:
        return None
    with lock, uncollected():
        start, how = perf_counter(), replay_program.way(known.entry)
        leaves = [operands[i] for i in known.inputs]
        if not how or not replay_program.are_computed(leaves):
            return None
        run = _run_by_host if how == "interpreted" else _run_by_xla
        results = run(known, leaves, start)
        if results is None:  # a guard may be false: the long way will raise what is to be raised
            return None
        recorder = thread.recorder
        recorder.work, recorder.fuses, recorder.serial = 0, True, nodes_made()
        replay_program.account(known.entry, cause, how, start)
    return results


def _run_by_host(known: KnownCall, leaves: Sequence[Node], start: float) -> list[Any] | None:
    """The results, as leaves; None if a guard is false."""
    entry = known.entry
    values = replay_program.ready_program(entry).values_of([host_value(leaf) for leaf in leaves])
    try:
        results, seconds = replay_program.by_host(entry, values, [], (), start)
    except BaseException:
        resume()
        raise
    entry.trial.interpreted(seconds)
    if replay_program.is_broken(entry, results):
        return None
    _replaced.nodes.clear()
    return _leaves(known, results[: len(known.outputs)], user_place())


def _run_by_xla(known: KnownCall, leaves: Sequence[Node], start: float) -> list[Any] | None:
    """The same by an executable; None also if it may overwrite inputs, or is still being timed."""
    executable = known.entry.executable
    if executable is None or known.overwrites or not tiers.is_settled(known.entry):
        return None
    (values,) = executable.start(arguments(leaves))
    metrics.spent("running", start)
    outputs = len(known.outputs)
    results = _leaves(known, values[:outputs], user_place())  # while the program runs
    _replaced.nodes.clear()
    wait(executable, values)
    return None if values[outputs:] and not on_host(values[-1]) else results


def _leaves(known: KnownCall, values: list[Any], place: Place | None) -> list[Any]:
    """The results that have these values."""
    results: list[Any] = [None] * len(values)
    for (at, type), value in zip(known.outputs, values, strict=True):
        node = results[at] = Input(PARAMETER, type, value)
        node.place = place
    return results
