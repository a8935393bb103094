"""Sizes that change: one program for many, with results as if there were one for each.

What lies beyond a size is NaN in these tests, or the largest number there is: it must never count.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.device import padded
from lazytensor.core.device.backend import backend, on_host
from lazytensor.core.interpreter.interpreter import interpret
from lazytensor.core.ir.dtypes import BOOL, F32, F64, S64
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import cut
from lazytensor.core.observe import metrics
from lazytensor.core.passes.bucketing.pad import FIRST_CAPACITY, capacity_for
from lazytensor.core.policy import TRIALS
from lazytensor.core.runtime import scheduler, shape_buckets
from lazytensor.core.runtime.cost_model import price_of
from lazytensor.core.runtime.executor import Run
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.settings import settings
from tests.core.growing import (
    EXACT,
    PADDED,
    ROW,
    W,
    attention,
    data,
    dot,
    flags,
    last_written,
    length,
    line,
    number,
    rows,
    scanned,
    stacked,
    unline,
    unstacked,
)
from tests.core.tiers import fetched
from tests.sweeps import one_in

EXACTLY = 2
"""Sizes that get a program of their own before it shows that sizes change."""
SIZES = (5, 6, 7, 12, 64, 65)
CLASSES = len({max(capacity_for(n + 3), FIRST_CAPACITY) for n in SIZES[EXACTLY:]})
TOGETHER = 6
"""Rows of the table in one program: compiling takes most of the time."""


@pytest.fixture(autouse=True)
def garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst that may lie beyond a size."""

    def worst(dtype: np.dtype) -> Any:
        if dtype.kind == "b":
            return True
        return np.iinfo(dtype).max if dtype.kind in "iu" else np.nan

    monkeypatch.setattr(padded, "beyond", worst)


def expected(node: Node) -> np.ndarray:
    """A pending node's value, by the interpreter."""
    found = cut(reachable([node]), [node])
    leaves = [on_host(x.value) for x in found.leaves]
    return np.asarray(interpret(found.program, leaves, found.slots)[0])


def agrees(found: np.ndarray, wanted: np.ndarray, name: str = "") -> None:
    """Sums are added up in another order."""
    assert found.dtype == wanted.dtype
    rtol = 1e-6 if found.dtype == F32 else 1e-10
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12, err_msg=name)


@one_in(2)
@pytest.mark.parametrize("first", range(0, len(PADDED), TOGETHER))
def test_results_are_those_of_the_size(first: int) -> None:
    names = list(PADDED)[first : first + TOGETHER]
    for n in SIZES:
        x = leaf(data(n))
        nodes = [PADDED[name](x) for name in names]
        wanted = list(map(expected, nodes))
        scheduler.sync(*nodes)
        for name, node, value in zip(names, nodes, wanted, strict=True):
            agrees(scheduler.observe(node), value, name)
    counts = metrics.snapshot()
    assert [e.growth.refusal for e in cache.entries() if e.growth and e.growth.refusal] == []
    # A program without an end in it, at just the capacity, is the one that was recorded.
    assert len(SIZES) - EXACTLY - 1 <= counts["padded"] <= len(SIZES) - EXACTLY
    assert counts["compiles"] <= EXACTLY + CLASSES


def test_how_much_more_is_computed_is_known_of_each_run() -> None:
    """Else its seconds would say nothing where NumPy's were measured at another size."""
    room = []
    for n in (100, 110, 120, 200):
        runs: list[Run] = []
        scheduler.sync(ops.sin(ops.negate(leaf(data(n)))), runs=runs)
        assert runs[0].room == 1.0
        roomy = shape_buckets.padded(runs[0])
        room.append(None if roomy is None else roomy.room)
    assert room == [None, None, 128 / 120, 256 / 200]


@pytest.mark.parametrize("name", EXACT)
def test_what_has_no_rule_gets_no_room(name: str) -> None:
    for n in SIZES[:5]:
        node = EXACT[name](leaf(data(n)))
        wanted = expected(node)
        agrees(scheduler.observe(node), wanted)
    counts = metrics.snapshot()
    assert counts["padded"] == 0
    assert counts["unpadded"] == 5 - EXACTLY
    assert counts["compiles"] == 5


def test_what_gets_no_room_is_tried_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "auto")
    for n in range(5, 69):
        scheduler.observe(EXACT[next(iter(EXACT))](leaf(data(n))))
    counts = metrics.snapshot()
    assert (counts["cuts"], counts["padded"]) == (64, 0)
    most = TRIALS + 5  # 8, 16, 32, 64
    assert TRIALS <= counts["unpadded"] <= most


def grown(cell: Cell) -> None:
    """Append one row, made from the present ones."""
    x = cell.node
    row = ops.mean(ops.softmax(x, axis=0), axes=(0,), keepdims=True)
    cell.node = ops.concatenate(x, ops.add(row, rows(x, length(x) - 1, 1)), axis=0)
    if cell.node.value is None:
        scheduler.sync(cell.node)


