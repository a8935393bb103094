"""The reference interpreter: a program run op by op with NumPy.

It is the oracle of the tests, the first tier of execution for small new programs, and runs the ops
that the host does faster. References are pure: they never write to an operand; a result may share
memory with one (nobody writes to a leaf's array). Where an array that was made here is needed no
more, as in a loop that fills one row by row, its memory takes what is computed of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import Context
from functools import cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.errors import Unsupported
from lazytensor.core.op import Attrs, Composite, Op, element
from lazytensor.core.program import INPUTS, Program
from lazytensor.core.types import TensorType, tensor_type

Reference = Callable[..., Any]
REFERENCES: dict[Op, Reference] = {}
"""Per op: `reference(*arrays, **attrs)`, an array or a tuple of them."""
SHOWN: dict[Op, Callable[..., Reference]] = {}
"""Per view op where it pays: of its operands but the first, and its attributes, what shows it."""
OVERWRITING: dict[Op, Callable[..., Mapping[int, Reference]]] = {}
"""Per op whose result may be an operand that is written to: of its attributes, per operand what
does that, `reference(*arrays, **attrs)`. To do it twice must be the same as once."""
RESHAPING: set[Op] = set()
"""Ops of one operand whose reference only looks at it in another way."""
VIEWING: set[Op] = set()
"""Ops whose reference copies nothing, those among them."""
PICKING: set[Op] = set()
"""Ops whose reference reads no more of the first operand than the result has elements."""
CHOOSING: set[Op] = set()
"""Ops whose reference reads only those elements of its first operand that flags choose."""
WORTH_REUSE: Final = 2**16
"""Bytes from which an operand's memory is taken for the result: below, to ask takes longer."""


class Step(NamedTuple):
    """An instruction, ready to be run: value `place` is `function(*operands)`.

    `over` are operands that nothing needs after it. If the memory of one is nobody else's, the
    result may take it: `writing` has what puts it there, or if that is None, it is `function` with
    one more argument.
    """

    place: int
    function: Reference
    operands: tuple[int, ...]
    type: Any
    last_uses: list[int]
    over: tuple[int, ...]
    writing: Mapping[int, Reference] | None


def interpret(program: Program, leaves: Sequence[np.ndarray], slots: Sequence[Any]) -> list[Any]:
    """The results of `program`, computed by NumPy. Leaves are not written to."""
    values = with_inputs(program, leaves, slots)
    compute(program, values)
    return [values[i] for i in program.results]


def with_inputs(program: Program, leaves: Sequence[np.ndarray], slots: Sequence[Any]) -> list[Any]:
    """Per instruction its value, or None where it is still to be computed."""
    lines = program.instructions
    values: list[Any] = [None] * len(lines)
    for i, leaf in zip(program.parameters, leaves, strict=True):
        values[i] = leaf
    for i, scalar in zip(program.slots, slots, strict=True):
        values[i] = np.asarray(scalar, lines[i][3].dtype)
    return values


def compute(program: Program, values: list[Any], given: Collection[int] = ()) -> None:
    """Compute what is None in `values`; what nothing needs any more is None after that.

    `given`: parameters whose memory results may take. If an error or Ctrl-C ends this early,
    `values` has all that the instructions still to come need, and no more was overwritten.
    """
    lines = program.instructions
    held = {id(values[i]): _references(values[i]) - _OF_OPERAND for i in given}
    with np.errstate(all="ignore"):
        for i, function, operands, type, last_uses, over, writing in _steps(program):
            taken = _unshared(values, over, held) if over else None
            if taken is None:
                values[i] = function(*[values[j] for j in operands])
            elif writing is None:
                # One C call from the operands to the list: no Ctrl-C comes in between.
                into = [values[taken]]
                values[i : i + 1] = map(function, *[[values[j]] for j in operands], into)
                del into  # which would count as a reference to what may be written to
            else:  # doing that twice changes nothing
                values[i] = writing[taken](*[values[j] for j in operands])
            result = values[i]
            if (
                result.__class__ is not np.ndarray
                or result.dtype is not type.dtype
                or result.shape != type.shape
            ):
                values[i] = _checked(lines[i][0], result, type)
            del result
            for j in last_uses:
                values[j] = None


def takes(program: Program) -> tuple[int, ...]:
    """The parameters whose memory results could take, by position among the parameters."""
    if program.takes is None:
        lines = program.instructions
        over = {i for step in _steps(program) for i in step.over}
        for i in range(len(lines) - 1, -1, -1):
            if i in over and lines[i][0] in RESHAPING:
                over.add(lines[i][1][0])
        program.takes = tuple(at for at, i in enumerate(program.parameters) if i in over)
    return program.takes


