"""Shape arithmetic: answered from static shapes, never by a cut."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from lazytensor.frontends.tf.dispatch import fallback, opdef
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.dispatch.table import handles
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, of_array
from lazytensor.frontends.tf.tensors.variables import cell_of, handle_of

Args = tuple[Any, ...]


@cache
def host_shape(shape: tuple[int, ...], dtype: str) -> Any:
    """TF's own tensor of these numbers."""
    return of_array(np.array(shape, dtype))


@cache
def host_number(n: int, dtype: str) -> Any:
    """TF's own tensor of this number."""
    return of_array(np.array(n, dtype))


def attr(args: Args, arity: int, name: str, default: Any = None) -> Any:
    """An attribute among the arguments of a call."""
    for i in range(arity, len(args), 2):
        if args[i] == name and args[i + 1] is not None:
            return args[i + 1]
    return default


@cache
def _name(dtype: Any) -> str:
    return np.dtype(opdef.normal(dtype, "type")).name


def _dtype(args: Args) -> str:
    found = attr(args, 1, "out_type")
    return "int32" if found is None else _name(found)


def _native(op: str, ctx: Any, name: Any, args: Args) -> Any:
    return fallback.untouched(ctx, op, name, args)


def _known(x: Any) -> tuple[int, ...] | None:
    """The shape of a tensor; None for what is none yet."""
    if type(x) is LazyTensor:
        return x.node.type.shape
    return tuple(x._shape_tuple()) if type(x) is EagerTensor else None


@handles("Shape")
def _shape(ctx: Any, name: Any, args: Args) -> Any:
    shape = _known(args[0])
    if shape is None:
        return _native("Shape", ctx, name, args)
    return host_shape(shape, _dtype(args))


@handles("ShapeN")
def _shape_n(ctx: Any, name: Any, args: Args) -> Any:
    found = [_known(x) for x in args[0]]
    if None in found:
        return _native("ShapeN", ctx, name, args)
    dtype = _dtype(args)
    return [host_shape(shape, dtype) for shape in found if shape is not None]


@handles("Size")
def _size(ctx: Any, name: Any, args: Args) -> Any:
    shape = _known(args[0])
    if shape is None:
        return _native("Size", ctx, name, args)
    return host_number(prod(shape), _dtype(args))


@handles("Rank")
def _rank(ctx: Any, name: Any, args: Args) -> Any:
    shape = _known(args[0])
    if shape is None:
        return _native("Rank", ctx, name, args)
    return host_number(len(shape), "int32")


@handles("VariableShape")
def _variable_shape(ctx: Any, name: Any, args: Args) -> Any:
    cell = cell_of(handle_of(args[0]))
    if cell is None:
        return _native("VariableShape", ctx, name, args)
    return host_shape(cell.node.type.shape, _dtype(args))


@cache
def _broadcast_gradient_axes(
    left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Over which axes of the result the gradients of two operands are to be summed."""
    ndim = max(len(left), len(right))
    first, second = ((1,) * (ndim - len(s)) + s for s in (left, right))
    axes: tuple[list[int], list[int]] = ([], [])
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        if a == b == 1:  # TF sums over these for both, which changes nothing
            axes[0].append(i)
            axes[1].append(i)
        elif a == 1:
            axes[0].append(i)
        elif b == 1:
            axes[1].append(i)
    return tuple(axes[0]), tuple(axes[1])


@handles("BroadcastGradientArgs")
def _broadcast_gradient_args(ctx: Any, name: Any, args: Args) -> Any:
    first, second = host_value(args[0]), host_value(args[1])
    if first.key == second.key:
        empty = host_shape((), first.array.dtype.name)
        return [empty, empty]
    shapes = tuple(first.key[1]), tuple(second.key[1])
    axes = _broadcast_gradient_axes(*shapes)
    return [host_shape(each, first.array.dtype.name) for each in axes]
