"""Values that a loop carries and no result needs, taken out.

A loop that was recorded for training keeps values of each round for the gradient. XLA drops them by
itself; other compilers compute and store them, and TFLite's stores overwrite each other where
several began as one constant.
"""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.builder import operations


def trim(module: ir.Module) -> None:
    """Take what no result depends on out of the loops of a module."""
    with client.context(), ir.Location.unknown():
        for op in reversed([op for op in operations(module) if op.name == "stablehlo.while"]):
            kept = _kept(op)
            if len(kept) < len(op.results):
                _rebuild(op, kept)


def _kept(op: Any) -> list[int]:
    """The positions of carried values that the results or the condition need."""
    condition, body = (region.blocks[0] for region in op.regions)
    last = _end(body)
    needed = [bool(list(result.uses)) for result in op.results]
    pairs = zip(needed, condition.arguments, strict=True)
    needed = [is_used or bool(list(x.uses)) for is_used, x in pairs]
    while True:
        found = _arguments_of(body, [last.operands[i] for i, k in enumerate(needed) if k])
        grown = [is_needed or i in found for i, is_needed in enumerate(needed)]
        if grown == needed:
            return [i for i, is_needed in enumerate(needed) if is_needed]
        needed = grown


def _arguments_of(body: Any, values: list[Any]) -> set[int]:
    """The positions of the block's arguments that values depend on."""
    positions = {x: i for i, x in enumerate(body.arguments)}
    found: set[int] = set()
    seen, todo = set(), list(values)
    while todo:
        value = todo.pop()
        if value in positions:
            found.add(positions[value])
            continue
        maker = value.owner
        if isinstance(maker, ir.Block) or maker in seen:
            continue
        seen.add(maker)
        for inner in operations(maker):  # a region uses values around it
            todo += inner.operands
    return found


def _rebuild(op: Any, kept: list[int]) -> None:
    with ir.InsertionPoint(op), op.location:
        types = [op.results[i].type for i in kept]
        made = ir.Operation.create(
            "stablehlo.while", types, [op.operands[i] for i in kept], regions=2
        )
    for old, new in zip(op.regions, made.regions, strict=True):
        block = old.blocks[0]
        block.append_to(new)
    condition, body = (region.blocks[0] for region in made.regions)
    last = _end(body)
    with ir.InsertionPoint(last), last.location:
        ir.Operation.create(last.name, [], [last.operands[i] for i in kept])
    last.erase()
    _erase_unused(body)
    for block in (condition, body):
        for i in reversed(range(len(block.arguments))):
            if i not in kept:
                block.erase_argument(i)
    for i, result in zip(kept, made.results, strict=True):
        op.results[i].replace_all_uses_with(result)
    op.erase()


def _erase_unused(body: Any) -> None:
    """Erase the operations of a block whose results have no use. They have no effects."""
    for op in reversed([x.operation for x in body.operations][:-1]):
        if not any(list(result.uses) for result in op.results):
            op.erase()


def _end(block: Any) -> Any:
    return list(block.operations)[-1].operation
