"""Failures met while a program ran: an index out of range, a singular matrix.

A `guard` instruction checks a flag; a `guarded` value depends on it. When a flag is false, the
outputs that depend on it through `guarded` hold a Failure instead of a value, which is raised
again whenever one of them is observed; all others are as they should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, cast

from lazytensor.core.device import host_memory
from lazytensor.core.device.backend import on_host
from lazytensor.core.errors import OutOfMemory
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.source_location import describe
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.ops.guard import guard, guarded

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node
    from lazytensor.core.ir.program import Cut


class Violation(NamedTuple):
    """A guard that was false: its instruction, error and text, and where it was recorded."""

    instruction: int
    error: type[Exception]
    text: str
    place: Place | None


class Failure:
    """Stands in a node for a value that could not be computed."""

    def __init__(self, error: type[Exception], text: str, place: Place | None) -> None:
        self.error = error
        self.text = text
        self.place = place

    def throw(self) -> NoReturn:
        """Raise the error, naming the line that recorded the operation."""
        raise self.error(f"{self.text} (recorded at {describe(self.place)})")


class Outcome(NamedTuple):
    """What the guards of a run have found.

    failed: per instruction that a false guard spoils, its failure. warnings: those to give.
    """

    failed: dict[int, Failure] = {}
    warnings: Sequence[Violation] = ()

    def tell(self) -> None:
        """Give the warnings, at the lines that recorded them, and raise the first failure."""
        for _, error, text, place in self.warnings:
            warn_at(place, text, cast(type[Warning], error))
        if self.failed:
            self.failed[min(self.failed)].throw()


FINE: Final = Outcome()


def outcome(found: Cut, computed: tuple[int, ...], values: Sequence[Any]) -> Outcome:
    """What a run's guards have found. values: its results; those of guards come last."""
    if not found.program.guards:
        return FINE
    violations = _violations(found, values[len(computed) :])
    if not violations:
        return FINE
    failures = [x for x in violations if not issubclass(x.error, Warning)]
    warnings = [x for x in violations if issubclass(x.error, Warning)]
    return Outcome(_spoiled(found, failures), warnings)


def _spoiled(found: Cut, failures: Sequence[Violation]) -> dict[int, Failure]:
    """The failure of each instruction that depends on a false guard."""
    spoiled = {x.instruction: Failure(x.error, x.text, x.place) for x in failures}
    if spoiled:
        for i, (op, operands, _, _) in enumerate(found.program.instructions):
            inherits = operands if op is not guard else ()
            for j in inherits:
                is_guard = found.program.instructions[j][0] is guard
                if j in spoiled and (op is guarded or not is_guard):
                    spoiled.setdefault(i, spoiled[j])
    return spoiled


def _violations(found: Cut, flags: Sequence[Any]) -> list[Violation]:
    """The guards that were false. flags: theirs, and the verdict if the backend gives one."""
    guards = found.program.guards
    if len(flags) > len(guards) and on_host(flags[-1]):
        return []
    made = []
    for index, flag in zip(guards, flags, strict=False):
        if not on_host(flag):
            node = found.nodes[index]
            error, text = found.program.instructions[index][2]
            place = node.place if node is not None else None
            made.append(Violation(index, error, text, place))
    return made


def oversized(found: Cut, outputs: list[Node]) -> Failure:
    """Settle the outputs that do not fit in memory, as failures; the one recorded first."""
    made, most = {}, host_memory.most()
    for node, index in zip(outputs, found.program.outputs, strict=True):
        if found.program.instructions[index][3].nbytes > most:
            type, size = node.type, host_memory.in_words(node.type.nbytes)
            text = f"Unable to allocate {size} for an array with shape {type.shape}"
            made[index] = Failure(OutOfMemory, f"{text} and data type {type.dtype}", node.place)
            node.settle(made[index])
    return made[min(made)]


def spread(found: Cut, outputs: list[Node]) -> None:
    """Settle the outputs that need a failed leaf, as failures."""
    lines = found.program.instructions
    leaves = iter(found.leaves)
    spoiled: dict[int, Failure] = {}
    parameters = set(found.program.parameters)
    for i, (_, operands, _, _) in enumerate(lines):
        if i in parameters:
            value = next(leaves).value
            if isinstance(value, Failure):
                spoiled[i] = value
        for j in operands:
            if j in spoiled:
                spoiled.setdefault(i, spoiled[j])
    for node, index in zip(outputs, found.program.outputs, strict=True):
        if index in spoiled:
            node.settle(spoiled[index])
