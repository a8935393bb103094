"""Lowering of dot_general.

XLA:CPU calls Eigen's matrix product for floats and s32, and writes a plain loop for the other
integers, up to 40 times slower: those are computed in s32, or in limbs of f64. Large complex
products are made of real ones, up to two times faster. A sum of few products is emitted as such: it
fuses, and is up to ten times faster than XLA's own small loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.reduction import reduced
from lazytensor.backends.xla.lowerings.splitting import (
    split_if_lacking,
    sum_of_limbs,
    sum_of_parts,
    total,
)
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import COMPLEX, F32, F64, INTS, S32
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.contraction import Axes, AxesPair, sum_dtype

SUMMED_PRODUCTS_BOUND: Final = 8
"""Largest number of products in a sum that is emitted product by product."""
REUSED: Final = 4
"""Reads of an operand up to which the fused loop computes it again for each."""
SPLIT_PRODUCTS: Final = 2**20
"""Products from which 64-bit integers and complex numbers are worth splitting."""
NARROW_ROWS: Final = 16
"""Rows of a matrix from which splitting pays: reading dominates with fewer."""
FUSED: Final = frozenset(
    f"stablehlo.{name}" for name in ("add", "subtract", "multiply", "divide", "negate", "select")
)
"""Operations that cost nothing in a loop that reads their operands."""
BLAS: Final = frozenset([F32, F64, *COMPLEX])
TURNED: Final = 16
"""Length of both sides from which a matrix that is read by columns is transposed first."""
SMALLER: Final = 3
"""How many times larger it must be than the right matrix and the result together, so that these are
transposed instead."""


class Dot(NamedTuple):
    """The axes that pair up the two operands."""

    batch: AxesPair
    contract: AxesPair

    def attribute(self) -> ir.Attribute:
        """As StableHLO's attribute."""
        return hlo.DotDimensionNumbers.get(*self.batch, *self.contract)

    def free(self, side: int, ndim: int) -> Axes:
        """The axes of one operand that are neither batch nor contracted."""
        bound = self.batch[side] + self.contract[side]
        return tuple(axis for axis in range(ndim) if axis not in bound)

    def moved(self, side: int, axes: Sequence[int]) -> Dot:
        """The same where one operand's axes have other numbers. axes: the new number of each."""

        def there(pair: AxesPair) -> AxesPair:
            found = tuple(axes[axis] for axis in pair[side])
            return (found, pair[1]) if side == 0 else (pair[0], found)

        return Dot(there(self.batch), there(self.contract))


def _dot_general(
    e: Emitter,
    type: TensorType,
    x: Value,
    y: Value,
    *,
    batch: AxesPair,
    contract: AxesPair,
    dtype: np.dtype | None,
) -> Value:
    dot = Dot(batch, contract)
    inner = math.prod(x.type.shape[axis] for axis in contract[0])
    if e.is_plain:
        if type.dtype in COMPLEX:  # cuBLAS has no product whose result is of another type
            x, y = e.convert(x, type.dtype), e.convert(y, type.dtype)
        unfolded = partial(_unfolded, dot=dot)
        return split_if_lacking(e, "dot_general", type, x, y, inner, unfolded)
    multiply = partial(_product, dot=dot)
    if 1 <= inner <= SUMMED_PRODUCTS_BOUND:
        return _sum_of_products(e, type, x, y, dot, inner)
    if type.dtype in BLAS and not dot.batch[0]:
        for matrix, vector, side in ((x, y, 0), (y, x, 1)):
            if _is_line_by_line(matrix, vector, dot, side):
                return _sums_of_lines(e, type, matrix, vector, dot.contract[side])
    if type.dtype in INTS and type.dtype.itemsize <= 4:
        narrow = _product(e, type.with_dtype(S32), e.convert(x, S32), e.convert(y, S32), dot)
        return e.convert(narrow, type.dtype)
    if type.dtype in INTS:
        x, y = e.convert(x, type.dtype), e.convert(y, type.dtype)
        if type.size * inner >= SPLIT_PRODUCTS:
            return sum_of_limbs(e, type, x, y, inner, multiply)
    if type.dtype in COMPLEX and type.size * inner >= SPLIT_PRODUCTS and _is_matrix(x, y, dot):
        return sum_of_parts(e, type, x, y, multiply)
    return _product(e, type, x, y, dot)


