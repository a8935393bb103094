"""Programs: cut graphs, flat, immutable, comparable, printable.

A program is a tuple of instructions `(op, operands, attrs, type)`; operands are indices of earlier
instructions. Inputs are instructions too, at the place of their first use: `parameter` (a leaf's
buffer) and `slot` (scalars and slice starts, whose values are outside the program's identity; each
use is a slot of its own, so that equal numbers never change a program's shape). The order is the
order of recording, so a program reads like the user's source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core.ir.dtypes import short_name
from lazytensor.core.ir.graph import NumberedGraph, numbered
from lazytensor.core.ir.module_scope import modules
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import DATUM, PARAMETER, SLOT, Op
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.sharding import Mesh, Sharding
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import NUMPYS_AXES, TensorType

Instruction = tuple[Op[Any], tuple[int, ...], tuple[Any, ...], TensorType]
"""One line of a program: op, operands, attribute values, type."""


class Program:
    """A cut graph. Equal programs compute the same function of parameters and slots.

    `multiple` says whether the traced function gave several results (composites with one do not);
    `constants` are the slots' values where the program is a composite's body: there they are fixed.
    `shardings` are the parameters', if one is split over devices; None for one that every device
    has. `spread` is the mesh over which large results are split where nothing else says how.
    `places`, `modules` and `cut_at` are no part of its identity: where each instruction was
    recorded, in which module (see `core/ir/module_scope.py`), and what line asked for its results,
    the first time that it was met. Neither are `steps`, which the interpreter makes of it.
    """

    places: tuple[Place | None, ...] = ()
    modules: tuple[str, ...] = ()
    cut_at: Place | None = None
    steps: list[Any] | None = None
    takes: tuple[int, ...] | None = None

    def __init__(
        self,
        instructions: tuple[Instruction, ...],
        outputs: tuple[int, ...],
        multiple: bool = True,
        constants: tuple[Any, ...] = (),
        shardings: tuple[Sharding | None, ...] = (),
        spread: Mesh | None = None,
    ) -> None:
        self.instructions = instructions
        self.outputs = outputs
        self.multiple = multiple
        self.constants = constants
        self.shardings = shardings
        self.spread = spread
        self.placement = shardings, spread
        self._hash = hash((instructions, outputs, self.placement))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.outputs == other.outputs
            and self.instructions == other.instructions
            and self.placement == other.placement
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def parameters(self) -> tuple[int, ...]:
        """Indices of the parameter instructions."""
        return tuple(i for i, line in enumerate(self.instructions) if line[0] is PARAMETER)

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """Indices of the slot instructions."""
        return tuple(i for i, line in enumerate(self.instructions) if line[0] in SLOTS)

    @cached_property
    def slot_places(self) -> dict[int, tuple[np.dtype, int]]:
        """Per slot instruction: the dtype of its packed buffer, and where in it the slot starts."""
        lengths: dict[np.dtype, int] = {}
        places = {}
        for i in self.slots:
            type = self.instructions[i][3]
            at = lengths.get(type.dtype, 0)
            places[i] = type.dtype, at
            lengths[type.dtype] = at + type.size
        return places

    @cached_property
    def packing(self) -> tuple[tuple[np.dtype, Callable[[list[Any]], Sequence[Any]], bool], ...]:
        """Per dtype: what picks its slots from all values, and whether some are vectors."""
        positions: dict[np.dtype, list[int]] = {}
        for position, (dtype, _) in enumerate(self.slot_places.values()):
            positions.setdefault(dtype, []).append(position)
        vectors = {type.dtype for i in self.slots if (type := self.instructions[i][3]).ndim}
        return tuple((t, _picker(found), t in vectors) for t, found in positions.items())

    @cached_property
    def data(self) -> dict[np.dtype, np.ndarray]:
        """Per dtype of a packed buffer: where in it the slots are that are data from the start."""
        found: dict[np.dtype, list[bool]] = {}
        for i, (dtype, _) in self.slot_places.items():
            op, *_, type = self.instructions[i]
            found.setdefault(dtype, []).extend([op is DATUM] * type.size)
        return {dtype: np.array(flags, bool) for dtype, flags in found.items()}

    @cached_property
    def guards(self) -> tuple[int, ...]:
        """Indices of the instructions whose flag must be true."""
        return tuple(
            i for i, line in enumerate(self.instructions) if Trait.CHECKS in line[0].traits
        )

    @property
    def has_verdict(self) -> bool:
        """Whether an executable's last result says if all guards held: to ask one is cheaper."""
        return len(self.guards) > 1

    @cached_property
    def meshes(self) -> tuple[Mesh, ...]:
        """The meshes that its values are split over, each once."""
        found: dict[Mesh, None] = {} if self.spread is None else {self.spread: None}
        found.update((s.mesh, None) for s in self.shardings if s is not None)
        for _, _, attrs, _ in self.instructions:
            found.update((a.mesh, None) for a in attrs if isinstance(a, Sharding))
        return tuple(found)

    @cached_property
    def homes(self) -> dict[int, tuple[Mesh, ...]]:
        """By instruction, the meshes of its operands and of its own sharding; one if it can run.

        An instruction without one is computed of nothing that is bound to a mesh.
        """
        pairs = zip(self.parameters, self.shardings, strict=False)
        found: dict[int, tuple[Mesh, ...]] = {at: (s.mesh,) for at, s in pairs if s is not None}
        for at, (_, operands, attrs, _) in enumerate(self.instructions):
            given = [found[i][0] for i in operands if i in found]
            given += [a.mesh for a in attrs if isinstance(a, Sharding)]
            if given:
                found[at] = tuple({mesh.devices: mesh for mesh in given}.values())
        return found

    @cached_property
    def needs_backend(self) -> bool:
        """Whether the host cannot run it: it runs on a mesh, or has more axes than NumPy's arrays.

        The host would gather what is split, and split no result.
        """
        ranks = (getattr(type, "ndim", 0) for *_, type in self.instructions)
        return bool(self.meshes) or any(n > NUMPYS_AXES for n in ranks)

    @cached_property
    def results(self) -> tuple[int, ...]:
        """What running the program returns: the outputs, then the guards."""
        return self.outputs + self.guards

    @cached_property
    def last_uses(self) -> list[list[int]]:
        """Per instruction: the values that no later instruction or output needs."""
        found: list[list[int]] = [[] for _ in self.instructions]
        seen = set(self.results)
        for i in range(len(self.instructions) - 1, -1, -1):
            for j in self.instructions[i][1]:
                if j not in seen:
                    seen.add(j)
                    found[i].append(j)
        return found

    @cached_property
    def largest_output(self) -> int:
        """Bytes of the largest output."""
        return max((self.instructions[i][3].nbytes for i in self.outputs), default=0)

    @cached_property
    def size(self) -> int:
        """Number of instructions that compute."""
        return sum(line[0] not in INPUTS for line in self.instructions)

    def __str__(self) -> str:
        lines, shardings = [], iter(self.shardings)
        for i, (op, operands, attrs, type) in enumerate(self.instructions):
            said = [f"%{j}" for j in operands]
            if op is PARAMETER and (sharding := next(shardings, None)) is not None:
                said.append(str(sharding))
            said += [f"{name}={shown(v)}" for name, v in zip(op.attributes, attrs, strict=True)]
            lines.append(f"  %{i}: {shown(type)} = {op.name}({', '.join(said)})")
        results = ", ".join(f"%{i}" for i in self.outputs)
        head = "program {" if self.spread is None else f"program over {self.spread} {{"
        return "\n".join([head, *lines, f"  return {results}", "}"])

    __repr__ = __str__


