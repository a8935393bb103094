"""What the sample table does not reach: constants, large arrays, wide ranges, special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from lazytensor.backends.xla.elementwise.division import BRANCH_ELEMENTS
from lazytensor.core import ops
from lazytensor.core.interpreter.kernels import REFERENCES
from lazytensor.core.ir.dtypes import F32, F64, INTS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings

RANDOM = np.random.default_rng(11)
X, Y, Z = (RANDOM.normal(size=(40, 50)) for _ in range(3))


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "compile")


def computed(op: Callable[..., Node], *arrays: np.ndarray) -> np.ndarray:
    return fetch(op(*(ops.leaf(np.asarray(x)) for x in arrays)))


def number(value: complex) -> Node:
    return ops.scalar(value, F64)


# XLA would join constants, multiply by reciprocals and reorder divisions; NumPy does not.
ARITHMETIC: list[tuple[Callable[..., Node], np.ndarray, tuple[np.ndarray, ...]]] = [
    (lambda x: ops.divide(x, number(3.7)), X / 3.7, (X,)),
    (lambda x: ops.divide(number(1.0), x), 1 / X, (X,)),
    (lambda x, y: ops.divide(x, y), X / Y[:1], (X, Y[:1])),
    (lambda x, y: ops.divide(x, y), X / Y[:, :1], (X, Y[:, :1])),
    (lambda x, y: ops.divide(x, y), X / Y[0, 0], (X, Y[0, 0])),
    (lambda x, y, z: ops.divide(ops.divide(x, y), z), X / Y / Z, (X, Y, Z)),
    (lambda x, y, z: ops.divide(x, ops.divide(y, z)), X / (Y / Z), (X, Y, Z)),
    (
        lambda x: ops.subtract(ops.add(x, number(1e16)), number(1e16)),
        (X + 1e16) - 1e16,
        (X,),
    ),
    (
        lambda x: ops.multiply(ops.multiply(x, number(0.1)), number(3.0)),
        X * 0.1 * 3.0,
        (X,),
    ),
]


@pytest.mark.parametrize("case", range(len(ARITHMETIC)))
def test_arithmetic_is_done_as_written(case: int) -> None:
    op, expected, operands = ARITHMETIC[case]
    np.testing.assert_array_equal(computed(op, *operands), expected)


@pytest.mark.parametrize("exponent", [-8, -3, -1, 1, 2, 3, 7, 8, 9, 0.5, 2.5, 0.0])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_power_of_a_constant_exponent(exponent: float, dtype: np.dtype) -> None:
    base = np.concatenate([X.ravel(), [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(dtype)
    actual = computed(lambda x: ops.power(x, ops.scalar(exponent, dtype)), base)
    with np.errstate(all="ignore"):
        expected = np.power(base, np.full_like(base, exponent))  # an array: C's pow
    np.testing.assert_allclose(actual, expected, rtol=2 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(actual[-5:-1]), np.signbit(expected[-5:-1]))


@pytest.mark.parametrize("exponent", [1, 2, 63, 64, 65, 1000, 2**62 + 5])
def test_power_of_integers_wraps(exponent: int) -> None:
    base = RANDOM.integers(-(2**62), 2**62, 50)
    constant = computed(lambda x: ops.power(x, ops.scalar(exponent, S64)), base)
    data = computed(ops.power, base, np.array([exponent]))
    np.testing.assert_array_equal(constant, base**exponent)
    np.testing.assert_array_equal(data, base**exponent)


@pytest.mark.parametrize("op", [ops.divide, ops.remainder, ops.modulo, ops.floor_divide], ids=str)
@pytest.mark.parametrize("dtype", sorted(INTS, key=str), ids=str)
def test_whole_constants_are_divided_while_compiling(op: Op, dtype: np.dtype) -> None:
    """Zeros by themselves too, of which XLA's compiler once died, and the process with it."""
    limits = np.iinfo(dtype)
    numbers = np.array([0, 1, 7, limits.min, limits.max, max(-1, limits.min)], dtype)
    same = [ops.broadcast(ops.scalar(n.item(), dtype), shape=(4,)) for n in numbers]
    others = [ops.broadcast(ops.scalar(n.item(), dtype), shape=(4,)) for n in numbers]
    made = [op(x, y) for x in same for y in [x, *others]]
    with np.errstate(all="ignore"):
        expected = [REFERENCES[op](x, y) for x in numbers for y in [x, *numbers]]
    np.testing.assert_array_equal(np.stack([fetch(node) for node in made])[:, 0], expected)


@pytest.mark.parametrize("op", [ops.remainder, ops.modulo, ops.floor_divide], ids=str)
@pytest.mark.parametrize("spread", [3, 30, 960])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_remainders_of_large_arrays_are_exact(op: Op, spread: int, dtype: np.dtype) -> None:
    sizes = np.exp2(
        RANDOM.uniform(-spread, spread, (2, BRANCH_ELEMENTS)) / (1 if dtype == F64 else 9)
    )
    x, y = (sizes * RANDOM.choice([-1, 1], (2, BRANCH_ELEMENTS))).astype(dtype)
    x[:4], y[:4] = [np.inf, 1, -0.0, 5], [1, np.inf, 2, 0]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(op, x, y), REFERENCES[op](x, y))


