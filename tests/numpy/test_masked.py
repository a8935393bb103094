"""Reads and writes by masks: reductions of `x[mask]` are recorded in the full shape."""

from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.observe import metrics
from lazytensor.frontends.numpy.indexing.masked import REDUCTIONS

VALUES = numpy.random.default_rng(3).random(60) * 3.0 + 0.25


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "complex128", "bool"])
@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_reductions_of_masked_reads_need_no_cut(name: str, dtype: str) -> None:
    def program(np: Any) -> list[Any]:
        x = np.array(VALUES).astype(dtype)
        mask = np.array(VALUES) > 1.0
        table, flags = np.reshape(x, (6, 10)), np.reshape(mask, (6, 10))
        return [getattr(x[mask], name)(), getattr(np, name)(table[flags])]

    expected = program(numpy)
    metrics.reset()
    given = program(np)
    assert metrics.snapshot()["cuts"] == 0
    for want, have in zip(expected, given, strict=True):
        assert have.dtype == want.dtype
        numpy.testing.assert_allclose(numpy.asarray(have), want, rtol=1e-5)


def test_a_mask_over_the_first_axes_counts_rows() -> None:
    x, mask = VALUES.reshape(6, 10), VALUES[:6] > 1.0
    given = np.array(x)[np.array(mask)]
    numpy.testing.assert_allclose(numpy.asarray(given.sum(axis=0)), x[mask].sum(axis=0))
    numpy.testing.assert_allclose(float(given.mean()), x[mask].mean())


def test_a_masked_update_of_a_large_array_is_no_cut() -> None:
    values = numpy.linspace(0.0, 1.0, 100_000)
    x = np.array(values)
    metrics.reset()
    x[x > 0.5] = x[x > 0.5] ** 2 + 1.0
    assert metrics.snapshot()["cuts"] == 0
    numpy.testing.assert_allclose(x, numpy.where(values > 0.5, values**2 + 1.0, values))


@pytest.mark.parametrize("is_seen", [False, True])
def test_values_counted_by_a_mask_are_written_where_nobody_else_looks(is_seen: bool) -> None:
    values = numpy.linspace(0.0, 1.0, 100_000)
    x = np.array(values)
    copy, mask = x.copy(), x > 0.5
    seen = numpy.asarray(x) if is_seen else None
    for i in range(3):
        chosen = numpy.full(numpy.count_nonzero(values > 0.5), float(i))
        x[mask] = chosen
        numpy.testing.assert_array_equal(x, numpy.where(values > 0.5, i, values))
    with pytest.raises(ValueError, match="50001"):
        x[mask] = numpy.zeros(50_001)
    numpy.testing.assert_array_equal(x, numpy.where(values > 0.5, 2.0, values))
    for held in (copy, values if seen is None else seen):
        numpy.testing.assert_array_equal(held, values)


@pytest.mark.parametrize("is_lazy", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (6,), (5,), (0,), (1, 6), (6, 1), (1, 1), (2, 3)])
def test_what_may_be_written_where_a_mask_holds(shape: tuple[int, ...], is_lazy: bool) -> None:
    def outcome(np: Any) -> Any:
        x = np.zeros((2, 3)) + 0
        try:
            x[x == 0 if is_lazy else x == numpy.zeros((2, 3))] = np.ones(shape)
            x[numpy.ones((2, 3), bool)] = np.full(shape, 2.0)
        except (TypeError, ValueError) as error:
            return repr(error)
        return numpy.asarray(x).tolist()

    assert outcome(np) == outcome(numpy)


NOT_BY_ELEMENTS = {
    "@": lambda np, y: y @ y,
    "matmul": lambda np, y: np.matmul(y, y),
    "vecdot": lambda np, y: np.vecdot(y, y),
    "dot": lambda np, y: np.dot(y, y),
    "inner": lambda np, y: np.inner(y, y),
    "outer": lambda np, y: np.outer(y, y),
    "a ufunc's outer": lambda np, y: np.subtract.outer(y, y),
    "reduce": lambda np, y: np.add.reduce(y),
    "accumulate": lambda np, y: np.add.accumulate(y),
    "cumsum": lambda np, y: y.cumsum(),
    "sort": lambda np, y: np.sort(-y),
    "diff": lambda np, y: np.diff(y),
    "backwards": lambda np, y: y[::-1] - y,
    "norm": lambda np, y: np.linalg.norm(y),
    "convolve": lambda np, y: np.convolve(y, y),
    "stack": lambda np, y: np.stack([y, y]) * y,
    "by another mask": lambda np, y: y[y > 2] * 2,
    "a row": lambda np, y: y + np.arange(y.size),
}


@pytest.mark.parametrize("function", NOT_BY_ELEMENTS.values(), ids=NOT_BY_ELEMENTS)
def test_what_is_not_done_by_elements_is_done_to_what_is_chosen(function: Any) -> None:
    """Of a square array: what is done in its shape has that shape, too."""

    def program(np: Any) -> Any:
        x = np.reshape(np.array(VALUES[:9]), (3, 3)) + 0.0
        return function(np, x[x > 1.0])

    numpy.testing.assert_allclose(numpy.asarray(program(np)), program(numpy), rtol=1e-12)
