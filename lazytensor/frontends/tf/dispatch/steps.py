"""Where a training step ends by itself, and that nothing cuts it before.

A step (see `core/trace/training_step.py`) ends when an optimizer of Keras has applied its
gradients, and when a function ends that has assigned to variables. There is no automatic cut while
a tape records, nor after that until the next cut. The initial values of variables are computed
before they are first read, by the interpreter, as they come only once.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import thread
from lazytensor.core.policy import STEP_NODES_BOUND
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace import automatic_cut
from lazytensor.core.trace.training_step import TrainingStep, pending_nodes
from lazytensor.frontends.tf.tensors.lifetime import state

_MODULE: Final = "keras.src.optimizers.base_optimizer"
_watched: Final[list[Any]] = []
_no_tape: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
MOST_ELEMENTS: Final = 2**24
"""Elements of initial values that may be pending: they are held twice until they are computed."""


class _Step(TrainingStep):
    """Begins where a tape is seen; `fresh`: variables' first values, `elements` of these."""

    def __init__(self) -> None:
        self.fresh: list[Node] = []
        self.elements = 0


step: Final = _Step()


def _is_under_way() -> bool:
    """Whether the thread is in a training step (see `automatic_cut.holds`)."""
    if not state.on:
        return False
    is_short = pending_nodes() <= STEP_NODES_BOUND
    if step.fresh:
        return is_short
    if not _no_tape():
        step.begin()
    if not (is_short and step.is_open()):
        return False
    thread.recorder.work = 0
    return True


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
            step.end("optimizer.apply()")
        return made

    optimizer.apply = apply
    _watched.extend([optimizer, original])


def leave_optimizers() -> None:
    """Put Keras's own method back."""
    if _watched:
        optimizer, original = _watched
        optimizer.apply = original
        _watched.clear()


def attach() -> None:
    """Be asked before automatic cuts."""
    automatic_cut.holds.append(_is_under_way)