def test_logarithms_of_powers_are_whole() -> None:
    exponents = np.arange(-1022.0, 1024)
    np.testing.assert_array_equal(computed(ops.log2, np.exp2(exponents)), exponents)
    np.testing.assert_array_equal(computed(ops.exp2, exponents), np.exp2(exponents))
    np.testing.assert_array_equal(computed(ops.log10, 10.0 ** np.arange(23)), np.arange(23))


def spread(low: float, high: float) -> np.ndarray:
    return RANDOM.uniform(low, high, 4000)


def sizes(low: float, high: float) -> np.ndarray:
    """Numbers of every magnitude between two powers of ten, of both signs."""
    return 10.0 ** spread(low, high) * RANDOM.choice([-1, 1], 4000)


# Per function: NumPy's, what it is tried on, and the error allowed, in units in the last place.
WIDE: list[tuple[Op, Any, np.ndarray, float]] = [
    (ops.sin, np.sin, sizes(-30, 8), 3),
    (ops.cos, np.cos, sizes(-30, 8), 3),
    (ops.tan, np.tan, sizes(-30, 5), 5),
    (ops.asin, np.arcsin, spread(-1, 1), 3),
    (ops.acos, np.arccos, spread(-1, 1), 3),
    (ops.atan, np.arctan, sizes(-30, 30), 3),
    (ops.log, np.log, abs(sizes(-37, 37)), 2),
    (ops.log2, np.log2, abs(sizes(-37, 37)), 2),
    (ops.log10, np.log10, abs(sizes(-37, 37)), 3),
    (ops.log1p, np.log1p, spread(-0.99, 3), 2),
    (ops.log1p, np.log1p, abs(sizes(-30, 30)), 2),
    (ops.exp2, np.exp2, spread(-120, 120), 2),
    (ops.expm1, np.expm1, sizes(-30, 1.9), 3),
    (ops.sinh, np.sinh, sizes(-30, 1.9), 4),
    (ops.cosh, np.cosh, sizes(-30, 1.9), 3),
    (ops.asinh, np.arcsinh, sizes(-30, 30), 3),
    (ops.acosh, np.arccosh, 1 + abs(sizes(-5, 30)), 3),
    (ops.atanh, np.arctanh, spread(-1, 1), 3),
    (ops.cbrt, np.cbrt, sizes(-37, 37), 2),
    (ops.rsqrt, lambda x: 1 / np.sqrt(x), abs(sizes(-37, 37)), 2),
]


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("case", range(len(WIDE)), ids=lambda i: WIDE[i][0].name)
def test_functions_over_wide_ranges(case: int, dtype: np.dtype) -> None:
    op, function, x, units = WIDE[case]
    x = x.astype(dtype)
    expected = function(x.astype(np.longdouble))
    last_place = np.spacing(np.abs(expected).astype(dtype)).astype(np.longdouble)
    error = np.abs(computed(op, x) - expected) / last_place
    assert error.max() <= units, (x[error.argmax()], error.max())


@pytest.mark.parametrize("x", [1e9, 1e16, 1e22, 2.0**120, 1e300])
def test_sines_of_huge_numbers(x: float) -> None:
    angles = np.array([x, -x, 3 * x])
    np.testing.assert_allclose(computed(ops.sin, angles), np.sin(angles), rtol=1e-14)
    np.testing.assert_allclose(computed(ops.cos, angles), np.cos(angles), rtol=1e-14)
    np.testing.assert_allclose(computed(ops.tan, angles), np.tan(angles), rtol=1e-14)


def test_sine_of_nearly_pi() -> None:
    turns = np.pi * np.array([1, 2, 1e3, 1e6])
    np.testing.assert_allclose(computed(ops.sin, turns), np.sin(turns), rtol=1e-15)


SPECIAL: list[tuple[Op, Any, tuple[np.ndarray, ...]]] = [
    (ops.erf, special.erf, (spread(-5, 5),)),
    (ops.erfc, special.erfc, (spread(-5, 20),)),
    (ops.erf_inv, special.erfinv, (spread(-1, 1),)),
    (ops.lgamma, special.gammaln, (spread(3, 100),)),
    (ops.digamma, special.digamma, (spread(2, 100),)),
    (ops.zeta, special.zeta, (spread(1.1, 9), spread(0.1, 50))),
    (ops.igamma, special.gammainc, (spread(0.1, 30), spread(0.1, 50))),
    (ops.igammac, special.gammaincc, (spread(0.1, 30), spread(0.1, 50))),
    (ops.polygamma, special.polygamma, (np.floor(spread(1, 5)), spread(0.1, 50))),
]


@pytest.mark.parametrize("case", range(len(SPECIAL)), ids=lambda i: SPECIAL[i][0].name)
def test_references_of_special_functions(case: int) -> None:
    op, function, operands = SPECIAL[case]
    np.testing.assert_allclose(REFERENCES[op](*operands), function(*operands), rtol=1e-12)
