"""Matrix products."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.dtypes import BOOL, F32, S32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import HALVES
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    operand,
    refuse_overflow,
    result_dtype,
)
from lazytensor.frontends.torch.dispatch.refused_dtypes import check_factor
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.tensor import TORCH, is_lazy, value


def _given(x: Any) -> Any:
    """An operand as a node: torch leaves pending conjugations to matrix products."""
    return value(x) if is_lazy(x) else operand(x)


def _pair(x: Any, y: Any) -> tuple[Node, Node]:
    first, second = _given(x), _given(y)
    if first.type.dtype != second.type.dtype:
        names = [_name(t) for t in (x, y)]
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}"
        )
    return first, second


def _name(x: Any) -> str:
    name = str(x.dtype).removeprefix("torch.")
    return _CPP_TYPES.get(name, name)


_CPP_TYPES: Final = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}
"""What C++ calls dtypes."""


def _mm(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    first, second = _pair(x, y)
    (a, b), (c, d) = _matrix(first), _matrix(second)
    if b != c:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a}x{b} and {c}x{d})")
    return ops.dot_general(first, second, contract=((1,), (0,)), dtype=dtype)


def _matrix(x: Node) -> tuple[int, int]:
    if x.type.ndim != 2:
        raise RuntimeError("self must be a matrix")
    return x.type.shape[0], x.type.shape[1]


def _bmm(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    first, second = _pair(x, y)
    if first.type.ndim != 3 or second.type.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    wanted, given = (first.type.shape[0], first.type.shape[2]), second.type.shape[:2]
    if wanted != given:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {list(wanted)} but "
            f"got: {list(given)}."
        )
    return ops.dot_general(first, second, batch=((0,), (0,)), contract=((2,), (1,)), dtype=dtype)


def _check_mv(base: Node | None, x: Node, y: Node) -> None:
    ndims = [1 if base is None else base.type.ndim, x.type.ndim, y.type.ndim]
    if ndims not in ([1, 2, 1], [0, 2, 1]):
        numbers = ", ".join(map(str, ndims))
        raise RuntimeError(f"vector + matrix @ vector expected, got {numbers}")
    (m, n), (k,) = x.type.shape, y.type.shape
    size = m if base is None else base.type.size
    if n != k or size not in (m, 1):
        raise RuntimeError(f"size mismatch, got input ({size}), mat ({m}x{n}), vec ({k})")


def _mv(x: Any, y: Any, dtype: np.dtype | None = None) -> Node:
    pair = _pair(x, y)
    _check_mv(None, *pair)
    return ops.dot_general(*pair, contract=((1,), (0,)), dtype=dtype)


def _addmv(base: Any, x: Any, y: Any, **factors: Any) -> Node:
    _check_mv(_given(base), *_pair(x, y))
    dtype = _given(base).type.dtype
    if dtype in HALVES:  # torch rounds the factors as well, here alone
        for name, factor in factors.items():
            refuse_overflow(factor, dtype)
            factors[name] = float(torch.tensor(factor, dtype=TORCH[dtype]))
    return _added(_mv)(base, x, y, **factors)


def _vectors(x: Any, y: Any) -> tuple[Node, Node]:
    first, second = _given(x), _given(y)
    if first.type.dtype != second.type.dtype:
        names = [dtype_name(t.dtype) for t in (x, y)]
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {names[0]} and {names[1]}"
        )
    if first.type.ndim != 1 or second.type.ndim != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {first.type.ndim}D and {second.type.ndim}D tensors"
        )
    if first.type.shape != second.type.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{first.type.size}] and src "
            f"[{second.type.size}] to have the same number of elements, but got "
            f"{first.type.size} and {second.type.size} elements respectively"
        )
    return first, second


def _dot(x: Any, y: Any) -> Node:
    return ops.dot_general(*_vectors(x, y), contract=((0,), (0,)))


def _vdot(x: Any, y: Any) -> Node:
    first, second = _vectors(x, y)
    return ops.dot_general(ops.conj(first), second, contract=((0,), (0,)))


def _times(x: Node, factor: Any) -> Node:
    if factor == 1:
        return x
    refuse_overflow(factor, x.type.dtype)
    return x * cast_to(factor, x.type.dtype)


def _check_expands(base: Any, shape: Shape) -> None:
    """Raise torch's error where the base of a sum does not broadcast to `shape`."""
    own = tuple(base.shape)
    if own != shape and (
        len(own) > len(shape)
        or any(n not in (1, m) for n, m in zip(reversed(own), reversed(shape), strict=False))
    ):
        base.expand(shape)


def _added(product: Row) -> Row:
    """`beta * base + alpha * product`. Halves are added in f32, and rounded once."""

    def row(base: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Node:
        old, dtype = _given(base), _given(x).type.dtype
        if old.type.dtype != dtype:
            raise DTypeError(f"addmm: one dtype is needed, got {old.type} and {x.dtype}")
        half = dtype in HALVES
        made = _times(product(x, y, F32) if half else product(x, y), alpha)
        _check_expands(base, made.type.shape)
        if beta != 0:
            made = _times(cast_to(old, made.type.dtype), beta) + made
        return cast_to(made, dtype)

    return row


def _addr(base: Any, x: Any, y: Any, *, beta: Any = 1, alpha: Any = 1) -> Node:
    old, first, second = _given(base), _given(x), _given(y)
    _check_expands(base, (first.type.size, second.type.size))
    dtype = result_dtype(old, first, second)
    old, first, second = (cast_to(t, dtype) for t in (old, first, second))
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if factor.__class__ is not int or factor != 1:
            check_factor(factor, dtype, name)
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
    for word, given in (("self", x), ("mat2", y)):
        if given.ndim != 2:
            raise RuntimeError(
                f"{_INT_MM}: Expected {word} to be of dimension 2 but got {given.ndim}"
            )
    n, m = x.shape[1], y.shape[0]
    if n != m:
        raise RuntimeError(
            f"{_INT_MM}: self.size(1) needs to match mat2.size(0) but got {n} and {m}"
        )
    if x.dtype not in (torch.int8, torch.uint8):
        raise RuntimeError(f"{_INT_MM}: Expected self dtype to be int8 or uint8 but got {_name(x)}")
    if y.dtype != torch.int8:
        raise RuntimeError(f"{_INT_MM}: Expected mat2 dtype to be of type int8 but got {_name(y)}")
    wide = (cast_to(_given(t), S32) for t in (x, y))
    return ops.dot_general(*wide, contract=((1,), (0,)))


_INT_MM: Final = "int_mm_out_cpu"
"""What torch calls it in its errors."""


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
