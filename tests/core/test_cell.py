"""Cells and views: the two write laws over chains of views, reads that are remembered, aliasing."""

import gc
import itertools
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import WRITES, Cell, ViewStep, view_step
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.observe import metrics
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import array

Shape = tuple[int, ...]
Reading = Callable[[np.ndarray], np.ndarray]
Row = tuple[ViewStep, Reading]
SHAPE = (3, 4, 4)


def slices(shape: Shape) -> list[Row]:
    """A part, every second backwards, nothing."""
    ndim = len(shape)
    whole = (0,) * ndim, shape, (1,) * ndim
    part = tuple(min(1, n - 1) if n else 0 for n in shape)
    sizes = tuple(n - a for n, a in zip(shape, part, strict=True))
    last = tuple(max(n - 1, 0) for n in shape)
    halves = tuple((n + 1) // 2 for n in shape)
    return [
        (ops.slice_step(*whole), lambda x: x[...]),
        (
            ops.slice_step(part, sizes, (1,) * ndim),
            lambda x: x[tuple(slice(a, None) for a in part)],
        ),
        (ops.slice_step(last, halves, (-2,) * ndim), lambda x: x[(slice(None, None, -2),) * ndim]),
        (ops.slice_step((0,) * ndim, (0, *shape[1:]), (1,) * ndim), lambda x: x[:0]),
    ]


def pairs(x: np.ndarray) -> np.ndarray:
    """A view of elements 1 to 6, in pairs."""
    (step,) = x.strides
    return np.lib.stride_tricks.as_strided(x[1:], (3, 2), (2 * step, step))


def steps(shape: Shape) -> list[Row]:
    """View steps of every kind that takes this shape, and what each reads."""
    flat, ndim = (int(np.prod(shape)),), len(shape)
    turned = (*range(1, ndim), 0)[:ndim]
    found = [
        (ops.reshape_step(flat), lambda x: x.reshape(flat)),
        (ops.reshape_step((1, *shape, 1)), lambda x: x.reshape(1, *shape, 1)),
        (ops.transpose_step(turned), lambda x: x.transpose(turned)),
    ]
    if ndim == 1 and shape[0] >= 7:
        found.append((ops.strided_step(1, (3, 2), (2, 1)), pairs))
    if ndim:
        found += slices(shape)
        reverse = view_step(ops.reverse, None, (("axes", (ndim - 1,)),))
        found.append((reverse, lambda x: np.flip(x, ndim - 1)))
    if ndim > 1:
        for offset in (0, -1, 1):
            diagonal = ops.diagonal_step(offset, ndim - 1, 0)
            found.append(
                (diagonal, lambda x, o=offset: np.diagonal(x, o, axis1=x.ndim - 1, axis2=0))
            )
    return found


def chains(length: int, shape: Shape = SHAPE) -> list[tuple[Row, ...]]:
    """Every chain of this many steps."""
    if not length:
        return [()]
    found = []
    for row in steps(shape):
        inner = row[1](np.empty(shape)).shape
        found += [(row, *rest) for rest in chains(length - 1, inner)]
    return found


def positions(chain: tuple[Row, ...]) -> np.ndarray:
    """Which elements of the base, by row-major number, the chain shows."""
    numbers = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    for _, read in chain:
        numbers = read(numbers)
    return numbers


COMPLEX_ONLY = {ops.real, ops.imag}


def test_every_view_op_is_tested_here() -> None:
    tested = {step.op for shape in (SHAPE, (np.prod(SHAPE),)) for step, _ in steps(shape)}
    assert {op for op in WRITES if op.name != "bitcast"} - COMPLEX_ONLY == tested


def check(tier: str, sample: list[tuple[Row, ...]]) -> None:
    """Read and write through each chain; all in as few programs as that takes."""
    settings.tier = tier
    base = np.random.default_rng(0).normal(size=SHAPE)
    cells, reads, expected = [], [], []
    for number, chain in enumerate(sample):
        where = positions(chain)
        cell = Cell(leaf(base))
        view = cell.view(*(step for step, _ in chain))
        assert view.type.shape == where.shape
        value = np.random.default_rng(number).normal(size=where.shape)
        reads.append((view.node, base.reshape(-1)[where]))
        view.write(leaf(value))
        reads.append((view.node, value))
        changed = base.copy().reshape(-1)
        changed[where] = value
        cells.append(cell)
        expected.append(changed.reshape(SHAPE))
        same = Cell(leaf(base))
        unchanged = same.view(*(step for step, _ in chain))
        unchanged.write(unchanged.node)
        cells.append(same)
        expected.append(base)
    sync(*(node for node, _ in reads))
    for node, values in reads:
        assert np.array_equal(fetch(node), values)
    for cell, values in zip(cells, expected, strict=True):
        assert np.array_equal(fetch(cell.node), values)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_write_laws_of_one_view(tier: str) -> None:
    check(tier, chains(1))


def test_write_laws_of_a_view_of_a_view() -> None:
    check("interpret", chains(2))
    check("compile", chains(2)[::4])


def test_write_laws_of_three_views() -> None:
    check("interpret", chains(3)[::5])


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("part", ["real", "imag"])
def test_write_laws_of_complex_parts(tier: str, part: str) -> None:
    settings.tier = tier
    base = np.arange(12.0).reshape(3, 4) * (1 - 2j)
    cell, expected = Cell(leaf(base)), base.copy()
    step = {"real": ops.real_step, "imag": ops.imag_step}[part]()
    row = cell.view(ops.slice_step((1, 0), (1, 4), (1, 1)), step)
    row.write(ops.negate(row.node))
    getattr(expected[1:2], part)[:] *= -1
    assert np.array_equal(fetch(cell.node), expected)
    assert np.array_equal(fetch(row.node), getattr(expected[1:2], part))


# Chains stay short; reads are remembered.


def test_slices_of_slices_are_one_slice() -> None:
    x = array(np.arange(10_000.0))
    for _ in range(5_000):
        x = x[1:]
    assert len(x.holder.chain) == 1
    x[0] = -1.0
    assert x.numpy()[0] == -1.0
    assert x.numpy().size == 5_000


def test_merged_steps_read_what_the_steps_read() -> None:
    for first, second in itertools.product(steps(SHAPE), repeat=2):
        inner = first[1](np.empty(SHAPE)).shape
        for step, read in steps(inner) if second[0].op in {s.op for s, _ in steps(inner)} else []:
            view = Cell(leaf(np.arange(48.0).reshape(SHAPE))).view(first[0], step)
            assert len(view.chain) <= 2
            settings.tier = "interpret"
            expected = read(first[1](np.arange(48.0).reshape(SHAPE)))
            assert np.array_equal(fetch(view.node), expected)


def test_equal_reads_are_one_node_until_the_cell_is_written_to() -> None:
    x = array(np.arange(5.0))
    first = x[1:3].node
    assert x[1:3].node is first
    assert x[1:4].node is not first
    x[0] = 1.0
    assert x[1:3].node is not first
    assert np.array_equal(fetch(first), [1, 2])


def test_an_unused_read_is_not_kept() -> None:
    x = array(np.arange(5.0))
    read = weakref.ref(x[1:3].node)
    gc.collect()
    assert read() is None


def test_a_read_keeps_no_overwritten_buffer_alive() -> None:
    x = array(np.arange(5000.0))
    view = x[1:3]
    old = weakref.ref(x.node)
    read = view.node
    x[0] = 1.0
    sync(read)
    gc.collect()
    assert old() is None
    assert np.array_equal(view.numpy(), [1, 2])


# Aliasing.


def test_views_show_what_others_write() -> None:
    x = array(np.arange(8.0))
    even, tail, back = x[::2], x[4:], x[::-1]
    even[1:3] = 0.0
    tail[1] = 50.0
    back[0:1] = tail[1:2] + 1.0
    assert x.numpy().tolist() == [0, 1, 0, 3, 0, 50, 6, 51]
    assert even.numpy().tolist() == [0, 0, 0, 6]
    assert back.numpy().tolist() == x.numpy()[::-1].tolist()


@pytest.mark.parametrize("barriers", [False, True])
def test_overlapping_writes_read_before_they_write(barriers: bool) -> None:
    x, expected = array(np.arange(8.0)), np.arange(8.0)
    for _ in range(3):
        x[1:] = x[:-1]
        expected[1:] = expected[:-1].copy()
        if barriers:
            sync()
        x[::-1] = x[:]
        expected[:] = expected[::-1].copy()
    assert np.array_equal(x.numpy(), expected)


def test_a_recorded_result_keeps_the_old_value() -> None:
    x = array(np.arange(4.0))
    double = x * 2.0
    x[:] = 7.0
    assert double.numpy().tolist() == [0, 2, 4, 6]


def test_a_view_of_a_view_writes_to_the_base() -> None:
    cell = Cell(leaf(np.zeros((4, 4))))
    diagonal = cell.view(ops.transpose_step((1, 0)), ops.diagonal_step(1, 0, 1))
    middle = diagonal.view(ops.slice_step((1,), (1,), (1,)))
    middle.write(leaf(np.array([5.0])))
    expected = np.zeros((4, 4))
    expected[2, 1] = 5
    assert np.array_equal(fetch(cell.node), expected)
    assert fetch(diagonal.node).tolist() == [0, 5, 0]


def test_writing_to_a_pending_cell_registers_it_once() -> None:
    x = array(np.zeros(3))
    for i in range(4):
        x[:] = float(i)
        x[:] = array([1.0, 2.0, float(i)])  # a leaf: settled again
    metrics.reset()
    sync()
    assert metrics.snapshot()["cuts"] <= 1
    assert x.numpy().tolist() == [1, 2, 3]


def test_a_written_node_must_not_change_the_type() -> None:
    node: Node = leaf(np.zeros(3, np.float32))
    cell = Cell(leaf(np.zeros(3)))
    with pytest.raises(TypeError, match=r"^update_slice: operands must have one dtype"):
        cell.view(ops.slice_step((0,), (3,), (1,))).write(node)
    assert cell.type.dtype == F64
