"""Checks for what IEEE arithmetic flags: division by zero, overflow, underflow, invalid values.

NumPy reads the processor's flags after each operation. A compiled program has none, so the flags
are computed from operands and results, as part of the program. This happens only where the user has
asked for it with `errstate` or `seterr`. In mode `raise` (and `call`, `print`, `log`) the flags are
read at once, at the user's line. In mode `warn` they are read when the program runs, and the
warning names the line that recorded the operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from typing import Any, Final, Self, cast

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.node import Node
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.ufuncs import plans
from lazytensor.frontends.numpy.ufuncs.floating import Reduced, any_of, flags

State = dict[str, str]
FLAG_NAMES: Final = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
"""NumPy's names for the flags, in the order in which it checks them, with its messages' words."""

SCALAR_PREFIX: Final = "scalar "
"""NumPy's prefix, in messages, to the name of an operator of two scalars."""

OFF: Final = dict.fromkeys(FLAG_NAMES, "ignore")
_state: ContextVar[State] = ContextVar("lazytensor_errstate", default=OFF)
_quiet: ContextVar[bool] = ContextVar("lazytensor_unwatched", default=False)


def current() -> State:
    """The mode of each kind of check; `OFF` unless the user has asked for some."""
    return _state.get()


def _change(new: State) -> State:
    """Check for `new` from now on. Returns: the state before."""
    old = current()
    new = OFF if all(mode == "ignore" for mode in new.values()) else new
    _state.set(new)
    plans.suspended += (new is not OFF) - (old is not OFF)
    plans.forget()
    return old


class _Mode(str):
    """A mode of lazy operations, and NumPy's own of the same kind, which `seterr` gives back."""

    host: str

    def __new__(cls, mode: str, host: str) -> Self:
        made = super().__new__(cls, mode)
        made.host = host
        return made


def _modes(ours: State, hosts: Mapping[str, Any]) -> State:
    """What `seterr(**modes)` sets again, for lazy operations and for NumPy, whose modes differ."""
    return {kind: _Mode(mode, hosts[kind]) for kind, mode in ours.items()}


def _of_host(modes: Mapping[str, Any]) -> dict[str, Any]:
    """NumPy's modes, of those that the user gives."""
    return {k: mode.host if isinstance(mode, _Mode) else mode for k, mode in modes.items()}


def geterr() -> State:
    """See numpy.geterr. Nothing is checked until `seterr` or `errstate` asks for it."""
    return _modes(current(), np.geterr())


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> State:
    """See numpy.seterr. Returns: the state before."""
    given = {"divide": divide, "over": over, "under": under, "invalid": invalid}
    hosts = np.seterr(all=all, **_of_host(given))  # type: ignore[arg-type]  # checks the modes
    new = {kind: mode or all or current()[kind] for kind, mode in given.items()}
    return _modes(_change(new), hosts)


class errstate(ContextDecorator):
    """See numpy.errstate. Operations recorded in it under mode `warn` are computed at its end."""

    def __init__(self, **modes: Any) -> None:
        self.modes = modes
        self.before: list[tuple[State, Any]] = []

    def __enter__(self) -> None:
        host = np.errstate(**_of_host(self.modes))
        host.__enter__()
        every = self.modes.get("all")
        wanted = {kind: self.modes.get(kind) or every or current()[kind] for kind in FLAG_NAMES}
        self.before.append((_change(wanted), host))

    def __exit__(self, *error: Any) -> None:
        old, host = self.before.pop()
        checked_for = _change(old)
        host.__exit__(*error)
        if "warn" in checked_for.values() and error[0] is None:
            scheduler.sync(cause="end of errstate")


_watched: list[Cell] = []
_WATCHED_BOUND: Final = 256


def _watch(guard: Node) -> None:
    """Keep the guard live, so that it is computed even if the function's result is dropped."""
    if len(_watched) > _WATCHED_BOUND:
        _watched[:] = [cell for cell in _watched if cell.node.value is None]
    _watched.append(Cell(guard))


def check(
    name: str,
    operands: Sequence[Node],
    result: Node,
    where: Any = True,
    axes: tuple[int, ...] | None = (),
    running: bool = False,
) -> None:
    """Check a `result` of the function `name` for the flags that the state asks for.

    name: as in NumPy's messages, with or without `scalar`. operands: converted as the function
    converts them. where: True or a mask as a node. axes: the reduced axes, None for all of them;
    with `running`, the axes of a running reduction. Raises: FloatingPointError.
    """
    state = current()
    if state is OFF:
        return
    found = flags(name.removeprefix(SCALAR_PREFIX), operands, result, where, Reduced(axes, running))
    for kind, raised in found:
        mode = state[kind]
        text = f"{FLAG_NAMES[kind]} encountered in {name}"
        if mode == "warn":
            _watch(ops.guard(~raised, error=RuntimeWarning, text=text))
        elif mode != "ignore" and _happened(raised):
            _react(mode, kind, text)


@contextmanager
def unwatched() -> Iterator[None]:
    """Suspend checks and warnings, as NumPy's functions do for the operations inside them."""
    state, quiet = _state.set(OFF), _quiet.set(True)
    try:
        yield
    finally:
        _state.reset(state)
        _quiet.reset(quiet)


def warned(node: Node, bad: Node, text: str) -> Node:
    """`node`, with a warning where `bad` holds, as NumPy's Python code warns in any state."""
    if _quiet.get():
        return node
    fine = ~any_of(bad)
    return ops.guarded(node, ops.guard(fine, error=RuntimeWarning, text=text))


def _happened(raised: Node) -> bool:
    """Whether a flag is set, computed now."""
    if raised.value is None:
        scheduler.sync(raised, cause="errstate")
    return bool(scheduler.observe(raised))


def _react(mode: str, kind: str, text: str) -> None:
    """React as NumPy does in this mode."""
    if mode == "raise":
        raise FloatingPointError(text)
    if mode == "print":
        print(f"Warning: {text}")
        return
    handler = np.geterrcall()
    if handler is None:
        raise NameError(
            f"python callback specified for {FLAG_NAMES[kind]} (in {text}) but no function"
        )
    if mode == "log":
        cast(Any, handler).write(f"Warning: {text}\n")
    else:
        cast(Any, handler)(FLAG_NAMES[kind], 1 << list(FLAG_NAMES).index(kind))
