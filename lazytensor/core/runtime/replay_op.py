"""The short way of a cut that is one operation, run before: no program is made of it.

The rest of a cut would take a quarter of the time in which NumPy adds a million numbers. Any
difference from the earlier run falls back to the general path.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from time import perf_counter, thread_time
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.buffers.refcounts import owned_by_one
from lazytensor.core.device import interrupts
from lazytensor.core.device.backend import backend, is_apart
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.interpreter.interpreter import quietly
from lazytensor.core.interpreter.kernels import REFERENCES
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.program import SLOTS
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe import events, metrics
from lazytensor.core.observe.events import Event
from lazytensor.core.passes.specialize import pack
from lazytensor.core.runtime import background, locking, tiers
from lazytensor.core.runtime.arguments import arguments, host_operand, in_rows
from lazytensor.core.runtime.attendance import wait
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.program_cache import Entry, cache, ran
from lazytensor.core.settings import settings

LOOKS_KEPT: Final = 256
_LONG_WAY: Final = frozenset([Failure, Sharded])
"""Classes of values with which an operation is a program like others."""
_type_of = attrgetter("type")


class KnownOp(NamedTuple):
    """A program of one operation. `reference` is None where NumPy has none.

    `kinds`: per operand the op of the slot that it is, or None for a leaf.
    """

    entry: Entry
    reference: Any
    attrs: dict[str, Any]
    kinds: tuple[Op | None, ...]


def remember(node: Node, entry: Entry) -> None:
    """`node`, which is pending, is the whole program of an entry."""
    operands = node.operands
    attrs = node.op.attrs_of(node.attrs)
    kinds = tuple(x.op if x.op in SLOTS else None for x in operands)
    cache.alone[_key(node, operands)] = KnownOp(entry, REFERENCES.get(node.op), attrs, kinds)


def run(node: Node, cause: str) -> bool:
    """Settle an operation by itself, if it was met before; say whether that was so."""
    operands = node.operands
    known: KnownOp | None = cache.alone.get(_key(node, operands))
    if known is None or settings.tier == "interpret":
        return False
    entry, start = known.entry, perf_counter()
    if entry.outdated or entry.arrived is not None or tiers.is_improvable(entry):
        return False
    if entry.job is not None and not background.is_under_way(entry):
        return False
    if settings.tier == "auto" and entry.trial.interprets():
        how = "interpreted"
        if known.reference is None or not _interpret(node, known, start):
            return False
    elif entry.executable is None:
        how = "interpreted"
        if known.reference is None or not _is_left_to_numpy(entry):
            return False
        worked = thread_time()
        if not _interpret(node, known, start):
            return False
        entry.owe(thread_time() - worked)
    else:
        how = "cached"
        if not are_computed(operands) or not _execute(node, known):
            return False
        entry.trial.ran()
    account(entry, cause, how, start)
    return True


def _is_left_to_numpy(entry: Entry) -> bool:
    """Whether nothing is to be done yet for an executable: none is due, and none has come."""
    if entry.job is not None:
        return True
    return entry.twin is None and not tiers.is_due(entry)


def account(entry: Entry, cause: str, how: str, start: float) -> None:
    """Take note of a run, "cached" or "interpreted", that has ended and began at `start`."""
    counts = metrics.counts
    counts["cache_hits" if how == "cached" else how] += 1
    counts["cuts"] += 1
    before, entry.runs = entry.runs, entry.runs + 1
    seconds = perf_counter() - start
    for note in ran:
        note(entry, False, 1.0)
    events.record(Event(user_place(), cause, entry.program, how, None, seconds, before))


def are_computed(operands: Iterable[Node]) -> bool:
    """Whether all have their values, and none is a failure or on a mesh."""
    # In a frame of its own, which does not go on referring to the last one: that is counted.
    for operand in operands:
        value = operand.value
        if value is None or value.__class__ in _LONG_WAY:
            return False
    return True


def _key(node: Node, operands: tuple[Node, ...]) -> tuple[Any, ...]:
    return node.op, node.attrs, node.type, *map(_type_of, operands)


def _interpret(node: Node, known: KnownOp, start: float) -> bool:
    """Let NumPy do it, if there is all that it needs; say whether there was."""
    values = []
    for operand in node.operands:
        value = operand.value
        if value.__class__ is not np.ndarray:
            if value is None or value.__class__ in _LONG_WAY:
                return False
            value = host_operand(operand)
            _keep_on_host(operand, value)
        values.append(value)
    with locking.outside((node,), known.entry.extent.largest):
        value = quietly(known.reference, *values, **known.attrs)
        type = node.type
        if value.__class__ is not np.ndarray or value.dtype is not type.dtype:
            value = np.asarray(value, type.dtype)
        value = in_rows(value)
        seconds = metrics.spent("interpreting", start)
    node.settle(value)
    known.entry.trial.interpreted(seconds)
    return True


_looks: Final[dict[int, int]] = {}
"""How often `_interpret` has looked at a leaf whose value is on the device, by serial number."""


def _keep_on_host(node: Node, value: np.ndarray) -> None:
    """Let a leaf have its value on the host, when that is looked at there for the second time.

    To look costs as much as some whole operations. Not at the first time: a loop that looks at each
    of its results once donates them, which would then cost a copy. If a program has taken it back
    to the device, at the fourth, the eighth time, and so on. Not at all where that would be a copy
    to another memory.
    """
    if node.op in SLOTS or is_apart():
        return
    if len(_looks) >= LOOKS_KEPT:
        _looks.clear()
    looks = _looks.get(node.serial, 0) + 1
    _looks[node.serial] = looks
    if looks > 1 and not looks & (looks - 1):
        node.value = value


def _execute(node: Node, known: KnownOp) -> bool:
    """Run the executable, if all is as it was when that was made; say whether it was."""
    entry, executable = known.entry, known.entry.executable
    if executable is None or entry.twin is not None or tiers.is_timed(entry):
        return False
    given = _inputs(node, known)
    if given is None:
        return False
    buffers, slots = given
    if slots:
        packed = pack(entry.program, slots)
        if not entry.history.allows(packed):
            return False
        buffers += backend().slots(entry.history.data(packed))
    start = perf_counter()
    results: list[Any] = []  # see `executor._execute`
    try:
        results.extend(executable.start(buffers))
        node.settle(results[0][0])
    except BaseException as error:
        if results:
            node.settle(results[0][0])
        interrupts.raise_instead(error)
        raise
    wait(executable, results[0])
    metrics.spent("running", start)
    return True


def _inputs(node: Node, known: KnownOp) -> tuple[list[Any], list[Any]] | None:
    """The buffers of an operation's leaves and the values of its slots.

    None if these are other operands than slots were, or if others of the leaves are nobody else's;
    as for `x + x`, whose program has one parameter.
    """
    operands = node.operands
    if len(operands) != len(known.kinds):
        return None
    leaves, slots = [], []
    for i, kind in enumerate(known.kinds):
        if kind is None:
            leaves.append(operands[i])
        else:
            slots.append(operands[i].value)
        if (operands[i].op if operands[i].op in SLOTS else None) is not kind:
            return None
    if owned_by_one(leaves) != known.entry.owned:
        return None
    return arguments(leaves), slots
