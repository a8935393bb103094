"""Where a training step ends by itself: after an optimizer of Keras has applied its gradients."""

from __future__ import annotations

import sys
from typing import Any

from lazytensor.core import runtime
from lazytensor.core.recorder import thread
from lazytensor.frontends.tf.tensor import state

_MODULE = "keras.src.optimizers.base_optimizer"
LEAST = 2**27
"""Work, in elements, that may be pending before automatic cuts: some 30,000 nodes, or 0.5 GB."""
_watched: list[Any] = []


class _Credit:
    given = 0
    serial = -1


def watch_optimizers() -> None:
    """Make Keras's optimizers end a step, once Keras is there."""
    if _watched or _MODULE not in sys.modules:
        return
    optimizer = sys.modules[_MODULE].BaseOptimizer
    original = optimizer.apply

    def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        if state.on and not state.tracing:
            end_step("optimizer.apply()")
        return made

    optimizer.apply = apply
    _watched.extend([optimizer, original])


def leave_optimizers() -> None:
    """Put Keras's own method back."""
    if _watched:
        optimizer, original = _watched
        optimizer.apply = original
        _watched.clear()


def end_step(cause: str) -> None:
    """Cut, and let twice the work of this step be recorded before a graph is cut by itself."""
    recorder = thread.recorder
    whole = recorder.serial == _Credit.serial
    done = recorder.work + _Credit.given if whole else max(recorder.work, _Credit.given // 2)
    runtime.sync(cause=cause)
    give_credit(done)


def give_credit(done: int = LEAST) -> None:
    """An automatic cut in a step would make two programs of it."""
    recorder = thread.recorder
    _Credit.given = 2 * max(done, LEAST)
    _Credit.serial = recorder.serial
    recorder.work = -_Credit.given
