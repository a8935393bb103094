"""Functions of each element that are no ufuncs, and `meshgrid`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError, Unsupported
from lazytensor.core.ir.dtypes import BOOL, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, scalar
from lazytensor.core.lib import complexes
from lazytensor.core.lib.special import rounded
from lazytensor.frontends.numpy.arrays.array import ndarray, wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand, result_type
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.reductions import NO_VALUE
from lazytensor.frontends.numpy.functions.results import check_cast, check_out, deliver
from lazytensor.frontends.numpy.modules.standard import check_device
from lazytensor.frontends.numpy.ufuncs.delivery import check_writeable
from lazytensor.frontends.numpy.ufuncs.errors import as_numpy, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, number

_COMPLEX = (complexes.LARGER, complexes.SMALLER)


def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    dtype: Any = None,
    where: Any = True,
    casting: str = "same_kind",
    **kwargs: Any,
) -> Any:
    """See numpy.clip."""
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = (None if min is NO_VALUE else min), (None if max is NO_VALUE else max)
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
            "forbidden."
        )
    if wrong := kwargs.keys() - {"order", "subok", "signature", "sig"}:
        raise TypeError(f"clip() got an unexpected keyword argument {sorted(wrong)[0]!r}")
    if where is not True:
        raise Unsupported("clip: where")
    if out is not None:
        check_writeable(out)
    node = operand(a)
    low, high = _limit(a_min, node, -1), _limit(a_max, node, 1)
    kind = _clip_dtype(node, low, high, dtype)
    made = convert(node, kind)
    low, high = (None if x is None else _as(x, kind) for x in (low, high))
    check_out(out, kind, casting)
    larger, smaller = (ops.maximum, ops.minimum) if kind.kind != "c" else _COMPLEX
    if low is not None and high is not None:
        try:
            made = (
                ops.clamp(low, made, high) if kind.kind != "c" else complexes.clamp(low, made, high)
            )
        except ShapeError as error:
            as_numpy(error, np.clip, a, a_min, a_max)
    else:
        made = made if low is None else larger(made, low)
        made = made if high is None else smaller(made, high)
    result = deliver(made, out, casting, spreads=True)
    if out is None:
        lay_out(result, a, a_min, a_max)
    return result


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
        return convert(node, np.dtype(np.float16))
    if kind == "c":
        return ops.complex_(*(rounded(x, digits) for x in (ops.real(node), ops.imag(node))))
    if kind in "iu":
        if digits >= 0:
            return node
        return convert(rounded(convert(node, F64), digits), node.type.dtype)
    return rounded(node, digits)


def _flagged(op: Op, positive: bool) -> Function:
    """`isposinf` and `isneginf`."""

    def test(x: Any, out: Any = None) -> Any:
        node = operand(x)
        refuse_unless(node.type.dtype.kind != "c")
        if node.type.dtype.kind in "biu":
            node = convert(node, F64)
        edge = number(float("inf") if positive else -float("inf"), node.type.dtype)
        return deliver(op(node, edge), out, spreads=True)

    return test


def _has_imaginary(invert: bool) -> Function:
    """`iscomplex` and `isreal`."""
    op = ops.equal if invert else ops.not_equal

    def test(x: Any) -> Any:
        node = operand(x)
        if node.type.dtype.kind == "c":
            part = ops.imag(node)
            return wrap_result(op(part, scalar(0.0, part.type.dtype)))
        return wrap_result(ops.broadcast(scalar(invert, BOOL), shape=node.type.shape))

    return test


def real(val: Any) -> Any:
    """See numpy.real."""
    return asarray(val).real if not hasattr(val, "real") else val.real


def imag(val: Any) -> Any:
    """See numpy.imag."""
    return asarray(val).imag if not hasattr(val, "imag") else val.imag


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """See numpy.astype."""
    check_device(device)
    return x.astype(dtype, copy=copy)


def _bessel(x: Any, condlist: Any, funclist: Any) -> Any:
    """Replaces the choice between two polynomials in NumPy's `i0` by the core's function."""
    made = wrap(ops.bessel_i0(operand(x)))
    lay_out(made, x)
    return made


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """See numpy.meshgrid."""
    refuse_unless(indexing in ("xy", "ij"))
    nodes = [operand(x) for x in xi]
    rank = len(nodes)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[:2] = [1, 0]
    shape = [0] * rank
    for place, node in zip(places, nodes, strict=True):
        shape[place] = node.type.size
    thin = [
        ops.reshape(node, shape=tuple(node.type.size if i == place else 1 for i in range(rank)))
        for place, node in zip(places, nodes, strict=True)
    ]
    if sparse:
        return tuple(map(wrap, thin))
    return tuple(wrap(ops.broadcast(node, shape=tuple(shape))) for node in thin)


LAZY: dict[str, Function] = {
    "around": round,
    "astype": astype,
    "clip": clip,
    "i0": rebound("i0", piecewise=_bessel),
    "imag": imag,
    "iscomplex": _has_imaginary(False),
    "isneginf": _flagged(ops.equal, False),
    "isposinf": _flagged(ops.equal, True),
    "isreal": _has_imaginary(True),
    "meshgrid": meshgrid,
    "real": real,
    "round": round,
}


def clip_method(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    return clip(self, min, max, out, **kwargs)
