"""What is written in place, and multiplied as well: a cache of keys that has grown by a word.

XLA puts the write into the loop that gives a product its operand too, which is often no more than a
reshape. Then the write is made twice, and the base copied for each, up to four times: of twelve
caches of 1,024 words, 15 ms a word instead of 2. A `reduce_precision` to the value's own format
changes nothing, and is a loop of its own that reads what was written.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

WRITE: Final = "stablehlo.dynamic_update_slice"
PRODUCT: Final = "stablehlo.dot_general"
MOVES: Final = frozenset(["stablehlo.reshape", "stablehlo.transpose"])
BITS_BY_NAME: Final = {"f32": (8, 23), "f64": (11, 52)}
"""Bits of the exponent and of the mantissa."""


def read_shared(block: ir.Block) -> None:
    """Have products read what was written in place from memory, where others need it too."""
    for line in [*block.operations]:
        written = line.operation.results[0] if line.operation.name == WRITE else None
        uses = [] if written is None else [*written.uses]
        multiplied = [use for use in uses if _is_multiplied(use.owner)]
        if multiplied and len(uses) > 1:
            _read(line.operation, written, multiplied)


def _is_multiplied(op: Any) -> bool:
    """Whether this is a product, or only moves elements for one."""
    todo = [op.operation]
    while todo:
        op = todo.pop()
        if op.name == PRODUCT:
            return True
        if op.name in MOVES:
            todo += [use.owner.operation for use in op.results[0].uses]
    return False


def _read(write: Any, written: Any, uses: list[Any]) -> None:
    """A loop between a write and its uses."""
    widths = BITS_BY_NAME.get(str(ir.ShapedType(written.type).element_type))
    if widths is None:
        return
    width = ir.IntegerType.get_signless(32)
    exponent, mantissa = (ir.IntegerAttr.get(width, bits) for bits in widths)
    with ir.InsertionPoint(write), write.location:
        read = hlo.ReducePrecisionOp(written, exponent, mantissa).operation
    read.move_after(write)
    for use in uses:
        use.owner.operation.operands[use.operand_number] = read.results[0]