def _is_line_by_line(matrix: Value, vector: Value, dot: Dot, side: int) -> bool:
    """Whether the result of an elementwise operation is multiplied by a vector along its lines.

    Then the product and its sums are one loop with the matrix's computation, and it is not stored.
    """
    order = dot.contract[side]
    whole = tuple(range(vector.type.ndim))
    lines = tuple(range(matrix.type.ndim - len(order), matrix.type.ndim))
    return (
        order == lines
        and dot.contract[1 - side] == whole
        and matrix.type.size >= SPLIT_PRODUCTS
        and matrix.type.dtype == vector.type.dtype
        and not matrix.stored
        and matrix.turned is None
        and isinstance(matrix.ir.owner, ir.OpView | ir.Operation)
        and matrix.ir.owner.name in FUSED
    )


def _sums_of_lines(e: Emitter, type: TensorType, matrix: Value, vector: Value, axes: Axes) -> Value:
    spread = e.place(vector, matrix.type.shape, axes)
    terms = e.op("multiply", matrix.type, matrix, spread)
    return e.reshape(e.convert(reduced(e, terms, axes, "sum"), type.dtype), type.shape)


def _is_matrix(x: Value, y: Value, dot: Dot) -> bool:
    sizes = (
        math.prod(value.type.shape[axis] for axis in dot.free(side, value.type.ndim))
        for side, value in enumerate((x, y))
    )
    return min(sizes) >= NARROW_ROWS


def _unfolded(e: Emitter, type: TensorType, x: Value, y: Value, dot: Dot) -> Value:
    """A product with the axes of a batch apart, where both operands have them folded into one.

    A partitioner cannot split a folded axis along the second of its axes, as attention's heads.
    """
    if x.folded is None or y.folded is None or dot.batch != ((0,), (0,)):
        return _product(e, type, x, y, dot)
    lead = x.folded.type.shape[: x.folded.type.ndim - x.type.ndim + 1]
    if y.folded.type.shape[: y.folded.type.ndim - y.type.ndim + 1] != lead:
        return _product(e, type, x, y, dot)
    first, second = (tuple(axis + len(lead) - 1 for axis in axes) for axes in dot.contract)
    apart = Dot((tuple(range(len(lead))),) * 2, (first, second))
    whole = type.with_shape((*lead, *type.shape[1:]))
    return e.reshape(_product(e, whole, x.folded, y.folded, apart), type.shape)


def _product(e: Emitter, type: TensorType, x: Value, y: Value, dot: Dot) -> Value:
    if e.is_plain and dot.batch[0]:
        x, dot = _in_batches(e, x, dot, 0)
        y, dot = _in_batches(e, y, dot, 1)
        return _multiplied(e, type, x, y, dot)
    x, dot = _unturned(x, dot, 0)
    y, dot = _unturned(y, dot, 1)
    if not dot.free(1, y.type.ndim) and dot.contract[0][-1:] != (x.type.ndim - 1,):
        # XLA reads a matrix by columns, which is much slower, unless the vector comes first.
        x, y, dot = y, x, Dot(dot.batch[::-1], dot.contract[::-1])
    if not _is_by_columns(x, y, dot):
        return _multiplied(e, type, x, y, dot)
    if SMALLER * (y.type.size + type.size) < x.type.size:
        return _by_the_smaller(e, type, x, y, dot)
    x, dot = _in_lines(e, x, dot)
    return _multiplied(e, type, x, y, dot)


def _multiplied(e: Emitter, type: TensorType, x: Value, y: Value, dot: Dot) -> Value:
    numbers = dot.attribute()
    return e.op(
        "dot_general", type, x, y, dot_dimension_numbers=numbers, precision_config=highest()
    )


def _unturned(x: Value, dot: Dot, side: int) -> tuple[Value, Dot]:
    """A transposed operand's source, and the axes there: XLA would write the transpose."""
    if x.turned is None or not _is_ordered(x, dot, side):
        return x, dot
    source, axes = x.turned
    return source, dot.moved(side, axes)


def _in_batches(e: Emitter, x: Value, dot: Dot, side: int) -> tuple[Value, Dot]:
    """A transposed operand with the axes of the batch first, the others as they lie in its source.

    A gradient's products read an operand by the other axis. XLA takes both from one transpose. It
    writes two where the axes lie as each product has them.
    """
    if x.turned is None or not _is_ordered(x, dot, side):
        return x, dot
    source, axes = x.turned
    batch = [axes[axis] for axis in dot.batch[side]]
    order = (*batch, *(axis for axis in range(len(axes)) if axis not in batch))
    turned = source.type.with_shape(tuple(source.type.shape[axis] for axis in order))
    there = e.op("transpose", turned, source, permutation=i64s(order))
    return there, dot.moved(side, [order.index(axis) for axis in axes])


