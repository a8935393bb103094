"""Terms: the results of a program as expressions, rewritten while they are made.

A term has the type of the result that it stands for. A `fill` is a scalar at every place of its
type. Rules are keyed by op; one that does not apply gives None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, INTS
from lazytensor.core.ir.op import PARAMETER, SLOT, Attrs, Op
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.passes.scalar_expression import (
    EXACT,
    RECIPE_OPS_BOUND,
    Computed,
    Recipe,
    size_of,
)

Ints = tuple[int, ...]


class Term:
    """A result: an op at operands; or a leaf, by its position; or a scalar, by its recipe.

    `digest` is equal for terms that differ in their leaves and scalars only.
    """

    __slots__ = ("attrs", "digest", "leaf", "op", "operands", "recipe", "type")

    def __init__(
        self, op: Op, operands: tuple[Term, ...], attrs: Attrs, type: TensorType,
        leaf: int | None = None, recipe: Recipe | None = None,
    ) -> None:  # fmt: skip
        self.op = op
        self.operands = operands
        self.attrs = attrs
        self.type = type
        self.leaf = leaf
        self.recipe = recipe
        # Not Python's hash: equal programs are to be printed alike in every process.
        said = f"{op.name} {attrs} {type} {[x.digest for x in operands]}"
        self.digest: int = crc32(said.encode())


def parameter(leaf: int, type: TensorType) -> Term:
    """A leaf."""
    return Term(PARAMETER, (), (), type, leaf=leaf)


def vector(recipe: Recipe, type: TensorType) -> Term:
    """A vector of starts."""
    return Term(SLOT, (), (), type, recipe=recipe)


def filled(recipe: Recipe, type: TensorType) -> Term:
    """A scalar at every place."""
    scalar = Term(SLOT, (), (), type.with_shape(()), recipe=recipe)
    return _shaped(scalar, type)


def _shaped(scalar: Term, type: TensorType) -> Term:
    return scalar if not type.shape else Term(ops.broadcast, (scalar,), (type.shape,), type)


def scalar_of(x: Term) -> Term | None:
    """The scalar that is everywhere in a term, if it is one."""
    if x.op is ops.broadcast:
        (x,) = x.operands
    return x if x.recipe is not None and not x.type.shape else None


def made(op: Op, operands: tuple[Term, ...], attrs: dict[str, Any], type: Any) -> Term:
    """The term of an op at operands, by the first rule that applies."""
    if Trait.ELEMENTWISE in op.traits:
        return _elementwise(op, operands, attrs, type)
    rule = REWRITES.get(op)
    found = rule(operands, attrs, type) if rule is not None else None
    return _plain(op, operands, attrs, type) if found is None else found


def _plain(op: Op, operands: tuple[Term, ...], attrs: dict[str, Any], type: Any) -> Term:
    values = tuple(attrs[a] if a in attrs else op.defaults[a] for a in op.attributes)
    return Term(op, operands, values, type)


# --- elementwise ops -----------------------------------------------------------------------------

FLIPPED: Final = {ops.greater: ops.less, ops.greater_equal: ops.less_equal}


def _elementwise(
    op: Op, operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType
) -> Term:
    if op is ops.convert and operands[0].type is type:
        return operands[0]
    scalars = [s for x in operands if (s := scalar_of(x)) is not None]
    size = 1 + sum(size_of(x.recipe) for x in scalars)
    if op in EXACT and len(scalars) == len(operands) and size <= RECIPE_OPS_BOUND:
        return filled(_computed(op, scalars, type), type)
    if op is ops.subtract:
        op, operands = _added(*operands)
    if op is ops.multiply and operands[0] is operands[1]:
        op, operands = ops.square, operands[:1]
    operands = _bare(operands, type.shape)
    if op in FLIPPED:
        op, operands = FLIPPED[op], operands[::-1]
    if Trait.COMMUTES in op.traits:
        operands = tuple(sorted(operands, key=lambda x: x.digest))
    return _plain(op, operands, attrs, type)


def _computed(op: Op, scalars: list[Term], type: TensorType) -> Recipe:
    recipes = tuple(x.recipe for x in scalars if x.recipe is not None)
    size = 1 + sum(map(size_of, recipes))
    return Computed(op, recipes, tuple(x.type.dtype for x in scalars), type.dtype, size)


def _negative(x: Term) -> Term | None:
    """`-x` where only a scalar has to be negated for it."""
    if x.type.dtype not in FLOATS | INTS:
        return None
    scalar = scalar_of(x)
    if scalar is not None:
        return filled(_computed(ops.negate, [scalar], scalar.type), x.type)
    if x.op is not ops.multiply:
        return None
    for i, factor in enumerate(x.operands):
        scalar = scalar_of(factor)
        if scalar is not None:
            negated = filled(_computed(ops.negate, [scalar], scalar.type), factor.type)
            rest = x.operands[1 - i]
            return _elementwise(ops.multiply, (rest, negated), {}, x.type)
    return None


def _added(x: Term, y: Term) -> tuple[Op, tuple[Term, ...]]:
    """`x - y`, as a sum if that is the same to the bit."""
    negated = _negative(y)
    return (ops.subtract, (x, y)) if negated is None else (ops.add, (x, negated))


def _bare(operands: tuple[Term, ...], shape: Shape) -> tuple[Term, ...]:
    """The operands without what an elementwise op does for itself: broadcasting."""
    found = list(operands)
    for i, x in enumerate(operands):
        if x.op is ops.broadcast:
            _try(found, i, x.operands[0], shape)
        x = found[i]
        ones = next((n for n, size in enumerate(x.type.shape) if size != 1), x.type.ndim)
        if ones and x.recipe is None:
            _try(found, i, _reshaped(x, x.type.shape[ones:]), shape)
    return tuple(found)


def _try(operands: list[Term], i: int, x: Term, shape: Shape) -> None:
    shapes = [x.type.shape if j == i else other.type.shape for j, other in enumerate(operands)]
    if np.broadcast_shapes(*shapes) == shape:
        operands[i] = x


# --- ops that move elements ----------------------------------------------------------------------


def _reshaped(x: Term, shape: Shape) -> Term:
    type = x.type.with_shape(shape)
    while x.op is ops.reshape:
        (x,) = x.operands
    scalar = scalar_of(x)
    if x.type is type:
        return x
    if scalar is not None:
        return _shaped(scalar, type)
    return Term(ops.reshape, (x,), (shape,), type)


def _reshape(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
    return _reshaped(operands[0], type.shape)


def _broadcast(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
    (x,) = operands
    scalar = scalar_of(x)
    if scalar is not None:
        return _shaped(scalar, type)
    if x.type is type:
        return x
    while x.op is ops.broadcast:
        (x,) = x.operands
    ones = next((n for n, size in enumerate(x.type.shape) if size != 1), x.type.ndim)
    x = _reshaped(x, x.type.shape[ones:])
    return x if x.type is type else Term(ops.broadcast, (x,), (type.shape,), type)


def _transpose(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
    (x,), axes = operands, attrs["axes"]
    if x.op is ops.transpose:
        axes = tuple(x.attrs[0][axis] for axis in axes)
        (x,) = x.operands
    scalar = scalar_of(x)
    if scalar is not None:
        return _shaped(scalar, type)
    if axes == tuple(range(len(axes))):
        return x
    if x.op in TRANSPOSED:
        found = TRANSPOSED[x.op](x, axes, type)
        if found is not None:
            return found
    # Where only axes of one element move, elements stay where they are.
    moved = [axis for axis in axes if x.type.shape[axis] != 1]
    if moved == sorted(moved):
        return _reshaped(x, type.shape)
    return Term(ops.transpose, (x,), (axes,), type)


# --- reductions ----------------------------------------------------------------------------------


def _reduction(op: Op) -> Callable[..., Term]:
    def rule(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
        (x,) = operands
        axes = tuple(sorted(axis % x.type.ndim for axis in attrs["axes"]))
        if math.prod(x.type.shape[axis] for axis in axes) == 1:
            return _reshaped(x, type.shape)
        return Term(op, (x,), (axes,), type)

    return rule


# --- products ------------------------------------------------------------------------------------


def _dims(op: Op, attrs: Attrs) -> dict[str, Any]:
    return op.attrs_of(attrs)


def _product(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
    (x, y), dtype = operands, attrs["dtype"]
    batch, contract = attrs["batch"], attrs["contract"]
    unmerged = _unmerged(x, y, contract) if batch == ((0,), (0,)) else None
    if unmerged is not None:
        named = {"batch": unmerged[2], "contract": unmerged[3], "dtype": dtype}
        return _reshaped(_product(unmerged[:2], named, type.with_shape(unmerged[4])), type.shape)
    if y.op is ops.broadcast and batch[0] == batch[1] == tuple(range(len(batch[0]))):
        n, inner_y = len(batch[0]), y.operands[0]
        if n and inner_y.type.shape == y.type.shape[n:]:  # one matrix for every batch
            y, batch = inner_y, ((), ())
            contract = contract[0], tuple(axis - n for axis in contract[1])
    last = x.type.ndim - 1
    if batch == ((), ()) and last > 1 and contract[0] == (last,):  # rows in several axes
        size = x.type.shape[last]
        rows = _reshaped(x, (x.type.size // size if size else 0, size))
        flat = rows.type.shape[0], *type.shape[last:]
        named = {"batch": batch, "contract": ((1,), contract[1]), "dtype": dtype}
        if size:
            return _reshaped(_product((rows, y), named, type.with_shape(flat)), type.shape)
    (x, first), (y, second) = (
        _untransposed(t, batch[i], contract[i]) for i, t in enumerate((x, y))
    )
    pairs = sorted(zip(first[1], second[1], strict=True))
    contract = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    dtype = None if dtype == x.type.dtype else dtype
    return Term(ops.dot_general, (x, y), ((first[0], second[0]), contract, dtype), type)


def _untransposed(x: Term, batch: Ints, contract: Ints) -> tuple[Term, tuple[Ints, Ints]]:
    """What `x` was before it was transposed, and its axes there."""
    if x.op is not ops.transpose:
        return x, (batch, contract)
    axes = x.attrs[0]
    free = [axes[a] for a in range(len(axes)) if a not in batch and a not in contract]
    if free != sorted(free):
        return x, (batch, contract)
    return x.operands[0], (
        tuple(axes[a] for a in batch),
        tuple(axes[a] for a in contract),
    )


def _unmerged(x: Term, y: Term, contract: Any) -> tuple[Any, ...] | None:
    """Matrices in several axes, if that is what two operands with one axis of them were.

    Operands, batch, contract, the shape of the result.
    """
    if not x.op is y.op is ops.reshape or not x.type.ndim == y.type.ndim == 3:
        return None
    (a,), (b,) = x.operands, y.operands
    lead = a.type.shape[:-2]
    if len(lead) < 2 or b.type.shape[:-2] != lead:
        return None
    if a.type.shape[-2:] != x.type.shape[1:] or b.type.shape[-2:] != y.type.shape[1:]:
        return None
    n = len(lead)
    axes = tuple(range(n))
    pair = tuple(tuple(axis + n - 1 for axis in side) for side in contract)
    rows = tuple(x.type.shape[i] for i in (1, 2) if i not in contract[0])
    columns = tuple(y.type.shape[i] for i in (1, 2) if i not in contract[1])
    return a, b, (axes, axes), pair, (*lead, *rows, *columns)


def _transposed_product(x: Term, axes: Ints, type: TensorType) -> Term | None:
    """A product with its operands the other way round, if that is what the axes ask for."""
    batch, contract, dtype = x.attrs
    n = len(batch[0])
    left = x.operands[0].type.ndim - n - len(contract[0])
    right = x.type.ndim - n - left
    swapped = (*range(n), *range(n + left, n + left + right), *range(n, n + left))
    if axes != swapped:
        return None
    attrs = {"batch": batch[::-1], "contract": contract[::-1], "dtype": dtype}
    return _product(x.operands[::-1], attrs, type)


def _convolution(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
    """Optional attributes are written out; transposed operands become `dimensions`."""
    from lazytensor.core.ops.contraction import dense, layouts

    (x, w), spatial = operands, len(attrs["strides"])
    outer, inner, still = dense(
        spatial, attrs["lhs_dilation"], attrs["rhs_dilation"], attrs["reversal"]
    )
    specs = list(layouts(attrs["dimensions"], type.ndim))
    found = [x, w]
    for i, t in enumerate(found):
        if t.op is ops.transpose:
            specs[i] = tuple(t.attrs[0][axis] for axis in specs[i])
            (found[i],) = t.operands
    whole = {"lhs_dilation": outer, "rhs_dilation": inner, "reversal": still}
    return _plain(ops.convolution, tuple(found), attrs | whole | {"dimensions": tuple(specs)}, type)


def _transposed_convolution(x: Term, axes: Ints, type: TensorType) -> Term | None:
    attrs = _dims(x.op, x.attrs)
    *rest, result = attrs["dimensions"]
    moved = tuple(axes.index(axis) for axis in result)
    return _plain(x.op, x.operands, attrs | {"dimensions": (*rest, moved)}, type)


def _iota(operands: tuple[Term, ...], attrs: dict[str, Any], type: TensorType) -> Term:
    """A line of numbers, repeated along the other axes."""
    axis, dtype = attrs["axis"], attrs["dtype"]
    size = type.shape[axis]
    line = Term(ops.iota, (), (dtype, (size,), 0), type.with_shape((size,)))
    column = _reshaped(line, (size, *(1 for _ in type.shape[axis + 1 :])))
    return _broadcast((column,), {}, type)


Rule = Callable[[tuple[Term, ...], dict[str, Any], Any], Term]
REWRITES: Final[dict[Op[Any], Rule]] = {
    ops.iota: _iota,
    ops.reshape: _reshape,
    ops.broadcast: _broadcast,
    ops.transpose: _transpose,
    ops.dot_general: _product,
    ops.convolution: _convolution,
    **{
        op: _reduction(op)
        for op in (ops.reduce_sum, ops.reduce_max, ops.reduce_min, ops.reduce_prod)
    },
}
TRANSPOSED: Final[dict[Op[Any], Callable[[Term, Ints, TensorType], Term | None]]] = {
    ops.dot_general: _transposed_product,
    ops.convolution: _transposed_convolution,
}
"""Ops that can give their result transposed."""
