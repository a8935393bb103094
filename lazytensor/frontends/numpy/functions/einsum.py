"""`einsum`: NumPy chooses the order of the products, and each is one contraction."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib import einsum as sums
from lazytensor.frontends.numpy.arrays.conversion import operand, result_type
from lazytensor.frontends.numpy.arrays.shadow import shadow, turned
from lazytensor.frontends.numpy.functions.results import check_cast, deliver
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.functions.views import array_of, shown
from lazytensor.frontends.numpy.ufuncs.errors import as_numpy
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert

Steps = tuple[tuple[tuple[int, ...], str], ...]
CASTINGS: Final = frozenset(["no", "equiv", "safe", "same_kind", "unsafe"])


def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
) -> Any:
    """See numpy.einsum."""
    if casting not in CASTINGS:
        np.einsum("i", np.ones(1), casting=casting)  # type: ignore[call-overload]  # raises
    text, arrays = _separated(operands)
    if optimize is False and isinstance(text, str) and "..." in text:
        np.einsum(text, *(np.ones((1,) * np.ndim(x)) for x in arrays))  # raises
    if len(arrays) == 1 and out is None:  # NumPy ignores `dtype` then
        try:
            view = _view(text, array_of(arrays[0]))
        except ValueError as error:
            as_numpy(error, np.einsum, *operands)
        if view is not None:
            return view if view.ndim else view[()]
    nodes = [operand(x) for x in arrays]
    kind = result_type(*(node.type.dtype for node in nodes), *([] if out is None else [out.dtype]))
    if dtype is not None:
        kind = canonical(np.dtype(dtype))
        for node in nodes:
            check_cast(node.type.dtype, kind, casting)
    nodes = [convert(node, kind) for node in nodes]
    shapes = tuple(node.type.shape for node in nodes)
    try:
        steps = _steps(text, shapes, _hashable(optimize))
    except ValueError as error:
        if optimize is not False:
            raise
        as_numpy(error, np.einsum, *operands)  # NumPy parses the expression in C then
    for places, expression in steps:
        given, result = expression.split("->")
        taken = [nodes.pop(i) for i in places]
        nodes.append(sums.einsum(taken, given.split(","), result))
    return deliver(nodes[0], out, casting)


def _view(text: Any, x: Any) -> Any:
    """A view, if the expression only takes diagonals and moves axes; None otherwise."""
    ((_, expression),) = _steps(text, (x.shape,), "greedy")
    labels, result = expression.split("->")
    if set(labels) != set(result):
        return None
    steps = []
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first, second = sums.label_pair(labels, label, x.shape)
            steps.append(ops.diagonal_step(0, first, second))
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    steps.append(ops.transpose_step(tuple(map(labels.index, result))))
    return shown(x, turned(np.einsum(expression, shadow(x))), *steps)


def _separated(operands: tuple[Any, ...]) -> tuple[Hashable, list[Any]]:
    """The expression and the arrays. NumPy takes text, or lists of labels between the arrays."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(operands[0], str):
        return operands[0], list(operands[1:])
    pairs = len(operands) // 2
    lists = tuple(tuple(labels) for labels in operands[1 : 2 * pairs : 2])
    rest = tuple(operands[-1]) if len(operands) % 2 else None
    if any(x is not ... and x < 0 for labels in (*lists, rest or ()) for x in labels):
        raise ValueError("subscript is not within the valid range [0, 52)")
    return (lists, rest), list(operands[0 : 2 * pairs : 2])


def _hashable(optimize: Any) -> Hashable:
    if isinstance(optimize, list | tuple):
        return tuple(tuple(x) if isinstance(x, list) else x for x in optimize)
    found: Hashable = "greedy" if optimize in (False, None, True) else optimize
    return found


@remembered(1024)
def _steps(text: Any, shapes: tuple[Shape, ...], optimize: Any) -> Steps:
    """The steps: the places of the operands to combine, and the expression for each."""
    dummies = [np.broadcast_to(np.int8(1), shape) for shape in shapes]
    if isinstance(text, str):
        given: list[Any] = [text, *dummies]
    else:
        given = [item for pair in zip(dummies, text[0], strict=True) for item in pair]
        given += [] if text[1] is None else [text[1]]
    path = list(optimize) if isinstance(optimize, tuple) else optimize
    find: Any = np.einsum_path  # NumPy's own einsum gets the steps by `einsum_call`
    try:
        _, found = find(*given, optimize=path, einsum_call=True)
    except IndexError:
        raise ValueError("subscript is not within the valid range [0, 52)") from None
    return tuple(
        (step[0], next(x for x in step[1:] if isinstance(x, str) and "->" in x)) for step in found
    )


LAZY = named(einsum)
