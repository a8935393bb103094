"""Products of two operands that sum over shared axes: `dot`, `matmul`, `einsum` and others.

In `contract` axes carry labels, as in einsum. A label in both operands and in the result is a
batch axis. A label in both operands only is summed over. Other labels are free. An axis of length
one is broadcast against a longer one of the same label.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import BOOL, F32
from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.shapes import broadcast_shapes
from lazytensor.core.ir.types import Shape
from lazytensor.core.ops.contraction import dot_general
from lazytensor.core.ops.elementwise import convert, not_equal
from lazytensor.core.ops.movement import broadcast, reshape, transpose
from lazytensor.core.ops.reduction import reduce_or, reduce_sum
from lazytensor.core.ops.windows import convolved

Axes = tuple[int, ...]
Labels = Sequence[Hashable]


class Factor(NamedTuple):
    """How one operand is prepared: axes dropped, axes summed, its axes for the product.

    If the operands share no summed axis, `order` and `spread` line it up with the result.
    """

    shape: Shape | None
    sums: Axes
    batch: Axes
    contract: Axes
    order: Axes
    spread: Shape


class Contraction(NamedTuple):
    """The steps of a contraction; `order` puts the axes of the product in the result's order."""

    left: Factor
    right: Factor
    order: Axes


def stacked(x: Node, y: Node) -> tuple[Node, Node]:
    """Matrices in the last two axes, the axes before broadcast. Raises: ShapeError."""
    if min(x.type.ndim, y.type.ndim) < 2:
        raise ShapeError(f"matmul: two axes are needed, got {x.type}, {y.type}")
    outer = (t.type.with_shape(t.type.shape[:-2]) for t in (x, y))
    stack = broadcast_shapes("matmul", *outer)
    made = (
        t if t.type.shape[:-2] == stack else broadcast(t, shape=(*stack, *t.type.shape[-2:]))
        for t in (x, y)
    )
    left, right = made
    return left, right


def matmul(x: Node, y: Node, *, flipped: tuple[bool, bool] = (False, False)) -> Node:
    """Products of the matrices in the last two axes, the axes before broadcast.

    x, y: numbers of one dtype, two axes or more. flipped: which operand's matrices are transposed.
    Raises: DTypeError, ShapeError.
    """
    x, y = stacked(x, y)
    n = x.type.ndim - 2
    axes = tuple(range(n))
    summed = (n + (not flipped[0]),), (n + flipped[1],)
    return dot_general(x, y, batch=(axes, axes), contract=summed)


def contract(x: Node, y: Node, left: Labels, right: Labels, result: Labels) -> Node:
    """The sum of products of `x` and `y`, of one dtype, whose axes have the labels given."""
    if x.type.dtype == BOOL:  # whether any product is true; a sum of ones in f32 never returns to 0
        total = contract(convert(x, dtype=F32), convert(y, dtype=F32), left, right, result)
        return not_equal(total, scalar(0.0, F32))
    plan = _plan(x.type.shape, y.type.shape, tuple(left), tuple(right), tuple(result))
    x, y = _prepared(x, plan.left), _prepared(y, plan.right)
    if not plan.left.contract:
        return _spread(x, plan.left) * _spread(y, plan.right)
    batch, axes = (plan.left.batch, plan.right.batch), (plan.left.contract, plan.right.contract)
    seen = None if batch[0] else convolved(x, y, axes)
    total = dot_general(x, y, batch=batch, contract=axes) if seen is None else seen
    return moved(total, plan.order)


def _prepared(x: Node, side: Factor) -> Node:
    if side.shape is not None:
        x = reshape(x, shape=side.shape)
    return reduce_sum(x, axes=side.sums) if side.sums else x


def _spread(x: Node, side: Factor) -> Node:
    x = moved(x, side.order)
    return x if x.type.shape == side.spread else reshape(x, shape=side.spread)


def moved(x: Node, axes: Axes) -> Node:
    """`x` with its axes in another order."""
    return x if axes == tuple(range(len(axes))) else transpose(x, axes=axes)


def summed(x: Node, labels: str, result: str) -> Node:
    """`x`, summed over the labels that `result` lacks, its axes in the order of `result`."""
    axes = tuple(axis for axis, label in enumerate(labels) if label not in result)
    if axes:
        x = (reduce_or if x.type.dtype is BOOL else reduce_sum)(x, axes=axes)
        labels = "".join(label for label in labels if label in result)
    return moved(x, tuple(map(labels.index, result)))


@remembered(4096)
def _plan(x: Shape, y: Shape, left: Labels, right: Labels, result: Labels) -> Contraction:
    sizes: dict[Hashable, int] = {}
    for n, label in zip((*x, *y), (*left, *right), strict=True):
        if sizes.get(label, 1) not in (1, n) and n != 1:
            raise ValueError(f"axes of {sizes[label]} and {n} elements in {x} and {y} do not match")
        sizes[label] = n if sizes.get(label, 1) == 1 else sizes[label]
    wide = [
        [label for n, label in zip(shape, labels, strict=True) if n == sizes[label]]
        for shape, labels in ((x, left), (y, right))
    ]
    used = [
        [label for label in mine if label in others or label in result]
        for mine, others in (wide, wide[::-1])
    ]
    shared = [label for label in used[0] if label in used[1]]
    batch = [label for label in shared if label in result]
    summed = [label for label in shared if label not in result]
    given = batch + [label for side in used for label in side if label not in shared]
    sides = [
        Factor(
            None if len(all_) == len(kept) else tuple(sizes[label] for label in kept),
            tuple(axis for axis, label in enumerate(kept) if label not in mine),
            tuple(map(mine.index, batch)),
            tuple(map(mine.index, summed)),
            tuple(mine.index(label) for label in result if label in mine),
            tuple(sizes[label] if label in mine else 1 for label in result),
        )
        for all_, kept, mine in zip((left, right), wide, used, strict=True)
    ]
    # `contract` does not use `order` where no label is summed.
    order = () if summed == [] else tuple(map(given.index, result))
    return Contraction(sides[0], sides[1], order)
