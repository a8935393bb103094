"""Laws of the decompositions that hold whatever the signs of their vectors are."""

from __future__ import annotations

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.ops.samples.linalg import DTYPES, TOLERANCE, matrix, positive

TIERS = ("interpret", "compile")
RECTANGULAR = ((2, 5, 3), (20, 30))
SQUARE = ((2, 3, 3), (30, 30))


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tier: str) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", tier)


def run(op: Op, x: np.ndarray, **attrs: object) -> list[np.ndarray]:
    nodes = op(ops.leaf(x), **attrs)
    sync(*nodes)
    return [fetch(node) for node in nodes]


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def assert_near(actual: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    assert np.abs(actual - expected).max(initial=0) <= 20 * TOLERANCE[dtype] * scale


def assert_orthonormal(x: np.ndarray, dtype: str) -> None:
    assert_near(
        adjoint(x) @ x,
        np.broadcast_to(np.eye(x.shape[-1]), (*x.shape[:-2], *[x.shape[-1]] * 2)),
        dtype,
    )


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", RECTANGULAR, ids=str)
@pytest.mark.parametrize("full", [True, False])
def test_svd(tier: str, dtype: str, shape: tuple[int, ...], full: bool) -> None:
    x = matrix(shape, dtype)
    u, s, vh = run(ops.svd, x, full=full)
    k = s.shape[-1]
    assert_near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, dtype)
    assert_orthonormal(u, dtype)
    assert_orthonormal(adjoint(vh), dtype)
    assert (np.diff(s, axis=-1) <= 0).all()
    assert (s >= 0).all()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
@pytest.mark.parametrize("lower", [True, False])
def test_eigh(tier: str, dtype: str, shape: tuple[int, ...], lower: bool) -> None:
    x = positive(shape, dtype)
    unread = np.triu if lower else np.tril
    w, v = run(ops.eigh, x + unread(np.full_like(x, 7), 1 if lower else -1), lower=lower)
    assert_near(x @ v, v * w[..., None, :], dtype)
    assert_orthonormal(v, dtype)
    assert (np.diff(w, axis=-1) >= 0).all()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(30, 30), (64, 64)], ids=str)
@pytest.mark.parametrize("lower", [True, False])
def test_eigvalsh(tier: str, dtype: str, shape: tuple[int, ...], lower: bool) -> None:
    x = positive(shape, dtype)
    values, ok = run(ops.eigvalsh_checked, x, lower=lower)
    w, _ = run(ops.eigh, x, lower=lower)
    assert_near(values, w, dtype)
    assert ok.all()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_eig(tier: str, dtype: str, shape: tuple[int, ...]) -> None:
    x = matrix(shape, dtype)
    w, v = run(ops.eig, x)
    assert_near(x @ v, v * w[..., None, :], dtype)
    assert_near(np.linalg.norm(v, axis=-2), np.ones(w.shape), dtype)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", RECTANGULAR, ids=str)
@pytest.mark.parametrize("full", [True, False])
def test_qr(tier: str, dtype: str, shape: tuple[int, ...], full: bool) -> None:
    x = matrix(shape, dtype)
    q, r = run(ops.qr, x, full=full)
    assert_near(q @ r, x, dtype)
    assert_orthonormal(q, dtype)
    assert (np.tril(r, -1) == 0).all()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*RECTANGULAR, *SQUARE, (2, 70, 40), (40, 70)], ids=str)
def test_lu(tier: str, dtype: str, shape: tuple[int, ...]) -> None:
    x = matrix(shape, dtype)
    packed, pivots, permutation = run(ops.lu, x)
    k = pivots.shape[-1]
    lower = np.tril(packed[..., :k], -1) + np.eye(shape[-2], k)
    rows = np.take_along_axis(x, permutation[..., None], -2)
    assert_near(lower @ np.triu(packed[..., :k, :]), rows, dtype)
    assert (np.abs(lower) <= np.sqrt(2) + TOLERANCE[dtype]).all()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "op", [ops.svd_checked, ops.singular_values_checked, ops.eigh_checked, ops.eig_checked]
)
def test_what_is_not_a_number_fails_alone(tier: str, value: float, op: Op) -> None:
    """Unguarded, OpenBLAS may never come back from these."""
    x = np.stack([positive((3, 3), "float64")] * 2)
    x[1, 1, 1] = value
    *results, ok = run(op, x)
    assert ok.tolist() == [True, False]
    for result in results:
        assert np.isfinite(result[0]).all()
        assert np.isnan(result[1]).all()


@pytest.mark.parametrize("tier", TIERS)
def test_a_guard_raises_where_the_matrix_is_singular(tier: str) -> None:
    def solve(a: np.ndarray) -> Node:
        x, ok = ops.solve_checked(ops.leaf(a), ops.leaf(np.ones((2, 1))))
        held = ops.guard(ok, error=np.linalg.LinAlgError, text="Singular matrix")
        return ops.guarded(x, held)

    well, ill = solve(np.eye(2) * 2), solve(np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match=r"Singular matrix .*test_linalg"):
        sync(well, ill)
    assert fetch(well).tolist() == [[0.5], [0.5]]
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fetch(ill)