def by_numpy(x: np.ndarray, times: int) -> np.ndarray:
    for _ in range(times):
        e = np.exp(x - x.max(0))
        row = (e / e.sum(0)).mean(0, keepdims=True) + x[-1:]
        x = np.concatenate([x, row])
    return x


def test_64_sizes_are_few_programs_and_a_cache_is_updated_in_place() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    for _ in range(2):
        cell = Cell(leaf(start))
        for _ in range(64):
            grown(cell)
        agrees(scheduler.observe(cell.node), by_numpy(start, 64))
    assert metrics.snapshot()["compiles"] <= 4  # two sizes, and 64 and 128


def test_a_cache_that_nobody_else_needs_is_overwritten() -> None:
    cell = Cell(leaf(np.ones((40, 128, 3))))
    one = leaf(np.ones((1, 128, 3)))
    for _ in range(6):
        cell.node = ops.concatenate(cell.node, one, axis=0)
        scheduler.sync(cell.node)
    (entry,) = [e for e in cache.entries() if e.padded]
    assert entry.donated == ((0, 0),)
    value = cell.node.value
    assert isinstance(value, padded.Padded)
    assert value.capacity.shape == (64, 128, 3)
    address = on_host(value).shape
    assert address == (46, 128, 3)


def test_what_others_need_is_not_overwritten() -> None:
    """Each size is kept, and looked at after all have been made."""
    start = np.random.default_rng(0).normal(size=(8, 3))
    cell = Cell(leaf(start))
    kept = []
    for _ in range(10):
        kept.append(cell.node)
        grown(cell)
    for times, node in enumerate(kept):
        agrees(scheduler.observe(node), by_numpy(start, times))


def test_a_padded_value_is_trimmed_for_everybody_else() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    cell = Cell(leaf(start))
    for _ in range(6):
        grown(cell)
    wanted = by_numpy(start, 6)
    node = cell.node
    assert isinstance(node.value, padded.Padded)
    for found in (scheduler.fetch(node), scheduler.observe(node), on_host(node.value)):
        agrees(found, wanted)
    own = scheduler.fetch(node)
    own[...] = 0  # it is the caller's own
    agrees(scheduler.observe(node), wanted)
    agrees(scheduler.observe(ops.reverse(node, axes=(0,))), wanted[::-1])  # another program
    assert not isinstance(node.value, padded.Padded)
    grown(cell)
    agrees(scheduler.observe(cell.node), by_numpy(start, 7))


def test_views_of_padded_values_and_writes_to_them() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    cell, mirror = Cell(leaf(start)), start
    for i in range(7):
        grown(cell)
        mirror = by_numpy(mirror, 1)
        view = cell.view(ops.slice_step((1, 0), (2, 3), (2, 1)))
        agrees(scheduler.observe(view.node), mirror[1:5:2])
        view.write(ops.multiply(view.node, number(0.5 + i)))
        mirror[1:5:2] *= 0.5 + i
    agrees(scheduler.observe(cell.node), mirror)
    assert metrics.snapshot()["padded"] > 0