def _is_ordered(x: Value, dot: Dot, side: int) -> bool:
    """Whether the free axes of a transposed operand come in the order of its source."""
    assert x.turned is not None
    free = [x.turned[1][axis] for axis in dot.free(side, x.type.ndim)]
    return free == sorted(free)


def _is_by_columns(x: Value, y: Value, dot: Dot) -> bool:
    """Whether XLA would call Eigen, but YNNPACK if `x` is transposed first, in less time."""
    if not {x.type.dtype, y.type.dtype} <= {F32, F64}:
        return False
    return _is_led_by(x.type.shape, dot, 0, TURNED) and _is_led_by(y.type.shape, dot, 1, 1)


def _is_led_by(shape: Axes, dot: Dot, side: int, least: int) -> bool:
    """Whether long contracted axes come before the free ones, which have `least` places or more."""
    contract, free = dot.contract[side], dot.free(side, len(shape))
    if not contract or not free or max(contract) > min(free):
        return False
    long = math.prod(shape[axis] for axis in contract) >= TURNED
    return long and math.prod(shape[axis] for axis in free) >= least


def _by_the_smaller(e: Emitter, type: TensorType, x: Value, y: Value, dot: Dot) -> Value:
    """The transposed product, of the smaller operand in lines; then it is transposed back."""
    y, dot = _in_lines(e, y, Dot(dot.batch[::-1], dot.contract[::-1]))
    shared = len(dot.batch[0])
    first = type.ndim - len(dot.free(0, y.type.ndim))
    order = (*range(shared), *range(first, type.ndim), *range(shared, first))
    there = type.with_shape(tuple(type.shape[axis] for axis in order))
    made = workarounds.materialized(e, _multiplied(e, there, y, x, dot))
    back = i64s([order.index(axis) for axis in range(type.ndim)])
    return e.op("transpose", type, made, permutation=back)


def _in_lines(e: Emitter, x: Value, dot: Dot) -> tuple[Value, Dot]:
    """The left operand, stored with the contracted axes last. XLA would fold a mere transpose."""
    x = _contracted_last(e, x, dot, 0)
    x = workarounds.materialized(e, x)
    there = tuple(range(x.type.ndim))
    batch, contract = there[: len(dot.batch[0])], there[-len(dot.contract[0]) :]
    return x, Dot((batch, dot.batch[1]), (contract, dot.contract[1]))


def _contracted_last(e: Emitter, x: Value, dot: Dot, side: int) -> Value:
    """An operand with its axes in the order: batch, free, contracted."""
    order = dot.batch[side] + dot.free(side, x.type.ndim) + dot.contract[side]
    if order == tuple(range(x.type.ndim)):
        return x
    turned = tuple(x.type.shape[axis] for axis in order)
    return e.op("transpose", x.type.with_shape(turned), x, permutation=i64s(order))


def _sum_of_products(
    e: Emitter, type: TensorType, x: Value, y: Value, dot: Dot, inner: int
) -> Value:
    """Products of slices, broadcast against each other, added up."""
    wide = type.with_dtype(sum_dtype(x.type.dtype, type.dtype))
    shared = len(dot.batch[0])
    first = shared
    parts = []
    for side, (value, other) in enumerate(((x, y), (y, x))):
        free = dot.free(side, value.type.ndim)
        axes = [*range(shared), *range(first, first + len(free))]
        first += len(free)
        reads = math.prod(other.type.shape[axis] for axis in dot.free(1 - side, other.type.ndim))
        if reads > REUSED:
            value = workarounds.materialized(e, value)
        columns = _columns(e, e.convert(value, wide.dtype), dot, side, inner)
        parts.append([e.place(column, type.shape, axes) for column in columns])
    terms = [e.op("multiply", wide, *pair) for pair in zip(*parts, strict=True)]
    return e.convert(total(e, terms), type.dtype)


def _columns(e: Emitter, x: Value, dot: Dot, side: int, inner: int) -> list[Value]:
    """Slices of `x` over batch and free axes, one for each place on the contracted axes."""
    x = _contracted_last(e, x, dot, side)
    shape = x.type.shape[: x.type.ndim - len(dot.contract[side])]
    rows = e.reshape(x, (*shape, inner))
    begin = (0,) * len(shape)
    return [
        e.reshape(static_slice(e, rows, (*begin, k), (*shape, 1), (1,) * rows.type.ndim), shape)
        for k in range(inner)
    ]


def highest() -> ir.Attribute:
    """The precision of CPUs: products of f32 in f32, not in a narrower type."""
    precision = hlo.PrecisionAttr.get("HIGHEST")
    return ir.ArrayAttr.get([precision, precision])


ROWS: Rows = {ops.dot_general: _dot_general}
