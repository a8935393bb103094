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
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.tensor import TORCH


def _require_groups(x: Node, y: Node, offs: Any, bias: Any, out_dtype: Any) -> None:
    """Refuse groups that do not fit to the matrices."""
    for type in (x.type, y.type):
        require(type.dtype in (F32, BF16, F16) and type.ndim in (2, 3))
    ndims = x.type.ndim, y.type.ndim
    require(x.type.shape[-1] == y.type.shape[-2] and (2 in ndims) == (offs is not None))
    require(offs is None or (offs.ndim == 1 and offs.dtype.itemsize == 4))
    counts = {t.type.shape[0] for t in (x, y) if t.type.ndim == 3}
    counts |= set() if offs is None else {offs.numel()}
    require(ndims == (2, 2) or len(counts) < 2)
    require(bias is None and out_dtype in (None, TORCH[x.type.dtype]))


def _grouped_mm(
    x: Any, mat2: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Node:
    first, second = operand(x), operand(mat2)
    _require_groups(first, second, offs, bias, out_dtype)
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
