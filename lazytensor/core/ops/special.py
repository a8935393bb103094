"""Elementwise ops: powers, exponentials, logarithms, trigonometry and the special functions.

Results are within a few units in the last place of the exact value. f16 and bf16 are computed in
f32 and rounded once.
"""

from __future__ import annotations

from lazytensor.core.ir.dtypes import COMPLEX, FLOATS, NUMBERS
from lazytensor.core.ir.node import OPERATORS, Node
from lazytensor.core.ops.elementwise import binary, commuting, square, unary

_INEXACT = FLOATS | COMPLEX

sqrt = unary("sqrt", _INEXACT, "Square root; NaN for x < 0; of a complex number the principal one.")
rsqrt = unary("rsqrt", _INEXACT, "1 / sqrt(x).")
cbrt = unary("cbrt", FLOATS, "Cube root, with the sign of x.")

exp = unary("exp", _INEXACT, "e to the x.")
exp2 = unary("exp2", _INEXACT, "2 to the x.")
expm1 = unary("expm1", _INEXACT, "exp(x) - 1, exact near 0.")
log = unary("log", _INEXACT, "Natural logarithm; -inf for 0, NaN for x < 0.")
log2 = unary("log2", _INEXACT, "Logarithm to base 2.")
log10 = unary("log10", _INEXACT, "Logarithm to base 10.")
log1p = unary("log1p", _INEXACT, "log(1 + x), exact near 0.")
logistic = unary("logistic", _INEXACT, "1 / (1 + exp(-x)).")

sin = unary("sin", _INEXACT, "Sine of x in radians.")
cos = unary("cos", _INEXACT, "Cosine of x in radians.")
tan = unary("tan", _INEXACT, "Tangent of x in radians.")
asin = unary("asin", _INEXACT, "The angle in radians whose sine is x.")
acos = unary("acos", _INEXACT, "The angle in radians whose cosine is x.")
atan = unary("atan", _INEXACT, "The angle in radians whose tangent is x.")
sinh = unary("sinh", _INEXACT, "Hyperbolic sine.")
cosh = unary("cosh", _INEXACT, "Hyperbolic cosine.")
tanh = unary("tanh", _INEXACT, "Hyperbolic tangent.")
asinh = unary("asinh", _INEXACT, "Inverse of sinh.")
acosh = unary("acosh", _INEXACT, "Inverse of cosh.")
atanh = unary("atanh", _INEXACT, "Inverse of tanh.")

erf = unary("erf", FLOATS, "The error function.")
erfc = unary("erfc", FLOATS, "1 - erf(x), exact for large x.")
erf_inv = unary("erf_inv", FLOATS, "Inverse of erf; infinite at -1 and 1, NaN beyond.")
lgamma = unary("lgamma", FLOATS, "log |gamma(x)|.")
digamma = unary("digamma", FLOATS, "Derivative of lgamma; NaN at the negative whole numbers.")

power = binary(
    "power",
    NUMBERS,
    "x to the y. Integers wrap around; 1 / x**-y towards zero for negative y, 0 for x = 0.",
)
atan2 = binary("atan2", FLOATS, "The angle of the point (y, x): x is the ordinate, y the abscissa.")
hypot = commuting("hypot", FLOATS, "sqrt(x * x + y * y) without overflow.")
logaddexp = binary("logaddexp", FLOATS, "log(exp(x) + exp(y)).")
logaddexp2 = binary("logaddexp2", FLOATS, "log2(2**x + 2**y).")
zeta = binary("zeta", FLOATS, "Hurwitz zeta: the sum of (y + k)**-x over k = 0, 1, …")
igamma = binary(
    "igamma",
    FLOATS,
    "The share of a gamma distribution of shape x below y; NaN where x or y is negative.",
)
igammac = binary("igammac", FLOATS, "1 - igamma(x, y), exact where that is small.")
polygamma = binary("polygamma", FLOATS, "Derivative number x of digamma, at y.")

OPERATORS["pow"] = power


def few_factors(x: Node, exponent: float | complex) -> Node | None:
    """`x ** exponent` as a few products; None for other exponents."""
    if exponent == 1:
        return x
    if exponent == 2:
        return square(x)
    if exponent == 3:
        return square(x) * x
    if exponent == 4:
        return square(square(x))
    if exponent == -1 and x.type.dtype in FLOATS:
        return 1 / x
    return None