SLOTS = frozenset([SLOT, DATUM])
INPUTS = SLOTS | {PARAMETER}


def size_of(type: Any) -> int:
    """Elements of a type; of a tuple of types, all of theirs."""
    return sum(t.size for t in type) if isinstance(type, tuple) else int(type.size)


def shown(value: Any) -> str:
    """A type or an attribute's value, as programs print it."""
    if isinstance(value, np.dtype):
        return short_name(value)
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    return str(value)


class Cut(NamedTuple):
    """A program with what belongs to this one run of it, each in the program's order."""

    program: Program
    nodes: list[Node | None]
    leaves: list[Node]
    slots: list[Any]

    def places(self) -> tuple[Place | None, ...]:
        """Where each instruction was recorded; of a parameter, where its array was."""
        leaves = iter(self.leaves)
        lines = zip(self.nodes, self.program.instructions, strict=True)
        recorded = (next(leaves) if line[0] is PARAMETER else node for node, line in lines)
        return tuple(None if node is None else node.place for node in recorded)

    def note(self, cut_at: Place | None) -> None:
        """Keep with the program, which is new, where it came from."""
        self.program.places, self.program.cut_at = self.places(), cut_at
        self.program.modules = modules(self.nodes)


def _picker(positions: list[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """What picks the values at these positions."""
    first, last = positions[0], positions[-1] + 1
    if len(positions) == last - first:
        return itemgetter(slice(first, last))
    return itemgetter(*positions)


@cache
def _input(op: Op, type: TensorType) -> Instruction:
    """The line of an input; one object, as comparing and hashing programs is faster so."""
    return op, (), (), type


def program_of(
    graph: NumberedGraph,
    shardings: tuple[Sharding | None, ...] = (),
    spread: Mesh | None = None,
) -> Program:
    """The program of a numbered graph. shardings: the leaves'. spread: see `Program`."""
    numbers = iter(memoryview(graph.key).cast("i")[1:])
    lines: list[Instruction] = []

    def line_of(node: Node, op: Op) -> int:
        """The number of a node's line, which is made if the node is an input that is new."""
        index = next(numbers)
        if index < 0:
            index = len(lines)
            lines.append(_input(op, node.type))
        return index

    for node in graph.recorded:
        if node.op is PARAMETER:
            line_of(node, PARAMETER)
            continue
        next(numbers), next(numbers)  # the signature, and how many operands there are
        operands = [line_of(x, x.op if x.op in SLOTS else PARAMETER) for x in node.operands]
        lines.append((node.op, tuple(operands), node.attrs, node.type))
    outputs = tuple([line_of(node, PARAMETER) for node in graph.outputs])
    return Program(tuple(lines), outputs, shardings=shardings, spread=spread)


def cut(nodes: list[Node], outputs: Sequence[Node]) -> Cut:
    """The program that computes `outputs`; `nodes` are what `reachable` gave for them."""
    graph = numbered(nodes, outputs)
    return Cut(program_of(graph), graph.nodes, graph.leaves, graph.slots)
