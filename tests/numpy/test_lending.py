"""Lent memory: what views of it and the cell see of each other, and what nobody may see."""

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, view_of
from lazytensor.core.buffers.refcounts import is_own
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.runtime.lending import Lent, lend
from lazytensor.core.runtime.scheduler import observe
from lazytensor.core.settings import settings

SIZES = (3, 20_000)  # memory of its own, and memory within an aligned block


def made(size: int) -> Cell:
    return Cell(leaf(copied(np.arange(float(size)))))


@pytest.mark.parametrize("size", SIZES)
def test_writes_through_a_view_are_the_cells(size: int) -> None:
    cell = made(size)
    view = lend(cell)[1:3]
    view[:] = 7.0
    assert observe(cell.node)[:3].tolist() == [0.0, 7.0, 7.0]
    shown = view_of(cell, (ops.slice_step((1,), (2,), (1,)),))
    assert observe(shown.node).tolist() == [7.0, 7.0]
    view += 1.0
    assert observe(shown.node).tolist() == [8.0, 8.0]


@pytest.mark.parametrize("size", SIZES)
def test_writes_to_the_cell_are_the_views(size: int) -> None:
    cell = made(size)
    view = lend(cell)[:2]
    cell.write(ops.multiply(cell.node, scalar(-2.0, F64)))
    assert isinstance(cell, Lent)
    assert view.tolist() == [0.0, -2.0]
    assert observe(cell.node)[2] == -4.0


@pytest.mark.parametrize("size", SIZES)
def test_what_was_recorded_is_not_changed_later(size: int) -> None:
    cell = made(size)
    view = lend(cell)[:2]
    twice = ops.multiply(cell.node, scalar(2.0, F64))
    view[:] = -1.0
    assert observe(twice)[:3].tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("size", SIZES)
def test_without_views_it_is_an_ordinary_cell_and_nothing_is_copied(size: int) -> None:
    cell = made(size)
    address = cell.node.value.ctypes.data
    view = lend(cell)[1:]
    view[0] = 9.0
    del view
    assert cell.node.value.ctypes.data == address
    assert type(cell) is Cell
    assert is_own(cell)


@pytest.mark.parametrize("keep", [lambda view: view, lambda view: memoryview(view), iter])
def test_whatever_refers_to_a_view_keeps_the_memory_lent(keep: object) -> None:
    cell = made(10)
    kept = keep(lend(cell)[2:])  # type: ignore[operator]
    assert cell.node is not cell.node
    assert isinstance(cell, Lent)
    del kept
    assert cell.node is cell.node


@pytest.mark.parametrize("shape", [(2, 3), (200, 100)])
def test_memory_may_lie_in_columns_while_it_is_lent(shape: tuple[int, int]) -> None:
    cell = Cell(leaf(copied(np.zeros(shape))))
    column = lend(cell, np.empty(shape, order="F"))[:, 0]
    assert column.flags.c_contiguous
    column[:] = 1.0
    assert cell.node.value.flags.c_contiguous
    assert isinstance(cell, Lent)
    column += 1.0
    del column
    value = cell.node.value
    assert type(cell) is Cell
    assert value.flags.c_contiguous
    assert value[:, 0].tolist() == [2.0] * shape[0]
    assert not value[:, 1:].any()


def test_memory_that_others_need_is_not_the_cells_own(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = made(10)
    assert is_own(cell)
    recorded = ops.negate(cell.node)
    assert not is_own(cell)
    monkeypatch.setattr(settings, "tier", "interpret")  # a device would take the values
    assert observe(recorded)[1] == -1.0
    other = Cell(cell.node)
    assert not is_own(cell)
    del other, recorded
    assert is_own(cell)
