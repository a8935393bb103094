"""The interpreter overwrites what nobody needs: leaves too, and never what somebody has."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np
import pytest

from lazytensor.core import binaries, ops
from lazytensor.core.buffers import refcounts
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.interpreter import interpreter, kernels, ready_program, steps
from lazytensor.core.interpreter.interpreter import REUSE_BYTES
from lazytensor.core.ir.op import leaf, starts
from lazytensor.core.runtime import executor, replay_program
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import F64, Array, array

REMEMBER: Final = replay_program.remember
N = REUSE_BYTES // 4  # so that half of the elements are worth it


@pytest.fixture(autouse=True)
def interpreted(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy runs everything, the long way: the short one takes nobody's memory."""
    settings.tier = "interpret"
    monkeypatch.setattr(replay_program, "remember", lambda run: None)
    monkeypatch.setattr(steps, "VIEW_SEARCH_BYTES", REUSE_BYTES)


def own(start: float = 0.0) -> Array:
    """An array whose values nobody else has: those that an operation gave."""
    made = array(np.arange(N) + start) + 0.0
    sync()
    return made


def memory(x: Array) -> int:
    """The address of the values, which the host has."""
    value = x.node.value
    assert isinstance(value, np.ndarray)
    return value.ctypes.data


def in_place(x: Array, y: Array) -> Any:
    x.holder.write((x * 0.5).node)
    x.holder.write((y + x).node)


def anew(x: Array, y: Array) -> Any:
    x.holder = (x * 0.5 + y).holder


def a_part(x: Array, y: Array) -> Any:
    x[1:-1] = (y + 1.0)[1:-1]


def after_a_view(x: Array, y: Array) -> Any:
    x[1:-1] = (x[:-2] + x[2:]) * 0.5


def a_part_of_itself(x: Array, y: Array) -> Any:
    part = x[1:-1]
    part.holder.write((part * 0.5).node)


def a_part_of_its_others(x: Array, y: Array) -> Any:
    """Not in order: what was written first must not be read after that."""
    x[:-1].holder.write((x[:-1] + x[1:]).node)
    x[1:].holder.write((x[1:] + x[:-1]).node)
    x[::2].holder.write((x[::2] + y[1::2]).node)


def moved(x: Array, y: Array) -> Any:
    """Parts that are read for the last time by the write, beside them, and after it."""
    x[3] = x[9:10]
    x[2:5] = x[3:6]
    old = ops.convert(x[7:9].node, dtype=F64)
    x[8:10] = y[:2]
    x.holder.write(ops.update_slice(x.node, old, starts((0,)), strides=(1,)))


def shifted(x: Array, y: Array) -> Any:
    """Nearly all of it."""
    x[1:] = x[:-1]


def chosen(x: Array, y: Array) -> Any:
    x.holder.write(ops.select(ops.less(x.node, y.node), x.node, ops.scalar(3.0, F64)))
    x.holder.write(ops.select(ops.less(y.node, x.node), y.node, x.node))


def highest(x: Array, y: Array) -> Any:
    x.holder.write(ops.maximum(x.node, y.node))
    part = x[1:-1]
    part.holder.write(ops.minimum(part.node, y[1:-1].node))


def limited(x: Array, y: Array) -> Any:
    x.holder.write(ops.clamp(y.node, x.node, ops.scalar(90.0, F64)))


def scattered(x: Array, y: Array) -> Any:
    places = leaf(np.array([5, 3, 5]))
    x.holder.write(ops.scatter(x.node, y[2:5].node, places, axes=(0,), mode="set"))


def turned(x: Array, y: Array) -> Any:
    places = leaf(np.arange(N)[::-1].copy())
    x.holder.write(ops.scatter(x.node, x.node, places, axes=(0,), mode="set"))


def needed_later(x: Array, y: Array) -> Any:
    """What is read for the last time by one name, and is there by another."""
    part = x[1:-1]
    same = ops.convert(part.node, dtype=F64)
    part.holder.write((part * 0.5).node)
    return [Array(Cell(same))]


