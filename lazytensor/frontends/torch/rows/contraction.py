"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F32, S32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import HALVES
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    operand,
    refuse_overflow,
    result_dtype,
)
from lazytensor.frontends.torch.dispatch.refused_dtypes import require_factor
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.tensor import TORCH, is_lazy, value


def _given(x: Any) -> Any:
    """An operand as a node: torch leaves pending conjugations to matrix products."""
    return value(x) if is_lazy(x) else operand(x)


def _pair(x: Any, y: Any, ndims: tuple[int, int]) -> tuple[Node, Node]:
    """Operands of one dtype with these numbers of axes."""
    first, second = _given(x), _given(y)
    require(first.type.dtype == second.type.dtype)
    require((first.type.ndim, second.type.ndim) == ndims)
    return first, second


def _mm(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    return ops.dot_general(*_pair(x, y, (2, 2)), contract=((1,), (0,)), dtype=dtype)


def _bmm(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    pair = _pair(x, y, (3, 3))
    return ops.dot_general(*pair, batch=((0,), (0,)), contract=((2,), (1,)), dtype=dtype)


def _mv(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    return ops.dot_general(*_pair(x, y, (2, 1)), contract=((1,), (0,)), dtype=dtype)


def _addmv(base: Any, x: Any, y: Any, **factors: Any) -> Node:
    added = _given(base).type
    require(added.ndim < 2 and added.size in (1, x.shape[0]))
    dtype = added.dtype
    if dtype in HALVES:  # torch rounds the factors as well, here alone
        for name, factor in factors.items():
            refuse_overflow(factor, dtype)
            factors[name] = float(torch.tensor(factor, dtype=TORCH[dtype]))
    return _added(_mv)(base, x, y, **factors)


def _dot(x: Any, y: Any) -> Node:
    return ops.dot_general(*_pair(x, y, (1, 1)), contract=((0,), (0,)))


def _vdot(x: Any, y: Any) -> Node:
    first, second = _pair(x, y, (1, 1))
    return ops.dot_general(ops.conj(first), second, contract=((0,), (0,)))


def _times(x: Node, factor: Any) -> Node:
    if factor == 1:
        return x
    refuse_overflow(factor, x.type.dtype)
    return x * cast_to(factor, x.type.dtype)


def _require_expands(x: Node, shape: Shape) -> None:
    """Refuse the base of a sum that does not broadcast to `shape`."""
    own = x.type.shape
    pairs = zip(reversed(own), reversed(shape), strict=False)
    require(len(own) <= len(shape) and all(n in (1, m) for n, m in pairs))


def _added(product: Row) -> Row:
    """`beta * base + alpha * product`. Halves are added in f32, and rounded once."""

    def row(base: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Node:
        old, dtype = _given(base), _given(x).type.dtype
        require(old.type.dtype == dtype)
        half = dtype in HALVES
        made = _times(product(x, y, F32) if half else product(x, y), alpha)
        _require_expands(old, made.type.shape)
        if beta != 0:
            made = _times(cast_to(old, made.type.dtype), beta) + made
        return cast_to(made, dtype)

    return row


def _addr(base: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Node:
    old, first, second = _given(base), _given(x), _given(y)
    _require_expands(old, (first.type.size, second.type.size))
    dtype = result_dtype(old, first, second)
    old, first, second = (cast_to(t, dtype) for t in (old, first, second))
    for factor in (beta, alpha):
        if factor.__class__ is not int or factor != 1:
            require_factor(factor, dtype)
    column = ops.reshape(first, shape=(first.type.size, 1))
    made: Node
    if dtype is BOOL:
        outer = column & second & cast_to(alpha, BOOL)
        made = outer if not beta else old | outer
        return made
    outer = _times(column, alpha) * second
    made = outer if beta == 0 else _times(old, beta) + outer
    return made


def _sum_of_products(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    return ops.reduce_sum(_bmm(x, y, dtype), axes=(0,))


def _int_mm(x: Any, y: Any) -> Node:
    """The product of matrices of bytes, in s32."""
    require(x.ndim == y.ndim == 2 and y.dtype == torch.int8)
    require(x.dtype in (torch.int8, torch.uint8))
    wide = (cast_to(_given(t), S32) for t in (x, y))
    return ops.dot_general(*wide, contract=((1,), (0,)))


ROWS: dict[str, Row] = {
    "_int_mm": _int_mm,
    "mm": _mm,
    "bmm": _bmm,
    "mv": _mv,
    "dot": _dot,
    "vdot": _vdot,
    "addmm": _added(_mm),
    "addmv": _addmv,
    "baddbmm": _added(_bmm),
    "addbmm": _added(_sum_of_products),
    "addr": _addr,
}


rows(ROWS, pure=True)
