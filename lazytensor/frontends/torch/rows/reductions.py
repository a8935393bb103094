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
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, default_float, of_nodes
from lazytensor.frontends.torch.dispatch.recipes import warn_each_time
from lazytensor.frontends.torch.dispatch.registry import Row, library, translating
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.strides import axes_of, axis_of, refuse_many_axes
from lazytensor.frontends.torch.tensors.tensor import numpy_dtype


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
    require(is_inexact(x.type.dtype))
    return ops.mean(x, axes=axes_of(dim, x.type.ndim), keepdims=bool(keepdim))


def _require_elements(x: Node, axes: tuple[int, ...], dim: Any) -> None:
    """Refuse to take the largest of nothing."""
    require(bool(x.type.size) or (dim is not None and dim != []))
    require(all(x.type.shape[axis] for axis in axes))


def _extreme(op: Op) -> Row:
    def row(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
        axes = axes_of(dim, x.type.ndim)
        _require_elements(x, axes, dim)
        return ops.kept(op(x, axes=axes), x, axes, keepdim)

    return row


def _arg(op: Op) -> Row:
    def row(x: Node, dim: Any = None, keepdim: bool = False) -> Node:
        require(x.type.dtype is not BOOL)
        if dim is None:
            require(bool(x.type.size))
            shape = (1,) * x.type.ndim if keepdim else ()
            line = ops.line(x)
            return ops.reshape(op(line, axis=0), shape=shape)
        axis = axis_of(dim, x.type.ndim)
        refuse_many_axes(x.type.ndim)
        if not x.type.ndim:
            return ops.reshape(op(ops.reshape(x, shape=(1,)), axis=0), shape=())
        _require_elements(x, (axis,), dim)
        return ops.kept(op(x, axis=axis), x, (axis,), keepdim)

    return row


def _extreme_at(op: Op, arg: Op) -> Row:
    """The extreme along an axis and where it is."""

    def row(x: Node, dim: int, keepdim: bool = False) -> tuple[Node, ...]:
        axis = axis_of(dim, x.type.ndim)
        refuse_many_axes(x.type.ndim)
        if not x.type.ndim:
            return x, cast_to(0, S64)
        axes = (axis,)
        _require_elements(x, axes, dim)
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
        require(is_inexact(x.type.dtype))
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


def _norm(
    x: Node, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Node:
    x = cast_to(x, numpy_dtype(dtype)) if dtype is not None else x
    require(is_inexact(x.type.dtype))
    refuse_many_axes(x.type.ndim)
    axes = axes_of(dim, x.type.ndim)
    if ord != 2 and (ord < 0 or math.isinf(ord)):
        require(all(x.type.shape[axis] for axis in axes))
    return ops.kept(vector_norm(x, ord, axes), x, axes, keepdim)


def _cumulative(op: Op) -> Row:
    def row(x: Node, dim: int, *, dtype: Any = None) -> Node:
        given = _whole(x, dtype)
        require(given.type.dtype is not BOOL)
        axis = axis_of(dim, given.type.ndim)
        return op(given, axis=axis) if given.type.ndim else given

    return row


def _logsumexp(x: Node, dim: Any, keepdim: bool = False) -> Node:
    x = x if is_inexact(x.type.dtype) else cast_to(x, default_float())
    axes = axes_of(dim, x.type.ndim)
    return ops.kept(log_sum_exp(x, axes), x, axes, keepdim)


def _hash(x: Node, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Node:
    """The exclusive or of the bits of elements, as f64 or s64."""
    require(not mode and x.type.dtype.kind != "c")
    axes = axes_of(dim or None, x.type.ndim)
    if not x.type.size:
        _require_elements(x, axes, list(dim))
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
    "amax": _extreme(ops.reduce_max),
    "amin": _extreme(ops.reduce_min),
    "max": _extreme(ops.reduce_max),
    "min": _extreme(ops.reduce_min),
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


def _whole_extreme(reduce: Row) -> Row:
    """Above autograd: torch's derivative of `max` asks for a value, that of `amax` does not."""

    def composed(x: Any) -> Any:
        require(bool(x.numel()))
        return reduce(x)

    return composed


rows(of_nodes(ROWS), pure=True)
for name, reduce in (("max", torch.amax), ("min", torch.amin)):
    library.impl(name, translating(name, _whole_extreme(reduce)), "AutogradPrivateUse1")
