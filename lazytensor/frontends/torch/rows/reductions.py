"""Reductions and cumulative functions."""

from __future__ import annotations

import math
from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F32, F64, S64, U8, U64, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib.distances import vector_norm
from lazytensor.core.lib.numbers import HALVES, is_inexact
from lazytensor.core.lib.special import log_sum_exp
from lazytensor.core.ops.folding import fold
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, default_float, of_nodes
from lazytensor.frontends.torch.dispatch.recipes import warn_each_time
from lazytensor.frontends.torch.dispatch.registry import Row, library
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.strides import axes_of, axis_of, refuse_many_axes
from lazytensor.frontends.torch.tensors.tensor import TORCH, numpy_dtype


def _whole(x: Node, dtype: torch.dtype | None) -> Node:
    """What a sum adds up: integers and flags as int64."""
    if dtype is not None:
        return cast_to(x, numpy_dtype(dtype))
    return x if is_inexact(x.type.dtype) else cast_to(x, S64)


def _summed(op: Op, of_flags: Op) -> Row:
    """`of_flags`: what stays of the op where flags are asked for."""

    def row(x: Node, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Node:
        given = _whole(x, dtype)
        axes = axes_of(dim, given.type.ndim)
        reduce = of_flags if given.type.dtype is BOOL else op
        return ops.kept(reduce(given, axes=axes), given, axes, keepdim)

    return row


def _mean(x: Node, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Node:
    if dtype is not None:
        x = cast_to(x, numpy_dtype(dtype))
    if not is_inexact(x.type.dtype):
        what = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point "
            f"or complex dtype. Got: {dtype_name(dtype or TORCH[x.type.dtype])}"
        )
    return ops.mean(x, axes=axes_of(dim, x.type.ndim), keepdims=bool(keepdim))


_UNNAMED: Final = (
    "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
    "the 'dim' argument."
)


def _check_not_empty(x: Node, axes: tuple[int, ...], dim: Any, name: str) -> None:
    """Raise torch's error where there is nothing to take the largest of."""
    if dim is None or dim == []:
        raise RuntimeError(name + _UNNAMED)
    for axis in axes:
        if not x.type.shape[axis]:
            raise IndexError(f"{name}Expected reduction dim {axis} to have non-zero size.")


def _extreme(op: Op, name: str) -> Row:
    def row(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
        axes = axes_of(dim, x.type.ndim)
        if not x.type.size:
            _check_not_empty(x, axes, dim, f"{name}(): ")
        return ops.kept(op(x, axes=axes), x, axes, keepdim)

    return row


def _arg(op: Op) -> Row:
    name = f"{op.name}(): "

    def row(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
        if x.type.dtype is BOOL:
            raise RuntimeError(f"{name}does not support bool input")
        if dim is None:
            if not x.type.size:
                raise IndexError(name + _UNNAMED.partition(" Specify")[0])
            shape = (1,) * x.type.ndim if keepdim else ()
            line = ops.reshape(x, shape=(x.type.size,))
            return ops.reshape(op(line, axis=0), shape=shape)
        axis = axis_of(dim, x.type.ndim)
        refuse_many_axes(x.type.ndim)
        if not x.type.ndim:
            return ops.reshape(op(ops.reshape(x, shape=(1,)), axis=0), shape=())
        _check_not_empty(x, (axis,), dim, name)
        return ops.kept(op(x, axis=axis), x, (axis,), keepdim)

    return row


def _extreme_at(op: Op, arg: Op) -> Row:
    """The extreme along an axis and where it is."""
    name = f"{arg.name.removeprefix('arg')}(): "

    def row(x: Node, dim: int, keepdim: bool = False) -> tuple[Node, ...]:
        axis = axis_of(dim, x.type.ndim)
        refuse_many_axes(x.type.ndim)
        if not x.type.ndim:
            return x, cast_to(0, S64)
        axes = (axis,)
        _check_not_empty(x, axes, dim, name)
        places = arg(x, axis=axis)
        found = op(x, axes=axes)
        return tuple(ops.kept(made, x, axes, keepdim) for made in (found, places))

    return row


def _truth(op: Op) -> Row:
    """Flags; bytes of bytes, which were torch's flags once. No axes in a list reduce none."""

    def row(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
        refuse_many_axes(x.type.ndim)
        flags = cast_to(x, BOOL)
        none = isinstance(dim, list | tuple) and not dim
        axes = () if none else axes_of(dim, x.type.ndim)
        made = ops.kept(op(flags, axes=axes), x, axes, keepdim)
        return cast_to(made, U8) if x.type.dtype is U8 else made

    return row


_FREEDOM: Final = (
    "degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
    "(input numel divided by output numel)."
)


def _variance(op: Op, name: str) -> Row:
    def row(x: Node, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Node:
        if not is_inexact(x.type.dtype):
            both = name if "_" in name else "std and var"
            raise RuntimeError(f"{both} only support floating point and complex dtypes")
        axes = axes_of(dim, x.type.ndim)
        count = math.prod(x.type.shape[axis] for axis in axes)
        own = real_of(x.type.dtype)
        divisor = count - (1 if correction is None else correction)
        if divisor <= 0:
            warn_each_time(f"{name}(): {_FREEDOM}")
            divisor = 0
        wide = F32 if own in HALVES else own
        return op(x, cast_to(divisor, wide), axes=axes, keepdims=bool(keepdim))

    return row


def _with_mean(op: Op, name: str) -> Row:
    spread = _variance(op, name)

    def row(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        return spread(x, dim, correction=correction, keepdim=keepdim), _mean(x, dim, keepdim)

    return row


def _check_norm(x: Node, ord: float, axes: tuple[int, ...], whole: bool) -> None:
    empty = [axis for axis in axes if not x.type.shape[axis]]
    if not empty:
        return
    where = (
        "an empty tensor because"
        if whole
        else f"the dimension {empty[0]}because this dimension is empty and"
    )
    raise RuntimeError(
        f"linalg.vector_norm cannot compute the {ord:g} norm on {where} the operation does not "
        "have an identity"
    )


def _norm(
    x: Node, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Node:
    x = cast_to(x, numpy_dtype(dtype)) if dtype is not None else x
    if not is_inexact(x.type.dtype):
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{dtype_name(TORCH[x.type.dtype])}"
        )
    refuse_many_axes(x.type.ndim)
    axes = axes_of(dim, x.type.ndim)
    if ord != 2 and (ord < 0 or math.isinf(ord)):
        _check_norm(x, ord, axes, dim is None or not dim)
    return ops.kept(vector_norm(x, ord, axes), x, axes, keepdim)


def _cumulative(op: Op) -> Row:
    def row(x: Node, dim: int, *, dtype: Any = None) -> Node:
        given = _whole(x, dtype)
        if given.type.dtype is BOOL:
            raise NotImplementedError(f"\"{op.name}_out_cpu\" not implemented for 'Bool'")
        axis = axis_of(dim, given.type.ndim)
        return op(given, axis=axis) if given.type.ndim else given

    return row


def _logsumexp(x: Node, dim: Any, keepdim: bool = False) -> Node:
    x = x if is_inexact(x.type.dtype) else cast_to(x, default_float())
    axes = axes_of(dim, x.type.ndim)
    return ops.kept(log_sum_exp(x, axes), x, axes, keepdim)


def _hash(x: Node, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Node:
    """The exclusive or of the bits of elements, as f64 or s64."""
    if mode:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if x.type.dtype.kind == "c":
        name = dtype_name(TORCH[x.type.dtype])
        raise NotImplementedError(f"\"xor_sum_cpu\" not implemented for '{name}'")
    axes = axes_of(dim or None, x.type.ndim)
    if not x.type.size:
        _check_not_empty(x, axes, list(dim), "hash_tensor: ")
    wide = cast_to(x, F64 if is_inexact(x.type.dtype) else S64)
    shape = tuple(n for i, n in enumerate(x.type.shape) if i not in axes)
    if 0 in shape:
        return ops.kept(filled(shape, 0, U64), x, axes, keepdim)
    bits = ops.bitcast(wide, dtype=U64)
    return ops.kept(fold(ops.xor, bits, axes) if axes else bits, x, axes, keepdim)


ROWS: dict[str, Row] = {
    "sum": _summed(ops.reduce_sum, ops.reduce_or),
    "sum.dim_IntList": _summed(ops.reduce_sum, ops.reduce_or),
    "prod": _summed(ops.reduce_prod, ops.reduce_and),
    "prod.dim_int": _summed(ops.reduce_prod, ops.reduce_and),
    "mean": _mean,
    "mean.dim": _mean,
    "amax": _extreme(ops.reduce_max, "amax"),
    "amin": _extreme(ops.reduce_min, "amin"),
    "max": _extreme(ops.reduce_max, "max"),
    "min": _extreme(ops.reduce_min, "min"),
    "max.dim": _extreme_at(ops.reduce_max, ops.argmax),
    "min.dim": _extreme_at(ops.reduce_min, ops.argmin),
    "argmax": _arg(ops.argmax),
    "argmin": _arg(ops.argmin),
    "any": _truth(ops.reduce_or),
    "any.dim": _truth(ops.reduce_or),
    "any.dims": _truth(ops.reduce_or),
    "all": _truth(ops.reduce_and),
    "all.dim": _truth(ops.reduce_and),
    "all.dims": _truth(ops.reduce_and),
    "var.correction": _variance(ops.variance, "var"),
    "std.correction": _variance(ops.deviation, "std"),
    "var_mean.correction": _with_mean(ops.variance, "var_mean"),
    "std_mean.correction": _with_mean(ops.deviation, "std_mean"),
    "linalg_vector_norm": _norm,
    "cumsum": _cumulative(ops.cumsum),
    "cumprod": _cumulative(ops.cumprod),
    "logsumexp": _logsumexp,
    "hash_tensor": _hash,
}


def _whole_extreme(name: str, reduce: Row) -> Row:
    """Above autograd: torch's derivative of `name` asks for a value, that of `reduce` does not."""

    def composed(x: Any) -> Any:
        if not x.numel():
            raise RuntimeError(f"{name}(): {_UNNAMED}")
        return reduce(x)

    return composed


rows(of_nodes(ROWS), pure=True)
for name, reduce in (("max", torch.amax), ("min", torch.amin)):
    library.impl(name, _whole_extreme(name, reduce), "AutogradPrivateUse1")
