"""Registration of linear algebra rows: torch's shape inference refuses their operands, and their
results lie column by column, as LAPACK makes them."""

from __future__ import annotations

from typing import Any, Final

import torch

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.geometry import in_order
from lazytensor.frontends.torch.dispatch.inference import infer, is_structured
from lazytensor.frontends.torch.dispatch.kernels import functional, variants
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.dispatch.verdicts import overload
from lazytensor.frontends.torch.tensors.tensor import is_lazy, laid

COLUMNS: Final[dict[str, tuple[int, ...]]] = {
    "_linalg_det": (1,),
    "_linalg_slogdet": (2,),
    "linalg_inv_ex": (0,),
    "linalg_cholesky_ex": (0,),
    "cholesky": (0,),
    "cholesky_inverse": (0,),
    "_cholesky_solve_helper": (0,),
    "_linalg_solve_ex": (0, 1),
    "linalg_solve_triangular": (0,),
    "triangular_solve": (0, 1),
    "linalg_lu_solve": (0,),
    "linalg_lu_factor_ex": (0,),
    "linalg_qr": (0, 1),
    "_linalg_svd": (0, 2),
    "_linalg_eigh": (1,),
    "linalg_eig": (1,),
    "linalg_householder_product": (0,),
    "ormqr": (0,),
}
"""For each operation, which results are matrices that lie column by column."""


def matrix_rows(table: dict[str, Row]) -> None:
    """Register rows and their variants, with torch's errors and layouts."""
    for name, row in table.items():
        if is_structured(op := overload(name)):
            row = _inferred(op, row)
        register(name, functional(name, _laying(COLUMNS.get(name, ()), row)), translated=True)
        variants(name, row)


def _inferred(op: Any, row: Row) -> Row:
    """The row, which refuses operands that the inference of `op` refuses."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        if all(is_lazy(x) for x in args if isinstance(x, torch.Tensor)):
            infer(op, args, kwargs)
        return row(*args, **kwargs)

    return checked


def is_vector(a: Node, b: Node) -> bool:
    """Whether the right side of an equation is a vector for each matrix."""
    ndim, shape = a.type.ndim, b.type.shape
    return len(shape) == 1 or (len(shape) == ndim - 1 and shape == a.type.shape[:-1])


def _laying(columns: tuple[int, ...], row: Row) -> Row:
    def lying(*args: Any, **kwargs: Any) -> Any:
        made = row(*args, **kwargs)
        if not kwargs.get("left", True):
            return made
        several = isinstance(made, tuple)
        found = list(made) if several else [made]
        for place in columns:
            if found[place].type.ndim >= 2:
                found[place] = by_columns(found[place])
        return tuple(found) if several else found[0]

    return lying


def by_columns(made: Node) -> Any:
    """A tensor of matrices that lie column by column."""
    ndim = made.type.ndim
    return laid(made, in_order(made.type.shape, (*range(ndim - 2), ndim - 1, ndim - 2)))
