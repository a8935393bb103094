"""Giving nodes the values that a program has computed, at once or later.

A flag of a guard is there when its program ends. A thread that asks for values waits for it. At the
end of a step of training nobody asks: its run is deferred, and the next step is recorded meanwhile.

Data flow: a step is cut → `executor` starts the program and defers the run → its nodes stay pending
→ `attend`, before the thread's next cut, waits for the flags, settles the nodes and raises what a
guard has found. Invariants:

- A deferred run computes all that its cut was asked for: a thread has one at most.
- It may have taken the memory of its inputs. Its nodes have no operands any more, as if they were
  settled: the graph behind them is gone. What looks at a pending node's operands may find none.
- A graph that has one of its nodes in it is read again once they are settled, by any thread.
- Only the thread that deferred the run is told of a failure.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from threading import get_ident
from typing import Any, Final

from lazytensor.core.device.backend import backend
from lazytensor.core.device.garbage import uncollected
from lazytensor.core.device.padded import Padded
from lazytensor.core.ir.graph import before_reading
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import here
from lazytensor.core.runtime import fork, guards, locking
from lazytensor.core.runtime.guards import Outcome
from lazytensor.core.runtime.locking import OUTSIDE_ELEMENTS, lock
from lazytensor.core.runtime.run import Run


class Deferred:
    """A run that has been started. outcome: what its guards have found, once it is settled."""

    def __init__(self, run: Run, computed: tuple[int, ...], values: Sequence[Any]) -> None:
        self.run: Run | None = _without_graph(run)
        self.nodes = frozenset(run.outputs)
        self.computed, self.values = computed, values
        self.outcome = guards.FINE

    def settle(self, size: int) -> None:
        """Wait for the flags and settle the nodes. The caller has the lock; `size` 0 keeps it.

        Raises: ExecutionError if the program failed: the nodes stay pending.
        """
        if self.run is None:
            return
        run, computed, values = self.run, self.computed, self.values
        with uncollected():  # a finalizer's cut would find some nodes settled and others not
            try:
                with locking.outside(run.outputs, size):
                    backend().wait(values[-1])
                if self.run is not None:  # no other thread was first
                    self.outcome = settle(run, computed, values)
            except Exception:
                self._let_go()
                raise
            self._let_go()

    def _let_go(self) -> None:
        """Refer to nothing: references decide what the next cut computes and overwrites."""
        self.run, self.nodes, self.values = None, frozenset(), ()


def _without_graph(run: Run) -> Run:
    """The run with its outputs and guards alone, which have no operands any more."""
    found = run.found
    kept = set(found.program.guards)
    nodes = [node if i in kept else None for i, node in enumerate(found.nodes)]
    for node in (*run.outputs, *nodes):
        if node is not None:
            node.operands = ()
    return run._replace(found=found._replace(nodes=nodes, leaves=[], slots=[]))


deferred: Final[dict[int, Deferred]] = {}
"""By thread: its run, until the thread is told of the outcome."""


def settle(run: Run, computed: tuple[int, ...], values: Sequence[Any]) -> Outcome:
    """Give the values, which are of the instructions `computed` and the guards, to the nodes.

    The result is what the guards have found.
    """
    found = run.found
    by_index: dict[int, Any] = dict(zip(computed, values, strict=False))
    outcome = guards.outcome(found, computed, values)
    run.entry.broken = outcome is not guards.FINE
    if run.exact is not None:
        lines = found.program.instructions
        for node, index in zip(run.outputs, found.program.outputs, strict=True):
            if lines[index][3] is not node.type:
                by_index[index] = Padded(by_index[index], node.type, lines[index][3])
    by_index.update(outcome.failed)
    for node, index in zip(run.outputs, found.program.outputs, strict=True):
        node.settle(by_index[index])
    return outcome


def defer(run: Run, computed: tuple[int, ...], values: Sequence[Any]) -> None:
    """Settle the run's nodes later."""
    deferred[get_ident()] = Deferred(run, computed, values)
    if _settle_those not in before_reading:
        atexit.register(attend)  # after the backend's functions, so that it is called before them
        before_reading.append(_settle_those)


def attend() -> None:
    """Settle this thread's deferred run. Raises: what the guards have found."""
    mine = deferred.get(get_ident())
    if mine is None:
        return
    is_within = locking.is_held()  # a finalizer's cut, within the one that has deferred the run
    with nullcontext() if is_within else lock:
        _settle(mine, 0 if is_within else OUTSIDE_ELEMENTS)
        deferred.pop(get_ident(), None)
    here().cells.keep_pending()
    mine.outcome.tell()


def _settle_those(nodes: Sequence[Node]) -> bool:
    """Settle the deferred runs that compute some of these nodes; say whether there were any."""
    found = [each for each in list(deferred.values()) if not each.nodes.isdisjoint(nodes)]
    for each in found:
        with nullcontext() if locking.is_held() else lock:  # which is let go once
            _settle(each, OUTSIDE_ELEMENTS)
    return bool(found)


def _settle(each: Deferred, size: int) -> None:
    try:
        each.settle(size)
    except BaseException:
        locking.resume()
        raise


def _settle_all() -> None:
    """Settle what was deferred in any thread. With the lock, which is kept."""
    for each in list(deferred.values()):
        with suppress(Exception):  # the nodes stay pending
            each.settle(0)


def _forget_others() -> None:
    """Only this thread is left."""
    for by in deferred.keys() - {get_ident()}:
        del deferred[by]


fork.before.append(_settle_all)
fork.in_child.append(_forget_others)
