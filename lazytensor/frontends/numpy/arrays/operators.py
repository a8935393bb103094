"""Operators, straight from two operands to a recorded node where the call was seen before."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.core.lib import numerics
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, extends, ndarray
from lazytensor.frontends.numpy.host import access_counters, parts
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.fallback import on_host, real
from lazytensor.frontends.numpy.host.small import NUMBERS, lazy_if_large
from lazytensor.frontends.numpy.indexing import masked
from lazytensor.frontends.numpy.indexing.masked import Masked
from lazytensor.frontends.numpy.interop.foreign import (
    ARRAY_PRIORITY,
    SCALAR_PRIORITY,
    overrides,
    wraps,
)
from lazytensor.frontends.numpy.ufuncs import checks
from lazytensor.frontends.numpy.ufuncs.calls import backward, forward, planned
from lazytensor.frontends.numpy.ufuncs.errors import as_numpy
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, is_special
from lazytensor.frontends.numpy.ufuncs.table import UFUNCS
from lazytensor.frontends.numpy.ufuncs.ufunc import call, ufunc

Host = Callable[..., Any]
"""What Python itself does, on real arrays and foreign objects."""

POWER: Final = ufunc(
    np.power, {"iu": numerics.integer_power, "fc": numerics.operator_power}, python.pow
)

_LAZY_CLASSES: Final = (ndarray, Scalar)


_PUT_OFF: Final[dict[str, Callable[..., Any]]] = {}
"""The same operators of masked reads, which stay masked reads if they can."""


def _name(host: Host, prefix: str = "") -> str:
    """The method that `host` calls."""
    return f"__{prefix}{host.__name__.strip('_')}__"


def unary(function: ufunc, host: Host) -> Any:
    """`∘ x`."""
    _PUT_OFF[_name(host)] = lambda x: call(function, (x,), {})
    return function.alone


def binary(function: ufunc, host: Host) -> Any:
    """`x ∘ other`."""

    def slow(x: Any, other: Any) -> Any:
        return operate(function, host, x, other)

    _PUT_OFF[_name(host)] = slow
    return forward(function.plans, slow, function.lay)


def both(function: ufunc, host: Host) -> tuple[Any, Any]:
    """`x ∘ other`, and `other ∘ x`, where `other` is not lazy."""

    def swapped(x: Any, other: Any) -> Any:
        return host(other, x)

    def slow(x: Any, other: Any) -> Any:
        return operate(function, swapped, x, other, swap=True)

    _PUT_OFF[_name(host, "r")] = slow
    return binary(function, host), backward(function.plans, slow, function.lay)


def operate(function: ufunc, host: Host, x: Any, other: Any, swap: bool = False) -> Any:
    """An operator's call that was not seen before, or is not plain."""
    if differing and is_raised() and type(x) in _LAZY_CLASSES and type(other) is not Masked:
        known = parts.small_now(x)
        if known is not None and (given := parts.small_now(other)) is not None:
            return lazy_if_large(host(known, given))
    is_sum = type(x) is Scalar and type(other) in NUMBERS and access_counters.is_sum()
    if is_sum and checks.current() is checks.OFF:
        access_counters.end_sum()
        return host(real(x), other)
    if _is_sparse(other):
        return host(*map(real, (x, other)))
    if defers(x, other, function, swap=swap):
        return NotImplemented
    if _is_foreign(other) or (type(x) is Scalar and wraps(other)):
        return on_host(function.__name__, host, (x, other), {})
    if not swap and _raises_flags(function, x, other):
        function = UFUNCS["square" if other == 2 and type(x) is not Scalar else "power"]
    if checks.current() is not checks.OFF:
        function = _checked(function, x, other, swap)
    return call(
        function, (other, x) if swap and function.nin > 1 else (x, other)[: function.nin], {}
    )


def _raises_flags(function: ufunc, x: Any, other: Any) -> bool:
    """Whether it is a power of flags: squares have another dtype, so no plan serves all of them."""
    return function is POWER and type(other) is int and x.dtype == np.bool_


