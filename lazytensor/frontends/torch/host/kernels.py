"""Ops that torch's CPU kernels run faster than NumPy: its threads, vector units and oneDNN.

The interpreter asks each row for a function, given the types of one instruction. NumPy keeps
simple arithmetic, which memory bounds, and products of matrices, where its BLAS is as fast: torch
computes large ones where its threads spin, beside which a second team of threads would be in the
way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.device.host_threads import SPINNING
from lazytensor.core.interpreter.kernels.contraction import dot_general
from lazytensor.core.interpreter.rows import HOST_KERNELS, HostKernel, Reference
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.contraction import AxesPair
from lazytensor.frontends.torch.host.call import into, on_arrays
from lazytensor.frontends.torch.host.convolution import convolution

SCALAR_ELEMENTS: Final = 2**15
"""Elements from which torch is faster at functions that NumPy computes one by one. Below, torch's
second thread wakes up for next to nothing, and spins beside a compile."""
VECTOR_ELEMENTS: Final = 2**16
"""The same for functions that NumPy has vector code for."""
MEMORY_ELEMENTS: Final = 2**18
"""The same for passes over memory that two threads make faster than one."""
PRODUCTS: Final = 2**20
"""Products of two numbers from which a second thread makes up for the call of torch's kernel."""
SHARED_FLOATS: Final = frozenset([F32, F64])
"""Dtypes of floats that NumPy and torch share."""
aten: Final = torch.ops.aten


def _elementwise(kernel: Callable[..., Any], least: int) -> HostKernel:
    """The row of a kernel of floats with `out=`, from `least` elements."""

    def row(operands: Sequence[TensorType], type: TensorType) -> Reference | None:
        if type.size < least or any(x.ndim and x.shape != type.shape for x in operands):
            return None
        if any(x.dtype not in SHARED_FLOATS or x.dtype != type.dtype for x in operands):
            return None
        return into(kernel, type.dtype, type.shape)

    return row


def _product(
    operands: Sequence[TensorType], type: TensorType, *, contract: AxesPair, **attrs: Any
) -> Reference | None:
    """Products by torch, where its threads spin: NumPy's take one thread then."""
    x, y = operands
    if not SPINNING or x.dtype not in SHARED_FLOATS or not x.dtype == y.dtype == type.dtype:
        return None
    if type.size * math.prod(x.shape[i] for i in contract[0]) < PRODUCTS:
        return None
    return partial(dot_general, contract=contract, matmul=on_arrays(aten.matmul.default), **attrs)


def _sum(
    operands: Sequence[TensorType], type: TensorType, *, axes: tuple[int, ...]
) -> Reference | None:
    (x,) = operands
    if x.size < MEMORY_ELEMENTS or x.dtype not in SHARED_FLOATS or not axes:
        return None
    return into(lambda x, out: aten.sum.IntList_out(x, axes, out=out), type.dtype, type.shape)


SCALAR: Final[dict[Op[Any], Any]] = {
    ops.erf: aten.erf.out,
    ops.erfc: aten.erfc.out,
    ops.expm1: aten.expm1.out,
    ops.log1p: aten.log1p.out,
    ops.logistic: aten.sigmoid.out,
}
VECTOR: Final[dict[Op[Any], Any]] = {
    ops.cos: aten.cos.out,
    ops.exp: aten.exp.out,
    ops.log: aten.log.out,
    ops.sin: aten.sin.out,
    ops.tanh: aten.tanh.out,
}
PASSES: Final[dict[Op[Any], Any]] = {ops.maximum: aten.maximum.out, ops.minimum: aten.minimum.out}
HOST_KERNELS.update({op.name: _elementwise(f, MEMORY_ELEMENTS) for op, f in PASSES.items()})
HOST_KERNELS.update({op.name: _elementwise(f, SCALAR_ELEMENTS) for op, f in SCALAR.items()})
HOST_KERNELS.update({op.name: _elementwise(f, VECTOR_ELEMENTS) for op, f in VECTOR.items()})
HOST_KERNELS[ops.reduce_sum.name] = _sum
HOST_KERNELS[ops.convolution.name] = convolution
HOST_KERNELS[ops.dot_general.name] = _product
