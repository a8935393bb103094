"""Steps end by themselves: an optimizer's `step()` cuts the graph, and nothing before it does.

There is no automatic cut while gradients are recorded or computed, or an optimizer works (see
`core/trace/training_step.py`).
Where a backward's gradients are kept for more to be added, the graph is cut once the next
forward begins, if a second one would make it too large: then there is one program for each round.
Without gradients (`torch.no_grad`) the core cuts, at the heads of the user's loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from sys import _getframe
from typing import Any, Final

import torch
from torch.autograd.variable import Variable
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from lazytensor.core.ir.recording import thread
from lazytensor.core.policy import PENDING_NODES_BOUND, PROGRAM_NODES_BOUND
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace import automatic_cut
from lazytensor.core.trace.training_step import NEVER_CUT, TrainingStep, pending_nodes
from lazytensor.frontends.torch.dispatch.eager import is_at_hand
from lazytensor.frontends.torch.rows.creation import stepping
from lazytensor.frontends.torch.tensors.tensor import is_lazy, node

_step: Final = TrainingStep()
"""Begins where a backward of the thread ends: another forward or the optimizer's step follows."""


def _is_recording() -> bool:
    """Whether it is a torch operation that is being recorded, and not another frontend's."""
    frame = _getframe(2)
    while frame.f_back is not None and not frame.f_globals["__name__"].startswith(_FRONTENDS):
        frame = frame.f_back
    return frame.f_globals["__name__"].startswith(_TORCH_MODULES)


_FRONTENDS: Final = "lazytensor.frontends."
_TORCH_MODULES: Final = f"{_FRONTENDS}torch."


def _is_differentiated() -> bool:
    """Whether gradients are recorded: within a `Function`'s forward torch says they are not."""
    if torch.is_grad_enabled():
        return True
    frame: Any = _getframe(2)
    while frame is not None:
        if frame.f_code is _APPLY:
            return True
        frame = frame.f_back
    return False


_APPLY: Final = torch.autograd.Function.apply.__func__.__code__


def _is_under_way() -> bool:
    """Whether the thread is in a step, whose end cuts the graph (see `automatic_cut.holds`)."""
    if not _is_recording():
        return False
    recorder = thread.recorder
    if stepping.optimizer:
        recorder.work = NEVER_CUT
        return True
    if torch._C._current_graph_task_id() != -1:
        recorder.work = NEVER_CUT
        Variable._execution_engine.queue_callback(_end_backward)
        return True
    pending = pending_nodes()
    if _step.is_open():
        if not torch.is_grad_enabled():
            return True  # gradients are clipped or looked at: a step may follow
        _step.leave()
        if pending > PROGRAM_NODES_BOUND // 2:
            automatic_cut.cut()
    elif pending > PENDING_NODES_BOUND or not _is_differentiated():
        return False
    recorder.work = 0
    return True


def _end_backward() -> None:
    """Gradients are there: ask at the next operation whether the graph is to be cut."""
    recorder = thread.recorder
    _step.begin()
    recorder.work, recorder.passed = automatic_cut.enough() + 1, None


def _is_ours(optimizer: Any) -> bool:
    return any(is_lazy(p) for group in optimizer.param_groups for p in group["params"][:1])


def _starting(original: Callable[..., None]) -> Callable[..., None]:
    """An optimizer's `__init__`, after which parameters have values.

    How a model that was made on the device begins is no part of a step: the first step would be a
    program of its own.
    """

    @wraps(original)
    def init(self: Any, params: Any, defaults: dict[str, Any]) -> None:
        original(self, params, defaults)
        every = (p for group in self.param_groups for p in group["params"])
        own = (p for p in every if is_lazy(p) and not is_traceable_wrapper_subclass(p))
        if any(not is_at_hand(p) and node(p).value is None for p in own):
            scheduler.sync(cause="initial values of parameters")

    return init


def _begin_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    stepping.call = _getframe(1) if _is_ours(optimizer) else None


def _end_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    """The graph is cut, so that the next step repeats it."""
    if stepping.call is not None:
        stepping.call = None
        _step.end("optimizer.step()", defers=True)


def attach() -> None:
    """Be told of optimizers' steps, and asked before automatic cuts."""
    automatic_cut.holds.append(_is_under_way)
    torch.optim.Optimizer.__init__ = _starting(torch.optim.Optimizer.__init__)
    register_optimizer_step_pre_hook(_begin_step)
    register_optimizer_step_post_hook(_end_step)