def in_another_shape(x: Array, y: Array) -> Any:
    plane = ops.reshape(x.node, shape=(4, N // 4))
    line = ops.reshape(y[:4].node, shape=(4,))
    plane = ops.update_diagonal(plane, line, offset=2, axis1=0, axis2=1)
    x.holder.write(ops.reshape(plane, shape=(N,)))


def several(x: Array, y: Array) -> Any:
    """Chains, parts, and results that others need, also of arrays that are overwritten later."""
    first = x * 2.0
    low, high = ops.sort(x.node, y.node, axis=0, keys=1)
    in_place(x, y)
    after_a_view(x, y)
    return first, x + 1.0, Array(Cell(low)), Array(Cell(high))


STEPS: dict[str, Callable[[Array, Array], Any]] = {
    "in place": in_place,
    "a new array of the same name": anew,
    "a part": a_part,
    "a part, after a view of it was read": after_a_view,
    "a part, computed of itself": a_part_of_itself,
    "parts, computed of others of itself": a_part_of_its_others,
    "parts, moved": moved,
    "chosen": chosen,
    "highest": highest,
    "limited": limited,
    "scattered": scattered,
    "a part that is needed later": needed_later,
    "in another shape": in_another_shape,
}
by_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
ALL = {**STEPS, "several": several, "scattered in itself": turned, "shifted": shifted}
by_any_step = pytest.mark.parametrize("step", ALL.values(), ids=ALL)


@by_any_step
def test_it_is_what_is_compiled(step: Callable[..., Any]) -> None:
    found = []
    for tier in ("interpret", "compile"):
        settings.tier = tier
        x, y = own(), own(1.0)
        results = step(x, y) or ()
        sync()
        found.append([z.numpy() for z in (x, *results)])
    for mine, theirs in zip(*found, strict=True):
        assert np.array_equal(mine, theirs)


@by_step
def test_the_memory_of_what_nobody_has_is_used_again(step: Callable[..., Any]) -> None:
    x, y = own(), own(1.0)
    before = memory(x), memory(y)
    step(x, y)
    sync()
    assert (memory(x), memory(y)) == before


def a_part_and_others(x: Array, y: Array) -> None:
    """As `a_part_of_its_others`, but for what overlaps: NumPy copies that."""
    x[::2].holder.write((x[::2] + y[1::2]).node)


@pytest.mark.parametrize("step", [a_part_of_itself, a_part_and_others])
def test_a_part_is_computed_where_it_is(step: Callable[..., Any]) -> None:
    x, y = own(), own(1.0)
    step(x, y)
    sync()  # what is made once for a program needs memory, too
    step(x, y)
    tracemalloc.start()
    sync()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < x.node.value.nbytes // 4


HOLDERS: dict[str, Callable[[Array], Any]] = {
    "the node": lambda x: x.node,
    "another cell of the node": lambda x: Array(Cell(x.node)),
    "the array": lambda x: x.node.value,
    "a view of the array": lambda x: x.node.value[2:],
    "a pending read": lambda x: x[1:-1].node,
    "a cell of a pending read": lambda x: Array(Cell(x[1:-1].node)),
    "a pending result": lambda x: x * 3.0,
    "a leaf of a view of the array": lambda x: leaf(x.node.value[2:]),
}


@by_step
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_somebody_has_is_as_it_was(
    hold: Callable[[Array], Any], step: Callable[..., Any]
) -> None:
    x, y = own(), own(1.0)
    held, wanted = hold(x), seen(hold(own()))
    step(x, y)
    sync()
    assert np.array_equal(seen(held), wanted)


def seen(held: Any) -> np.ndarray:
    """The values of an array, lazy array or node."""
    if isinstance(held, np.ndarray):
        return held
    return held.numpy() if isinstance(held, Array) else fetch(held)


def test_memory_that_is_not_its_own_is_left_alone() -> None:
    of_the_users = np.arange(float(N))
    x = Array(Cell(leaf(of_the_users)))
    of_the_users.flags.writeable = False
    in_place(x, own())
    sync()
    assert np.array_equal(of_the_users, np.arange(N))


FILES = tuple(x.__file__ for x in (executor, interpreter, steps, refcounts))


class Traced:
    """Ctrl-C before the n-th bytecode instruction of the interpreter and its callers."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> None:
        self.before = sys.gettrace()
        sys.settrace(self)

    def __exit__(self, *error: object) -> None:
        sys.settrace(self.before)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
        return self


class Monitored:
    """The same from Python 3.13 on, which tells tracers of few instructions only."""

    TOOL: Final = 3

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> None:
        sys.monitoring.use_tool_id(self.TOOL, "interrupts")
        sys.monitoring.register_callback(self.TOOL, sys.monitoring.events.INSTRUCTION, self)
        sys.monitoring.set_events(self.TOOL, sys.monitoring.events.INSTRUCTION)

    def __exit__(self, *error: object) -> None:
        sys.monitoring.set_events(self.TOOL, 0)
        sys.monitoring.free_tool_id(self.TOOL)

    def __call__(self, code: CodeType, offset: int) -> None:
        if code.co_filename in FILES:
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt


Interrupts: Any = Monitored if sys.version_info >= (3, 13) else Traced


def after(step: Callable[..., Any], at: int) -> tuple[bool, list[np.ndarray]]:
    """Whether a Ctrl-C came at this moment of a step, and everything that there is after that."""
    x, y = own(), own(1.0)
    results = step(x, y) or ()
    came = False
    try:
        with Interrupts(at):
            sync()
    except KeyboardInterrupt:
        came = True
    return came, [z.numpy() for z in (x, y, *results)]


@by_any_step
def test_a_ctrl_c_at_any_moment_loses_nothing(step: Callable[..., Any]) -> None:
    _, wanted = after(step, 0)
    moments = 0
    came = True
    while came:
        moments += 1
        came, found = after(step, moments)
        for mine, theirs in zip(found, wanted, strict=True):
            assert np.array_equal(mine, theirs), moments
    assert moments > 50


def test_a_ctrl_c_at_any_moment_of_the_short_way_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is compiled has no moments at all. The scheduler's are left out: Python looks for a
    Ctrl-C at calls and loops only, never between taking the lock and the block.
    """
    monkeypatch.setattr(replay_program, "remember", REMEMBER)
    short = (replay_program, ready_program)
    monkeypatch.setitem(globals(), "FILES", (*FILES, *(x.__file__ for x in short)))
    x = array(np.arange(4.0))
    moments, came = 0, True
    while came:
        moments, came = moments + 1, False
        made = x * 2.0
        last = made + 1.0
        try:
            with Interrupts(moments):
                sync()
        except KeyboardInterrupt:
            came = True
        assert np.array_equal(made.numpy(), np.arange(4.0) * 2.0), moments
        assert np.array_equal(last.numpy(), np.arange(4.0) * 2.0 + 1.0), moments
    assert moments > 100 or binaries.mode == binaries.COMPILED


def test_an_error_in_the_middle_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where there is no memory for one operation; x has been overwritten by then."""

    def fails(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        raise MemoryError

    x, y = own(), own(1.0)
    in_place(x, y)
    negative = Array(Cell(ops.reverse(x.node, axes=(0,))))
    with monkeypatch.context() as patch:
        patch.setitem(kernels.REFERENCES, ops.reverse, fails)
        with pytest.raises(MemoryError):
            sync()
        assert np.array_equal(x.numpy(), np.arange(N) * 1.5 + 1.0)
    assert np.array_equal(negative.numpy(), x.numpy()[::-1])


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0])
def test_one_number_everywhere_but_in_a_part(value: float) -> None:
    """Of zeros, memory is asked for that the system has cleared; of the other zero, it is not."""
    x = Array(Cell(ops.broadcast(ops.scalar(value, F64), shape=(N,))))
    x[5:8] = 2.0
    expected = np.full(N, value)
    expected[5:8] = 2.0
    assert x.numpy().tobytes() == expected.tobytes()
