"""What several loops need is stored once, where computing it again would cost more.

XLA puts elementwise operations into every loop that needs their results, and what those need in
turn: gradients that flow through a network's layers were computed again in each of them, from the
last layer on. What is a function that is called is computed once, and read from memory.

Neither does a loop become so long that LLVM gives up on it: 50 sines of sines, some 5,600
operations in one loop, took four times as long as two loops of half as many do.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

LOOP: Final = 2**14
"""Cheap operations that take as long as a further loop does."""
CACHED_RATIO: Final = 8
"""What has so many times fewer elements is read from a cache."""
READ: Final = 8
"""Cheap operations on an element that take as long as reading one from memory does."""
STORING: Final = 3 * READ
"""What storing an element and reading it in two loops costs."""
READING: Final = 2 * READ
"""The same of what is stored anyway."""
LONG, LONGEST = 3500, 5000
"""Between so many operations, where the fewest values are needed later, a loop is cut in two."""
STORED_VALUES_BOUND: Final = 1
"""Values at the most that are stored then: of two, each would be computed with all of the other."""
MOST: Final = 1000
"""Costs beyond which it makes no difference."""
APART: Final = frozenset(
    [
        "custom_call", "case", "cholesky", "convolution", "dot_general", "dynamic_update_slice",
        "fft", "if", "reduce", "reduce_window", "rng_bit_generator",
        "scatter", "select_and_scatter", "sort", "triangular_solve", "while",
    ]
)  # fmt: skip
"""Operations whose results are in memory; what they need may be computed within those of REDUCING
only."""
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
"""What an operation costs an element; a function that is not among them 16."""
FUNCTION: Final = 16


class _Node:
    """An operation as those need it who compute its result.

    `joins` is the one operation that all loops which need it come together in, None if there is
    none; `depth` how many there are until nothing joins.
    """

    __slots__ = ("depth", "joins")

    def __init__(self) -> None:
        self.joins: _Node | None = None
        self.depth = 1


class _Loop(_Node):
    """An operation that is computed within the loops that need its result.

    `at` says where it stands. `cost` is what an element costs to compute of what is `read` from
    memory. `kept`: whether the result, of `size` elements, is in memory anyway.
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
"""By result."""


def store_shared(module: ir.Module, block: ir.Block) -> None:
    """Have computed by a loop of its own what each of several loops would compute."""
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
        _price(node, loops)
        if _is_better_stored(node):
            _outline(module, f"stored_{number}", node, loops)


def _shorten(module: ir.Module, loops: Loops) -> None:
    """Have stored what is in the middle of loops that are too long."""
    for node in loops.values():
        _price(node, loops)
    for number, node in enumerate(_between(loops)):
        if len(_loop_of(node, loops)[0]) > LONG // 2:
            _outline(module, f"between_{number}", node, loops)


def _between(loops: Loops) -> list[_Loop]:
    """What to store so that no loop has more than `LONGEST` operations."""
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
    """Find where all that needs the node's result comes together."""
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
    """What an element of the result costs, and what it is made of."""
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
    """Whether several loops need the result, and would take longer to compute it than to read."""
    if len(node.users) < 2 or node.joins is not None:
        return False
    spared = node.cost + READ * len(node.read) - (READING if node.kept else STORING)
    return node.size * spared >= LOOP


def _outline(module: ir.Module, name: str, node: _Loop, loops: Loops) -> None:
    """Make the operation, with all that its loop computes, a function; its result is that call's.

    XLA inlines calls before it makes loops, unless it is told not to.
    """
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
    call.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get(
        {"inlineable": ir.StringAttr.get("false")}
    )
    call.move_after(node.op)
    result.replace_all_uses_with(call.results[0])


def _loop_of(node: _Loop, loops: Loops) -> tuple[list[_Loop], list[Any]]:
    """The operations that a result's loop computes, in order, and what it reads."""
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
