"""Functions of each element that are no ufuncs."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError, Unsupported
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import complexes
from lazytensor.core.lib.special import rounded
from lazytensor.frontends.numpy.arrays.array import ndarray, wrap
from lazytensor.frontends.numpy.arrays.conversion import operand, result_type
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.results import check_cast, check_out, deliver
from lazytensor.frontends.numpy.functions.signatures import NO_VALUE, Function, named
from lazytensor.frontends.numpy.ufuncs.delivery import check_writeable
from lazytensor.frontends.numpy.ufuncs.errors import as_numpy, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, number

_COMPLEX = (complexes.LARGER, complexes.SMALLER)


def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, **kwargs: Any
) -> Any:
    """See numpy.clip."""
    if wrong := kwargs.keys() - _OF_CLIP:
        raise TypeError(f"clip() got an unexpected keyword argument {sorted(wrong)[0]!r}")
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = kwargs.get("min"), kwargs.get("max")
    elif a_min is NO_VALUE or a_max is NO_VALUE or not kwargs.keys().isdisjoint(("min", "max")):
        limits: Any = [x if x is NO_VALUE else 0 for x in (a_min, a_max)]
        np.clip(0, *limits, min=0)  # raises
    if kwargs.get("where", True) is not True:
        raise Unsupported("clip: where")
    if out is not None:
        check_writeable(out)
    node = operand(a)
    low, high = _limit(a_min, node, -1), _limit(a_max, node, 1)
    kind = _clip_dtype(node, low, high, kwargs.get("dtype"))
    low, high = (None if x is None else _as(x, kind) for x in (low, high))
    casting = kwargs.get("casting", "same_kind")
    check_out(out, kind, casting)
    try:
        made = _clipped(convert(node, kind), low, high)
    except ShapeError as error:
        as_numpy(error, np.clip, a, a_min, a_max)
    result = deliver(made, out, casting, spreads=True)
    if out is None:
        lay_out(result, a, a_min, a_max)
    return result


_OF_CLIP: Final = frozenset(
    ["casting", "dtype", "max", "min", "order", "sig", "signature", "subok", "where"]
)
"""Keywords of `clip`: its own, and those of ufuncs."""


def _clipped(x: Node, low: Node | None, high: Node | None) -> Node:
    is_complex = x.type.dtype.kind == "c"
    if low is not None and high is not None:
        return (complexes.clamp if is_complex else ops.clamp)(low, x, high)
    larger, smaller = _COMPLEX if is_complex else (ops.maximum, ops.minimum)
    if low is not None:
        return larger(x, low)
    return x if high is None else smaller(x, high)


def _limit(x: Any, node: Node, sign: int) -> Any:
    """A limit; None for a Python integer beyond the dtype's range."""
    if type(x) is not int or node.type.dtype.kind not in "iu":
        return x
    info = np.iinfo(node.type.dtype)
    beyond = x <= info.min if sign < 0 else x >= info.max
    return None if beyond else x


def _as(x: Any, dtype: np.dtype) -> Node:
    plain = type(x) in (int, float, complex, bool)
    return number(x, dtype) if plain else convert(operand(x), dtype)


def _clip_dtype(node: Node, low: Any, high: Any, dtype: Any) -> np.dtype:
    limits = [
        x if type(x) in (int, float, complex) else operand(x).type.dtype
        for x in (low, high)
        if x is not None
    ]
    kind = result_type(node.type.dtype, *limits)
    if dtype is not None:
        check_cast(kind, np.dtype(dtype))
        kind = canonical(np.dtype(dtype))
    return kind


def round(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """See numpy.round."""
    made = deliver(_round(operand(a), operator.index(decimals)), out)
    if out is None and type(made) is ndarray:
        lay_out(made, a)
    return made


def _round(node: Node, digits: int) -> Node:
    kind = node.type.dtype.kind
    if kind == "b":
        refuse_unless(not digits)
        return convert(node, np.dtype(np.float16))
    if kind == "c":
        return ops.complex_(*(rounded(x, digits) for x in (ops.real(node), ops.imag(node))))
    if kind in "iu":
        if digits >= 0:
            return node
        return convert(rounded(convert(node, F64), digits), node.type.dtype)
    return rounded(node, digits)


def _bessel(x: Any, condlist: Any, funclist: Any) -> Any:
    """Replaces the choice between two polynomials in NumPy's `i0` by the core's function."""
    made = wrap(ops.bessel_i0(operand(x)))
    lay_out(made, x)
    return made


LAZY: dict[str, Function] = named(clip, round, around=round, i0=rebound("i0", piecewise=_bessel))


def clip_method(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    return clip(self, min, max, out, **kwargs)
