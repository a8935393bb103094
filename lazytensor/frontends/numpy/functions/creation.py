"""Functions that make arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.node import Node
from lazytensor.core.op import scalar
from lazytensor.core.types import Shape
from lazytensor.frontends.numpy import conversion
from lazytensor.frontends.numpy.array import Lazy, Scalar, asarray, ndarray, wrap
from lazytensor.frontends.numpy.assignment import settled, stored
from lazytensor.frontends.numpy.errors import HostOnly
from lazytensor.frontends.numpy.fallback import real
from lazytensor.frontends.numpy.functions.entry import Function, dressed, entered, has_lazy
from lazytensor.frontends.numpy.functions.rebound import CREATION, SURFACE
from lazytensor.frontends.numpy.functions.views import in_shape
from lazytensor.frontends.numpy.promotion import (
    CANONICAL,
    canonical,
    convert,
    number,
    operand,
    result_type,
)
from lazytensor.frontends.numpy.shadow import fortran_shadow, shadow, writeable

_FLOAT = np.dtype(np.float64)
_INT = np.dtype(np.int64)
_DEFAULT = {bool: np.dtype(bool), int: _INT, float: _FLOAT, complex: np.dtype(complex)}

_SMALL = {
    (value, kind): python(value)
    for value in (0, 1)
    for kind, python in (("b", bool), ("i", int), ("u", int), ("f", float), ("c", complex))
}
_ARRAYS = (Lazy, np.ndarray, np.generic, bool, int, float, complex)


def shape_of(shape: Any) -> Shape:
    """A shape as NumPy's functions take it. Raises: TypeError, ValueError."""
    if type(shape) is not tuple:
        shape = real(shape)
    try:
        found = (operator.index(shape),)
    except TypeError:
        found = tuple(map(operator.index, shape))  # type: ignore[assignment]
    if min(found, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    return found


def dtype_of(dtype: Any, default: np.dtype = _FLOAT) -> np.dtype:
    """A dtype as the functions take it. Raises: HostOnly, TypeError."""
    return default if dtype is None else canonical(np.dtype(dtype))


def filled(shape: Shape, value: Any, dtype: np.dtype) -> Node:
    """One value everywhere, which takes no memory until it is written to."""
    one = _number(value, dtype) if type(value) is int else number(value, dtype)
    return settled(ops.broadcast(one, shape=shape) if shape else one)


def _number(value: int, dtype: np.dtype) -> Node:
    """0 and 1, what almost every new array is filled with, without a look at their bits."""
    known = _SMALL.get((value, dtype.kind))
    return number(value, dtype) if known is None else scalar(known, dtype)


def laid_out(array: ndarray, order: Any) -> ndarray:
    """A new array with its elements in the order asked for."""
    if order in ("F", "f") and array.ndim > 1:
        array._shadow = fortran_shadow(array.type)
    return array


def _constant(name: str, value: Any) -> Function:
    real_function = getattr(np, name)

    def create(
        shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
    ) -> Any:
        try:
            kind = dtype_of(dtype)
        except HostOnly:
            return real_function(real(shape), dtype, order)
        _check_device(device)
        return laid_out(wrap(filled(shape_of(shape), value, kind)), order)

    return dressed(create, real_function)


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


zeros = _constant("zeros", 0)
ones = _constant("ones", 1)
empty = _constant("empty", 0)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """See numpy.full."""
    _check_device(device)
    try:
        if dtype is not None and type(fill_value) in _DEFAULT:
            kind = dtype_of(dtype)
            return laid_out(wrap(filled(shape_of(shape), fill_value, kind)), order)
        value = operand(fill_value)
        kind = dtype_of(dtype, value.type.dtype)
    except (HostOnly, OverflowError):
        return np.full(real(shape), real(fill_value), dtype, order)
    made = wrap(filled(shape_of(shape), 0, kind))
    made.ref.write(stored(fill_value, made.type))
    return laid_out(made, order)


def _like(name: str) -> Function:
    real_function = getattr(np, name)
    value: Any = 1 if name == "ones_like" else 0

    def create(
        prototype: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        _check_device(device)
        array = asarray(prototype)
        kind = dtype_of(dtype, array.dtype)
        made = wrap(filled(array.shape if shape is None else shape_of(shape), value, kind))
        return _laid_out_like(made, array, order)

    return dressed(create, real_function)


def _laid_out_like(made: ndarray, array: Any, order: Any) -> ndarray:
    if order in ("F", "f"):
        return laid_out(made, "F")
    if order in ("K", "k", "A", "a") and array._shadow is not None and made.ndim > 1:
        if array._shadow.flags.fnc:
            return laid_out(made, "F")
        same = made.ndim == array.ndim and not array._shadow.flags.c_contiguous
        if order in ("K", "k") and same:
            axes = sorted(range(made.ndim), key=lambda i: -abs(array._shadow.strides[i]))
            dense = shadow(wrap(filled(tuple(made.shape[i] for i in axes), 0, made.dtype)))
            made._shadow = writeable(dense.transpose(np.argsort(axes)))
    return made


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """See numpy.full_like."""
    made = _LIKE["empty_like"](a, dtype, order, subok, shape, device=device)
    made.ref.write(stored(fill_value, made.type))
    return made


_LIKE = {name: _like(name) for name in ("empty_like", "ones_like", "zeros_like")}


def arange(*args: Any, dtype: Any = None, device: Any = None, like: Any = None, **kw: Any) -> Any:
    """See numpy.arange."""
    given = [real(x) for x in args]
    if dtype is None and not kw and all(type(x) is int for x in given) and 1 <= len(given) <= 3:
        start, stop, step = (given[0], given[1], 1) if len(given) == 2 else (0, *given, 1)[:3]
        if len(given) == 3:
            start, stop, step = given
        if step and max(map(abs, (start, stop, step))) < 2**62:
            return wrap(_counted(start, len(range(start, stop, step)), step))
    rest = {name: real(value) for name, value in kw.items()}
    return entered(np.arange(*given, dtype=dtype, device=device, **rest))


def _counted(start: int, size: int, step: int) -> Node:
    node: Node = ops.iota(dtype=_INT, shape=(size,), axis=0)
    if step != 1:
        node = ops.multiply(node, scalar(step, _INT))
    return ops.add(node, scalar(start, _INT)) if start else node


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: Any = None,
) -> Any:
    """See numpy.array."""
    made = _converted(object, dtype, bool(copy))
    if not issubclass(type(made), Lazy):
        given = real(object) if has_lazy(object) else object
        return np.array(given, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
    if copy is False and made is not object:
        np.array(real(object) if has_lazy(object) else object, dtype, copy=False)  # may raise
    if made is not object and order in ("F", "f", "K", "k", "A", "a"):
        if order in ("F", "f"):
            made = laid_out(made, "F")
        elif issubclass(type(object), Lazy) and object._shadow is not None:
            made = _laid_out_like(made, object, order)
        elif type(object) is np.ndarray and object.flags.fnc:
            made = laid_out(made, "F")
    if made.ndim < ndmin:
        return in_shape(made, (1,) * (ndmin - made.ndim) + made.shape)
    return made


def _converted(x: Any, dtype: Any, copy: bool) -> Any:
    """`x` as a lazy array; itself if it is one of that dtype and no copy is asked for."""
    kind = type(x)
    if issubclass(kind, Lazy) and kind is not Scalar and not copy:
        return conversion.asarray(x, dtype)
    return conversion.array(x, dtype)


def nested(x: Any, dtype: Any) -> Any:
    """A nested list with lazy arrays in it, put together without computing them."""
    parts = [_part(y) for y in x]
    if not all(isinstance(y, _ARRAYS) for y in parts):
        return np.array(real(x), dtype)
    # In an array, other than next to one, a Python number is as strong as its default dtype.
    strong = [_DEFAULT.get(type(y), y) for y in parts]
    kind = result_type(*strong) if dtype is None else np.dtype(dtype)
    if kind not in CANONICAL:
        return np.array(real(x), dtype)
    nodes = [number(y, kind) if type(y) in _DEFAULT else operand(y) for y in parts]
    shape = nodes[0].type.shape
    if any(node.type.shape != shape for node in nodes):
        return np.array(real(x), dtype)  # raises
    rows = [ops.reshape(convert(node, kind), shape=(1, *shape)) for node in nodes]
    return wrap(ops.concatenate(*rows, axis=0))


def _part(x: Any) -> Any:
    if type(x) in (list, tuple):
        return nested(x, None) if has_lazy(x) else conversion.array(x)
    return x


def asarray_(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """See numpy.asarray."""
    if type(a) is ndarray and dtype is None and order is None and copy is None:
        return a
    _check_device(device)
    return array(a, dtype, copy=copy, order="K" if order is None else order)


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
    return array(a, order=order, copy=True)


LAZY: dict[str, Function] = {
    **_LIKE,
    "copy": copy,
    "full_like": full_like,
}

PLAIN: dict[str, Function] = {
    "arange": arange,
    "array": array,
    "asanyarray": asarray_,
    "asarray": asarray_,
    "ascontiguousarray": ascontiguousarray,
    "asfortranarray": asfortranarray,
    "empty": empty,
    "full": full,
    "ones": ones,
    "zeros": zeros,
}
"""Lazy even without a lazy argument."""


def _only_lazy(function: Function, real_function: Function) -> Function:
    """In NumPy's own code: lazy for what is lazy, else NumPy's."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if has_lazy(*args, *kwargs.values()):
            return function(*args, **kwargs)
        return real_function(*args, **kwargs)

    return call


SURFACE["ndarray"] = ndarray
for _name in ("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray"):
    SURFACE[_name] = _only_lazy(PLAIN[_name], getattr(np, _name))
CREATION.update({name: PLAIN[name] for name in ("arange", "empty", "full", "ones", "zeros")})
