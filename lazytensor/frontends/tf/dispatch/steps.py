"""Where a training step ends by itself, and that nothing cuts it before.

A step ends when an optimizer of Keras has applied its gradients, and when a function ends that has
assigned to variables. An automatic cut within a step would make two programs of it, and outputs of
all that its backward needs: so there is none while a tape records, nor after that until the next
cut. The initial values of variables are computed before they are first read, by the interpreter: a
step that made them would be another program than the next one, and they come only once.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Final

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.trace_state import nodes_made, thread
from lazytensor.core.runtime import replay_call, scheduler
from lazytensor.core.runtime.replay_call import Call
from lazytensor.core.runtime.run import Run
from lazytensor.core.trace import automatic_cut
from lazytensor.frontends.tf.tensors.tensor import state

_MODULE: Final = "keras.src.optimizers.base_optimizer"
_watched: Final[list[Any]] = []
_no_tape: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
LONGEST: Final = 60_000
"""Nodes of a step past which it is cut all the same. One program is what XLA compiles fastest here:
5,880 operations of MobileNetV2's step in 7 s, in parts of 1,500 in 40 s."""
MOST_ELEMENTS: Final = 2**24
"""Elements of initial values that may be pending: they are held twice until they are computed."""


class _Step(threading.local):
    """`serial`: the recorder's when a tape was last seen; `fresh`: variables' first values, and
    how many elements these have.
    """

    def __init__(self) -> None:
        self.serial = -1
        self.fresh: list[Node] = []
        self.elements = 0


step: Final = _Step()


def _is_under_way() -> bool:
    """Whether the thread is in a training step (see `automatic_cut.holds`)."""
    if not state.on:
        return False
    recorder = thread.recorder
    if step.fresh:
        return nodes_made() - recorder.serial <= LONGEST
    if not _no_tape():
        step.serial = recorder.serial
    elif step.serial != recorder.serial:
        return False
    if nodes_made() - recorder.serial > LONGEST:
        return False
    recorder.work = 0
    return True


def hold_cuts() -> None:
    """No automatic cut until the next one: a step has begun."""
    step.serial = thread.recorder.serial


def initialise(node: Node) -> None:
    """Take note of the value that a new variable has."""
    step.fresh.append(node)
    step.elements += node.type.size
    if step.elements > MOST_ELEMENTS:
        settle_variables()


def settle_variables() -> None:
    """Compute the initial values of variables that were made since the last cut.

    One that was asked for before is there, or was refused then.
    """
    if not state.tracing:
        nodes = [node for node in step.fresh if node.value is None]
        step.fresh, step.elements = [], 0
        scheduler.sync(*nodes, cause="initial values of variables", alone=True, once=True)


def watch_optimizers() -> None:
    """Make Keras's optimizers end a step, once Keras is there."""
    if _watched or _MODULE not in sys.modules:
        return
    optimizer = sys.modules[_MODULE].BaseOptimizer
    original = optimizer.apply

    def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        if state.on and not state.tracing and context.executing_eagerly():
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


def end_step(cause: str, call: Call | None = None) -> None:
    """The graph is cut, so that the next step repeats it; `call`: what may be all of it."""
    step.serial = -1
    runs: list[Run] | None = None if call is None else []
    scheduler.sync(cause=cause, largest=LONGEST, runs=runs)
    if call is not None and runs is not None:
        replay_call.learn(call, runs)


def attach() -> None:
    """Be asked before automatic cuts."""
    automatic_cut.holds.append(_is_under_way)