def _checked(function: ufunc, x: Any, other: Any, swap: bool) -> ufunc:
    """The function that NumPy names when it warns of an operator."""
    number = type(other) is Scalar or isinstance(other, np.generic | bool | int | float | complex)
    if type(x) is Scalar and number:
        return _of_scalars(function)
    if function is POWER and not swap and type(other) in (int, float):
        kinds = "fc" if other != 2 else "biufc"
        return FAST_POWERS.get(other, function) if x.dtype.kind in kinds else function
    return function


FAST_POWERS: Final = {
    exponent: UFUNCS[name] for exponent, name in ((-1, "reciprocal"), (0.5, "sqrt"), (2, "square"))
}
"""The functions that NumPy's `**` of an array calls instead of `power`."""


@cache
def _of_scalars(function: ufunc) -> ufunc:
    """The same function, as NumPy's scalars name it: they have operators of their own."""
    made = ufunc(function.real, function.row)
    made.__name__ = checks.SCALAR_PREFIX + function.__name__
    return made


def _is_sparse(other: Any) -> bool:
    """Whether it is a matrix of SciPy's, whose operators take no arrays but NumPy's own."""
    return type(other).__module__.startswith("scipy.sparse")


def _is_foreign(other: Any) -> bool:
    """Whether only Python's operator on real arrays knows what to make of `other`."""
    dtype = getattr(other, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind in "OSUmMT" or is_special(other)
    if isinstance(other, bool | int | float | complex | list | tuple):
        return False
    return not hasattr(other, "__array__") and not hasattr(other, "__buffer__")


def defers(x: Any, other: Any, function: ufunc, swap: bool = False, in_place: bool = False) -> bool:
    """Whether `other` has an operator of its own that comes first, or there is none at all.

    `swap`: `other` was asked first. `in_place`: a class that takes no ufuncs has no operator that
    could write to `x`.
    """
    kind = type(other)
    if type(x) is Scalar and function.__name__ == "matmul":
        return not getattr(other, "ndim", 0)
    if issubclass(kind, Lazy | np.ndarray | np.generic | bool | int | float | complex):
        return False
    if issubclass(kind, list | tuple | str | bytes):
        return type(x) is Scalar and function.__name__ == "multiply"  # `[0] * n`
    if swap:
        return False
    if hasattr(kind, "__array_ufunc__"):
        return kind.__array_ufunc__ is None and not in_place
    own = SCALAR_PRIORITY if type(x) is Scalar else ARRAY_PRIORITY
    return float(getattr(other, "__array_priority__", SCALAR_PRIORITY)) > own


def in_place(function: ufunc, host: Host) -> Any:
    """`x ∘= other`."""
    plans = function.plans

    def operator(x: Any, other: Any) -> Any:
        if x._shadow is None or x._shadow.flags.writeable:
            unchecked = checks.current() is checks.OFF
            if differing and is_raised() and unchecked and parts.update(x, other, host):
                return x
            ref = x.ref
            node = ref.node
            type_, made = node.type, planned(plans, node, other)
            if made is None and unchecked:
                made = _first(function, x, other)
            if made is not None and made.type is type_:
                ref.write(made)
                return x
        if type(other) not in PYTHON_NUMBERS and defers(x, other, function, in_place=True):
            return NotImplemented
        if host is python.imatmul and overrides(other):
            axes = [(-2, -1)] * 3 if x.ndim != 1 else [(-1,), (-2, -1), (-1,)]
            return function.real(x, other, out=(x,), axes=axes)
        if host is python.imatmul and (not x.ndim or np.ndim(other) < 2):
            as_numpy(_TOO_FEW_AXES, python.imatmul, np.empty(x.shape, x.dtype), other)
        named = function
        if checks.current() is not checks.OFF:
            named = _checked(function, x, other, swap=False)
        return call(named, (x, other)[: named.nin], {"out": (x,)})

    def put_off(x: Any, other: Any) -> Any:
        """Write to a masked read by replacing it, so that no other array is written to."""
        made = masked.apply(function, (x, other)) if x.made is None else None
        if made is None or made.dtype != x.dtype:
            return operator(x, other)
        x.full = made.full
        return x

    _PUT_OFF[_name(host)] = put_off
    return operator


def _first(function: ufunc, x: Any, other: Any) -> Node | None:
    """What `x ∘ other` records, which then has a plan; None if it is not plain."""
    if type(other) is not ndarray and type(other) not in PYTHON_NUMBERS:
        return None
    if _raises_flags(function, x, other):
        return None
    try:
        made = call(function, (x, other), {})
    except (TypeError, ValueError, OverflowError):
        return None  # NumPy has more to say of it when it knows where the result goes
    return made.ref.node if type(made) is ndarray else None


_TOO_FEW_AXES: Final = ValueError("inplace matrix multiplication of operands with too few axes")


def _multiplied(recorded: Any, swap: bool) -> Any:
    """`x @ other`, at once where NumPy does it as well."""

    def operator(x: Any, other: Any) -> Any:
        if settings.small:
            made = parts.product(np.matmul, *((other, x) if swap else (x, other)))
            if made is not None:
                return made
        return recorded(x, other)

    return operator


@extends(Lazy)
class Operators(Lazy):
    """Python's operators."""

    __add__, __radd__ = both(UFUNCS["add"], python.add)
    __sub__, __rsub__ = both(UFUNCS["subtract"], python.sub)
    __mul__, __rmul__ = both(UFUNCS["multiply"], python.mul)
    __truediv__, __rtruediv__ = both(UFUNCS["divide"], python.truediv)
    __floordiv__, __rfloordiv__ = both(UFUNCS["floor_divide"], python.floordiv)
    __mod__, __rmod__ = both(UFUNCS["remainder"], python.mod)
    __divmod__, __rdivmod__ = both(UFUNCS["divmod"], divmod)
    __pow__, __rpow__ = both(POWER, python.pow)
    __matmul__, __rmatmul__ = both(UFUNCS["matmul"], python.matmul)
    __and__, __rand__ = both(UFUNCS["bitwise_and"], python.and_)
    __or__, __ror__ = both(UFUNCS["bitwise_or"], python.or_)
    __xor__, __rxor__ = both(UFUNCS["bitwise_xor"], python.xor)
    __lshift__, __rlshift__ = both(UFUNCS["left_shift"], python.lshift)
    __rshift__, __rrshift__ = both(UFUNCS["right_shift"], python.rshift)

    __eq__ = binary(UFUNCS["equal"], python.eq)
    __ne__ = binary(UFUNCS["not_equal"], python.ne)
    __lt__ = binary(UFUNCS["less"], python.lt)
    __le__ = binary(UFUNCS["less_equal"], python.le)
    __gt__ = binary(UFUNCS["greater"], python.gt)
    __ge__ = binary(UFUNCS["greater_equal"], python.ge)

    __neg__ = unary(UFUNCS["negative"], python.neg)
    __pos__ = unary(UFUNCS["positive"], python.pos)
    __abs__ = unary(UFUNCS["absolute"], python.abs)
    __invert__ = unary(UFUNCS["invert"], python.invert)


@extends(ndarray)
class ArrayOperators(ndarray, own=True):
    """Operators that write to an array, and those that scalars have not."""

    __matmul__ = _multiplied(Operators.__matmul__, swap=False)
    __rmatmul__ = _multiplied(Operators.__rmatmul__, swap=True)

    __iadd__ = in_place(UFUNCS["add"], python.iadd)
    __isub__ = in_place(UFUNCS["subtract"], python.isub)
    __imul__ = in_place(UFUNCS["multiply"], python.imul)
    __itruediv__ = in_place(UFUNCS["divide"], python.itruediv)
    __ifloordiv__ = in_place(UFUNCS["floor_divide"], python.ifloordiv)
    __imod__ = in_place(UFUNCS["remainder"], python.imod)
    __ipow__ = in_place(POWER, python.ipow)
    __imatmul__ = in_place(UFUNCS["matmul"], python.imatmul)
    __iand__ = in_place(UFUNCS["bitwise_and"], python.iand)
    __ior__ = in_place(UFUNCS["bitwise_or"], python.ior)
    __ixor__ = in_place(UFUNCS["bitwise_xor"], python.ixor)
    __ilshift__ = in_place(UFUNCS["left_shift"], python.ilshift)
    __irshift__ = in_place(UFUNCS["right_shift"], python.irshift)


@extends(Masked)
class MaskedOperators(Masked, own=True):
    """All of these operators again, of masked reads."""

    vars().update(_PUT_OFF)  # a row each, made with the other class's