def quietly(function: Reference, *args: Any, **kwargs: Any) -> Any:
    """What a function gives, floating-point warnings off; at half the price of `np.errstate`."""
    # None is in two uses at once: a finalizer, or another thread, may come in between.
    context = _quiet.pop() if _quiet else _new_quiet()
    try:
        return context.run(function, *args, **kwargs)
    finally:
        _quiet.append(context)


_quiet: Final[list[Context]] = []


def _new_quiet() -> Context:
    context = Context()
    context.run(partial(np.seterr, all="ignore"))
    return context


def _steps(program: Program) -> list[Step]:
    """The instructions that compute; kept with the program, as most are run again."""
    if program.steps is None:
        lines = enumerate(program.instructions)
        program.steps = [_step(program, i) for i, line in lines if line[0] not in INPUTS]
    return program.steps


def _step(program: Program, index: int) -> Step:
    lines = program.instructions
    op, operands, attrs, type = lines[index]
    last = program.last_uses[index]
    function = reference_of(op, attrs)
    writing: dict[int, Reference] | None = None
    over: tuple[int, ...] = ()
    if op in OVERWRITING:
        found = OVERWRITING[op](**op.attrs_of(attrs)).items()
        usable = {operands[at]: _bound(f, op, attrs) for at, f in found}
        alone = [j for j in last if operands.count(j) == 1 and lines[j][3] is type]
        writing = {j: f for j, f in usable.items() if j in alone}
        over = tuple(writing)
    elif isinstance(function, np.ufunc) and type.nbytes >= WORTH_REUSE:
        over = tuple(j for j in last if lines[j][3] is type)
    return Step(index, function, operands, type, last, over, writing)


def _unshared(values: list[Any], over: tuple[int, ...], held: Mapping[int, int]) -> int | None:
    """The first whose memory is nobody else's: a leaf's node has it, and a view of it would.

    `held`: by the identity of arrays that were given, how often their leaves have them.
    """
    for i in over:
        if _is_unshared(values[i], held):
            return i
    return None


def _is_unshared(value: np.ndarray, held: Mapping[int, int]) -> bool:
    own = _references(value) - _OF_ARGUMENT
    base = value.base
    if base is None:
        return own <= held.get(id(value), 0)
    # A view of all of an array that has no other views, and is in no list.
    return (
        own <= 0
        and base.__class__ is np.ndarray
        and base.nbytes == value.nbytes
        and value.flags.c_contiguous
        and value.flags.writeable
        and _references(base) - _OF_BASE <= held.get(id(base), 0)
    )


def _references(array: np.ndarray) -> int:
    return sys.getrefcount(array)


def _references_of_a_view() -> tuple[int, int, int]:
    """What is seen of a value that only the list of values holds: by who reads it there, and by
    `_is_unshared`, of it and of its base."""
    values = [np.zeros(2).reshape(1, 2)]

    def look(value: np.ndarray) -> tuple[int, int]:
        own = _references(value)
        base = value.base
        assert base is not None
        return own, _references(base)

    return _references(values[0]), *look(values[0])


_OF_OPERAND, _OF_ARGUMENT, _OF_BASE = _references_of_a_view()


def _bound(reference: Reference, op: Op, attrs: Attrs) -> Reference:
    return partial(reference, **op.attrs_of(attrs)) if attrs else reference


def reference_of(op: Op, attrs: Attrs) -> Reference:
    """What computes an instruction's result of its operands. Raises: Unsupported."""
    if op is element:
        return lambda results: results[attrs[0]]
    reference = references().get(op)
    if reference is not None:
        return _bound(reference, op, attrs)
    if isinstance(op, Composite):
        return partial(_apply_composite, op, attrs)
    raise Unsupported(f"{op.name}: no NumPy reference; add a row in lazytensor/core/reference/")


def apply(op: Op, operands: Sequence[Any], attrs: Attrs, type: Any) -> Any:
    """One op's result, of the type that the core inferred."""
    return _checked(op, reference_of(op, attrs)(*operands), type)


def _checked(op: Op, result: Any, type: Any) -> Any:
    if isinstance(type, tuple):
        return tuple(_typed(op, r, t) for r, t in zip(result, type, strict=True))
    return _typed(op, result, type)


def _apply_composite(op: Composite, attrs: Attrs, *operands: Any) -> Any:
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
    from lazytensor.core import allocator, reference

    allocator.keep_freed_memory()
    reference.load()
    return REFERENCES
