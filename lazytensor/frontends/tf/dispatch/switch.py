"""Turning laziness on and off, a thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import tensorflow as tf

from lazytensor.core.errors import LazyTensorError
from lazytensor.core.interpreter.interpreter import interpret
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import cut
from lazytensor.core.observe import metrics
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.frontends.tf.dispatch import entry, steps
from lazytensor.frontends.tf.tensors.lifetime import alive, state, when_none_is_alive
from lazytensor.frontends.tf.tensors.tensor import LazyTensor
from lazytensor.frontends.tf.tensors.variables import cell_of, give_back_all, handle_of

SUPPORTED: Final = "TensorFlow 2.19 to 2.21"
_RIGHT: Final = [[6.0, 16.0], [2.0, 0.0]]
"""What the self-test computes."""
_lock: Final = threading.RLock()
_threads: Final[set[int]] = set()
_tested: Final[list[bool]] = []


class UnsupportedTensorFlow(LazyTensorError, ImportError):
    """A TensorFlow whose private names are not those that this frontend replaces."""


def enable() -> None:
    """Record what this thread does with TensorFlow from now on. Twice is as once.

    Raises: UnsupportedTensorFlow if this TensorFlow's entry points are not as expected.
    """
    if state.on:
        return
    lacking = entry.missing()
    if lacking:
        raise _unsupported(f"it has no {', '.join(lacking)}")
    with _lock:
        _threads.add(threading.get_ident())
        entry.open_doors()
        state.on = True
    if not _tested:
        try:
            with metrics.uncounted():
                _test()
        except BaseException:
            disable()
            raise
        _tested.append(True)
    steps.watch_optimizers()


def disable() -> None:
    """Let TensorFlow compute at once again in this thread; its variables have their values.

    Where no other thread records, TensorFlow is as it was before, once the last lazy tensor is
    gone: until then its entries are still ours, for TensorFlow's own refuse what is not its own.
    """
    if not state.on:
        return
    with _lock:
        state.on = False
        _threads.discard(threading.get_ident())
        if not _threads:
            try:
                give_back_all()
            finally:
                steps.leave_optimizers()
                _close()


def _close() -> None:
    """Close the doors if no thread records and nothing lazy is left."""
    if _threads:  # seen without the lock, as most tensors die while there are some
        return
    with _lock:
        if not _threads and not alive:
            entry.close_doors()


when_none_is_alive.append(_close)


@contextmanager
def enabled() -> Iterator[None]:
    """Record what this thread does with TensorFlow in the block."""
    before = state.on
    enable()
    try:
        yield
    finally:
        if not before:
            disable()


def _unsupported(why: str) -> UnsupportedTensorFlow:
    return UnsupportedTensorFlow(
        f"lazytensor.tf replaces private names of {SUPPORTED}; this is {tf.__version__}, and {why}"
    )


def _test() -> None:
    """Whether an operation is recorded, TF's tape differentiates it, and a variable is lazy."""
    try:
        x = tf.constant([1.0, 2.0])
        v = tf.Variable([3.0, 4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * v)
        slope, other = tape.gradient(y, [x, v])
        v.assign_sub(other)
        cell = cell_of(handle_of(v))
        fine = type(y) is LazyTensor and type(slope) is LazyTensor
        right = fine and cell is not None and _values(slope.node, cell.node) == _RIGHT
    except Exception as error:
        raise _unsupported(f"the self-test fails: {error!r}") from error
    if not fine or not right:
        raise _unsupported("the self-test gives something else")


def _values(*nodes: Node) -> list[Any]:
    """What nodes are, without the cut that asking would be: the user's work stays in one piece."""
    found = cut(reachable(nodes), nodes)
    results = interpret(found.program, [fetch(leaf) for leaf in found.leaves], found.slots)
    return [result.tolist() for result in results]
