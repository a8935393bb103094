"""Which inputs a program may overwrite with which outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lazytensor.core.program import Program

SMALLEST: Final = 16 * 1024
"""Bytes under which giving a buffer back to the allocator costs nothing worth saving."""


def donations(program: Program, owned: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    """Pairs (position among the parameters, position among the outputs).

    `owned` says which parameters nobody else needs. A parameter goes to the output that updates
    it in place, if there is one, and else to any output of its type: even where XLA has to copy,
    a fresh buffer's page faults would cost more.
    """
    lines = program.instructions
    free = {
        index: position
        for position, index in enumerate(program.parameters)
        if owned[position] and lines[index][3].nbytes >= SMALLEST
    }
    pairs = {}
    for at, output in enumerate(program.outputs):
        base = _base(program, output)
        if base in free and lines[base][3] is lines[output][3]:
            pairs[at] = free.pop(base)
    for at, output in enumerate(program.outputs):
        if at not in pairs:
            match = next((i for i in free if lines[i][3] is lines[output][3]), None)
            if match is not None:
                pairs[at] = free.pop(match)
    return tuple((position, at) for at, position in pairs.items())


def _base(program: Program, index: int) -> int:
    """The instruction that `index` is an updated version of."""
    while program.instructions[index][0].name == "update_slice":
        index = program.instructions[index][1][0]
    return index
