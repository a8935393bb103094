"""Products of groups of rows, each with a matrix of its own, as in mixtures of experts.

The groups' lengths are data. So a loop takes the rows in tiles of one size. A tile ends where its
group does; its rows of the next group are masked.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, F16, F32
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.grouped_products import grouped_product, grouped_sum_of_products
from lazytensor.core.lib.matrices import transposed
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.tensor import TORCH


def _check(x: Node, y: Node, offs: Any, bias: Any, out_dtype: Any) -> None:
    for name, t in (("mat_a", x), ("mat_b", y)):
        if t.type.dtype not in (F32, BF16, F16):
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got "
                f"{dtype_name(TORCH[t.type.dtype])}"
            )
        if t.type.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    flat = x.type.ndim == 2 or y.type.ndim == 2
    sums = x.type.ndim == y.type.ndim == 2
    if x.type.shape[-1] != y.type.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if flat != (offs is not None):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    if offs is not None and offs.ndim != 1:
        raise RuntimeError("offs has to be 1D")
    if offs is not None and TORCH[operand(offs).type.dtype].itemsize != 4:
        raise RuntimeError("Offsets have to be int32")
    counts = [t.type.shape[0] for t in (x, y) if t.type.ndim == 3]
    counts += [] if offs is None else [offs.numel()]
    if not sums and len(set(counts)) > 1:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and out_dtype != TORCH[x.type.dtype]:
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


def _grouped_mm(
    x: Any, mat2: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Node:
    first, second = operand(x), operand(mat2)
    _check(first, second, offs, bias, out_dtype)
    made: Node
    if offs is None:
        made = ops.dot_general(first, second, batch=((0,), (0,)), contract=((2,), (1,)))
        return made
    ends = operand(offs)
    if not first.type.size or not second.type.size:
        shape: tuple[int, ...] = (first.type.shape[-2], second.type.shape[-1])
        shape = shape if first.type.ndim != second.type.ndim else (ends.type.size, *shape)
        return filled(shape, 0, first.type.dtype)
    if first.type.ndim == second.type.ndim:
        made = grouped_sum_of_products(transposed(first), second, ends)
    elif first.type.ndim == 2:
        made = grouped_product(first, second, ends)
    else:
        made = transposed(grouped_product(transposed(second), transposed(first), ends))
    return made


ROWS: dict[str, Row] = {"_grouped_mm": _grouped_mm}


rows(ROWS)
