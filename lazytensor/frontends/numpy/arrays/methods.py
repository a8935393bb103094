"""The methods and attributes of arrays and scalars, attached from the tables of other modules."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.arrays import (
    flags,
    flat,
    protocols,
    reinterpretation,
    scalar,
    sorting,
)
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap, wrap_result
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.host.fallback import on_host, real
from lazytensor.frontends.numpy.indexing import basic
from lazytensor.frontends.numpy.indexing.assignment import assign, plain
from lazytensor.frontends.numpy.modules import standard
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, recast
from lazytensor.frontends.numpy.ufuncs.recipes import of_value, remembered
from lazytensor.frontends.numpy.ufuncs.table import UFUNCS


def astype(
    x: Lazy,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
) -> Any:
    """`x.astype(dtype)`."""
    wanted = np.dtype(dtype)
    if casting != "unsafe" and not np.can_cast(x.dtype, wanted, casting):
        np.zeros((), x.dtype).astype(wanted, casting=casting)  # raises
    # A look at the node would be one of a copy where memory is lent, and a cut where a mask chose.
    if not copy and wanted == x.dtype and x.__class__ is ndarray and _lies(x, order):
        return x
    try:
        node = recast(x.node, canonical(wanted))
    except HostOnly:
        return on_host("ndarray.astype", lambda a: a.astype(wanted), (x,), {})
    check("cast", [x.node], node)
    return ordered(node, x, order)


def _lies(x: ndarray, order: Any) -> bool:
    """Whether an array lies in memory as `order` has it."""
    asked = str(order or "K").upper()
    if asked == "K":
        return True
    shown = flags.flags(x)
    in_rows, in_columns = bool(shown.c_contiguous), bool(shown.f_contiguous)
    return {"A": in_rows or in_columns, "C": in_rows, "F": in_columns}.get(asked, False)


def copied(x: Lazy, order: Any = "C") -> Any:
    """`x.copy(order)`."""
    return ordered(x.node, x, order)


def ordered(node: Node, x: Lazy, order: Any) -> Any:
    """A new array of `node`, laid out by `order`, which may mean as `x` is."""
    if type(x) is Scalar:
        return wrap_result(node)
    array = wrap(node)
    lay_out_like(array, x, order)
    return array


def matrix_transposed(x: Lazy) -> Any:
    """`x.mT`, which scalars have not."""
    if type(x) is Scalar:
        raise AttributeError(f"'numpy.{x.dtype.type.__name__}' object has no attribute 'mT'")
    if x.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return late("matrix_transpose")(x)


def duplicated(x: ndarray, memo: Any = None) -> Any:
    """`copy.copy(x)` and `copy.deepcopy(x)`."""
    return copied(x, "K")


def fill(x: ndarray, value: Any) -> None:
    """`x.fill(value)`."""
    if flags.is_read_only(x):
        raise ValueError("assignment destination is read-only")
    if np.ndim(value):  # NumPy says what it thinks of it
        filled = np.zeros(x.shape, x.dtype)
        filled.fill(real(value))
        value = filled.flat[0] if filled.size else 0
    assign(x.ref, plain(value, x.dtype))


def late(name: str) -> Callable[..., Any]:
    """A method that is the function of the same name."""

    def method(x: Lazy, *args: Any, **kwargs: Any) -> Any:
        from lazytensor.frontends.numpy import namespace

        return namespace.find(name)(x, *args, **kwargs)

    text = getattr(np.ndarray, name, method).__doc__
    method.__name__ = method.__qualname__ = name
    method.__doc__ = laziness.said(laziness.line(name), name, text)
    return method


LATE: Final = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "choose",
    "clip",
    "compress",
    "conj",
    "conjugate",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "put",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "searchsorted",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "trace",
    "transpose",
    "var",
]
"""Methods that functions of the same name do; `functions` has its own for some of them."""

PROPERTIES: Final[dict[str, tuple[Any, ...]]] = {
    "flags": (flags.flags,),
    "strides": (flags.strides,),
    "base": (flags.base,),
    "real": (reinterpretation.real, reinterpretation.set_real),
    "imag": (reinterpretation.imag, reinterpretation.set_imag),
    "flat": (flat.flat, flat.set_flat),
    "dtype": (lambda x: x.ref.type.dtype, reinterpretation.set_dtype),
    "shape": (lambda x: x.ref.type.shape, reinterpretation.set_shape),
    "T": (late("transpose"),),
    "mT": (matrix_transposed,),
    "data": (protocols.data,),
    "device": (lambda x: "cpu",),
    "ctypes": (protocols.addresses,),
}
METHODS: Final[dict[str, Any]] = {
    "astype": remembered("astype", astype, of_value("astype")),
    "copy": remembered("copy", copied, of_value("copy")),
    "view": reinterpretation.view,
    "getfield": reinterpretation.getfield,
    "setfield": reinterpretation.setfield,
    "setflags": flags.set_flags,
    "to_device": standard.to_device,
    "__array_namespace__": standard.namespace_of,
    **{name: late(name) for name in LATE},
    **scalar.NUMBER_DUNDERS,
    **protocols.DUNDERS,
    "__getitem__": basic.getitem,
}


def conjugate(x: Lazy, *args: Any, **kwargs: Any) -> Any:
    """`x.conj()`: itself where it is real."""
    if x.dtype.kind != "c" and not args and not kwargs:
        return x
    return UFUNCS["conjugate"](x, *args, **kwargs)


OWN: Final = {"conj": conjugate, "conjugate": conjugate}
"""Methods that are not quite the functions of the same name."""

ARRAY_METHODS: Final[dict[str, Any]] = {
    "fill": fill,
    "sort": sorting.sort,
    "partition": sorting.partition,
    "resize": sorting.resize,
    "__setitem__": basic.setitem,
    "__copy__": duplicated,
    "__deepcopy__": duplicated,
    **protocols.ARRAY_DUNDERS,
}


def described(name: str, method: Any) -> Any:
    """`method`, which shows the signature of NumPy's."""
    if isinstance(method, FunctionType) and hasattr(np.ndarray, name):
        method.__wrapped__ = getattr(np.ndarray, name)  # type: ignore[attr-defined]
    return method


def read_only(name: str) -> Callable[[Lazy, Any], None]:
    """Refuses to set an attribute, in NumPy's words."""

    def refuse(x: Lazy, value: Any) -> None:
        raise AttributeError(f"attribute {name!r} of 'numpy.ndarray' objects is not writable")

    return refuse


def attach() -> None:
    """Give arrays and scalars their methods and attributes."""
    from lazytensor.frontends.numpy import functions

    for name, accessors in PROPERTIES.items():
        read, write = (*accessors, read_only(name))[:2]
        setattr(Lazy, name, property(remembered(name, read), write))
    for name, method in {**METHODS, **functions.METHODS, **OWN}.items():
        setattr(Lazy, name, described(name, method))
    for name, method in ARRAY_METHODS.items():
        setattr(ndarray, name, described(name, method))
    for name, method in scalar.SCALAR_DUNDERS.items():
        setattr(Scalar, name, method)
