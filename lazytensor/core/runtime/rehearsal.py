"""The first runs of an executable, on zeros, before the user's.

XLA makes the kernels of a program's products in its first two runs, and the memory that it needs.
Both take longer than the run. Invariants: a rehearsal ends, as no loop depends on data; it needs
little memory; it calls nothing of the host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.device.backend import Executable, backend
from lazytensor.core.interpreter.work import has_op
from lazytensor.core.ir.program import Program

RUNS: Final = 2
"""Runs of which some part is done once only."""
MOST_BYTES: Final = 2**27
"""Bytes of inputs and intermediate results, at most: they come on top of the user's."""


def rehearse(executable: Executable, program: Program, data: Sequence[np.ndarray]) -> None:
    """Run an executable on zeros, and on these slots. An error is the user's run's to tell."""
    types = [program.instructions[i][3] for i in program.parameters]
    size = sum(type.nbytes for type in types) + executable.temporary_bytes()
    if executable.calls_back or program.meshes or size > MOST_BYTES:
        return
    if has_op(program, ops.while_):
        return
    device = backend()
    with suppress(Exception):
        for _ in range(RUNS):
            zeros = [np.zeros(type.shape, type.dtype) for type in types]
            given = [device.to_device(array, owned=True) for array in zeros]
            results = next(iter(executable.start([*given, *device.slots(data)])))
            for result in results:
                device.wait(result)
