"""SciPy's special functions that are ufuncs and that core ops can compute. The others fall back.

`__array_ufunc__` leads here when a function of `scipy.special` is called with a lazy array. SciPy
is not imported here: a program that calls such a function has imported it.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.numpy.ufuncs import loops
from lazytensor.frontends.numpy.ufuncs.ufunc import declared, ufunc


def _number(value: float, like: Node) -> Node:
    return scalar(value, like.type.dtype)


def _gammaln(x: Node) -> Node:
    """`gammaln`. SciPy returns -inf at -inf, where C's lgamma returns inf."""
    lowest = ops.equal(x, _number(-np.inf, x))
    return ops.select(lowest, x, ops.lgamma(x))


def _logit(x: Node) -> Node:
    return ops.log(x) - ops.log1p(-x)


def _ndtr(x: Node) -> Node:
    tail = ops.erfc(x * -(0.5**0.5))
    return tail * 0.5


def _log_expit(x: Node) -> Node:
    return -ops.logaddexp(_number(0.0, x), -x)


def _exp10(x: Node) -> Node:
    return 10.0**x


def _product(x: Node, factor: Node, argument: Node) -> Node:
    """`x * factor`; 0 where x is 0 and the factor's argument is not NaN."""
    zero = ops.equal(x, _number(0.0, x)) & ~ops.is_nan(argument)
    return ops.select(zero, x * 0.0, x * factor)


def _xlogy(x: Node, y: Node) -> Node:
    return _product(x, ops.log(y), y)


def _xlog1py(x: Node, y: Node) -> Node:
    return _product(x, ops.log1p(y), y)


def _entr(x: Node) -> Node:
    within = -_xlogy(x, x)
    below = x < 0.0
    return ops.select(below, _number(-np.inf, x), within)


ROWS: Final[dict[str, loops.Row]] = {
    "erf": {"f": ops.erf},
    "erfc": {"f": ops.erfc},
    "erfinv": {"f": ops.erf_inv},
    "gammaln": {"f": _gammaln},
    "gammainc": {"f": ops.igamma},
    "gammaincc": {"f": ops.igammac},
    "psi": {"f": ops.digamma},
    "expit": {"f": ops.logistic},
    "logit": {"f": _logit},
    "log_expit": {"f": _log_expit},
    "ndtr": {"f": _ndtr},
    "xlogy": {"f": _xlogy},
    "xlog1py": {"f": _xlog1py},
    "entr": {"f": _entr},
    "dawsn": {"f": ops.dawsn},
    "spence": {"f": ops.spence},
    "erfcx": {"f": ops.erfcx},
    "ndtri": {"f": ops.ndtri},
    "i0": {"f": ops.bessel_i0},
    "i0e": {"f": ops.bessel_i0e},
    "i1": {"f": ops.bessel_i1},
    "i1e": {"f": ops.bessel_i1e},
    "j0": {"f": ops.bessel_j0},
    "j1": {"f": ops.bessel_j1},
    "k0": {"f": ops.bessel_k0},
    "k0e": {"f": ops.bessel_k0e},
    "k1": {"f": ops.bessel_k1},
    "k1e": {"f": ops.bessel_k1e},
    "y0": {"f": ops.bessel_y0},
    "y1": {"f": ops.bessel_y1},
    "exp2": {"f": ops.exp2},
    "exp10": {"f": _exp10},
    "expm1": {"f": ops.expm1},
    "log1p": {"f": ops.log1p},
    "cbrt": {"f": ops.cbrt},
}
"""By name in scipy.special and kind of dtype: the function of nodes."""


@cache
def counterpart(real: np.ufunc) -> ufunc | None:
    """The lazy counterpart of SciPy's ufunc; None if it has no row or is not SciPy's."""
    module: Any = sys.modules.get("scipy.special")
    name = real.__name__
    if name not in ROWS or module is None or getattr(module, name, None) is not real:
        return None
    return declared(real, ROWS[name])
