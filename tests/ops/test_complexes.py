"""Functions of complex numbers at zeros, infinities, NaN and on branch cuts: both tiers are C's."""

from __future__ import annotations

import numpy as np
import pytest

from lazytensor.backends.xla.elementwise.complexes import FUNCTIONS
from lazytensor.core import ops
from lazytensor.core.interpreter.kernels import REFERENCES
from lazytensor.core.ir.dtypes import C64, C128
from lazytensor.core.ir.op import Op
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings

EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan]
GRID = np.array([complex(a, b) for a in EDGES for b in EDGES])


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")


@pytest.mark.parametrize("dtype", [C64, C128], ids=str)
@pytest.mark.parametrize("op", [*FUNCTIONS, ops.abs], ids=str)
def test_edges(op: Op, dtype: np.dtype) -> None:
    """Equal parts; signs too, but of zeros, and but where the operand is not finite."""
    x = GRID.astype(dtype)
    with np.errstate(all="ignore"):
        expected = REFERENCES[op](x)
    actual = fetch(op(ops.leaf(x)))
    finite = np.isfinite(x)
    tolerance = 40 * float(np.finfo(dtype).eps)
    for part in ("real", "imag"):
        mine, theirs = getattr(actual, part), getattr(expected, part)
        np.testing.assert_allclose(np.abs(mine), np.abs(theirs), tolerance, tolerance)
        np.testing.assert_allclose(mine[finite], theirs[finite], tolerance, tolerance)


# From the array API standard, where it knows more than NumPy.
EXPM1 = {
    (-0.0, 0.0): (0.0, 0.0),
    (np.inf, 0.0): (np.inf, 0.0),
    (np.inf, np.inf): (np.inf, np.nan),
    (np.inf, np.nan): (np.inf, np.nan),
    (-np.inf, np.inf): (-1.0, 0.0),
    (-np.inf, np.nan): (-1.0, 0.0),
    (np.nan, 0.0): (np.nan, 0.0),
}
TANH = {(np.inf, 2.0): (1.0, 0.0), (np.inf, -2.0): (1.0, -0.0)}


@pytest.mark.parametrize("tier", ["compile", "interpret"])
@pytest.mark.parametrize(
    ("op", "cases"), [(ops.expm1, EXPM1), (ops.tanh, TANH)], ids=["expm1", "tanh"]
)
def test_the_standards_values(
    op: Op,
    cases: dict[tuple[float, float], tuple[float, float]],
    tier: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    actual = fetch(op(ops.leaf(np.array([complex(*z) for z in cases]))))
    for found, expected in zip(actual, cases.values(), strict=True):
        parts = np.array([found.real, found.imag])
        np.testing.assert_array_equal(parts, expected)
        number = ~np.isnan(parts)
        np.testing.assert_array_equal(np.signbit(parts[number]), np.signbit(expected)[number])


@pytest.mark.parametrize("scale", [2.0**-1022, 2.0**-1000, 1.0, 2.0**1023])
def test_angles_of_tiny_and_huge_points(scale: float) -> None:
    y, x = scale * np.array([[1, 1, -1, 1], [0.0, -0.0, 0.0, 1]])
    np.testing.assert_allclose(fetch(ops.atan2(ops.leaf(y), ops.leaf(x))), np.arctan2(y, x), 1e-15)


@pytest.mark.parametrize("exponent", [np.inf, -np.inf, 2.0**45, 2.0**52, -(2.0**53)])
def test_powers_of_numbers_next_to_one(exponent: float) -> None:
    base = 1 + 2.0**-52 * np.array([-2, -1, -0.5, 0, 1, 2])
    actual = fetch(ops.power(ops.leaf(base), ops.leaf(np.array(exponent))))
    np.testing.assert_allclose(actual, np.power(base, exponent), 1e-14)
