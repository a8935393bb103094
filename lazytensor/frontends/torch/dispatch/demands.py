"""The guards of a traced program, moved out to each call: a composite's body cannot have guards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Instruction, Program


class Demands(NamedTuple):
    """The guards of a program whose last results are their flags.

    kinds: for each flag, its guard's attributes. needing: which other results depend on flags.
    """

    kinds: tuple[dict[str, Any], ...] = ()
    needing: tuple[bool, ...] = ()

    def met(self, results: Sequence[Node]) -> Sequence[Node]:
        """The results without the flags; those that depend on the flags are guarded by them."""
        if not self.kinds:
            return results
        flags = zip(results[len(self.needing) :], self.kinds, strict=True)
        oks = [ops.guard(flag, **kind) for flag, kind in flags]
        ok = reduce(ops.guarded, oks)
        return [
            ops.guarded(x, ok) if needs else x
            for x, needs in zip(results, self.needing, strict=False)
        ]


def demands(program: Program, hold: bool = False) -> tuple[Program, Demands]:
    """The program without its guards; their flags become results, unless all `hold`."""
    if not program.guards:
        return program, Demands()
    lines: list[Instruction] = []
    places: list[int] = []
    needs: list[bool] = []
    for op, operands, attrs, type in program.instructions:
        needs.append(op is ops.guarded or any(needs[j] for j in operands))
        if op is ops.guard or op is ops.guarded:
            places.append(places[operands[0]])
        else:
            places.append(len(lines))
            lines.append((op, tuple([places[j] for j in operands]), attrs, type))
    flags = () if hold else program.guards
    outputs = tuple([places[i] for i in (*program.outputs, *flags)])
    kinds = tuple(
        [dict(zip(ops.guard.attributes, program.instructions[i][2], strict=True)) for i in flags]
    )
    made = Program(tuple(lines), outputs, program.multiple, program.constants)
    return made, Demands(kinds, tuple([needs[i] for i in program.outputs]) if flags else ())
