"""What the host is better at: which instructions of a program, and what they need before."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.device.backend import backend
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import INPUTS, Cut, Program, size_of
from lazytensor.core.ir.trait import SHOWING, Trait
from lazytensor.core.policy import NODE_WORK
from lazytensor.core.runtime.program_cache import Entry


class HostPart(NamedTuple):
    """The instructions of a program that the host is to run.

    `is_all`: all others cost next to nothing, so that the host runs the whole.
    """

    instructions: tuple[int, ...]
    is_all: bool


def host_instructions(entry: Entry) -> tuple[int, ...]:
    """The instructions of a program that the host is to run. Imports the backend."""
    if entry.host is None:
        entry.host, entry.hosted = host_part(entry.program)
    return entry.host


def needed_before(host: tuple[int, ...], found: Cut) -> list[Node]:
    """What must be computed before the host can run these instructions.

    That is everything that does not depend on them and that somebody, or something that does
    depend on them, needs: it makes one program.
    """
    after = set(host)
    before: dict[Node, None] = {}
    for i, (_, operands, _, _) in enumerate(found.program.instructions):
        if i in after or not after.isdisjoint(operands):
            after.add(i)
            before.update((n, None) for j in operands if j not in after and (n := found.nodes[j]))
    outputs = (i for i in found.program.outputs if i not in after)
    before.update((n, None) for i in outputs if (n := found.nodes[i]))
    return [node for node in before if node.value is None]


def may_share(program: Program) -> tuple[int, ...]:
    """What the host may do faster than XLA, if few elements are chosen: the end of a program."""
    lines = program.instructions
    host = {i for i, (op, *_) in enumerate(lines) if Trait.CHOOSES in op.traits}
    needed = {j for i, (_, operands, _, _) in enumerate(lines) if i not in host for j in operands}
    if program.guards or not host.isdisjoint(needed):
        return ()
    return tuple(sorted(host))


def host_part(program: Program) -> HostPart:
    """What the host does faster, and what only looks at its operands and results."""
    chosen = _chosen(program, alone=True)
    rest = (i for i in range(len(program.instructions)) if i not in chosen)
    is_all = bool(chosen) and sum(_work(program, i) for i in rest) < sum(chosen.values())
    host = set(chosen if is_all else _chosen(program, alone=False))
    _add_views(program, host)
    return HostPart(tuple(sorted(host)), is_all)


def _chosen(program: Program, alone: bool) -> dict[int, int]:
    """What the host does faster, and how many elements of other work are nothing beside it."""
    lines = program.instructions
    takes = backend().runs_on_host
    found = {}
    for i, (op, operands, attrs, _) in enumerate(lines):
        beside = takes(op, [lines[j][3] for j in operands], attrs, alone=alone)
        if beside:
            found[i] = beside
    return found


def _work(program: Program, index: int) -> int:
    """Elements that an instruction works on; 0 of views and few elements, nothing to NumPy."""
    op, operands, _, type = program.instructions[index]
    if op in INPUTS or op.traits & SHOWING:
        return 0
    types = [type, *(program.instructions[j][3] for j in operands[Trait.PICKS in op.traits :])]
    most = max(map(size_of, types))
    return most if most > NODE_WORK else 0


def _add_views(program: Program, host: set[int]) -> None:
    """Views of what the host has made, and those that only the host looks at, are the host's."""
    if not host:
        return
    users: dict[int, set[int]] = {}
    for i, (op, operands, _, _) in enumerate(program.instructions):
        for j in operands:
            users.setdefault(j, set()).add(i)
        if Trait.RESHAPES in op.traits and operands[0] in host:
            host.add(i)
    outputs = set(program.outputs)
    for i in reversed(range(len(program.instructions))):
        op = program.instructions[i][0]
        if Trait.RESHAPES in op.traits and i not in outputs and users.get(i, host) <= host:
            host.add(i)
