"""The reference interpreter: a program run op by op with NumPy.

It is the oracle of the tests, the first tier of execution for small new programs, and runs the ops
that the host does faster. References are pure: they never write to an operand; a result may share
memory with one (nobody writes to a leaf's array). Where an array that was made here is updated and
not needed any more, as in a loop that fills one row by row, its own memory is written to instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from lazytensor.core.errors import Unsupported
from lazytensor.core.op import PARAMETER, Attrs, Composite, Op, element
from lazytensor.core.program import SLOTS, Program
from lazytensor.core.types import TensorType, tensor_type

Reference = Callable[..., Any]
REFERENCES: dict[Op, Reference] = {}
"""Per op: `reference(*arrays, **attrs)`, an array or a tuple of them."""
OVERWRITING: dict[Op, Reference] = {}
"""Per op whose result is an updated first operand: the same, written into that operand."""
RESHAPING: set[Op] = set()
"""Ops of one operand whose reference only looks at it in another way."""
VIEWING: set[Op] = set()
"""Ops whose reference copies nothing, those among them."""
PICKING: set[Op] = set()
"""Ops whose reference reads no more of the first operand than the result has elements."""


def interpret(program: Program, leaves: Sequence[np.ndarray], slots: Sequence[Any]) -> list[Any]:
    """The results of `program`, computed by NumPy."""
    values: list[Any] = []
    inputs, scalars = iter(leaves), iter(slots)
    last_uses = program.last_uses
    ours: set[int] = set()
    with np.errstate(all="ignore"):
        for i, (op, operands, attrs, type) in enumerate(program.instructions):
            if op is PARAMETER:
                values.append(next(inputs))
            elif op in SLOTS:
                values.append(np.asarray(next(scalars), type.dtype))
            elif op in OVERWRITING and operands[0] in last_uses[i] and operands[0] in ours:
                ours.add(i)
                values.append(_overwritten(op, values, operands, attrs))
            else:
                values.append(apply(op, [values[j] for j in operands], attrs, type))
                if op in OVERWRITING:
                    ours.add(i)
            for j in last_uses[i]:
                values[j] = None
    return [values[i] for i in program.results]


def _overwritten(op: Op, values: list[Any], operands: tuple[int, ...], attrs: Attrs) -> Any:
    """The result of an op that updates an array which nobody else needs: that array, updated.

    The array was made here by an update that went before. A view of it that somebody still needs
    refers to it, and so it is copied after all.
    """
    base, *rest = (values[j] for j in operands)
    shared = sys.getrefcount(base) > _UNSHARED or base.base is not None
    table = references() if shared else OVERWRITING
    return table[op](base, *rest, **op.attrs_of(attrs))


def _references_of_an_operand() -> int:
    """References that `_overwritten` sees to an array that only the list of values holds."""
    values = [np.zeros(1)]
    base, *_ = (values[j] for j in (0,))
    return sys.getrefcount(base)


_UNSHARED: Final = _references_of_an_operand()


def apply(op: Op, operands: Sequence[Any], attrs: Attrs, type: Any) -> Any:
    """One op's result, of the type that the core inferred."""
    if op is element:
        return operands[0][attrs[0]]
    reference = references().get(op)
    if reference is None and isinstance(op, Composite):
        return _apply_composite(op, operands, attrs)
    if reference is None:
        raise Unsupported(f"{op.name}: no NumPy reference; add a row in lazytensor/core/reference/")
    result = reference(*operands, **op.attrs_of(attrs))
    if isinstance(type, tuple):
        return tuple(_typed(op, r, t) for r, t in zip(result, type, strict=True))
    return _typed(op, result, type)


def _apply_composite(op: Composite, operands: Sequence[Any], attrs: Attrs) -> Any:
    types = tuple(tensor_type(x.dtype, x.shape) for x in operands)
    program = op.program(types, op.attrs_of(attrs))
    results = interpret(program, operands, program.constants)[: len(program.outputs)]
    return tuple(results) if program.multiple else results[0]


def _typed(op: Op, result: Any, type: TensorType) -> np.ndarray:
    array = np.asarray(result)
    if array.dtype != type.dtype or array.shape != type.shape:
        raise AssertionError(
            f"{op.name}: its reference gave {array.dtype}{array.shape}, its type rule {type}"
        )
    return array


@cache
def references() -> dict[Op, Reference]:
    """The table of references, its modules imported on first use."""
    from lazytensor.core import reference

    reference.load()
    return REFERENCES
