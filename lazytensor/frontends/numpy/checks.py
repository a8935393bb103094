"""Checks for what IEEE arithmetic flags: division by zero, overflow, underflow, invalid values.

NumPy looks at the processor's flags after each operation. A compiled program has none, so the
flags are computed from operands and results, as part of the program, where the user has asked for
them with `errstate` or `seterr`; where not, nothing is recorded and nothing is lost. In mode
`raise` (and `call`, `print`, `log`) the flags are looked at at once, at the user's line; in mode
`warn` when the program runs, with the line that recorded the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, cast

import numpy as np

from lazytensor.core import ops, runtime
from lazytensor.core.cell import Cell
from lazytensor.core.dtypes import BOOL
from lazytensor.core.node import Node
from lazytensor.core.op import scalar
from lazytensor.frontends.numpy import plans

State = dict[str, str]
KINDS: Final = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
"""NumPy's names for the flags, in the order in which it looks at them; what its texts say."""

OFF: Final = dict.fromkeys(KINDS, "ignore")
_state: ContextVar[State] = ContextVar("lazytensor_errstate", default=OFF)

Poles = Callable[..., Node]
POLES: Final[dict[str, Poles]] = {
    "divide": lambda x, y: _equals(y, 0),
    "floor_divide": lambda x, y: _equals(y, 0),
    "reciprocal": lambda x: _equals(x, 0),
    "log": lambda x: _equals(x, 0),
    "log2": lambda x: _equals(x, 0),
    "log10": lambda x: _equals(x, 0),
    "log1p": lambda x: _equals(x, -1),
    "arctanh": lambda x: cast(Node, ops.or_(_equals(x, 1), _equals(x, -1))),
    "power": lambda x, y: _equals(x, 0),
    "float_power": lambda x, y: _equals(x, 0),
}
"""Where an infinite result of finite operands is exact, and not an overflow."""

WHOLE: Final = frozenset(["floor_divide", "remainder", "divmod", "fmod"])
"""Functions of integers that flag a division by zero."""

SHRINKING: Final = frozenset(
    ["multiply", "divide", "reciprocal", "exp", "exp2", "power", "float_power", "square", "ldexp"]
)
"""Functions whose results may be too small; others have tiny results of tiny operands only."""


def current() -> State:
    """The state that checks are made for, per kind; `OFF` unless the user has asked."""
    return _state.get()


def _change(new: State) -> State:
    """Check for `new` from now on; what was checked for before."""
    old = current()
    new = OFF if all(mode == "ignore" for mode in new.values()) else new
    _state.set(new)
    plans.suspended += (new is not OFF) - (old is not OFF)
    plans.forget()
    return old


def geterr() -> State:
    """See numpy.geterr. Nothing is checked until `seterr` or `errstate` asks for it."""
    return dict(current())


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> State:
    """See numpy.seterr. Returns: the state before."""
    given = {"divide": divide, "over": over, "under": under, "invalid": invalid}
    np.seterr(all=all, **given)  # type: ignore[arg-type]  # checks the modes; for computing on host
    return dict(_change({kind: mode or all or current()[kind] for kind, mode in given.items()}))


class errstate(ContextDecorator):
    """See numpy.errstate. What was recorded in it under mode `warn` is computed at its end."""

    def __init__(self, **modes: Any) -> None:
        self.modes = modes
        self.before: list[tuple[State, Any]] = []

    def __enter__(self) -> None:
        host = np.errstate(**self.modes)
        host.__enter__()
        every = self.modes.get("all")
        wanted = {kind: self.modes.get(kind) or every or current()[kind] for kind in KINDS}
        self.before.append((_change(wanted), host))

    def __exit__(self, *error: Any) -> None:
        old, host = self.before.pop()
        checked_for = _change(old)
        host.__exit__(*error)
        if "warn" in checked_for.values() and error[0] is None:
            runtime.sync(cause="end of errstate")


class Flag(NamedTuple):
    """Whether something of `kind` has happened in a function: `pred[]`."""

    kind: str
    raised: Node


_watched: list[Cell] = []
_WATCHED_BOUND: Final = 256


def _watch(guard: Node) -> None:
    """Have the guard computed with all that is live, also if nobody wants the function's result."""
    if len(_watched) > _WATCHED_BOUND:
        _watched[:] = [cell for cell in _watched if cell.node.value is None]
    _watched.append(Cell(guard))


