"""Every number of the four policies: when to cut, who runs a program, when to compile, and whether
recording pays.

Seconds and shares were measured on two processors; `python -m benchmarks.replay` judges them.
"""

from __future__ import annotations

from typing import Final

NODE_WORK: Final = 2**14
"""Work, in elements, that recording one node counts for."""
SHORT_LOOP_NODES: Final = 256
"""Nodes, scalars included, of a loop's body that is best compiled whole."""
ELEMENTS_BOUND: Final = 2 * SHORT_LOOP_NODES * NODE_WORK
"""Pending work, in elements, from which a graph is cut at the head of a loop."""
PENDING_NODES_BOUND: Final = 4000
"""Pending nodes from which a graph is cut wherever the program is."""
PROGRAM_NODES_BOUND: Final = 1500
"""Nodes of one program. A larger graph becomes several: XLA's compile time is superlinear."""
STEP_NODES_BOUND: Final = 60_000
"""The same for a training step: in pieces, all that its backward needs would be outputs, and XLA
compiles longer."""

SECONDS_PER_ELEMENT: Final = 2e-9
"""The host's seconds for an element of an operation's result."""
SECONDS_PER_OPERATION: Final = 3e-6
"""The host's seconds for an operation on no elements."""
SECONDS_PER_RECORDING: Final = 6e-7
"""Seconds to record an instruction and to look it up at a cut, by compiled code. Python takes about
those of an operation on no elements."""
SECONDS_PER_CALL: Final = 4e-5
"""Seconds to start a compiled program and to wait for it."""
COMPILE_SECONDS: Final = 0.08
"""Processor seconds of the smallest compile; those of the backend's import and of a load from disk
are about the same."""
COMPILE_SECONDS_PER_OPERATION: Final = 3e-3
"""Processor seconds that an operation adds to a compile. Half of 34 measured programs, of 1 to 450
operations, took between half and twice the sum."""

DEVICE_COMPILE_SECONDS: Final = 0.3
"""The same of a compile for a device that is not the host."""
DEVICE_COMPILE_SECONDS_PER_OPERATION: Final = 5e-3
"""The same that an operation adds to it."""
SECONDS_PER_BYTE: Final = 2e-10
"""Seconds to move a byte between the host's memory and such a device's."""

COMPILING_SHARE: Final = 0.3
"""Share of a compile's seconds that the host spends on a program before it is compiled. A compile
takes a processor, and a process may end before it pays."""
TRIALS: Final = 4
"""Runs of a tier, none clearly quicker than those before, after which its quickest counts."""
TRYING_SHARE: Final = 0.03
"""Share of a program's seconds that timing the slower tier may cost."""

EAGER_ELEMENTS: Final = 2**12
"""Elements of an operand, at most, for which the host computes a torch operation at once. It has to
have all elements. To record the operation, and to start a program, would take longer."""
EAGER_WEIGHTS: Final = 2**16
"""The same bound for products, and for operations that make or move tensors."""
EAGER_TABLE: Final = 2**20
"""The same bound for a matrix that few numbers are multiplied by, and for a table to look up in."""
LOSS_SECONDS: Final = 0.03
"""Seconds lost by recording, on balance, from which larger arrays stay the host framework's."""
LOOP_OPERATIONS: Final = 32
"""Operations, reads or writes in a row that count as a loop."""
