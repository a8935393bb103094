"""What happened: each cut, where it was caused and why it was compiled, and each fallback."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from lazytensor.core.node import Node
from lazytensor.core.place import Place, describe
from lazytensor.core.program import Program

KEPT: Final = 10_000


class Event(NamedTuple):
    """One program of a cut.

    `reason` is why it was compiled; empty if it was not. `seconds`: from the start of cutting it
    to its results, or until XLA had been told to run it (see `Settings.wait`). `runs`: how often
    the same program had run before.
    """

    place: Place | None
    cause: str
    size: int
    how: str
    reason: str
    seconds: float
    runs: int


class Fallback(NamedTuple):
    """One call that the host framework answered; `seconds` without the cut that it caused."""

    place: Place | None
    name: str
    seconds: float


events: Final[deque[Event]] = deque(maxlen=KEPT)
fallbacks: Final[deque[Fallback]] = deque(maxlen=KEPT)
listeners: Final[list[Callable[[Event | Fallback], None]]] = []
"""Called with each event as it happens, on the stack of the user's line that caused it."""


def record(event: Event | Fallback) -> None:
    """Keep an event, and tell those who listen."""
    if isinstance(event, Event):
        events.append(event)
    else:
        fallbacks.append(event)
    for listen in listeners:
        listen(event)


def clear() -> None:
    """Forget what happened."""
    events.clear()
    fallbacks.clear()


def report() -> str:
    """Equal events on one line with their number, in the order in which they first happened."""
    numbers: dict[tuple[str, str, int, str, str], int] = {}
    for place, cause, size, how, reason, *_ in events:
        key = (describe(place), cause, size, how, reason)
        numbers[key] = numbers.get(key, 0) + 1
    lines = []
    for (place_text, cause, size, how, reason), times in numbers.items():
        lines.append(f"{times:>6} × {cause} at {place_text}: {size} operations, {how}")
        if reason:
            lines.append(f"         {reason}")
    calls = Counter((name, describe(place)) for place, name, _ in fallbacks)
    lines += [f"{n:>6} × {name} at {where}: not lazy" for (name, where), n in calls.items()]
    return "\n".join(lines) or "nothing was cut yet"


def difference(program: Program, nodes: Sequence[Node | None], known: Sequence[Program]) -> str:
    """What sets `program` apart from the nearest of `known`, with the line that recorded it."""
    nearest, likeness = None, (0, 0)
    for other in known:
        alike = _likeness(program, other)
        if alike >= likeness:
            nearest, likeness = other, alike
    if nearest is None or 2 * likeness[0] < min(
        len(program.instructions), len(nearest.instructions)
    ):
        return "the first program of its kind"
    prefix = likeness[1]
    if prefix == len(program.instructions) == len(nearest.instructions):
        return _live_difference(program, nodes, nearest)
    return _first_difference(program, nodes, nearest, prefix)


def _likeness(program: Program, other: Program) -> tuple[int, int]:
    """How many from the start are equal but for attributes and types; how many are equal."""
    equal = count = 0
    for mine, theirs in zip(program.instructions, other.instructions, strict=False):
        if mine[:2] != theirs[:2]:
            break
        equal += count == equal and mine == theirs
        count += 1
    return count, equal


def _live_difference(program: Program, nodes: Sequence[Node | None], nearest: Program) -> str:
    """Which result is live in one of two programs with the same instructions."""
    for found, other, verb in ((program, nearest, "is live"), (nearest, program, "is dead")):
        for index in sorted(set(found.outputs) - set(other.outputs)):
            node = nodes[index]
            where = f" at {describe(node.place)}" if node is not None else ""
            return f"the result of {program.instructions[index][0].name}{where} {verb} now"
    if program.outputs != nearest.outputs:
        return "the same results are live in another order"
    return "the same program, compiled for other donations"


def _first_difference(
    program: Program, nodes: Sequence[Node | None], nearest: Program, at: int
) -> str:
    if at >= len(program.instructions):
        return f"{len(nearest.instructions) - at} operations fewer at the end"
    op, _, attrs, type = program.instructions[at]
    users = (n for n in nodes[at:] if n is not None)
    node = nodes[at] or next(users, None)
    where = f" at {describe(node.place)}" if node is not None else ""
    if at >= len(nearest.instructions):
        return f"{len(program.instructions) - at} operations more, from {op.name}{where}"
    other_op, _, other_attrs, other_type = nearest.instructions[at]
    if op is not other_op:
        return f"{op.name} instead of {other_op.name}{where}"
    if type is not other_type:
        return f"{op.name} of type {type} instead of {other_type}{where}"
    if attrs != other_attrs:
        changed = ", ".join(
            f"{name}={new} instead of {old}"
            for name, new, old in zip(op.attributes, attrs, other_attrs, strict=True)
            if new != old
        )
        return f"{op.name} with {changed}{where}"
    return f"{op.name} of other operands{where}"
