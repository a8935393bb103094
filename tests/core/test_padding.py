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

from lazytensor.core import metrics, ops, runtime
from lazytensor.core.backend import on_host
from lazytensor.core.cache import cache
from lazytensor.core.cell import Cell
from lazytensor.core.dtypes import BOOL, F32, F64, S64
from lazytensor.core.interpret import interpret
from lazytensor.core.node import Node
from lazytensor.core.op import leaf, scalar, starts
from lazytensor.core.ops.scanning import Nodes, scan
from lazytensor.core.padding import buffer, families
from lazytensor.core.padding.program import FIRST, capacity_for
from lazytensor.core.program import cut, reachable
from lazytensor.core.settings import settings

EXACTLY = 2
"""Sizes that get a program of their own before it shows that sizes change."""
SIZES = (5, 6, 7, 12, 64, 65)
CLASSES = len({max(capacity_for(n + 3), FIRST) for n in SIZES[EXACTLY:]})
TOGETHER = 6
"""So many rows of the table are one program, as compiling takes most of the time."""
W = np.linspace(-1, 1, 9).reshape(3, 3)
ROW = np.array([0.5, -2.0, 3.0])


@pytest.fixture(autouse=True)
def garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst that may lie beyond a size."""

    def worst(dtype: np.dtype) -> Any:
        if dtype.kind == "b":
            return True
        return np.iinfo(dtype).max if dtype.kind in "iu" else np.nan

    monkeypatch.setattr(buffer, "beyond", worst)


def data(n: int, seed: int = 0) -> np.ndarray:
    """An array f64[n,3]."""
    return np.random.default_rng(seed + n).normal(size=(n, 3))


def number(value: float, dtype: np.dtype = F64) -> Node:
    return scalar(value, dtype)


def dot(x: Node, y: Node, left: int, right: int) -> Node:
    found: Node = ops.dot_general(x, y, contract=((left,), (right,)))
    return found


def flags(x: Node) -> Node:
    found: Node = ops.greater(x, number(0.0))
    return found


def whole(x: Node) -> Node:
    found: Node = ops.convert(ops.multiply(x, number(100.0)), dtype=S64)
    return found


def length(x: Node) -> int:
    return x.type.shape[0]


def rows(x: Node, begin: int, size: int, step: int = 1) -> Node:
    found: Node = ops.slice(x, starts((begin, 0)), sizes=(size, 3), strides=(step, 1))
    return found


def attention(x: Node) -> Node:
    found: Node = ops.dot_general(ops.softmax(dot(x, x, 1, 1), axis=1), x, contract=((1,), (0,)))
    return found


def batched(x: Node) -> Node:
    found: Node = ops.dot_general(x, x, batch=((0,), (0,)), contract=((1,), (1,)))
    return found


def written(x: Node) -> Node:
    """All of `x` at the start of a larger array."""
    room = ops.broadcast(number(7.0), shape=(80, 3))
    found: Node = ops.update_slice(room, x, starts((0, 0)), strides=(1, 1))
    return found


def last_written(x: Node) -> Node:
    """A row of `x` replaced, which lies elsewhere each time."""
    row, at = leaf(ROW.reshape(1, 3)), starts((length(x) - 1, 0))
    found: Node = ops.update_slice(x, row, at, strides=(1, 1))
    return found


def front_written(x: Node) -> Node:
    """All but the last row of `x` replaced."""
    part = rows(x, 0, length(x) - 1)
    at = starts((0, 0))
    found: Node = ops.update_slice(x, ops.negate(part), at, strides=(1, 1))
    return found


def joined(x: Node) -> Node:
    one, two = leaf(ROW.reshape(1, 3)), leaf(np.stack([ROW, ROW]))
    found: Node = ops.concatenate(one, two, x, one, axis=0)
    return found


def around(x: Node) -> Node:
    found: Node = ops.pad(x, number(9.0), low=(2, 1), high=(1, 0), interior=(0, 0))
    return found


def cropped(x: Node) -> Node:
    found: Node = ops.pad(x, number(9.0), low=(-1, 0), high=(-2, 0), interior=(0, 0))
    return found


def places(x: Node) -> Node:
    """As many indices into a fixed array."""
    count = ops.iota(dtype=S64, shape=(length(x),), axis=0)
    found: Node = ops.modulo(count, number(3, S64))
    return found


def of_mask(x: Node) -> Node:
    """The first columns of a fixed array, as many as there are rows."""
    mask = leaf(np.arange(128.0).reshape(1, 128))
    part = ops.slice(mask, starts((0, 0)), sizes=(1, length(x)), strides=(1, 1))
    found: Node = dot(part, x, 1, 0)
    return found


def of_short(x: Node) -> Node:
    """The same of an array that is shorter than the capacity."""
    mask = leaf(np.arange(80.0).reshape(1, 80))
    part = ops.slice(mask, starts((0, 0)), sizes=(1, length(x)), strides=(1, 1))
    found: Node = dot(part, x, 1, 0)
    return found


def line(x: Node) -> Node:
    found: Node = ops.reshape(x, shape=(3 * length(x),))
    return found


def unline(x: Node, n: int) -> Node:
    found: Node = ops.reshape(x, shape=(n, 3))
    return found


def two(x: Node, axis: int) -> Node:
    """`x` and its double, along a new axis before its rows or after them."""
    n, factors = length(x), leaf(np.array([1.0, -2.0]))
    one, each, both = (
        ((1, n, 3), (2, 1, 1), (2, n, 3)) if axis == 0 else ((n, 1, 3), (1, 2, 1), (n, 2, 3))
    )
    wide = ops.broadcast(ops.reshape(x, shape=one), shape=both)
    found: Node = ops.multiply(wide, ops.reshape(factors, shape=each))
    return found


def stacked(x: Node) -> Node:
    """Two of `x`, one after the other: what lies beyond is in the middle, too."""
    found: Node = ops.reshape(two(x, 0), shape=(2 * length(x), 3))
    return found


def interleaved(x: Node) -> Node:
    """Two of each row of `x`."""
    found: Node = ops.reshape(two(x, 1), shape=(2 * length(x), 3))
    return found


def unstacked(x: Node) -> Node:
    found: Node = ops.reshape(x, shape=(2, length(x) // 2, *x.type.shape[1:]))
    return found


def ones(*shape: int) -> Node:
    found: Node = ops.broadcast(number(1.0), shape=shape)
    return found


def scattered(x: Node, mode: str = "add", at: Node | None = None) -> Node:
    at = places(x) if at is None else at
    found: Node = ops.scatter(ones(5, 3), x, at, axes=(0,), mode=mode)
    return found


def scattered_to_elements(x: Node) -> Node:
    at = ops.reshape(places(x), shape=(length(x), 1)), leaf(np.array([[2, 0, 1]]))
    found: Node = ops.scatter(ones(5, 3), x, *at, axes=(0, 1), mode="add")
    return found


def scattered_into(x: Node) -> Node:
    """Rows at indices into what grows; one of them is none of it."""
    at = leaf(np.array([1, 3, 1000]))
    found: Node = ops.scatter(x, leaf(W), at, axes=(0,), mode="set")
    return found


def stacked_places(x: Node) -> Node:
    twice = ops.broadcast(places(x), shape=(2, length(x)))
    found: Node = ops.reshape(twice, shape=(2 * length(x),))
    return found


def counted_in_parts(x: Node) -> Node:
    """What is alike along an axis, and then parted."""
    parts = ops.reshape(ones(4 * length(x)), shape=(2, length(x), 2, 1))
    found: Node = ops.add(x, ops.reduce_sum(parts, axes=(0, 2)))
    return found


def scanned(x: Node, backwards: bool = False, last: bool = False) -> Node:
    """What has come so far of rows, a loop over them; `last`: what has come of all."""

    def body(time: Node, given: Nodes, state: Nodes, shared: Nodes) -> tuple[Nodes, Nodes]:
        new = ops.tanh(ops.add(ops.multiply(state[0], shared[0]), given[0]))
        return [new], [new]

    begun = ops.broadcast(number(0.5), shape=(3,))
    made = scan("so far", body, [x], [begun], [leaf(ROW)], backwards)
    return made.state[0] if last else made.tables[0]


PADDED: dict[str, Callable[[Node], Node]] = {
    "scanned": scanned,
    "scanned backwards": lambda x: scanned(x, backwards=True),
    "scanned to the end": lambda x: scanned(x, last=True),
    "a line and back": lambda x: unline(ops.tanh(line(x)), length(x)),
    "the sum of a line": lambda x: ops.reduce_sum(line(x), axes=(0,)),
    "the mean of a line": lambda x: ops.mean(line(x), axes=(0,), keepdims=True),
    "softmax of a line": lambda x: unline(ops.softmax(line(x), axis=0), length(x)),
    "cumsum of a line": lambda x: unline(ops.cumsum(line(x), axis=0), length(x)),
    "stacked": lambda x: unstacked(dot(stacked(x), leaf(W), 1, 0)),
    "stacked, contracted": lambda x: dot(stacked(x), stacked(x), 0, 0),
    "stacked, cumulative": lambda x: unstacked(ops.cumsum(stacked(x), axis=0)),
    "stacked, the largest": lambda x: ops.reduce_max(stacked(x), axes=(0,)),
    "stacked, of more axes": lambda x: ops.reshape(stacked(x), shape=(1, 2, length(x), 1, 3)),
    "stacked, a line": lambda x: ops.reduce_sum(line(stacked(x)), axes=(0,)),
    "stacked, by columns": lambda x: ops.reduce_sum(
        ops.transpose(stacked(x), axes=(1, 0)), axes=(1,)
    ),
    "stacked, whole": lambda x: unstacked(rows(stacked(x), 0, 2 * length(x))),
    "stacked, joined": lambda x: unstacked(ops.concatenate(stacked(x), stacked(x), axis=1)),
    "stacked, against as many": lambda x: unstacked(ops.add(ones(2 * length(x), 1), stacked(x))),
    "interleaved": lambda x: ops.reshape(ops.tanh(interleaved(x)), shape=(length(x), 2, 3)),
    "interleaved, contracted": lambda x: dot(interleaved(x), interleaved(x), 0, 0),
    "interleaved, against as many": lambda x: dot(ones(2 * length(x), 4), interleaved(x), 0, 0),
    "as many, counted": lambda x: ops.add(
        ops.reduce_sum(ones(4 * length(x), 3), axes=(0,)), ops.reduce_sum(x, axes=(0,))
    ),
    "as many, counted in parts": counted_in_parts,
    "scattered": scattered,
    "the last scattered": lambda x: scattered(x, "set"),
    "the largest scattered": lambda x: scattered(x, "max"),
    "scattered to elements": scattered_to_elements,
    "scattered into": scattered_into,
    "stacked, scattered": lambda x: scattered(stacked(x), at=stacked_places(x)),
    "stacked, gathered": lambda x: unstacked(ops.gather(leaf(W), stacked_places(x), axes=(0,))),
    "elementwise": lambda x: ops.add(ops.multiply(x, x), number(1.0)),
    "against a row": lambda x: ops.divide(x, leaf(ROW)),
    "chosen": lambda x: ops.select(flags(x), x, number(-1.0)),
    "clamped": lambda x: ops.clamp(number(-0.5), x, number(0.5)),
    **{
        f"{kind} over {axes}": lambda x, kind=kind, axes=axes: getattr(ops, f"reduce_{kind}")(
            x, axes=axes
        )
        for kind in ("sum", "prod", "max", "min")
        for axes in ((0,), (1,), (0, 1))
    },
    "and": lambda x: ops.reduce_and(flags(ops.square(x)), axes=(0,)),
    "or": lambda x: ops.reduce_or(flags(ops.negate(ops.square(x))), axes=(0, 1)),
    "xor": lambda x: ops.reduce_xor(whole(x), axes=(0,)),
    "largest of integers": lambda x: ops.reduce_max(whole(x), axes=(0,)),
    "sum of f32": lambda x: ops.reduce_sum(ops.convert(x, dtype=F32), axes=(0,)),
    "argmax": lambda x: ops.argmax(x, axis=0),
    "argmin": lambda x: ops.argmin(x, axis=0),
    "argmax of rows": lambda x: ops.argmax(x, axis=1),
    "cumsum": lambda x: ops.cumsum(x, axis=0),
    "cumsum backwards": lambda x: ops.cumsum(x, axis=0, reverse=True),
    "cummax": lambda x: ops.cummax(x, axis=0),
    "cummin backwards": lambda x: ops.cummin(x, axis=0, reverse=True),
    "product, free": lambda x: dot(x, leaf(W), 1, 0),
    "product, contracted": lambda x: dot(x, x, 0, 0),
    "product, outer": lambda x: dot(x, x, 1, 1),
    "product, batch": batched,
    "attention": attention,
    "softmax": lambda x: ops.softmax(x, axis=0),
    "logsumexp": lambda x: ops.logsumexp(x, axes=(0,)),
    "mean": lambda x: ops.mean(x, axes=(0,), keepdims=True),
    "variance": lambda x: ops.variance(x, number(float(length(x)) - 1), axes=(0,)),
    "layer_norm": lambda x: ops.layer_norm(x, number(1e-5), axes=1)[0],
    "layer_norm of all": lambda x: ops.layer_norm(x, number(1e-5), axes=2)[0],
    "transpose": lambda x: ops.transpose(x, axes=(1, 0)),
    "reshape": lambda x: ops.reshape(x, shape=(1, length(x), 1, 3)),
    "a line": lambda x: ops.reshape(ops.reduce_sum(x, axes=(1,)), shape=(length(x), 1)),
    "broadcast": lambda x: ops.broadcast(x, shape=(2, length(x), 3)),
    "as long": lambda x: ops.add(x, ops.broadcast(number(3.0), shape=(length(x), 1))),
    "numbered": lambda x: ops.add(x, ops.iota(dtype=F64, shape=(length(x), 3), axis=0)),
    "joined": joined,
    "joined with itself, on the other axis": lambda x: ops.concatenate(x, x, axis=1),
    "around": around,
    "cropped": cropped,
    "the last row": lambda x: rows(x, length(x) - 1, 1),
    "the last rows, backwards": lambda x: rows(x, length(x) - 1, 3, -1),
    "the second row": lambda x: rows(x, 1, 1),
    "all but the last": lambda x: rows(x, 0, length(x) - 1),
    "all but the first": lambda x: rows(x, 1, length(x) - 1),
    "of a mask": of_mask,
    "of a short mask": of_short,
    "written": written,
    "the last written": last_written,
    "the front written": front_written,
    "gathered": lambda x: ops.gather(x, leaf(np.array([4, 0, 4])), axes=(0,)),
    "gathered too far": lambda x: ops.gather(x, leaf(np.array([1000, 0])), axes=(0,)),
    "gathered, as many": lambda x: ops.gather(leaf(W), places(x), axes=(0,)),
    "taken along": lambda x: ops.take_along(x, leaf(np.array([[2, 0, 1]])), axis=0),
    "sorted": lambda x: ops.sort(x, axis=0),
    "sorted integers": lambda x: ops.sort(whole(x), axis=0),
    "argsort": lambda x: ops.argsort(x, axis=0),
    "rows sorted backwards": lambda x: ops.sort(x, axis=1, descending=True),
}
"""By name: of f64[n,3], what is one program for all n of a capacity."""

EXACT: dict[str, Callable[[Node], Node]] = {
    "a line of all": line,
    "the largest of a line": lambda x: ops.argmax(line(x), axis=0),
    "a line sorted": lambda x: unline(ops.sort(line(x), axis=0), length(x)),
    "an element of a line": lambda x: ops.gather(line(x), leaf(np.array([4])), axes=(0,)),
    "part of a line": lambda x: ops.reduce_sum(
        ops.slice(line(x), starts((1,)), sizes=(3 * length(x) - 3,), strides=(1,)), axes=(0,)
    ),
    "a line numbered": lambda x: ops.add(
        x, unline(ops.iota(dtype=F64, shape=(3 * length(x),), axis=0), length(x))
    ),
    "a line and more": lambda x: ops.reduce_sum(
        ops.concatenate(line(x), leaf(ROW), axis=0), axes=(0,)
    ),
    "in two orders": lambda x: dot(stacked(x), interleaved(x), 0, 0),
    "in another order": lambda x: ops.reshape(stacked(x), shape=(length(x), 2, 3)),
    "twice": lambda x: ops.concatenate(x, x, axis=0),
    "backwards": lambda x: ops.reverse(x, axes=(0,)),
    "every second": lambda x: rows(x, 0, (length(x) + 1) // 2, 2),
    "sorted backwards": lambda x: ops.sort(x, axis=0, descending=True),
}
"""What is a program for each n."""


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


@pytest.mark.parametrize("first", range(0, len(PADDED), TOGETHER))
def test_results_are_those_of_the_size(first: int) -> None:
    names = list(PADDED)[first : first + TOGETHER]
    for n in SIZES:
        x = leaf(data(n))
        nodes = [PADDED[name](x) for name in names]
        wanted = list(map(expected, nodes))
        runtime.sync(*nodes)
        for name, node, value in zip(names, nodes, wanted, strict=True):
            agrees(runtime.observe(node), value, name)
    counts = metrics.snapshot()
    assert [e.growth.refusal for e in cache.entries() if e.growth and e.growth.refusal] == []
    # A program without an end in it, at just the capacity, is the one that was recorded.
    assert len(SIZES) - EXACTLY - 1 <= counts["padded"] <= len(SIZES) - EXACTLY
    assert counts["compiles"] <= EXACTLY + CLASSES


@pytest.mark.parametrize("name", EXACT)
def test_what_has_no_rule_gets_no_room(name: str) -> None:
    for n in SIZES[:5]:
        node = EXACT[name](leaf(data(n)))
        wanted = expected(node)
        agrees(runtime.observe(node), wanted)
    counts = metrics.snapshot()
    assert counts["padded"] == 0
    assert counts["unpadded"] == 5 - EXACTLY
    assert counts["compiles"] == 5


def grown(cell: Cell) -> None:
    """One row more, made of what is there."""
    x = cell.node
    row = ops.mean(ops.softmax(x, axis=0), axes=(0,), keepdims=True)
    cell.node = ops.concatenate(x, ops.add(row, rows(x, length(x) - 1, 1)), axis=0)
    if cell.node.value is None:
        runtime.sync(cell.node)


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
        agrees(runtime.observe(cell.node), by_numpy(start, 64))
    assert metrics.snapshot()["compiles"] <= 4  # two sizes, and 64 and 128


def test_a_cache_that_nobody_else_needs_is_overwritten() -> None:
    cell = Cell(leaf(np.ones((40, 128, 3))))
    one = leaf(np.ones((1, 128, 3)))
    for _ in range(6):
        cell.node = ops.concatenate(cell.node, one, axis=0)
        runtime.sync(cell.node)
    (entry,) = [e for e in cache.entries() if e.padded]
    assert entry.donated == ((0, 0),)
    value = cell.node.value
    assert isinstance(value, buffer.Padded)
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
        agrees(runtime.observe(node), by_numpy(start, times))


def test_a_padded_value_is_trimmed_for_everybody_else() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    cell = Cell(leaf(start))
    for _ in range(6):
        grown(cell)
    wanted = by_numpy(start, 6)
    node = cell.node
    assert isinstance(node.value, buffer.Padded)
    for found in (runtime.fetch(node), runtime.observe(node), on_host(node.value)):
        agrees(found, wanted)
    own = runtime.fetch(node)
    own[...] = 0  # it is the caller's own
    agrees(runtime.observe(node), wanted)
    agrees(runtime.observe(ops.reverse(node, axes=(0,))), wanted[::-1])  # another program
    assert not isinstance(node.value, buffer.Padded)
    grown(cell)
    agrees(runtime.observe(cell.node), by_numpy(start, 7))


def test_views_of_padded_values_and_writes_to_them() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    cell, mirror = Cell(leaf(start)), start
    for i in range(7):
        grown(cell)
        mirror = by_numpy(mirror, 1)
        view = cell.view(ops.slice_step((1, 0), (2, 3), (2, 1)))
        agrees(runtime.observe(view.node), mirror[1:5:2])
        view.write(ops.multiply(view.node, number(0.5 + i)))
        mirror[1:5:2] *= 0.5 + i
    agrees(runtime.observe(cell.node), mirror)
    assert metrics.snapshot()["padded"] > 0


def test_a_number_that_changes_with_the_size_and_one_that_changes_alone() -> None:
    for turn, n in enumerate((5, 6, 7, 8, 9, 7, 8, 9)):
        x = data(n)
        node = ops.multiply(ops.add(leaf(x), number(float(n))), number(float(turn // 5 + 1)))
        agrees(runtime.observe(node), (x + n) * (turn // 5 + 1))


def test_a_start_that_is_not_zero_any_more() -> None:
    """A rule has relied on it: the same sizes, another start."""
    for begin in (0, 1):
        for n in (8, 9, 10, 11):
            x = data(n)
            node = ops.negate(rows(leaf(x), begin, n - 2))
            agrees(runtime.observe(node), -x[begin : begin + n - 2])


def test_a_guard_that_fails_names_its_line_and_leaves_things_usable() -> None:
    for n in (5, 6, 7, 8):
        x = leaf(data(n))
        good = ops.greater_equal(ops.reduce_sum(ops.square(x), axes=(0, 1)), number(0.0))
        bad = ops.equal(ops.reduce_sum(x, axes=(0, 1)), number(float(n < 8)))
        flag = ops.guard(good if n < 8 else bad, error=ValueError, text="not so")
        node = ops.guarded(ops.add(x, number(1.0)), flag)
        other = ops.add(x, number(2.0))
        if n < 8:
            agrees(runtime.observe(node), data(n) + 1)
            continue
        with pytest.raises(ValueError, match=r"not so \(recorded at .*test_padding"):
            runtime.observe(node)
        agrees(runtime.observe(other), data(n) + 2)


def test_threads_that_grow_arrays_of_their_own() -> None:
    start = np.random.default_rng(0).normal(size=(8, 3))
    found: dict[int, np.ndarray] = {}

    def work(i: int) -> None:
        cell = Cell(leaf(start + i))
        for _ in range(12):
            grown(cell)
        found[i] = runtime.observe(cell.node)

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
        runtime.observe(ops.add(leaf(data(n)), number(1.0)))
    counts = metrics.snapshot()
    assert (counts["padded"], counts["compiles"]) == (0, 5)


def test_a_size_that_comes_again_and_again_gets_its_own_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What padding costs is added up, until compiling would have cost less."""
    monkeypatch.setattr(families, "SECONDS_PER_ELEMENT", 1e-5)
    for n in (300, 301, *[302] * 20):
        runtime.observe(ops.abs(leaf(np.ones(n))))
    counts = metrics.snapshot()
    assert counts["compiles"] == EXACTLY + 2
    assert 5 < counts["padded"] < 20


def test_what_would_be_padding_for_the_most_part_is_not_padded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(families, "SECONDS_PER_ELEMENT", 1e-3)
    for n in (300, 301, 302):
        runtime.observe(ops.abs(leaf(np.ones(n))))
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
                runtime.sync(node)
        wanted = leaf(data(n))
        for name in names:
            wanted = STAGES[name](wanted)
        plain = expected(wanted)
        np.testing.assert_allclose(runtime.observe(node), plain, rtol=1e-9, atol=1e-9)


def test_flags_and_integers_are_padded_too() -> None:
    for n in SIZES:
        x = np.arange(3 * n).reshape(n, 3)
        below = ops.convert(ops.less(leaf(x), number(n, S64)), dtype=S64)
        assert runtime.observe(ops.reduce_sum(below, axes=(0, 1))) == (x < n).sum()
        mask = x % 2 == 0
        assert runtime.observe(ops.reduce_and(leaf(mask), axes=(0, 1))) == mask.all()
    assert mask.dtype == BOOL
