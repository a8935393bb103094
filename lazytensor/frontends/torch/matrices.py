"""Rows of linear algebra: what torch raises for operands that are no matrices, and how it lays
results, which LAPACK makes column by column."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from lazytensor.core.dtypes import BF16, F16
from lazytensor.core.node import Node
from lazytensor.frontends.torch.errors import dtype_name
from lazytensor.frontends.torch.kernels import Row, functional, register, variants
from lazytensor.frontends.torch.promotion import is_inexact, operand
from lazytensor.frontends.torch.strides import in_order
from lazytensor.frontends.torch.tensor import TORCH, laid

_FEW: Final = "{0}: The input tensor A must have at least 2 dimensions."
_SIZE: Final = "{0}: Expected tensor with 2 or more dimensions. Got size: {1} instead"


class Rule(NamedTuple):
    """What torch calls an operation, what it asks of its matrix, and how its results lie."""

    name: str
    columns: tuple[int, ...] = ()
    """Which results are matrices that lie column by column."""
    square: bool = True
    place: int = 0
    """Which argument is the matrix."""
    other: int | None = None
    """Which argument is the right side of an equation."""
    vectors: bool = False
    """Whether the right side may be a vector for each matrix."""
    few: str = _FEW


RULES: Final[dict[str, Rule]] = {
    "_linalg_det": Rule("linalg.det", (1,)),
    "_linalg_slogdet": Rule("linalg.slogdet", (2,)),
    "linalg_inv_ex": Rule("linalg.inv", (0,)),
    "linalg_cholesky_ex": Rule("linalg.cholesky", (0,)),
    "cholesky": Rule("cholesky", (0,)),
    "cholesky_inverse": Rule("cholesky_inverse", (0,)),
    "_cholesky_solve_helper": Rule("cholesky_solve", (0,), place=1),
    "_linalg_solve_ex": Rule("linalg.solve", (0, 1), other=1, vectors=True),
    "linalg_solve_triangular": Rule("linalg.solve_triangular", (0,), other=1),
    "triangular_solve": Rule("", (0, 1), place=1),
    "linalg_lu_solve": Rule("torch.linalg.lu_solve", (0,), other=2),
    "linalg_lu_factor_ex": Rule("torch.lu_factor", (0,), square=False, few=_SIZE),
    "linalg_lu": Rule("linalg.lu", square=False, few=_SIZE),
    "linalg_qr": Rule("linalg.qr", (0, 1), square=False),
    "_linalg_svd": Rule("linalg.svd", (0, 2), square=False),
    "_linalg_eigh": Rule("linalg.eigh", (1,)),
    "linalg_eig": Rule("linalg.eig", (1,)),
    "_linalg_eigvals": Rule("linalg.eigvals"),
    "linalg_matrix_exp": Rule("linalg.matrix_exp"),
    "linalg_householder_product": Rule(
        "torch.linalg.householder_product", (0,), square=False,
        few="{0}: input must have at least 2 dimensions.",
    ),
    "ormqr": Rule(
        "torch.ormqr", (0,), square=False, few="{0}: input must have at least 2 dimensions."
    ),
}  # fmt: skip


def matrix_rows(table: dict[str, Row]) -> None:
    """Register rows, and their variants, which raise and lay as torch does."""
    for name, row in table.items():
        rule = RULES.get(name)
        if rule is not None:
            row = _checking(rule, row)
        made = row if rule is None else _laying(rule, row)
        register(name, functional(name, made), translated=True)
        variants(name, row)


def _checking(rule: Rule, row: Row) -> Row:
    def checked(*args: Any, **kwargs: Any) -> Any:
        matrix = operand(args[rule.place])
        _check(rule, matrix)
        if rule.other is not None:
            right = operand(args[rule.other])
            _check_equation(rule, matrix, right, kwargs.get("left", True))
        return row(*args, **kwargs)

    return checked


def _check(rule: Rule, x: Node) -> None:
    shape, dtype = list(x.type.shape), x.type.dtype
    if len(shape) < 2:
        raise RuntimeError(rule.few.format(rule.name, shape))
    m, n = shape[-2:]
    if rule.square and m != n:
        name = f"{rule.name}: " if rule.name else ""
        raise RuntimeError(
            f"{name}A must be batches of square matrices, but they are {m} by {n} matrices"
        )
    word = dtype_name(TORCH[dtype])
    if not is_inexact(dtype):
        raise RuntimeError(
            f"{rule.name}: Expected a floating point or complex tensor as input. Got {word}"
        )
    if dtype in (F16, BF16) and rule.name != "linalg.matrix_exp":
        raise RuntimeError(f"{rule.name}: Low precision dtypes not supported. Got {word}")


def is_vector(a: Node, b: Node) -> bool:
    """Whether the right side of an equation is a vector for each matrix."""
    ndim, shape = a.type.ndim, b.type.shape
    return len(shape) == 1 or (len(shape) == ndim - 1 and shape == a.type.shape[:-1])


def _check_equation(rule: Rule, a: Node, b: Node, left: bool) -> None:
    if a.type.dtype != b.type.dtype:
        names = [dtype_name(TORCH[t.type.dtype]) for t in (a, b)]
        raise RuntimeError(
            f"{rule.name}: Expected A and B to have the same dtype, but found A of type {names[0]} "
            f"and B of type {names[1]} instead"
        )
    name, shape = rule.name.removeprefix("torch."), b.type.shape
    if rule.vectors and is_vector(a, b):
        shape = (*shape, 1)
    if len(shape) < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    n, (rows, columns) = a.type.shape[-1], shape[-2:]
    if (rows if left else columns) != n:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({n}x{n} and {rows}x{columns})"
        )


def _laying(rule: Rule, row: Row) -> Row:
    def lying(*args: Any, **kwargs: Any) -> Any:
        made = row(*args, **kwargs)
        if not kwargs.get("left", True):
            return made
        several = isinstance(made, tuple)
        found = list(made) if several else [made]
        for place in rule.columns:
            if found[place].type.ndim >= 2:
                found[place] = by_columns(found[place])
        return tuple(found) if several else found[0]

    return lying


def by_columns(made: Node) -> Any:
    """A tensor of matrices that lie column by column."""
    ndim = made.type.ndim
    return laid(made, in_order(made.type.shape, (*range(ndim - 2), ndim - 1, ndim - 2)))
