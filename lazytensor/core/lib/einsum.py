"""Einstein sums: products of nodes whose axes have labels, summed over those the result lacks."""

from __future__ import annotations

from collections.abc import Sequence

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape


def label_pair(labels: str, label: str, shape: Shape) -> tuple[int, int]:
    """The first two places of a label. Raises: ShapeError if their lengths differ."""
    first = labels.index(label)
    second = labels.index(label, first + 1)
    n, m = shape[first], shape[second]
    if n != m:
        raise ShapeError(
            f"dimensions in operand for collapsing index {label!r} don't match ({n} != {m})"
        )
    return first, second


def undoubled(x: Node, labels: str) -> tuple[Node, str]:
    """Labels that are given twice replaced by diagonals: the node and its labels."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first, second = label_pair(labels, label, x.type.shape)
            x = ops.diagonal(x, offset=0, axis1=first, axis2=second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    return x, labels


def einsum(xs: Sequence[Node], labels: Sequence[str], result: str) -> Node:
    """The products of `xs` from left to right, summed over the labels that `result` lacks.

    xs: numbers of one dtype. labels: one letter an axis. Raises: ShapeError.
    """
    pairs = [undoubled(x, given) for x, given in zip(xs, labels, strict=True)]
    (found, term), rest = pairs[0], pairs[1:]
    for i, (other, given) in enumerate(rest):
        both = result
        if i + 1 < len(rest):
            wanted = set(result).union(*(later for _, later in rest[i + 1 :]))
            both = "".join(k for k in dict.fromkeys(term + given) if k in wanted)
        found, term = ops.contract(found, other, term, given, both), both
    return ops.summed(found, term, result)
