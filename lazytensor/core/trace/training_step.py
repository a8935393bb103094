"""A training step: one program, from its first operation to the last of its optimizer.

An automatic cut within a step would make two programs of it, and outputs of all that its backward
needs. The protocol is the same for every frontend:

1. The frontend appends a function to `automatic_cut.holds`. It says whether the thread is in a
   step, and then sets the recorder's `work` to when it is to be asked again: 0, or `NEVER_CUT`.
2. `begin` marks where a step is known to have begun. It `is_open` until the next cut, whatever
   causes that.
3. `end` cuts the graph where the step ends, so that the next step repeats it. All of it is one
   program, up to `STEP_NODES_BOUND`.

The initial values of parameters are no part of a step, and are computed before it: the first step
would be another program than the next.
"""

from __future__ import annotations

import threading
from typing import Final

from lazytensor.core.ir.recording import nodes_made, thread
from lazytensor.core.policy import STEP_NODES_BOUND
from lazytensor.core.runtime import replay_call, scheduler
from lazytensor.core.runtime.replay_call import Call
from lazytensor.core.runtime.run import Run

NEVER_CUT: Final = -(2**62)
"""A recorder's work with which it does not ask for an automatic cut."""


class TrainingStep(threading.local):
    """Where each thread is in a step of one frontend; `serial`: its recorder's at the begin."""

    serial = -1

    def begin(self) -> None:
        """From here to the next cut the thread is in a step."""
        self.serial = thread.recorder.serial

    def leave(self) -> None:
        """The thread is in no step, and nothing is cut."""
        self.serial = -1

    def is_open(self) -> bool:
        """Whether nothing was cut since the step has begun."""
        return self.serial == thread.recorder.serial

    def end(self, cause: str, call: Call | None = None, defers: bool = False) -> None:
        """Cut the graph; `call`: what may be all of it, to be replayed the next time.

        defers: the nodes may get their values later.
        """
        self.serial = -1
        runs: list[Run] | None = None if call is None else []
        scheduler.sync(cause=cause, largest=STEP_NODES_BOUND, runs=runs, defers=defers)
        if call is not None and runs is not None:
            replay_call.learn(call, runs)


def pending_nodes() -> int:
    """How many nodes the thread has recorded since the last cut."""
    return nodes_made() - thread.recorder.serial
