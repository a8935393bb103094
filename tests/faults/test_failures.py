"""What fails while it runs: which arrays it spoils, what is raised and where, what goes on."""

import gc
from typing import Any

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.errors import DataError, Unsupported
from lazytensor.core.interpreter.kernels import REFERENCES
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, leaf
from lazytensor.core.ir.recording import thread as recording
from lazytensor.core.policy import PROGRAM_NODES_BOUND
from lazytensor.core.runtime.scheduler import fetch, observe, sync
from lazytensor.core.settings import settings
from tests.core.arrays import Array, array


@pytest.fixture(params=["interpret", "compile"], autouse=True)
def tier(request: pytest.FixtureRequest) -> str:
    settings.tier = request.param
    return str(request.param)


def checked(x: Node, bound: float, error: type[Exception] = DataError) -> Node:
    """`x`, all of whose elements must be below `bound`."""
    below = ops.less(x, ops.scalar(bound, x.type.dtype))
    ok = ops.guard(
        ops.reduce_and(below, axes=tuple(range(x.type.ndim))), error=error, text="too large"
    )
    node: Node = ops.guarded(x, ok)
    return node


def test_a_guard_that_holds_changes_nothing() -> None:
    x = leaf(np.arange(3.0))
    assert np.array_equal(fetch(ops.add(checked(x, 9.0), x)), np.arange(3.0) * 2)


@pytest.mark.parametrize("error", [DataError, np.linalg.LinAlgError])
def test_the_given_error_names_the_recording_line(error: type[Exception]) -> None:
    x = leaf(np.arange(3.0))
    bad = checked(x, 1.0, error)
    doubled = ops.add(bad, bad)
    for _ in range(3):  # again on every observation
        with pytest.raises(error, match=r"^too large \(recorded at .*test_failures.py:\d+ in"):
            fetch(doubled)
    with pytest.raises(error, match="in checked"):
        observe(bad)


def test_everything_that_needs_it_is_spoiled_and_nothing_else() -> None:
    x = leaf(np.arange(3.0))
    bad = Cell(checked(ops.sin(x), 0.5))
    worse = Cell(ops.add(bad.node, x))
    good = Cell(ops.cos(x))
    before = Cell(ops.negate(ops.sin(x)))
    with pytest.raises(DataError):
        sync()
    assert np.array_equal(fetch(good.node), fetch(ops.cos(x)))
    np.testing.assert_allclose(fetch(before.node), -np.sin(np.arange(3.0)))
    for cell in (bad, worse):
        with pytest.raises(DataError):
            fetch(cell.node)


def test_what_is_recorded_later_is_spoiled_too() -> None:
    bad = Cell(checked(leaf(np.arange(3.0)), 1.0))
    with pytest.raises(DataError):
        sync()
    later, other = ops.multiply(bad.node, leaf(np.ones(3))), ops.sin(leaf(np.zeros(3)))
    with pytest.raises(DataError, match="in checked"):
        fetch(ops.negate(later))
    assert fetch(other).tolist() == [0, 0, 0]
    assert fetch(ops.add(other, other)).tolist() == [0, 0, 0]


def test_observing_something_else_raises_once() -> None:
    """Nobody might ever ask for what failed: it is told at the first cut."""
    bad = Cell(checked(leaf(np.arange(3.0)), 1.0))
    good = Cell(ops.sin(leaf(np.zeros(3))))
    with pytest.raises(DataError):
        fetch(good.node)
    assert fetch(good.node).tolist() == [0, 0, 0]
    with pytest.raises(DataError):
        fetch(bad.node)


def test_overwriting_a_part_is_not_enough_but_all_is() -> None:
    bad = Array(Cell(checked(leaf(np.arange(3.0)), 1.0)))
    for _ in range(2):
        with pytest.raises(DataError):
            bad.numpy()
        bad[1:] = 0.0
    bad[:] = array([1.0, 2.0, 3.0])
    assert bad.numpy().tolist() == [1, 2, 3]


def test_two_failures_raise_their_own_errors() -> None:
    first = Cell(checked(leaf(np.arange(3.0)), 1.0, DataError))
    second = Cell(checked(leaf(np.arange(4.0)), 1.0, np.linalg.LinAlgError))
    with pytest.raises(DataError):
        sync()
    with pytest.raises(DataError):
        fetch(first.node)
    with pytest.raises(np.linalg.LinAlgError):
        fetch(second.node)


