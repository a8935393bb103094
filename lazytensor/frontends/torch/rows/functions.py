"""Aten's names of elementwise functions, and the ops they are, by how dtypes are treated."""

from __future__ import annotations

from lazytensor.core import ops

SAME = {
    "maximum": ops.maximum,
    "minimum": ops.minimum,
    "fmax": ops.fmax,
    "fmin": ops.fmin,
    "gcd": ops.gcd,
    "lcm": ops.lcm,
    "nextafter": ops.next_after,
    "hypot": ops.hypot,
    "bitwise_and.Tensor": ops.and_,
    "bitwise_and.Scalar": ops.and_,
    "bitwise_or.Tensor": ops.or_,
    "bitwise_or.Scalar": ops.or_,
    "bitwise_xor.Tensor": ops.xor,
    "bitwise_xor.Scalar": ops.xor,
    "bitwise_left_shift.Tensor": ops.shift_left,
    "bitwise_right_shift.Tensor": ops.shift_right,
    "__lshift__.Tensor": ops.shift_left,
    "__lshift__.Scalar": ops.shift_left,
    "__rshift__.Tensor": ops.shift_right,
    "__rshift__.Scalar": ops.shift_right,
    "logaddexp2": ops.logaddexp2,
}
"""Two operands of one dtype, the result of that dtype."""

DIVIDED = {
    "fmod.Tensor": ops.remainder,
    "fmod.Scalar": ops.remainder,
    "remainder.Tensor": ops.modulo,
    "remainder.Scalar": ops.modulo,
    "remainder.Scalar_Tensor": ops.modulo,
    "floor_divide": ops.floor_divide,
    "floor_divide.Scalar": ops.floor_divide,
}
"""The same, dividing."""

COMPARED = {
    f"{name}.{kind}": op
    for name, op in {
        "eq": ops.equal,
        "ne": ops.not_equal,
        "lt": ops.less,
        "le": ops.less_equal,
        "gt": ops.greater,
        "ge": ops.greater_equal,
    }.items()
    for kind in ("Tensor", "Scalar")
}

FLOATING = {
    "acos": ops.acos,
    "acosh": ops.acosh,
    "asin": ops.asin,
    "asinh": ops.asinh,
    "atan": ops.atan,
    "atanh": ops.atanh,
    "cos": ops.cos,
    "cosh": ops.cosh,
    "digamma": ops.digamma,
    "erf": ops.erf,
    "erfc": ops.erfc,
    "erfinv": ops.erf_inv,
    "exp": ops.exp,
    "exp2": ops.exp2,
    "expm1": ops.expm1,
    "lgamma": ops.lgamma,
    "log": ops.log,
    "log10": ops.log10,
    "log1p": ops.log1p,
    "log2": ops.log2,
    "reciprocal": ops.reciprocal,
    "rsqrt": ops.rsqrt,
    "sigmoid": ops.logistic,
    "sin": ops.sin,
    "sinh": ops.sinh,
    "sqrt": ops.sqrt,
    "tan": ops.tan,
    "tanh": ops.tanh,
    "i0": ops.bessel_i0,
    "special_airy_ai": ops.airy_ai,
    "special_bessel_j0": ops.bessel_j0,
    "special_bessel_j1": ops.bessel_j1,
    "special_bessel_y0": ops.bessel_y0,
    "special_bessel_y1": ops.bessel_y1,
    "special_erfcx": ops.erfcx,
    "special_i0e": ops.bessel_i0e,
    "special_i1": ops.bessel_i1,
    "special_i1e": ops.bessel_i1e,
    "special_modified_bessel_i0": ops.bessel_i0,
    "special_modified_bessel_i1": ops.bessel_i1,
    "special_modified_bessel_k0": ops.bessel_k0,
    "special_modified_bessel_k1": ops.bessel_k1,
    "special_ndtri": ops.ndtri,
    "special_scaled_modified_bessel_k0": ops.bessel_k0e,
    "special_scaled_modified_bessel_k1": ops.bessel_k1e,
    "special_spherical_bessel_j0": ops.spherical_bessel_j0,
}
"""One operand; integers become floats."""

ROUNDED = {"ceil": ops.ceil, "floor": ops.floor, "trunc": ops.trunc, "round": ops.round_even}
"""One operand; integers are what they are."""

KEPT = {"_conj_physical": ops.conj}
