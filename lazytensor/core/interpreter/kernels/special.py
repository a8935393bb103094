"""References of powers, exponentials, logarithms, trigonometry and the special functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.kernels.elementwise import Array, rounded
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.dtypes import COMPLEX, F64, SIGNED

_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers B2, B4, …, coefficients of the Euler–Maclaurin formula."""
_SERIES_FROM: Final = 12.0
"""From here on that formula's terms reach 64-bit precision."""


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` computed in f64 and rounded to the operands' dtype."""

    def reference(*operands: Array) -> Any:
        wide = function(*(x.astype(F64) for x in operands))
        return np.asarray(wide).astype(operands[0].dtype)

    return reference


def by_element(function: Callable[[float], float]) -> Callable[..., Any]:
    """`function` of one number, applied to each in f64."""
    apply = np.frompyfunc(function, 1, 1)
    return in_double(lambda x: np.asarray(apply(x), object).astype(F64))


def _lgamma(x: float) -> float:
    if math.isinf(x) or x > 2.5e305 or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _erf_inv(x: float) -> float:
    """Solve erf(y) = x by Halley's method, on erfc where erf is flat."""
    rest = 1 - abs(x)
    if not rest > 0 or not x:
        return x if not x else math.copysign(math.inf, x) if rest == 0 else math.nan
    logarithm = math.log(rest * (1 + abs(x)))
    part = 2 / (math.pi * 0.147) + logarithm / 2
    y = math.sqrt(math.sqrt(part * part - logarithm / 0.147) - part)
    for _ in range(4):
        error = rest - math.erfc(y) if rest < 0.5 else math.erf(y) - abs(x)
        step = error / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        y -= step / (1 + y * step)
    return math.copysign(y, x)


def _digamma(x: Array) -> Any:
    reflected = x < 0
    y = np.where(reflected, 1 - x, x)
    total = np.zeros_like(y)
    for _ in range(int(_SERIES_FROM)):
        near = y < _SERIES_FROM
        total = total - np.where(near, 1 / y, 0)
        y = np.where(near, y + 1, y)
    total = total + np.log(y) - 1 / (2 * y)
    for k, number in enumerate(_BERNOULLI, 1):
        total = total - number / (2 * k * y ** (2 * k))
    turn = np.pi / np.tan(np.pi * (x - np.round(x)))
    total = np.where(reflected, total - turn, total)
    total = np.where(reflected & (x == np.floor(x)), np.nan, total)
    return np.where(x == 0, -np.copysign(np.inf, x), total)


def _zeta(x: Array, q: Array) -> Any:
    x, q = np.broadcast_arrays(x, q)
    total = np.zeros(x.shape)
    steps = int(_SERIES_FROM)
    for k in range(steps):
        total = total + (q + k) ** -x
    far = q + steps
    total = total + far ** (1 - x) / (x - 1) + far**-x / 2
    term = x * far ** (-x - 1)
    for k, number in enumerate(_BERNOULLI, 1):
        total = total + number * term / math.factorial(2 * k)
        term = term * (x + 2 * k - 1) * (x + 2 * k) / (far * far)
    total = np.where(np.isinf(far) & (x > 1), 0, total)
    poles = (x == 1) | ((q <= 0) & (q == np.floor(q)))
    outside = (x < 1) | ((q < 0) & (q != np.floor(q)) & (x != np.floor(x)))
    return np.where(outside, np.nan, np.where(poles, np.inf, total))


def _polygamma(n: Array, x: Array) -> Any:
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    factorial = np.exp(np.asarray(by_element(_lgamma)(n + 1)))
    value = np.where(n == 0, _digamma(x), sign * factorial * _zeta(n + 1, x))
    return np.where((n < 0) | (n != np.floor(n)), np.nan, value)


def _incomplete_gamma(upper: bool) -> Callable[[Array, Array], Any]:
    """The power series up to the mean, the continued fraction beyond."""

    def function(shape: Array, x: Array) -> Any:
        shape, x = np.broadcast_arrays(shape, x)
        inside = (shape > 0) & (x > 0) & np.isfinite(shape) & np.isfinite(x)
        a, at = np.where(inside, shape, 1.0), np.where(inside, x, 1.0)
        scale = np.exp(a * np.log(at) - at - by_element(_lgamma)(a))
        near = at < a + 1
        lower = scale * _series(a, np.where(near, at, 0.0))
        beyond = scale * _fraction(a, np.where(near, a + 1, at))
        found = np.where(near, 1 - lower, beyond) if upper else np.where(near, lower, 1 - beyond)
        least = np.where((shape == 0) | np.isinf(x), 1.0, 0.0)
        limit = 1 - least if upper else least
        wrong = (shape < 0) | (x < 0) | np.isnan(shape) | np.isnan(x)
        wrong |= ((shape == 0) & (x == 0)) | (np.isinf(shape) & np.isinf(x))
        return np.where(wrong, np.nan, np.where(inside, found, limit))

    return function


def _series(a: Array, x: Array) -> Any:
    term = total = 1 / a
    k = 0
    while np.any(term > total * 1e-17):
        k += 1
        term = term * x / (a + k)
        total = total + term
    return total


def _fraction(a: Array, x: Array) -> Any:
    """Lentz's algorithm; Numerical Recipes, 6.2."""
    b = x + 1 - a
    c, d = np.full(a.shape, 1e300), 1 / b
    total = d
    for k in range(1, 10_000):
        factor = k * (a - k)
        b = b + 2
        d, c = factor * d + b, b + factor / c
        d = 1 / np.where(d == 0, 1e-300, d)
        total = total * c * d
        if np.all(np.abs(c * d - 1) < 1e-16):
            break
    return total


def _power(x: Array, y: Array) -> Any:
    if x.dtype not in SIGNED:
        return np.power(x, y)
    unit = np.where(y & 1, x, x * x)  # the power of 1 and -1
    inverse = np.where((x == 1) | (x == -1), unit, 0).astype(x.dtype)
    return np.where(y < 0, inverse, np.power(x, np.maximum(y, 0)))


def _expm1(x: Array) -> Any:
    """NumPy's, except for complex infinities, which the array API standard specifies further."""
    found = np.expm1(x)
    if x.dtype not in COMPLEX:
        return found
    a, b = x.real, x.imag
    made = np.array(found)
    wild = ~np.isfinite(b)
    made.real = np.where((b == 0) & ~np.isnan(a), np.expm1(a) + 0.0, made.real)
    made.real = np.where(np.isinf(a) & wild, np.where(a > 0, np.inf, -1), made.real)
    made.imag = np.where(b == 0, b, np.where((a == -np.inf) & wild, 0, made.imag))
    return made


def _tanh(x: Array) -> Any:
    """NumPy's; if the real part is infinite, the imaginary part is the array API's signed 0."""
    found = np.tanh(x)
    if x.dtype not in COMPLEX:
        return found
    made = np.array(found)
    far = np.isinf(x.real) & np.isfinite(x.imag)
    made.imag = np.where(far, np.copysign(0, x.imag), made.imag)
    return made


ROWS: Rows = {
    ops.sqrt: np.sqrt,
    ops.rsqrt: rounded(lambda x: 1 / np.sqrt(x)),
    ops.cbrt: np.cbrt,
    ops.exp: np.exp,
    ops.exp2: np.exp2,
    ops.expm1: _expm1,
    ops.log: np.log,
    ops.log2: np.log2,
    ops.log10: np.log10,
    ops.log1p: np.log1p,
    ops.logistic: rounded(lambda x: 1 / (1 + np.exp(-x))),
    ops.sin: np.sin,
    ops.cos: np.cos,
    ops.tan: np.tan,
    ops.asin: np.arcsin,
    ops.acos: np.arccos,
    ops.atan: np.arctan,
    ops.sinh: np.sinh,
    ops.cosh: np.cosh,
    ops.tanh: _tanh,
    ops.asinh: np.arcsinh,
    ops.acosh: np.arccosh,
    ops.atanh: np.arctanh,
    ops.erf: by_element(math.erf),
    ops.erfc: by_element(math.erfc),
    ops.erf_inv: by_element(_erf_inv),
    ops.lgamma: by_element(_lgamma),
    ops.digamma: in_double(_digamma),
    ops.power: rounded(_power),
    ops.atan2: np.arctan2,
    ops.hypot: rounded(np.hypot),
    ops.logaddexp: rounded(np.logaddexp),
    ops.logaddexp2: rounded(np.logaddexp2),
    ops.zeta: in_double(_zeta),
    ops.igamma: in_double(_incomplete_gamma(upper=False)),
    ops.igammac: in_double(_incomplete_gamma(upper=True)),
    ops.polygamma: in_double(_polygamma),
}
