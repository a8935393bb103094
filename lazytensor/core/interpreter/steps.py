"""Running a program's operations on the host, one after another: the interpreter's loop.

`interpreter.py` makes the steps of a program. `values` has a value per instruction: None before it
is computed, and after its last use. Nobody else refers to the list.

Invariants, at any moment, as an error or a Ctrl-C may come:
- The list has all that the remaining steps need, and nothing of that is overwritten.
- An operand's memory is written to at its last use only, and only if nothing else refers to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy import asarray, generic, ndarray

from lazytensor.core.buffers.refcounts import Held, beside_the_list, is_unshared
from lazytensor.core.interpreter.rows import Reference
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import TensorType

VIEW_SEARCH_BYTES: Final = 2**20
"""Bytes of an array from which a copy takes longer than a search for all views of it."""


class Step:
    """An instruction, ready to be run: value `place` is `function(*operands)`, of type `type`.

    `last_uses`: the values that are not needed after it. `over`: those of them whose memory the
    result may take, unless it is shared: `writing` has the function that writes there; if that is
    None, `function` does, with `out=`. `part`: the next step, if this one may do it, too.
    """

    __slots__ = (
        "dtype", "function", "last_uses", "op", "operands", "over", "part", "place", "shape",
        "type", "writing",
    )  # fmt: skip

    def __init__(
        self,
        place: int,
        op: Op[Any],
        function: Reference,
        operands: tuple[int, ...],
        type: Any,
        last_uses: list[int],
    ) -> None:
        self.place = place
        self.op = op
        self.function = function
        self.operands = operands
        self.type = type
        self.dtype: Any = getattr(type, "dtype", None)
        self.shape: Any = getattr(type, "shape", None)
        self.last_uses = last_uses
        self.over: tuple[int, ...] = ()
        self.writing: Mapping[int, Reference] | None = None
        self.part: WrittenPart | None = None


class WrittenPart:
    """The next step, if it writes the ufunc's result, not needed elsewhere, to a part of an array.

    `shown(array, *data)`, with values `data`, is that part of value `base`. The ufunc may write
    there, if the array is not shared; then value `place` is that array.
    """

    __slots__ = ("base", "data", "last_uses", "place", "shown")

    def __init__(
        self,
        place: int,
        base: int,
        data: tuple[int, ...],
        shown: Reference,
        last_uses: list[int],
    ) -> None:
        self.place = place
        self.base = base
        self.data = data
        self.shown = shown
        self.last_uses = last_uses


def put_numbers(
    values: list[Any], places: list[tuple[int, np.dtype]], numbers: Sequence[Any]
) -> None:
    """Put the slots' numbers among the values. places: of each slot, with its dtype."""
    with np.errstate(over="ignore"):  # a number that a dtype cannot hold is infinite in it
        for (i, dtype), number in zip(places, numbers, strict=True):
            values[i] = asarray(number, dtype)


def run_steps(steps: list[Step], values: list[Any], held: Held) -> None:
    """Compute the steps' values. held: the references to arrays that were given (`Held`)."""
    done = -1
    for step in steps:
        if step.place == done:
            continue
        if step.part is not None and _is_computed_there(step, step.part, values, held):
            done = step.part.place
            continue
        taken = _taken(step, values, held) if step.over else -1
        if taken < 0:
            values[step.place] = _called(step.function, step.operands, values)
        elif step.writing is None:
            # One C call from the operands to the list, so that Ctrl-C cannot interrupt it.
            into: Any = partial(step.function, out=values[taken])
            values[step.place : step.place + 1] = map(into, *[[values[j]] for j in step.operands])
            into = None  # it holds a reference, which would count as sharing
        else:  # running it twice changes nothing, so Ctrl-C may interrupt it
            values[step.place] = _called(step.writing[taken], step.operands, values)
        result = values[step.place]
        if isinstance(result, generic):  # NumPy's reductions give scalars
            values[step.place] = result = asarray(result)
        if (
            type(result) is not ndarray
            or result.dtype is not step.dtype
            or result.shape != step.shape
        ):
            values[step.place] = checked(step.op, result, step.type)
        result = None  # a name would count as sharing
        for j in step.last_uses:
            values[j] = None


def _called(function: Reference, operands: tuple[int, ...], values: list[Any]) -> Any:
    count = len(operands)
    if count == 1:
        return function(values[operands[0]])
    if count == 2:
        return function(values[operands[0]], values[operands[1]])
    return function(*[values[j] for j in operands])


def _taken(step: Step, values: list[Any], held: Held) -> int:
    """The operand whose memory the result takes; -1 if it takes none."""
    for i in step.over:
        if is_unshared(values, i, held):
            return i
    return _freed_of_views(values, step.over, held) if step.writing else -1


def _freed_of_views(values: list[Any], over: tuple[int, ...], held: Held) -> int:
    """The first of `over` whose memory is shared with small views only, which are copied; or -1.

    So `x[i] = x[j]` copies `x[j]` and not `x`.
    """
    for i in over:
        if values[i].nbytes < VIEW_SEARCH_BYTES:
            continue
        owner = id(values[i] if values[i].base is None else values[i].base)
        views = [j for j, value in enumerate(values) if j != i and _shows(value, owner)]
        if sum([values[j].nbytes for j in views]) > values[i].nbytes // 2:
            continue
        for j in views:
            values[j] = values[j].copy()
        if views and is_unshared(values, i, held):
            return i
    return -1


def _shows(value: Any, owner: int) -> bool:
    return type(value) is ndarray and id(value.base) == owner


def _is_computed_there(step: Step, part: WrittenPart, values: list[Any], held: Held) -> bool:
    """Let a ufunc write its result to the part of an array that it replaces; say whether it did.

    As NumPy does in `x[1:] += y`. The ufunc may read views of the array, at their last use.
    """
    views = 0
    for j in step.last_uses:
        if values[j].base is values[part.base] and not beside_the_list(values, j):
            views += 1
    if values[part.base].base is not None or not is_unshared(values, part.base, held, views):
        return False
    there = part.shown(values[part.base], *[values[j] for j in part.data])
    # One C call again, so that Ctrl-C cannot interrupt it; `base` of the view is the whole array.
    computed = map(partial(step.function, out=there), *[[values[j]] for j in step.operands])
    values[part.place : part.place + 1] = map(_base_of, computed)
    for j in step.last_uses:
        values[j] = None
    for j in part.last_uses:
        values[j] = None
    return True


_base_of: Final = attrgetter("base")


def checked(op: Op[Any], result: Any, type: Any) -> Any:
    """An op's result as an array, or a tuple of them, of the type that the core inferred."""
    if isinstance(type, tuple):
        return tuple([_typed(op, r, t) for r, t in zip(result, type, strict=True)])
    return _typed(op, result, type)


def _typed(op: Op[Any], result: Any, type: TensorType) -> np.ndarray:
    array = asarray(result)
    if array.dtype != type.dtype or array.shape != type.shape:
        raise AssertionError(
            f"{op.name}: its reference gave {array.dtype}{array.shape}, its type rule {type}"
        )
    return array
