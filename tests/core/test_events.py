"""Saying why: the line that caused a cut, and what changed against the nearest known program."""

import inspect
import re
import time
from copy import copy
from types import FrameType

import numpy as np
import pytest

import lazytensor
from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir import source_location
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import cut
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe import events as happened
from lazytensor.core.observe import metrics
from lazytensor.core.observe.events import Event, Fallback, events
from lazytensor.core.observe.recompile_reason import FIRST_RUN, Change, change
from lazytensor.core.runtime import announce
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import array


def step(
    *, shape: tuple[int, ...] = (4,), dtype: str = "f8", axes: tuple[int, ...] = (0,), **also: bool
) -> None:
    x = leaf(np.ones(shape, dtype))
    y = ops.sin(x)
    if also.get("more"):
        y = ops.exp(y)
    if also.get("cast"):
        y = ops.convert(y, dtype=np.dtype(np.float32))
    z = ops.tanh(y) if also.get("other") else ops.cos(y)
    keep = Cell(z) if also.get("live") else None
    result = ops.reduce_sum(z, axes=axes)
    del y, z  # a name would keep them live
    sync(result)
    del keep


CHANGES = {
    "shape": ({"shape": (5,)}, "an input of type f64[5] instead of f64[4] at "),
    "dtype": ({"dtype": "f4"}, "an input of type f32[4] instead of f64[4] at "),
    "an operation more": ({"more": True}, "1 operation more: exp takes part now at "),
    "a cast": ({"cast": True}, "cos of type f32[4] instead of f64[4] at "),
    "another operation": ({"other": True}, "tanh instead of cos at "),
    "live": ({"live": True}, "the result of cos is live now at "),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_compile_names_what_changed(change: str) -> None:
    step()
    options, expected = CHANGES[change]
    step(**options)  # type: ignore[arg-type]
    assert expected in events[-1].reason
    assert re.search(r"test_events\.py:\d+ in step", events[-1].reason)


def test_other_live_results_are_named() -> None:
    x = leaf(np.ones(3))
    y = ops.sin(x)
    z = ops.cos(y)
    narrow, wide, turned = (cut(reachable([z]), outputs) for outputs in ([z], [y, z], [z, y]))
    for found, other, expected in [
        (wide, narrow, "the result of sin is live now at .*"),
        (narrow, wide, "the result of sin is dead now at .*"),
        (turned, wide, "the same results are live in another order"),
        (wide, copy(wide.program), "the same program, compiled for other donations"),
    ]:
        program = getattr(other, "program", other)
        for one, places in ((found.program, found.places()), (program, found.places())):
            one.places = places
        assert re.fullmatch(expected, str(change(found.program, [program])))


def test_a_changed_attribute_is_named() -> None:
    for axis in (0, 1):
        fetch(ops.reduce_sum(ops.sin(leaf(np.ones((3, 3)))), axes=(axis,)))
    assert "reduce_sum with axes=(1,) instead of (0,) at " in events[-1].reason


def test_operations_more_at_the_end() -> None:
    x = leaf(np.ones(3))
    for more in (False, True):
        y = ops.sin(x)
        fetch(ops.cos(y) if more else y)
    assert "1 operation more: cos takes part now at " in events[-1].reason


def test_operations_fewer_at_the_end() -> None:
    x = leaf(np.ones(3))
    for more in (True, False):
        y = ops.sin(x)
        fetch(ops.cos(y) if more else y)
    assert "1 operation fewer: cos is left out now at " in events[-1].reason


def test_what_has_no_line_in_common_is_no_version_of_it() -> None:
    x = leaf(np.ones(3))
    fetch(ops.sin(x))
    fetch(ops.sin(leaf(np.ones(4))))
    assert events[-1].change == Change(FIRST_RUN, "the first program of its kind")


def test_a_function_called_from_another_line_is_the_same() -> None:
    def step(times: int) -> Node:
        y = leaf(np.ones(3))
        for _ in range(times):
            y = ops.cos(ops.sin(y))
        return ops.exp(y)

    fetch(ops.tanh(step(3)))
    fetch(ops.tanh(step(5)))
    assert "sin 5 times instead of 3 times at " in events[-1].reason


def test_a_changed_scalar_is_told_from_a_changed_program() -> None:
    x = leaf(np.ones(3))
    for number in (1.0, 2.0):
        fetch(ops.add(x, ops.scalar(number, x.type.dtype)))
    line = here() - 1
    expected = f"the scalar of add is 2.0 instead of 1.0 and became data at {__file__}:{line} in "
    assert events[-1].reason.startswith(expected)


def test_the_first_program() -> None:
    step()
    assert events[-1].reason == "the first program of its kind"


def test_the_changed_line_is_the_users() -> None:
    step()
    step(other=True)
    (line,) = (
        number
        for number, text in enumerate(inspect.getsourcelines(step)[0], step.__code__.co_firstlineno)
        if "tanh" in text
    )
    assert f"test_events.py:{line} in step" in events[-1].reason


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    back = frame.f_back
    assert isinstance(back, FrameType)
    return back.f_lineno


def test_the_line_that_caused_the_cut_is_named() -> None:
    x = array(np.ones(3)) + 1.0
    line = here() + 1
    x.numpy()
    event = events[-1]
    assert event.cause == "observation"
    assert source_location.describe(event.place).endswith(
        f"test_events.py:{line} in test_the_line_that_caused_the_cut_is_named"
    )
    y = x * 2.0
    lazytensor.sync()
    assert events[-1].cause == "sync()"
    assert y.node.value is not None


def test_explain_counts_equal_events() -> None:
    x = leaf(np.ones(3))
    for _ in range(5):
        fetch(ops.sin(x))
    line = here() - 1
    said = str(lazytensor.explain()).splitlines()
    assert said[0] == "5 programs run, 4 cached, 1 compiled"
    assert re.match(rf" +5 × .*test_events\.py:{line}: a value was asked for", said[3])
    assert said[-1].strip() == "the first program of its kind"


def test_explain_says_what_was_interpreted() -> None:
    settings.tier = "interpret"
    for n in (3, 4, 5, 6):
        fetch(ops.sin(leaf(np.ones(n))))
    said = str(lazytensor.explain())
    assert said.startswith("4 programs run, 4 interpreted\n")
    assert "an input of type f64[6] instead of f64[5]" in said
    assert re.search(
        r"Recompilation hot spots\n  .*test_events\.py:\d+: 4 programs: 3 × shape", said
    )


def test_places_outside_of_any_user_code() -> None:
    assert source_location.describe(None) == "unknown place"


@pytest.mark.parametrize(("limit", "said"), [(0.02, True), (60.0, False)])
def test_a_slow_compile_is_announced(
    limit: float, said: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "slow_compile", limit)
    x = leaf(np.ones(3))
    fetch(x)
    node = ops.sin(x)
    program = cut(reachable([node]), [node]).program
    with announce.announced(program, user_place()):
        time.sleep(0.1)
    assert ("lazytensor: compiling 1 operations for " in capsys.readouterr().err) is said


def test_events_have_the_seconds_and_the_runs_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "wait", True)
    x = leaf(np.ones(3))
    start = time.perf_counter()
    for _ in range(3):
        fetch(ops.sin(x))
    assert [event.runs for event in events] == [0, 1, 2]
    assert events[0].seconds > metrics.snapshot()["compiling_seconds"] > 0
    assert sum(event.seconds for event in events) < time.perf_counter() - start


def test_listeners_hear_of_every_event(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Event | Fallback] = []
    monkeypatch.setattr(happened, "listeners", [heard.append])
    fetch(ops.sin(leaf(np.ones(3))))
    place_here = (here.__code__, 0)
    happened.record(Fallback(place_here, "numpy.nothing", 0.5))
    assert heard == [events[-1], happened.fallbacks[-1]]
    said = str(lazytensor.explain())
    assert re.search(r"\n     1 × .*test_events\.py:\d+: numpy\.nothing is not lazy\n", said)


def test_events_are_bounded() -> None:
    for kept in (events, happened.fallbacks):
        assert kept.maxlen is not None
        assert kept.maxlen <= 100_000
    assert metrics.snapshot()["cuts"] == 0
