"""`numpy.linalg`: what NumPy gives, or raises."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_agree
from tests.numpy.expressions import assert_equal, table


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "interpret")


@pytest.mark.parametrize("line", table("linalg"))
def test_as_numpy(line: str) -> None:
    assert_equal(line, rtol=1e-5)


def test_a_singular_matrix_spoils_only_what_needs_it() -> None:
    singular, regular = lnp.zeros((2, 2)), lnp.eye(2) * 4
    bad, good = lnp.linalg.inv(singular) + 1, lnp.linalg.inv(regular)
    with pytest.raises(lnp.linalg.LinAlgError, match="Singular"):
        bad.tolist()
    assert good.tolist() == [[0.25, 0], [0, 0.25]]


@pytest.mark.parametrize("name", ["cholesky", "inv", "solve"])
def test_an_except_in_the_same_function_sees_what_fails(name: str) -> None:
    def made_regular(np: Any) -> Any:
        a = np.ones((3, 3)) * 2.0
        given = (a, a[0]) if name == "solve" else (a - 5.0,) if name == "cholesky" else (a,)
        try:
            return getattr(np.linalg, name)(*given)
        except np.linalg.LinAlgError:
            return getattr(np.linalg, name)(a + np.eye(3), *given[1:])

    assert_agree(made_regular)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
def test_dtypes(dtype: str) -> None:
    matrix = (numpy.arange(9).reshape(3, 3) % 4 + 3 * numpy.eye(3)).astype(dtype)
    for name in ("inv", "det", "svdvals", "cond", "norm", "eigvalsh", "matrix_rank", "pinv"):
        ours, real = (getattr(home, name) for home in (lnp.linalg, numpy.linalg))
        expected = real(matrix)
        actual = numpy.asarray(ours(lnp.array(matrix)))
        assert actual.dtype == expected.dtype, name
        numpy.testing.assert_allclose(actual, expected, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("p", [None, 2, -2, 1, "fro"])
def test_the_condition_of_a_matrix_whose_values_the_host_has(
    p: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "small", 16384)
    real = numpy.random.default_rng(0).random((200, 200))
    matrix = lnp.array(real) + 0
    for part in (lambda a: a[:3, :3], lambda a: a, lambda a: a[:3, :3] * 0) * 2:
        expected = numpy.linalg.cond(part(real), p)
        assert lnp.linalg.cond(part(matrix), p) == pytest.approx(expected)