def test_a_failing_update_of_a_donated_array() -> None:
    """The update in place cannot be undone where it failed; the arrays beside it are right."""
    x, y = array(np.zeros(5000)), array(np.zeros(5000))
    for i in range(5):
        y[1:] = y[1:] + 1.0
        x.holder.write(checked(ops.add(x.node, ops.scalar(1.0, F64)), 4.5))
        if i < 4:
            sync()
    with pytest.raises(DataError):
        sync()
    with pytest.raises(DataError):
        x.numpy()
    assert y.numpy().tolist() == [0.0] + [5.0] * 4999
    y[0] = 5.0
    assert set(y.numpy()) == {5.0}


def test_reading_while_the_failure_is_handled() -> None:
    """The traceback keeps the failed cut's nodes alive: a read must not find one without buffer."""
    x = array(np.arange(5000.0))
    part = (x[1:] + 0.0)[2:]
    for _ in range(3):
        sync(part.node)
        x[1:] = x[1:] * 1.0
        bad = Cell(checked(part.node, 10.0))
        with pytest.raises(DataError) as caught:
            sync()
        assert np.array_equal(part.numpy(), np.arange(3.0, 5000.0))
        assert np.array_equal(x.numpy(), np.arange(5000.0))
        del bad, caught


def test_a_failure_in_one_of_several_chunks() -> None:
    x = leaf(np.zeros(2))
    spoiled = None
    for i in range(3 * PROGRAM_NODES_BOUND // 2):
        x = ops.add(x, ops.scalar(1.0, F64))
        if i == 10:
            spoiled = checked(x, 5.0)
    assert spoiled is not None
    with pytest.raises(DataError):
        sync(ops.add(x, spoiled))
    assert fetch(x).tolist() == [3 * PROGRAM_NODES_BOUND // 2] * 2


# Errors that are nobody's data: a lowering or a reference that raises.


class Broken(Exception):
    """What the broken rule raises."""


@pytest.fixture
def broken_sine(monkeypatch: pytest.MonkeyPatch) -> Op:
    """`sin`, whose lowering and reference raise."""
    from lazytensor.backends.xla.tables import LOWERINGS

    def fail(*_: Any, **__: Any) -> None:
        raise Broken("out of order")

    monkeypatch.setitem(LOWERINGS, ops.sin, fail)
    monkeypatch.setitem(REFERENCES, ops.sin, fail)
    return ops.sin


def test_a_rule_that_raises_leaves_other_arrays_alone(broken_sine: Op) -> None:
    x = array(np.arange(5000.0))
    x[0] = 7.0
    bad = Cell(broken_sine(x.node))
    good = x * 2.0
    with pytest.raises(Broken, match="out of order"):
        sync()
    assert good.numpy()[:3].tolist() == [14, 2, 4]
    assert x.numpy()[:3].tolist() == [7, 1, 2]
    for _ in range(2):
        with pytest.raises(Broken):
            fetch(bad.node)
    x[0] = 1.0
    sync()
    assert x.numpy()[0] == 1.0


def test_a_dead_failure_is_forgotten(broken_sine: Op) -> None:
    bad = Cell(broken_sine(leaf(np.zeros(3))))
    with pytest.raises(Broken):
        sync()
    del bad
    gc.collect()
    x = array(np.zeros(3))
    x[0] = 1.0
    sync()
    assert x.node.value is not None


def test_cells_of_a_failed_cut_are_cut_again_once_written(broken_sine: Op) -> None:
    """Or their graphs would grow for ever."""
    x = array(np.zeros(3)) + 1.0
    bad = Cell(broken_sine(leaf(np.zeros(3))))
    with pytest.raises(Broken):
        sync()
    del bad
    assert x.node.value is None
    x[0] = 5.0
    sync()
    assert x.node.value is not None
    assert not recording.recorder.busy


def test_an_op_without_a_reference_says_what_to_edit(
    monkeypatch: pytest.MonkeyPatch, tier: str
) -> None:
    from lazytensor.backends.xla.tables import LOWERINGS

    monkeypatch.delitem(LOWERINGS, ops.cos)
    monkeypatch.delitem(REFERENCES, ops.cos)
    with pytest.raises(Unsupported, match=r"^cos: no NumPy reference; add a row in"):
        fetch(ops.cos(leaf(np.zeros(3))))


def test_an_op_without_a_lowering_is_run_by_the_host(
    monkeypatch: pytest.MonkeyPatch, tier: str
) -> None:
    from lazytensor.backends.xla.tables import LOWERINGS

    monkeypatch.delitem(LOWERINGS, ops.cos)
    x = leaf(np.zeros(3))
    assert fetch(ops.cos(x)).tolist() == [1, 1, 1]  # nothing else to compute
    both = ops.add(ops.cos(ops.add(ops.cos(x), x)), ops.cos(x))
    np.testing.assert_allclose(fetch(both), [np.cos(1) + 1] * 3)
