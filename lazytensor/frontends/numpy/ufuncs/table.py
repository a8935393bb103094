"""The ufuncs, one row each: by kinds of dtype, the function of nodes that computes it.

NumPy chooses the dtypes that a call computes in (`loops.py`). A row says what to record for them.
NumPy computes the kinds that a row lacks, with a warning.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.lib import numerics
from lazytensor.frontends.numpy.ufuncs import loops
from lazytensor.frontends.numpy.ufuncs.ufunc import declared, ufunc

_same = numerics.same
_COMPARE: Final = "biuf"

ROWS: Final[dict[str, loops.Row]] = {
    # arithmetic
    "add": {"b": ops.or_, "iufc": ops.add},
    "subtract": {"iufc": ops.subtract},
    "multiply": {"b": ops.and_, "iufc": ops.multiply},
    "divide": {"fc": ops.divide},
    "floor_divide": {"iu": ops.floor_divide, "f": numerics.floor_divide},
    "remainder": {"iuf": ops.modulo},
    "fmod": {"iuf": ops.remainder},
    "divmod": {"iuf": lambda x, y: (x // y, x % y)},
    "power": {"iu": numerics.integer_power, "fc": numerics.power},
    "float_power": {"fc": numerics.power},
    "negative": {"iufc": ops.negate},
    "positive": {"iufc": _same},
    "absolute": {"bu": _same, "ifc": ops.abs},
    "fabs": {"f": ops.abs},
    "sign": {"iufc": ops.sign},
    "conjugate": {"iuf": _same, "c": ops.conj},
    "square": {"iufc": ops.square},
    "reciprocal": {"iu": numerics.integer_reciprocal, "fc": ops.reciprocal},
    "gcd": {"iu": ops.gcd},
    "lcm": {"iu": ops.lcm},
    # exponentials
    "exp": {"fc": ops.exp},
    "exp2": {"fc": ops.exp2},
    "expm1": {"fc": ops.expm1},
    "log": {"fc": ops.log},
    "log2": {"fc": ops.log2},
    "log10": {"fc": ops.log10},
    "log1p": {"fc": ops.log1p},
    "logaddexp": {"f": ops.logaddexp},
    "logaddexp2": {"f": ops.logaddexp2},
    "sqrt": {"fc": ops.sqrt},
    "cbrt": {"f": ops.cbrt},
    # trigonometry
    "sin": {"fc": ops.sin},
    "cos": {"fc": ops.cos},
    "tan": {"fc": ops.tan},
    "arcsin": {"fc": ops.asin},
    "arccos": {"fc": ops.acos},
    "arctan": {"fc": ops.atan},
    "sinh": {"fc": ops.sinh},
    "cosh": {"fc": ops.cosh},
    "tanh": {"fc": ops.tanh},
    "arcsinh": {"fc": ops.asinh},
    "arccosh": {"fc": ops.acosh},
    "arctanh": {"fc": ops.atanh},
    "arctan2": {"f": ops.atan2},
    "hypot": {"f": ops.hypot},
    "deg2rad": {"f": numerics.scaled(math.pi / 180)},
    "radians": {"f": numerics.scaled(math.pi / 180)},
    "rad2deg": {"f": numerics.scaled(180 / math.pi)},
    "degrees": {"f": numerics.scaled(180 / math.pi)},
    # bits
    "bitwise_and": {"biu": ops.and_},
    "bitwise_or": {"biu": ops.or_},
    "bitwise_xor": {"biu": ops.xor},
    "invert": {"biu": ops.not_},
    "left_shift": {"iu": ops.shift_left},
    "right_shift": {"iu": ops.shift_right},
    "bitwise_count": {"iu": numerics.bitwise_count},
    # comparison and logic
    "equal": {"biufc": numerics.Comparison(ops.equal)},
    "not_equal": {"biufc": numerics.Comparison(ops.not_equal)},
    "less": {_COMPARE: numerics.Comparison(ops.less), "c": numerics.ordered(ops.less)},
    "less_equal": {
        _COMPARE: numerics.Comparison(ops.less_equal),
        "c": numerics.ordered(ops.less_equal),
    },
    "greater": {_COMPARE: numerics.Comparison(ops.greater), "c": numerics.ordered(ops.greater)},
    "greater_equal": {
        _COMPARE: numerics.Comparison(ops.greater_equal),
        "c": numerics.ordered(ops.greater_equal),
    },
    "logical_and": {"biufc": lambda x, y: numerics.truth(x) & numerics.truth(y)},
    "logical_or": {"biufc": lambda x, y: numerics.truth(x) | numerics.truth(y)},
    "logical_xor": {"biufc": lambda x, y: numerics.truth(x) ^ numerics.truth(y)},
    "logical_not": {"biufc": lambda x: ~numerics.truth(x)},
    "maximum": {"biuf": ops.maximum, "c": numerics.complex_extreme(ops.greater_equal, True)},
    "minimum": {"biuf": ops.minimum, "c": numerics.complex_extreme(ops.less_equal, True)},
    "fmax": {"biuf": ops.fmax, "c": numerics.complex_extreme(ops.greater_equal, False)},
    "fmin": {"biuf": ops.fmin, "c": numerics.complex_extreme(ops.less_equal, False)},
    # floating point
    "isfinite": {"biu": numerics.constant(True), "fc": ops.is_finite},
    "isinf": {"biu": numerics.constant(False), "fc": ops.is_inf},
    "isnan": {"biu": numerics.constant(False), "fc": ops.is_nan},
    "isnat": {},
    "signbit": {"f": ops.sign_bit},
    "copysign": {"f": ops.copysign},
    "nextafter": {"f": ops.next_after},
    "spacing": {"f": numerics.spacing},
    "heaviside": {"f": ops.heaviside},
    "modf": {"f": numerics.modf},
    "frexp": {"f": ops.frexp},
    "ldexp": {"f": numerics.ldexp},
    "floor": {"biu": _same, "f": ops.floor},
    "ceil": {"biu": _same, "f": ops.ceil},
    "trunc": {"biu": _same, "f": ops.trunc},
    "rint": {"f": ops.round_even, "c": numerics.complex_rint},
    # products of matrices and vectors
    "matmul": {"biufc": numerics.matmul},
    "vecdot": {"biufc": numerics.vecdot},
    "matvec": {"biufc": numerics.matvec},
    "vecmat": {"biufc": numerics.vecmat},
}


def _declare() -> dict[str, ufunc]:
    """A lazy ufunc for each real one. Aliases (`abs`, `pow`, …) are the same objects here too."""
    made = {
        name: declared(getattr(np, name), row) for name, row in ROWS.items() if hasattr(np, name)
    }
    for name, real in list(vars(np).items()):  # not `dir`: it would import numpy.testing
        if isinstance(real, np.ufunc):
            made.setdefault(name, made[real.__name__])
    return made


UFUNCS: Final = _declare()
"""Every public name of a ufunc, aliases included."""


def lazy_ufunc(real: np.ufunc) -> ufunc | None:
    """The lazy counterpart of NumPy's ufunc; None for another library's (SciPy's)."""
    found = UFUNCS.get(real.__name__)
    return found if found is not None and found.real is real else None