def check(
    name: str,
    operands: Sequence[Node],
    result: Node,
    where: Any = True,
    axes: tuple[int, ...] = (),
) -> None:
    """Check what the state asks for of a `result` of the function `name`.

    operands: converted as the function converts them. where: True or a mask as a node. axes: what
    the function has reduced. Raises: FloatingPointError.
    """
    state = current()
    if state is OFF:
        return
    for kind, raised in _flags(name, operands, result, where, axes):
        mode = state[kind]
        text = f"{KINDS[kind]} encountered in {name}"
        if mode == "warn":
            _watch(ops.guard(ops.not_(raised), error=RuntimeWarning, text=text))
        elif mode != "ignore" and _happened(raised):
            _react(mode, kind, text)


def _happened(raised: Node) -> bool:
    """Whether a flag is set, computed now."""
    if raised.value is None:
        runtime.sync(raised, cause="errstate")
    return bool(runtime.observe(raised))


def _react(mode: str, kind: str, text: str) -> None:
    """What NumPy does in this mode."""
    if mode == "raise":
        raise FloatingPointError(text)
    if mode == "print":
        print(f"Warning: {text}")
        return
    handler = np.geterrcall()
    if handler is None:
        raise NameError(f"python callback specified for {KINDS[kind]} (in {text}) but no function")
    if mode == "log":
        cast(Any, handler).write(f"Warning: {text}\n")
    else:
        cast(Any, handler)(KINDS[kind], 1 << list(KINDS).index(kind))


def _flags(
    name: str, operands: Sequence[Node], result: Node, where: Any, axes: tuple[int, ...]
) -> Iterator[Flag]:
    kind = result.type.dtype.kind
    if kind in "iu" and name in WHOLE:
        yield from _flags_of_whole(name, operands, result, where)
    if kind not in "fc" and result.type.dtype.name != "bfloat16":
        return
    floats = [x for x in operands if x.type.dtype.kind in "fcV"]
    infinite = ops.and_(_every(ops.is_finite, floats, axes), ops.not_(ops.is_finite(result)))
    nan = ops.is_nan(result)
    beyond = ops.and_(infinite, ops.not_(nan))
    if name in POLES:
        pole = POLES[name](*operands)
        yield Flag("divide", _any(ops.and_(beyond, pole), where))
        beyond = ops.and_(beyond, ops.not_(pole))
    yield Flag("over", _any(beyond, where))
    if name in SHRINKING and kind == "f":
        yield Flag("under", _any(_is_tiny(result, floats), where))
    no_nan = _every(lambda x: ops.not_(ops.is_nan(x)), floats, axes)
    yield Flag("invalid", _any(ops.and_(nan, no_nan), where))


def _flags_of_whole(
    name: str, operands: Sequence[Node], result: Node, where: Any
) -> Iterator[Flag]:
    shape = result.type.shape  # of an empty result no element is divided by a scalar
    zero = ops.broadcast(_equals(operands[1], 0), shape=shape)
    yield Flag("divide", _any(zero, where))
    if name in ("floor_divide", "divmod") and result.type.dtype.kind == "i":
        lowest = _equals(operands[0], int(np.iinfo(result.type.dtype).min))
        beyond = ops.and_(lowest, _equals(operands[1], -1))
        yield Flag("over", _any(ops.broadcast(beyond, shape=shape), where))


def _every(test: Callable[[Node], Node], nodes: list[Node], axes: tuple[int, ...]) -> Node:
    made = scalar(True, BOOL)
    for node in nodes:
        passed = test(node)
        made = ops.and_(made, ops.reduce_and(passed, axes=axes) if axes else passed)
    return made


def _any(mask: Node, where: Any) -> Node:
    chosen = mask if where is True else ops.and_(mask, where)
    axes = tuple(range(chosen.type.ndim))
    return cast(Node, ops.reduce_or(chosen, axes=axes) if axes else chosen)


def _equals(x: Node, value: int) -> Node:
    kind = x.type.dtype.kind
    number: Any = complex(value) if kind == "c" else float(value) if kind in "fV" else value
    return cast(Node, ops.equal(x, scalar(number, x.type.dtype)))


def _is_tiny(result: Node, operands: list[Node]) -> Node:
    """Below the normal numbers, and not because the first operand is zero."""
    tiny = scalar(float(np.finfo(result.type.dtype).tiny), result.type.dtype)
    made = ops.less(ops.abs(result), tiny)
    for x in operands[:1]:
        made = ops.and_(made, ops.not_(_equals(x, 0)))
    return cast(Node, made)
