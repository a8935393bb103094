"""The methods of arrays and scalars: copies, access by keys, and those that are functions too."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.frontends.numpy.arrays import conversion
from lazytensor.frontends.numpy.arrays.array import (
    Lazy,
    Scalar,
    extends,
    ndarray,
    wrap,
    wrap_result,
)
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.arrays.shadow import shadow
from lazytensor.frontends.numpy.functions import (
    elementwise,
    joining,
    ordering,
    products,
    reductions,
    selecting,
    statistics,
    views,
    writing,
)
from lazytensor.frontends.numpy.functions.entry import method
from lazytensor.frontends.numpy.host.fallback import lazies, on_host, real
from lazytensor.frontends.numpy.host.small import stays
from lazytensor.frontends.numpy.indexing import access
from lazytensor.frontends.numpy.indexing.assignment import assign, plain
from lazytensor.frontends.numpy.indexing.masked import Masked, reduced
from lazytensor.frontends.numpy.interop.sharing import opened
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, recast
from lazytensor.frontends.numpy.ufuncs.recipes import remembered_method
from lazytensor.frontends.numpy.ufuncs.table import UFUNCS


@extends(Lazy)
class Copies(Lazy):
    """Methods that copy an array or select a part of it."""

    __getitem__ = access.getitem

    @remembered_method
    def astype(
        self,
        dtype: Any,
        order: Any = "K",
        casting: Any = "unsafe",
        subok: Any = True,
        copy: Any = True,
    ) -> Any:
        """NumPy's `astype`."""
        wanted = np.dtype(dtype)
        if casting != "unsafe" and not np.can_cast(self.dtype, wanted, casting):
            np.zeros((), self.dtype).astype(wanted, casting=casting)  # raises
        # `self.node` would copy lent memory, and would cut the graph for a masked read.
        if not copy and wanted == self.dtype and isinstance(self, ndarray) and _lies(self, order):
            return self
        try:
            node = recast(self.node, canonical(wanted))
        except HostOnly:
            return on_host("ndarray.astype", lambda a: a.astype(wanted), (self,), {})
        check("cast", [self.node], node)
        return _ordered(node, self, order)

    @remembered_method
    def copy(self, order: Any = "C") -> Any:
        """NumPy's `copy`."""
        return _ordered(self.node, self, order)


def _lies(x: Lazy, order: Any) -> bool:
    """Whether an array's layout in memory satisfies `order`."""
    asked = str(order or "K").upper()
    if asked == "K":
        return True
    shown = shadow(x).flags
    in_rows, in_columns = bool(shown.c_contiguous), bool(shown.f_contiguous)
    return {"A": in_rows or in_columns, "C": in_rows, "F": in_columns}.get(asked, False)


def _ordered(node: Node, x: Lazy, order: Any) -> Any:
    """A new array of `node`, laid out by `order`; "K" means as `x`."""
    if type(x) is Scalar:
        return wrap_result(node)
    array = wrap(node)
    lay_out_like(array, x, order)
    return array


@extends(ndarray)
class ArrayMethods(ndarray, own=True):
    """Methods that scalars have in another form, or not at all."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """`np.ndarray(shape, dtype, buffer, …)`: a real array for a buffer that is writeable."""
        if cls is not ndarray:  # a user's class
            return np.ndarray.__new__(cls, *args, **kwargs)  # type: ignore[type-var]
        if lazies((args, kwargs)):  # a buffer
            args, kwargs = opened(args), {k: opened(x) for k, x in kwargs.items()}
        made = np.ndarray(*args, **kwargs)
        is_shared = made.base is not None and made.flags.writeable
        if is_shared or stays(made):
            return made
        array = conversion.array(made)
        if issubclass(type(array), Lazy):
            lay_out_like(array, made)  # `order="F"`
            if not made.flags.writeable:  # it shows bytes
                array.setflags(write=False)
        return array

    __setitem__ = access.setitem

    def __copy__(self) -> Any:
        return _ordered(self.node, self, "K")

    def __deepcopy__(self, memo: Any = None) -> Any:
        return _ordered(self.node, self, "K")

    def fill(self, value: Any) -> None:
        """NumPy's `fill`."""
        if is_read_only(self):
            raise ValueError("assignment destination is read-only")
        if np.ndim(value):  # NumPy takes or refuses it
            filled = np.zeros(self.shape, self.dtype)
            filled.fill(real(value))
            value = filled.flat[0] if filled.size else 0
        assign(self.ref, plain(value, self.dtype))


def _conjugate(x: Lazy, *args: Any, **kwargs: Any) -> Any:
    """`x.conj()`, which is `x` itself if it is real."""
    if x.dtype.kind != "c" and not args and not kwargs:
        return x
    return UFUNCS["conjugate"](x, *args, **kwargs)


@remembered_method
def mT(x: Lazy) -> Any:
    """`x.mT`, which scalars lack."""
    if type(x) is Scalar:
        raise AttributeError(f"'numpy.{x.dtype.type.__name__}' object has no attribute 'mT'")
    if x.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return views.swapaxes(x, -1, -2)


@extends(Lazy)
class FunctionMethods(Lazy):
    """Methods that are functions of NumPy's too."""

    all = method("all", reductions.LAZY["all"])
    any = method("any", reductions.LAZY["any"])
    argmax = method("argmax", reductions.LAZY["argmax"])
    argmin = method("argmin", reductions.LAZY["argmin"])
    argpartition = method("argpartition", ordering.argpartition)
    argsort = method("argsort", ordering.argsort)
    choose = method("choose", selecting.choose_method)
    clip = method("clip", elementwise.clip_method)
    compress = method("compress", selecting.compress_method)
    conj = conjugate = _conjugate
    cumprod = method("cumprod", reductions.LAZY["cumprod"])
    cumsum = method("cumsum", reductions.LAZY["cumsum"])
    diagonal = method("diagonal", views.diagonal)
    dot = method("dot", products.dot)
    flatten = method("flatten", views.flatten)
    max = method("max", reductions.LAZY["max"])
    mean = method("mean", statistics.mean)
    min = method("min", reductions.LAZY["min"])
    nonzero = method("nonzero", selecting.nonzero)
    prod = method("prod", reductions.LAZY["prod"])
    put = method("put", writing.put)
    ravel = method("ravel", views.ravel)
    repeat = method("repeat", joining.repeat)
    reshape = method("reshape", views.reshape_method)
    round = method("round", elementwise.round)
    searchsorted = method("searchsorted", ordering.searchsorted)
    squeeze = method("squeeze", views.squeeze)
    std = method("std", statistics.as_method("std"))
    sum = method("sum", reductions.LAZY["sum"])
    swapaxes = method("swapaxes", views.swapaxes)
    take = method("take", selecting.take)
    trace = method("trace", selecting.trace)
    transpose = method("transpose", views.transpose_method)
    var = method("var", statistics.as_method("var"))

    T = property(transpose)
    mT = property(mT)


def _put_off(name: str) -> Any:
    """A reduction that takes `where=`: `x[m].sum()` is `x.sum(where=m)`, whose shape is known."""
    plain = getattr(Lazy, name)

    def method(x: Masked, *args: Any, **kwargs: Any) -> Any:
        made = None if args or kwargs else reduced(name, x)
        return plain(x, *args, **kwargs) if made is None else made

    return method


@extends(Masked)
class MaskedReductions(Masked, own=True):
    """Reductions of masked reads."""

    all, any = _put_off("all"), _put_off("any")
    sum, prod, mean = _put_off("sum"), _put_off("prod"), _put_off("mean")
    std, var = _put_off("std"), _put_off("var")