def test_a_number_that_changes_with_the_size_and_one_that_changes_alone() -> None:
    for turn, n in enumerate((5, 6, 7, 8, 9, 7, 8, 9)):
        x = data(n)
        node = ops.multiply(ops.add(leaf(x), number(float(n))), number(float(turn // 5 + 1)))
        agrees(scheduler.observe(node), (x + n) * (turn // 5 + 1))


def test_a_start_that_is_not_zero_any_more() -> None:
    """A rule has relied on it: the same sizes, another start."""
    for begin in (0, 1):
        for n in (8, 9, 10, 11):
            x = data(n)
            node = ops.negate(rows(leaf(x), begin, n - 2))
            agrees(scheduler.observe(node), -x[begin : begin + n - 2])


def test_a_guard_that_fails_names_its_line_and_leaves_things_usable() -> None:
    for n in (5, 6, 7, 8):
        x = leaf(data(n))
        good = ops.greater_equal(ops.reduce_sum(ops.square(x), axes=(0, 1)), number(0.0))
        bad = ops.equal(ops.reduce_sum(x, axes=(0, 1)), number(float(n < 8)))
        flag = ops.guard(good if n < 8 else bad, error=ValueError, text="not so")
        node = ops.guarded(ops.add(x, number(1.0)), flag)
        other = ops.add(x, number(2.0))
        if n < 8:
            agrees(scheduler.observe(node), data(n) + 1)
            continue
        with pytest.raises(ValueError, match=r"not so \(recorded at .*test_bucketing"):
            scheduler.observe(node)
        agrees(scheduler.observe(other), data(n) + 2)


def test_threads_that_grow_arrays_of_their_own() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    found: dict[int, np.ndarray] = {}

    def work(i: int) -> None:
        cell = Cell(leaf(start + i))
        for _ in range(12):
            grown(cell)
        found[i] = scheduler.observe(cell.node)

    threads = [Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(3):
        agrees(found[i], by_numpy(start + i, 12))


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "padding", False)
    for n in SIZES[:5]:
        scheduler.observe(ops.add(leaf(data(n)), number(1.0)))
    counts = metrics.snapshot()
    assert (counts["padded"], counts["compiles"]) == (0, 5)


@pytest.mark.one_memory
def test_a_size_that_comes_again_and_again_gets_its_own_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What padding costs is added up, until compiling would have cost less."""
    monkeypatch.setattr(shape_buckets, "SECONDS_PER_WASTED_ELEMENT", 3e-5)
    for n in (300, 301, *[302] * 20):
        scheduler.observe(ops.abs(leaf(np.ones(n))))
    counts = metrics.snapshot()
    assert counts["compiles"] == EXACTLY + 2
    assert 5 < counts["padded"] < 20


@pytest.mark.one_memory
def test_what_would_be_padding_for_the_most_part_is_not_padded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shape_buckets, "SECONDS_PER_WASTED_ELEMENT", 1e-3)
    for n in (300, 301, 302):
        scheduler.observe(ops.abs(leaf(np.ones(n))))
    counts = metrics.snapshot()
    assert (counts["compiles"], counts["padded"], counts["unpadded"]) == (3, 0, 1)


STAGES: dict[str, Callable[[Node], Node]] = {
    "tanh": ops.tanh,
    "cumsum": lambda x: ops.cumsum(x, axis=0),
    "softmax": lambda x: ops.softmax(x, axis=0),
    "centred": lambda x: ops.subtract(x, ops.mean(x, axes=(0,))),
    "attention": attention,
    "product": lambda x: dot(x, leaf(W), 1, 0),
    "sorted": lambda x: ops.sort(x, axis=0),
    "longer": lambda x: ops.concatenate(x, leaf(ROW.reshape(1, 3)), axis=0),
    "shorter": lambda x: rows(x, 1, length(x) - 1),
    "infinite": lambda x: ops.divide(number(1.0), ops.round_even(x)),
    "chosen": lambda x: ops.select(ops.is_finite(x), x, number(0.25)),
    "last written": last_written,
    "numbered": lambda x: ops.add(x, ops.iota(dtype=F64, shape=(length(x), 3), axis=0)),
    "scanned": scanned,
    "in a line": lambda x: unline(ops.subtract(line(x), ops.mean(line(x), axes=(0,))), length(x)),
    "two at once": lambda x: ops.reduce_sum(unstacked(dot(stacked(x), leaf(W), 1, 0)), axes=(0,)),
    "any negative": lambda x: ops.select(
        ops.reduce_or(flags(ops.negate(x)), axes=(0,)), x, ops.negate(x)
    ),
}


@given(
    names=st.lists(st.sampled_from(sorted(STAGES)), min_size=1, max_size=4),
    looks=st.lists(st.booleans(), min_size=5, max_size=5),
    first=st.integers(4, 40),
)
@hypothesis_settings(max_examples=6, deadline=None, database=None)
def test_random_programs(names: list[str], looks: list[bool], first: int) -> None:
    """Stages one after another, with and without a barrier between them, over growing sizes."""
    cache.clear()
    for n in (first, first + 1, first + 2, first + 9):
        node = leaf(data(n))
        for name, look in zip(names, looks, strict=False):
            node = STAGES[name](node)
            if look:
                scheduler.sync(node)
        wanted = leaf(data(n))
        for name in names:
            wanted = STAGES[name](wanted)
        plain = expected(wanted)
        np.testing.assert_allclose(scheduler.observe(node), plain, rtol=1e-9, atol=1e-9)


def test_flags_and_integers_are_padded_too() -> None:
    for n in SIZES:
        x = np.arange(3 * n).reshape(n, 3)
        below = ops.convert(ops.less(leaf(x), number(n, S64)), dtype=S64)
        assert scheduler.observe(ops.reduce_sum(below, axes=(0, 1))) == (x < n).sum()
        mask = x % 2 == 0
        assert scheduler.observe(ops.reduce_and(leaf(mask), axes=(0, 1))) == mask.all()
    assert mask.dtype == BOOL


def test_sizes_that_cost_little_are_not_laid_beside_each_other_one_by_one() -> None:
    """To look at one takes longer than to interpret it, and only a compile makes that good."""
    backend()  # its import has been paid for
    settings.tier = "auto"

    def roomy(sizes: range) -> int:
        for n in sizes:
            fetched(ops.abs(leaf(np.ones(n))))
        return sum(e.growth is not None and e.growth.entry is not None for e in cache.entries())

    assert roomy(range(300, 330)) == 1
    (family,) = cache.families.values()
    family.spent = price_of(cache.entries()[-1].size)
    assert roomy(range(330, 331)) == 2
    assert metrics.snapshot()["compiles"] == 1
    assert roomy(range(331, 335)) == 6
