"""What the lowerings for CPUs promise beyond being right: precision, and which ops leave XLA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lazytensor.backends.xla import client
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings

pytestmark = pytest.mark.skipif(client.platform() != "cpu", reason="tuned for XLA:CPU")


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((3_000_000,), (0,)), ((1_000_000, 3), (0,)), ((3, 1_000_000), (1,)), ((1500, 2000), (0, 1))],
)
def test_float32_sums_are_as_accurate_as_pairwise_ones(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = np.random.default_rng(3).uniform(0.9, 1.1, shape).astype(F32)
    exact = x.sum(axes, np.float64)
    found = fetch(ops.reduce_sum(ops.leaf(x), axes=axes))
    assert np.all(np.abs(found / exact - 1) < 5e-7)  # one after another loses 1e-5 and more


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32, np.uint8])
@pytest.mark.parametrize("shape", [(70_000,), (70_001,), (3, 50, 400), (9, 4999)])
def test_flags_are_counted_without_overflow_and_choices_added(
    shape: tuple[int, ...], dtype: type
) -> None:
    x = np.random.default_rng(4).uniform(0.0, 1.0, shape)
    chosen = ops.less(ops.leaf(x), ops.scalar(0.9, np.dtype("f8")))
    ones = ops.convert(chosen, dtype=np.dtype(dtype))
    kept = ops.select(chosen, ops.leaf(x), ops.scalar(0.0, np.dtype("f8")))
    for last in range(1, x.ndim + 1):
        axes = tuple(range(x.ndim - last, x.ndim))
        counts = fetch(ops.reduce_sum(ones, axes=axes))
        np.testing.assert_array_equal(counts, np.sum(x < 0.9, axes, dtype))
        totals = fetch(ops.reduce_sum(kept, axes=axes))
        np.testing.assert_allclose(totals, np.sum(x, axes, where=x < 0.9), rtol=1e-12)
        assert np.array_equal(
            fetch(ops.reduce_max(kept, axes=axes)), np.max(np.where(x < 0.9, x, 0), axes)
        )


def sorted_between(rows: int, columns: int) -> Node:
    x = np.random.default_rng(5).standard_normal((rows, columns))
    one = ops.scalar(1.0, x.dtype)
    node: Node = ops.subtract(ops.sort(ops.add(ops.leaf(x), one), axis=1), one)
    return node


@pytest.mark.parametrize(("rows", "calls_back"), [(30, False), (1000, True)])
def test_only_large_sorts_of_short_lines_are_the_hosts(rows: int, calls_back: bool) -> None:
    found = fetch(sorted_between(rows, 90))
    entry = cache.entries()[-1]
    assert entry.executable is not None
    assert entry.executable.calls_back == calls_back
    assert np.all(np.diff(found) >= 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("side", [0, 1])
def test_a_matrix_may_be_computed_within_its_product_with_a_vector(dtype: type, side: int) -> None:
    rng = np.random.default_rng(2)
    x, v = rng.uniform(0.5, 1.5, (1100, 1000)).astype(dtype), rng.random(1000).astype(dtype)
    scaled = ops.multiply(ops.leaf(x), ops.scalar(3.0, np.dtype(dtype)))
    operands = (scaled, ops.leaf(v)) if side == 0 else (ops.leaf(v), scaled)
    product = ops.dot_general(*operands, contract=((1,), (0,)) if side == 0 else ((0,), (1,)))
    bound = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(fetch(product), (3.0 * x.astype(complex)) @ v, rtol=bound)


BY_COLUMNS = [
    ("kij,kln->ijln", (((0,), (0,)), ((), ()))),
    ("kmij,kmn->ijn", (((0, 1), (0, 1)), ((), ()))),
    ("bkij,bkn->bijn", (((1,), (1,)), ((0,), (0,)))),
    ("kbij,kbn->bijn", (((0,), (0,)), ((1,), (1,)))),
]


@pytest.mark.parametrize(("sums", "axes"), BY_COLUMNS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("sides", [(5, 7, 6, 35), (25, 7, 2, 3)], ids=["wide", "narrow"])
def test_products_of_matrices_read_by_columns(
    sums: str, axes: Any, dtype: type, sides: tuple[int, ...]
) -> None:
    sizes = {"b": 3, "k": 33, "m": 2, **dict(zip("ijln", sides, strict=True))}
    rng = np.random.default_rng(4)
    x, y = (
        rng.uniform(0.5, 1.5, [sizes[axis] for axis in operand]).astype(dtype)
        for operand in sums.split("->")[0].split(",")
    )
    contract, batch = axes
    found = fetch(ops.dot_general(ops.leaf(x), ops.leaf(y), batch=batch, contract=contract))
    bound = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, np.einsum(sums, x, y), rtol=bound)


TERMS: list[tuple[str, Callable[..., Any]]] = [
    ("a choice", lambda m, x, y, z: m.select(m.greater(x, y), x, z)),
    ("flags times numbers", lambda m, x, y, z: m.multiply(x, m.convert(m.greater(y, z), x))),
    ("numbers among arrays", lambda m, x, y, z: m.multiply(m.abs(x), m.full(0.6, x))),
    ("what is broadcast", lambda m, x, y, z: m.subtract(x, m.rows(y, x))),
    ("several arrays", lambda m, x, y, z: m.multiply(m.add(x, y), m.subtract(z, m.full(2, z)))),
    ("an exponential", lambda m, x, y, z: m.multiply(m.exp(x), y)),
]


class Graph:
    """The functions that `TERMS` are written in, as operations of the core."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ops, name)

    def convert(self, flags: Node, like: Node) -> Any:
        return ops.convert(flags, dtype=like.type.dtype)

    def full(self, value: float, like: Node) -> Any:
        return ops.scalar(value, like.type.dtype)

    def rows(self, x: Node, like: Node) -> Any:
        first = ops.reshape(ops.reduce_max(x, axes=(1,)), shape=(like.type.shape[0], 1))
        return ops.broadcast(first, shape=like.type.shape)


class Numpy:
    """The same in NumPy, in twice the precision."""

    select = staticmethod(np.where)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def convert(self, flags: np.ndarray, like: np.ndarray) -> np.ndarray:
        return flags.astype(like.dtype)

    def full(self, value: float, like: np.ndarray) -> float:
        return value

    def rows(self, x: np.ndarray, like: np.ndarray) -> np.ndarray:
        return x.max(axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(3, 40_000), (5, 1009)])
@pytest.mark.parametrize(("axes", "dtype"), [((1,), F32), ((0, 1), F32), ((0,), F64), ((1,), F64)])
@pytest.mark.parametrize("terms", [row[1] for row in TERMS], ids=[row[0] for row in TERMS])
def test_sums_of_terms_that_are_made_on_the_way(
    terms: Callable[..., Any], axes: tuple[int, ...], dtype: np.dtype, shape: tuple[int, int]
) -> None:
    rng = np.random.default_rng(6)
    arrays = [rng.uniform(0.5, 1.5, shape).astype(dtype) for _ in range(3)]
    nodes = [ops.add(ops.leaf(x), ops.scalar(0.0, dtype)) for x in arrays]
    total = ops.reduce_sum(terms(Graph(), *nodes), axes=axes)
    made = terms(Numpy(), *(x.astype(np.longdouble) for x in arrays))
    bound = 30 * np.finfo(dtype).eps * np.abs(made).sum(axes)
    found = fetch(ops.add(total, ops.scalar(0.0, dtype)))
    assert np.all(np.abs(found - made.sum(axes)) <= bound)
