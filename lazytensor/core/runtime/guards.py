"""Failures met while a program ran: an index out of range, a singular matrix.

A `guard` instruction checks a flag; a `guarded` value depends on it. When a flag is false, the
outputs that depend on it through `guarded` hold a Failure instead of a value, which is raised
again whenever one of them is observed; all others are as they should be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

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


class Failure:
    """Stands in a node for a value that could not be computed."""

    def __init__(self, error: type[Exception], text: str, place: Place | None) -> None:
        self.error = error
        self.text = text
        self.place = place

    def throw(self) -> NoReturn:
        """Raise the error, naming the line that recorded the operation."""
        raise self.error(f"{self.text} (recorded at {describe(self.place)})")


def failed(found: Cut, computed: tuple[int, ...], values: Sequence[Any]) -> dict[int, Failure]:
    """Per instruction that a false guard spoils: its failure. `values` of guards come last."""
    if not found.program.guards:
        return {}
    spoiled: dict[int, Failure] = {}
    for index, error, text, place in _violated(found, computed, values, warnings=False):
        spoiled[index] = Failure(error, text, place)
    if spoiled:
        for i, (op, operands, _, _) in enumerate(found.program.instructions):
            inherits = operands if op is not guard else ()
            for j in inherits:
                is_guard = found.program.instructions[j][0] is guard
                if j in spoiled and (op is guarded or not is_guard):
                    spoiled.setdefault(i, spoiled[j])
    return spoiled


def warn(found: Cut, computed: tuple[int, ...], values: Sequence[Any]) -> None:
    """Give the warnings of the guards that were false, at the lines that recorded them."""
    for _, error, text, place in _violated(found, computed, values, warnings=True):
        warn_at(place, text, cast(type[Warning], error))


def _violated(
    found: Cut, computed: tuple[int, ...], values: Sequence[Any], *, warnings: bool
) -> Iterator[tuple[int, type[Exception], str, Place | None]]:
    """The guards of one kind that were false: instruction, error, text, where it was recorded."""
    for index, flag in zip(found.program.guards, values[len(computed) :], strict=True):
        error, text = found.program.instructions[index][2]
        if issubclass(error, Warning) is warnings and not np.all(on_host(flag)):
            node = found.nodes[index]
            yield index, error, text, node.place if node is not None else None


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
