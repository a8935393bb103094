"""Values that several loops need are stored once, if computing them again would cost more.

XLA puts elementwise operations, and their operands' operations, into every loop that needs their
results: a network's gradients were computed again in each layer, from the last layer on. Here such
a value becomes the result of a called function, which is computed once and read from memory.

A loop that is too long for LLVM to optimize is cut in two as well: a loop of several thousand
operations runs much slower than two loops of half the length.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla.builder import keep_apart
from lazytensor.core.device import gil

LOOP: Final = 2**14
"""Cost of one more loop, in cheap operations."""
CACHED_RATIO: Final = 8
"""An operand with this many times fewer elements than the result is read from a cache."""
READ: Final = 8
"""Cost of reading an element from memory, in cheap operations."""
STORING: Final = 3 * READ
"""Cost of storing an element and reading it in two loops."""
READING: Final = 2 * READ
"""Cost of reading an element in two loops, if it is stored anyway."""
LONG, LONGEST = 3500, 5000
"""Least and greatest number of operations after which a loop is cut in two, at the place between
where later operations need the fewest values."""
STORED_VALUES_BOUND: Final = 1
"""Most values that such a cut stores: the loop of one of two would compute the other as well."""
MOST: Final = 1000
"""Upper bound of a cost; higher ones make no difference."""
APART: Final = frozenset(
    [
        "custom_call", "case", "cholesky", "convolution", "dot_general", "dynamic_update_slice",
        "fft", "if", "reduce", "reduce_window", "rng_bit_generator",
        "scatter", "select_and_scatter", "sort", "triangular_solve", "while",
    ]
)  # fmt: skip
"""Operations whose results are in memory. Only those in REDUCING can compute their operands in
their own loop."""
REDUCING: Final = frozenset(["reduce", "reduce_window"])
COSTS: Final = {
    "constant": 0,
    "optimization_barrier": 0,  # XLA drops them before it makes loops
    "reshape": 0,
    "divide": 4,
    "rsqrt": 4,
    "sqrt": 4,
} | dict.fromkeys(
    [
        "abs", "add", "and", "broadcast_in_dim", "ceil", "clamp", "compare", "complex", "convert",
        "floor", "imag", "iota", "is_finite", "maximum", "minimum", "multiply", "negate", "not",
        "or", "pad", "real", "reduce_precision", "reverse", "select", "shift_left",
        "shift_right_arithmetic", "shift_right_logical", "sign", "slice", "subtract", "transpose",
        "xor",
    ],
    1,
)  # fmt: skip
"""Cost of an operation per element; FUNCTION for those not listed."""
FUNCTION: Final = 16


class _Node:
    """An operation in the graph of uses.

    `joins`: the nearest operation in which all uses of the result come together, None if there is
    none. `depth`: the length of the chain of these operations, itself included.
    """

    __slots__ = ("depth", "joins")

    def __init__(self) -> None:
        self.joins: _Node | None = None
        self.depth = 1


class _Loop(_Node):
    """An operation that is computed within the loops that need its result.

    `at`: its position. `cost`: of computing an element from the values `read` from memory. `kept`:
    whether the result, of `size` elements, is in memory anyway.
    """

    __slots__ = ("at", "cost", "kept", "op", "read", "size", "users")

    def __init__(self, op: Any, at: int) -> None:
        super().__init__()
        self.op = op
        self.at = at
        self.size = _size(op.results[0])
        self.users: list[_Node] = []
        self.kept = False
        self.cost = 0
        self.read: frozenset[Any] = frozenset()


Loops = dict[Any, _Loop]
"""Per result, its operation."""


def store_shared(module: ir.Module, block: ir.Block) -> None:
    """Move values that several loops would compute to loops of their own."""
    loops: Loops = {}
    for at, line in enumerate(block.operations):
        op = line.operation
        name = op.name.rpartition(".")[2]
        is_loop = not op.name.startswith("func") and name not in APART and len(op.results) == 1
        node = _Loop(op, at) if is_loop else _Node()
        for operand in op.operands:
            needed = loops.get(operand)
            if needed is not None:
                needed.users.append(node)
                needed.kept = needed.kept or not (is_loop or name in REDUCING)
        if isinstance(node, _Loop):
            loops[op.results[0]] = node
    for node in reversed(loops.values()):
        _join(node)
    if len(loops) > LONGEST:
        _shorten(module, loops)
    for number, node in enumerate(loops.values()):
        gil.rest()
        _price(node, loops)
        if _is_better_stored(node):
            _outline(module, f"stored_{number}", node, loops)


def _shorten(module: ir.Module, loops: Loops) -> None:
    """Store values in the middle of loops that are too long."""
    for node in loops.values():
        gil.rest()
        _price(node, loops)
    for number, node in enumerate(_between(loops)):
        if len(_loop_of(node, loops)[0]) > LONG // 2:
            _outline(module, f"between_{number}", node, loops)


def _between(loops: Loops) -> list[_Loop]:
    """The values to store so that no loop has more than `LONGEST` operations."""
    nodes = [node for node in loops.values() if node.read]
    last: dict[_Loop, int] = {}
    for i, node in enumerate(nodes):
        last |= dict.fromkeys((loops[x] for x in node.op.operands if x in loops), i)
    ending: dict[int, list[_Loop]] = {}
    for node, i in last.items():
        ending.setdefault(i, []).append(node)
    found: list[_Loop] = []
    needed: set[_Loop] = set()
    fewest: set[_Loop] | None = None
    start = end = 0
    for i, node in enumerate(nodes):
        if node in last and not node.kept:
            needed.add(node)
        needed.difference_update(ending.get(i, ()))
        if i - start > LONG and (fewest is None or len(needed) < len(fewest)):
            fewest, end = set(needed), i
        if i - start >= LONGEST and fewest is not None:
            found += fewest if len(fewest) <= STORED_VALUES_BOUND else ()
            start, fewest = end, None
    return found


def _join(node: _Loop) -> None:
    """Find the operation in which all uses of the node's result come together."""
    if not node.users:
        return
    found: _Node | None = node.users[0]
    for user in node.users[1:]:
        other: _Node | None = user
        while found is not other:
            if found is None or other is None:
                return
            if found.depth >= other.depth:
                found = found.joins
            else:
                other = other.joins
    if found is not None:
        node.joins, node.depth = found, found.depth + 1


