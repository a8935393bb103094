"""`array`, `asarray` and their relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.buffers.interop import METHOD
from lazytensor.frontends.numpy.arrays import conversion
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.arrays.shadow import shadow
from lazytensor.frontends.numpy.functions.creation import laid_out, laid_out_like
from lazytensor.frontends.numpy.functions.entry import Function, has_lazy
from lazytensor.frontends.numpy.functions.rebound import SURFACE
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.functions.views import in_shape
from lazytensor.frontends.numpy.host.fallback import called, real
from lazytensor.frontends.numpy.host.small import entered
from lazytensor.frontends.numpy.interop.interchange import unpacked
from lazytensor.frontends.numpy.modules.standard import number_of
from lazytensor.frontends.numpy.ufuncs.promotion import (
    is_special,
)

_COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: Any = None,
    like: Any = None,
) -> Any:
    """See numpy.array."""
    if type(object) is np.ndarray and copy is True and order == "K" and not ndmin and ndmax is None:
        made = conversion.array(object, dtype)  # a fast path for the usual call
        if type(made) is ndarray:
            lay_out_like(made, object)
            return made
    if isinstance(copy, np._CopyMode):
        copy = _COPIES[copy]
    elif isinstance(copy, str):
        np.array(0, copy=copy)  # type: ignore[call-overload]  # raises
    elif copy is not None:
        copy = bool(copy)
    if subok and is_special(object):
        return np.array(object, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)
    is_foreign = not issubclass(type(object), Lazy | np.ndarray)
    if copy is False and not (issubclass(type(object), Lazy) or hasattr(type(object), METHOD)):
        try:  # an array over memory that others may write to stays NumPy's own
            return np.array(object, dtype, copy=False, order=order, subok=subok, ndmin=ndmin)
        except ValueError:
            object = unpacked(object)
            if not issubclass(type(object), Lazy):
                raise
    if ndmax is not None:
        given = np.array(real(object), dtype, order=order, ndmin=ndmin, ndmax=ndmax)
        return entered(given, (object,))
    made = _converted(object, dtype, bool(copy))
    is_lazy = issubclass(type(made), Lazy)
    if is_lazy:
        made = _in_order(made, made if is_foreign and not copy else object, order)
    if copy is False and made is not object and (is_lazy or issubclass(type(object), Lazy)):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if not is_lazy:
        given = made if has_lazy(object) else object
        return np.array(given, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    if made.ndim < ndmin:
        return in_shape(made, (1,) * (ndmin - made.ndim) + made.shape)
    return made


def _in_order(made: Any, source: Any, order: Any) -> Any:
    """`made` laid out by `order`; "K" means as `source`."""
    if made is source:
        flags = shadow(made).flags
        fits = {"C": flags.c_contiguous, "F": flags.f_contiguous}.get(str(order).upper(), True)
        return made if fits else laid_out(wrap(made.node), order)
    if order in ("F", "f"):
        return laid_out(made, "F")
    if order in ("C", "c", None):
        return made
    if issubclass(type(source), Lazy):
        return laid_out_like(made, source, order)
    if type(source) is np.ndarray:
        lay_out_like(made, source, order)
    return made


def _converted(x: Any, dtype: Any, copy: bool) -> Any:
    """`x` as a lazy array; `x` itself if it is one of that dtype and `copy` is False."""
    kind = type(x)
    if not copy and kind is not Scalar and (issubclass(kind, Lazy) or hasattr(kind, METHOD)):
        return conversion.asarray(x, dtype)
    return conversion.array(x, dtype, copy)


def asarray_(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """See numpy.asarray."""
    if type(a) is ndarray and dtype is None and order is None and copy is None:
        return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


asarray_.__qualname__ = "asarray"


def asanyarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """See numpy.asanyarray."""
    if is_special(a):
        return np.asanyarray(a, dtype, order, copy=copy)
    return asarray_(a, dtype, order, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """See numpy.ascontiguousarray."""
    made = array(a, dtype, copy=None, ndmin=1)
    if issubclass(type(made), Lazy) and not shadow(made).flags.c_contiguous:
        return wrap(made.node)
    return made


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """See numpy.asfortranarray."""
    made = array(a, dtype, copy=None, ndmin=1)
    if issubclass(type(made), Lazy) and not shadow(made).flags.f_contiguous:
        return laid_out(wrap(made.node), "F")
    return made


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """See numpy.copy."""
    return array(a, order=order, subok=subok, copy=True)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """See numpy.from_dlpack. Memory that others may write to becomes a real array."""
    number_of(device)
    x = conversion.asarray(x) if hasattr(type(x), METHOD) else x
    if has_lazy(x):
        return x.copy() if copy else x.view()
    made = np.from_dlpack(x)
    return made if made.flags.writeable and not copy else entered(made, (x,))


def _only_lazy(function: Function, real_function: Function) -> Function:
    """`function` for lazy arguments, else NumPy's. It is called by NumPy's own code."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if has_lazy(*args, *kwargs.values()):
            return function(*args, **kwargs)
        return called(real_function, args, kwargs)

    return call


LAZY = named(copy)
PLAIN = named(array, asanyarray, ascontiguousarray, asfortranarray, from_dlpack, asarray=asarray_)
"""Lazy even without a lazy argument."""

SURFACE["ndarray"] = ndarray
for _name in ("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray"):
    SURFACE[_name] = _only_lazy(PLAIN[_name], getattr(np, _name))
