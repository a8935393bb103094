"""Functions that make arrays."""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import Shape
from lazytensor.frontends.numpy.arrays.array import ndarray, wrap
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.arrays.shadow import fortran_shadow
from lazytensor.frontends.numpy.functions.entry import Function, dressed
from lazytensor.frontends.numpy.functions.rebound import CREATION
from lazytensor.frontends.numpy.functions.signatures import Given, like, named
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.host.small import entered
from lazytensor.frontends.numpy.indexing.assignment import settled, stored
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, canonical, number

_FLOAT = np.dtype(np.float64)
_INT = np.dtype(np.int64)
_SMALL = {
    (value, kind): python(value)
    for value in (0, 1)
    for kind, python in (("b", bool), ("i", int), ("u", int), ("f", float), ("c", complex))
}


def shape_of(shape: Any) -> Shape:
    """A shape argument as a tuple of ints. Raises: TypeError, ValueError."""
    if type(shape) is not tuple:
        if shape is None:
            np.empty(None)  # type: ignore[call-overload]  # raises
        shape = real(shape)
    try:
        found = (operator.index(shape),)
    except TypeError:
        found = tuple(map(operator.index, shape))  # type: ignore[assignment]
    if min(found, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    return found


def dtype_of(dtype: Any, default: np.dtype = _FLOAT) -> np.dtype:
    """A dtype argument as a dtype. Raises: HostOnly, TypeError."""
    return default if dtype is None else canonical(np.dtype(dtype))


def filled(shape: Shape, value: Any, dtype: np.dtype) -> Node:
    """An array of one value, which takes no memory until it is written to."""
    one = _number(value, dtype) if type(value) is int else number(value, dtype)
    return settled(ops.broadcast(one, shape=shape) if shape else one)


def _number(value: int, dtype: np.dtype) -> Node:
    """`value` as a scalar, with a fast path for 0 and 1, which fill most new arrays."""
    known = _SMALL.get((value, dtype.kind))
    return number(value, dtype) if known is None else scalar(known, dtype)


def laid_out(array: ndarray, order: Any) -> ndarray:
    """A new array with its elements in this order. Raises: ValueError, TypeError."""
    if order in ("F", "f"):
        if array.ndim > 1:
            array._shadow = fortran_shadow(array.type)
    elif order not in ("C", "c", None):
        np.empty(0, order=order)  # raises
    return array


def _constant(name: str, value: Any) -> Function:
    real_function = getattr(np, name)

    def create(shape: Any, dtype: Any = None, order: Any = "C", *, like: Any = None) -> Any:
        try:
            kind = dtype_of(dtype)
        except HostOnly:
            return real_function(real(shape), dtype, order)
        made = wrap(filled(shape_of(shape), value, kind))
        if made.type.nbytes > sys.maxsize:
            real_function(made.shape, kind)  # raises
        return laid_out(made, order)

    return dressed(create, real_function)


zeros = _constant("zeros", 0)
ones = _constant("ones", 1)
empty = _constant("empty", 0)


@like(np.full)
def full(given: Given) -> Any:
    """See numpy.full."""
    value, order = given.fill_value, given.order
    is_number = given.dtype is not None and type(value) in PYTHON_NUMBERS.keys() - {complex}
    try:
        default = _FLOAT if is_number else operand(value).type.dtype
        kind = dtype_of(given.dtype, default)
        made = wrap(filled(shape_of(given.shape), value if is_number else 0, kind))
    except (HostOnly, OverflowError):
        return np.full(real(given.shape), real(value), given.dtype, order)
    if not is_number:
        made.ref.write(stored(_strong(value), made.type))
    return laid_out(made, order)


def _strong(value: Any) -> Any:
    """A fill value. Its imaginary part may be lost, unlike in an assignment."""
    return np.complex128(value) if type(value) is complex else value


def _like(name: str) -> Function:
    real_function = getattr(np, name)
    value: Any = 1 if name == "ones_like" else 0

    def create(
        prototype: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: bool = True,
        shape: Any = None,
    ) -> Any:
        array = asarray(prototype)
        kind = dtype_of(dtype, array.dtype)
        made = wrap(filled(array.shape if shape is None else shape_of(shape), value, kind))
        return laid_out_like(made, array, order)

    return dressed(create, real_function)


def laid_out_like(made: ndarray, array: Any, order: Any) -> ndarray:
    """A new array laid out as `array` is, if `order` says so."""
    if made.ndim == array.ndim or order not in ("K", "k", None):
        lay_out_like(made, array, order)
    return made


@like(np.full_like)
def full_like(given: Given) -> Any:
    """See numpy.full_like."""
    made = _LIKE["empty_like"](given.a, given.dtype, given.order, given.subok, given.shape)
    made.ref.write(stored(_strong(given.fill_value), made.type))
    return made


_LIKE = {name: _like(name) for name in ("empty_like", "ones_like", "zeros_like")}


def arange(*args: Any, dtype: Any = None, like: Any = None, **kw: Any) -> Any:
    """See numpy.arange."""
    given = [real(x) for x in args]
    whole = dtype is None and not kw and all(type(x) is int and abs(x) < 2**62 for x in given)
    if whole and 1 <= len(given) <= 3 and given[2:] != [0]:
        line = range(*given)
        return wrap(_counted(line.start, len(line), line.step))
    rest = {name: real(value) for name, value in kw.items()}
    return entered(np.arange(*given, dtype=dtype, **rest))


def _counted(start: int, size: int, step: int) -> Node:
    node = ops.iota(dtype=_INT, shape=(size,), axis=0)
    if step != 1:
        node = node * step
    return node + start if start else node


LAZY = named(full_like, **_LIKE)
PLAIN = named(arange, empty, full, ones, zeros)
CREATION.update(PLAIN)