def _price(node: _Loop, loops: Loops) -> None:
    """Set the cost of an element of the result, and the values that it is computed from."""
    node.read = frozenset()
    node.cost = COSTS.get(node.op.name.rpartition(".")[2], FUNCTION)
    for operand in set(node.op.operands):
        needed = loops.get(operand)
        if needed is not None:
            node.cost = min(node.cost + needed.cost, MOST)
            node.read |= needed.read
        elif _size(operand) * CACHED_RATIO > node.size:
            node.read |= {operand}


def _is_better_stored(node: _Loop) -> bool:
    """Whether several loops need the result, and computing it costs them more than reading it."""
    if len(node.users) < 2 or node.joins is not None:
        return False
    spared = node.cost + READ * len(node.read) - (READING if node.kept else STORING)
    return node.size * spared >= LOOP


def _outline(module: ir.Module, name: str, node: _Loop, loops: Loops) -> None:
    """Replace the operation, with all that its loop computes, by a call of a function."""
    inside, inputs = _loop_of(node, loops)
    result = node.op.results[0]
    signature = ir.FunctionType.get([x.type for x in inputs], [result.type])
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(name, signature, visibility="private")
    block = function.add_entry_block()
    made: dict[Any, Any] = dict(zip(inputs, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for each in inside:
            copy = each.op.clone()
            for i, operand in enumerate(each.op.operands):
                copy.operands[i] = made[operand]
            made[each.op.results[0]] = copy.operation.results[0]
        func.ReturnOp([made[result]])
    with ir.InsertionPoint(node.op), node.op.location:
        call = func.CallOp([result.type], name, inputs).operation
    keep_apart(call)
    call.move_after(node.op)
    result.replace_all_uses_with(call.results[0])


def _loop_of(node: _Loop, loops: Loops) -> tuple[list[_Loop], list[Any]]:
    """The operations that a result's loop computes, in order, and the values that it reads."""
    inside: dict[_Loop, None] = {}
    inputs: dict[Any, None] = {}
    todo = [node]
    while todo:
        each = todo.pop()
        if each in inside:
            continue
        inside[each] = None
        for operand in each.op.operands:
            if operand in loops:
                todo.append(loops[operand])
            else:
                inputs[operand] = None
    return sorted(inside, key=attrgetter("at")), list(inputs)


def _size(value: Any) -> int:
    return math.prod(ir.ShapedType(value.type).shape)
