"""NumPy programs on arrays split over eight devices: NumPy's values, an expert's exchanges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor import Mesh, shard
from lazytensor.core.device.backend import backend
from lazytensor.core.runtime.program_cache import cache
from lazytensor.inspection.exchanges import Exchange
from lazytensor.sharding import sharding_of

LINE = Mesh((8,), ("x",))
GRID = Mesh((4, 2), ("x", "y"))
R = numpy.random.default_rng(0)
SQUARE = R.standard_normal((64, 64))
POINTS = R.standard_normal((800, 3))
LABELS = POINTS @ numpy.array([1.0, -2.0, 0.5])


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "disk", False)
    cache.clear()


def stencil(np: Any, u: Any) -> Any:
    v = u.copy()
    v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return v


def k_means(np: Any, points: Any) -> Any:
    centers = np.asarray(POINTS[:4])
    for _ in range(3):
        nearest = ((points[:, None, :] - centers[None]) ** 2).sum(-1).argmin(1)
        member = (nearest[:, None] == np.arange(4)).astype(float)
        centers = (member.T @ points) / member.sum(0)[:, None]
    return centers


def regression(np: Any, points: Any) -> Any:
    w = np.zeros(3)
    for _ in range(5):
        w = w - 0.1 * 2 / len(POINTS) * (points.T @ (points @ w - LABELS))
    return w


def mlp(np: Any, points: Any) -> Any:
    return np.tanh(points @ SQUARE[:3]) @ SQUARE


class Row(NamedTuple):
    """A program on one array. `kinds`: which exchanges it needs; `nbytes`: at most, on a device."""

    run: Callable[[Any, Any], Any]
    array: numpy.ndarray
    spec: tuple[Any, ...]
    kinds: set[str]
    nbytes: int
    result: tuple[Any, ...] | None = None


ROW = 8 * 64
"""Bytes of a row of `SQUARE`."""
ROWS: dict[str, Row] = {
    "elementwise": Row(lambda np, x: np.sin(x) * x, SQUARE, ("x",), set(), 0, ("x",)),
    "a stencil exchanges edges": Row(
        stencil, SQUARE, ("x",), {"collective-permute", "all-gather"}, 6 * ROW, ("x",)
    ),
    "roll": Row(
        lambda np, x: np.roll(x, 1, axis=0) + x, SQUARE, ("x",), {"collective-permute"}, ROW, ("x",)
    ),
    "k-means adds sums": Row(k_means, POINTS, ("x",), {"all-reduce"}, 3 * 8 * (4 * 3 + 4)),
    "regression adds gradients": Row(regression, POINTS, ("x",), {"all-reduce"}, 5 * 8 * 3),
    "rows of a product": Row(lambda np, x: x @ SQUARE, SQUARE, ("x",), set(), 0, ("x",)),
    "columns of a product": Row(
        lambda np, x: x @ SQUARE, SQUARE, (None, "x"), {"all-reduce", "all-gather"}, 64 * ROW
    ),
    "layers": Row(mlp, POINTS, ("x",), set(), 0, ("x",)),
    "a total": Row(lambda np, x: x.sum(), SQUARE, ("x",), {"all-reduce"}, 8, ()),
    "the largest": Row(lambda np, x: x.max(), SQUARE, ("x",), {"all-reduce"}, 9, ()),
    "transposed": Row(lambda np, x: x.T * 1.0, SQUARE, ("x",), set(), 0, (None, "x")),
    "rows sorted": Row(lambda np, x: np.sort(x, axis=1), SQUARE, ("x",), set(), 0, ("x",)),
    "columns sorted": Row(
        lambda np, x: np.sort(x, axis=0), SQUARE, ("x",), {"all-to-all"}, 16 * ROW, ("x",)
    ),
    "running sums of rows": Row(
        lambda np, x: np.cumsum(x, axis=1), SQUARE, ("x",), set(), 0, ("x",)
    ),
    "masked": Row(lambda np, x: np.where(x > 0, x, 0).sum(1), SQUARE, ("x",), set(), 0, ("x",)),
    "written to": Row(
        lambda np, x: (x.__setitem__(3, 1.0), x)[1] * 1.0, SQUARE, ("x",), set(), 0, ("x",)
    ),
}


def exchanges() -> list[Exchange]:
    """Those of the last program that ran on a mesh."""
    program = next(p for p in lazytensor.programs(50) if p.meshes)
    return program.collectives()


@pytest.mark.parametrize("name", ROWS)
def test_programs_on_a_mesh(name: str) -> None:
    row = ROWS[name]
    x = shard(row.array.copy(), LINE, row.spec)
    found = row.run(lnp, x)
    lazytensor.sync(found)
    needed = exchanges()
    assert {exchange.kind for exchange in needed} <= row.kinds
    assert sum(exchange.nbytes for exchange in needed) <= row.nbytes
    expected = row.run(numpy, row.array.copy())
    numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-12, atol=1e-12)
    if row.result is not None:
        split = sharding_of(found)
        assert split is not None
        assert split.spec == tuple((name,) if name else () for name in row.result) + ((),) * (
            expected.ndim - len(row.result)
        )


def test_exchanges_name_the_users_lines() -> None:
    total = shard(SQUARE, LINE, ("x",)).sum(axis=0)
    lazytensor.sync()
    (exchange,) = exchanges()
    assert (exchange.kind, exchange.nbytes) == ("all-reduce", ROW)
    assert len(exchange.lines) == 1
    assert exchange.lines[0].startswith("reduce_sum at ")
    assert "test_sharding.py" in exchange.lines[0]
    assert total.shape == (64,)


def test_explain_says_what_is_exchanged_and_what_is_whole() -> None:
    lazytensor.metrics.reset()
    x = shard(SQUARE, LINE, ("x",))
    total = x.sum(axis=0)
    few = x[:60] * 2.0
    lazytensor.sync(total, few)
    text = str(lazytensor.explain())
    assert "Exchanges between devices" in text
    assert "all-reduce of 512 bytes: reduce_sum at " in text
    assert "whole on every device: f64[60,64] of multiply at " in text


def test_a_mesh_of_two_axes_splits_a_product_both_ways() -> None:
    x, w = shard(SQUARE, GRID, ("x",)), shard(SQUARE, GRID, (None, "y"))
    found = x @ w
    lazytensor.sync()
    assert exchanges() == []
    assert sharding_of(found).spec == (("x",), ("y",))
    numpy.testing.assert_allclose(numpy.asarray(found), SQUARE @ SQUARE, rtol=1e-12, atol=1e-12)


def test_looking_at_a_part_reads_the_parts_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """And runs no program."""
    x, read = shard(SQUARE, LINE, ("x",)), []
    there = backend()
    host_view = there.host_view

    def counting(buffer: Any) -> numpy.ndarray:
        read.append(buffer)
        return host_view(buffer)

    monkeypatch.setattr(there, "host_view", counting)
    before = lazytensor.metrics.counts["cuts"]
    looks: list[tuple[Any, int]] = [((3, 4), 1), (9, 1), (slice(10, 14), 1), (slice(4, 20, 3), 3)]
    for key, parts in looks:
        read.clear()
        numpy.testing.assert_array_equal(numpy.asarray(x[key]), SQUARE[key])
        assert len(read) == parts
    assert lazytensor.metrics.counts["cuts"] == before
    assert x.sharding is sharding_of(x) is not None


def test_random_numbers_are_those_of_one_device() -> None:
    mine, numpys = lnp.random.default_rng(5), numpy.random.default_rng(5)
    for _ in range(2):
        found = shard(mine.standard_normal((64, 8)), LINE, ("x",))
        numpy.testing.assert_array_equal(numpy.asarray(found), numpys.standard_normal((64, 8)))


def test_what_is_written_to_stays_split() -> None:
    x = shard(SQUARE, LINE, ("x",))
    x += 1.0
    x[2:5] = 0.0
    x[:, 3] *= 2.0
    expected = SQUARE + 1.0
    expected[2:5] = 0.0
    expected[:, 3] *= 2.0
    numpy.testing.assert_array_equal(numpy.asarray(x), expected)
    assert sharding_of(x).spec == (("x",), ())


def test_lists_and_arrays_of_numpys_are_split_too() -> None:
    assert sharding_of(shard([1.0] * 16, LINE, ("x",))).spec == (("x",),)
    given = SQUARE.copy()
    x = shard(given, LINE, ("x",))
    given[...] = 0.0  # what was split is a copy
    numpy.testing.assert_array_equal(numpy.asarray(x), SQUARE)


CREATIONS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda d: lnp.zeros((16, 2), device=d),
    "ones": lambda d: lnp.ones(16, device=d),
    "empty": lambda d: lnp.empty(16, device=d) * 0,
    "full": lambda d: lnp.full((16, 2), 3, device=d),
    "full of a dtype": lambda d: lnp.full((16, 2), 3, "f4", device=d),
    "zeros_like": lambda d: lnp.zeros_like(numpy.ones((16, 3)), device=d),
    "ones_like": lambda d: lnp.ones_like(lnp.ones((16, 3)), device=d),
    "full_like": lambda d: lnp.full_like(lnp.ones((16, 3)), 2, device=d),
    "arange": lambda d: lnp.arange(16, device=d),
    "arange of floats": lambda d: lnp.arange(0, 8, 0.5, device=d),
    "asarray of a list": lambda d: lnp.asarray([1.0] * 16, device=d),
    "asarray": lambda d: lnp.asarray(lnp.ones(16), device=d),
    "to_device": lambda d: lnp.ones((16, 2)).to_device(d),
}


@pytest.mark.parametrize("name", CREATIONS)
def test_an_array_is_created_on_a_mesh(name: str) -> None:
    mesh = Mesh((8,), ("x",))
    found, expected = CREATIONS[name]((mesh, ("x",))), CREATIONS[name]("cpu")
    assert found.sharding is not None
    assert found.sharding.spec[0] == ("x",)
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(numpy.asarray(found), numpy.asarray(expected))


def test_no_other_device_is_taken() -> None:
    refused = {"gpu": 'Only "cpu" is allowed', 3: 'Only "cpu" is allowed', (LINE,): "a mesh and a"}
    for device, message in refused.items():
        with pytest.raises(ValueError, match=message):
            lnp.zeros(8, device=device)


@pytest.mark.parametrize("spec", [(), ("x",), (None, "y"), (("x", "y"),), ("y", "x")])
def test_a_process_alone_has_the_whole(spec: Any) -> None:
    found = lazytensor.from_local(SQUARE, GRID, spec)
    assert found.sharding is shard(SQUARE, GRID, spec).sharding
    numpy.testing.assert_array_equal(numpy.asarray(found), SQUARE)
    numpy.testing.assert_array_equal(lazytensor.sharding.to_local(found), SQUARE)
    with pytest.raises(lazytensor.ShapeError, match=r"axis 0 of a part of shape \(6,\) does not"):
        lazytensor.from_local(numpy.ones(6), LINE, ("x",))
