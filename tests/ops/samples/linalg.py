"""Samples of linear algebra.

NumPy computes f32 and c64 in f64 and c128, XLA as they are: eigenvectors may then differ in sign,
so those are sampled in f64 and c128, and for the others tests/ops/test_linalg.py states their laws.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.op import Op
from lazytensor.core.ops.linalg import CHECKED
from tests.ops.sample import Refusal, Sample

DTYPES = ("float32", "float64", "complex64", "complex128")
WIDE = ("float64", "complex128")
TOLERANCE = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-13}
REASON = "rounding errors of an elimination, not in NumPy's order"
SHAPES = {"float64": ((4, 4), (0, 0), (0, 3, 3))}
TALL_AND_WIDE = {"float64": ((5, 3), (3, 5), (0, 3), (3, 0))}


def matrix(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """A matrix, or a batch, far from singular."""
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    x = x + 4 * np.eye(*shape[-2:])
    return (x if np.dtype(dtype).kind == "c" else x.real).astype(dtype)


def positive(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """A Hermitian matrix, or a batch, positive definite."""
    x = matrix(shape, dtype)
    return x @ np.conj(np.swapaxes(x, -1, -2))


def _rows(op: Op, operands: tuple[np.ndarray, ...], **attrs: Any) -> list[Sample]:
    tolerance = TOLERANCE[operands[0].dtype.name]
    twins = (op, CHECKED[op]) if op in CHECKED else (op,)
    return [Sample(twin, operands, attrs, tolerance, REASON) for twin in twins]


def _square(dtype: str, shape: tuple[int, ...]) -> list[Sample]:
    x, right = matrix(shape, dtype), matrix((*shape[:-1], 2), dtype)
    rows = [row for op in (ops.inv, ops.det, ops.slogdet, ops.eigvals) for row in _rows(op, (x,))]
    rows += _rows(ops.solve, (x, right))
    for lower in (True, False):
        rows += _rows(ops.cholesky, (positive(shape, dtype),), lower=lower)
        rows += _rows(ops.eigvalsh, (positive(shape, dtype),), lower=lower)
    if dtype in WIDE:
        rows += _rows(ops.eigh, (positive(shape, dtype),)) + _rows(ops.eig, (x,))
    return rows


def _rectangular(dtype: str, shape: tuple[int, ...]) -> list[Sample]:
    x = matrix(shape, dtype)
    rows = _rows(ops.lu, (x,)) + _rows(ops.singular_values, (x,))
    if shape[-2] >= shape[-1]:
        factors = matrix((*shape[:-2], 2, shape[-1]), dtype)[..., 1, :]
        rows += _rows(ops.householder_product, (x, factors))
    for full in (True, False):
        rows += _rows(ops.qr, (x,), full=full)
        if dtype in WIDE:
            rows += _rows(ops.svd, (x,), full=full)
    return rows


def _triangular(dtype: str, shape: tuple[int, ...], left: bool) -> list[Sample]:
    a = matrix(shape, dtype)
    b = matrix((*shape[:-1], 2) if left else (*shape[:-2], 2, shape[-1]), dtype)
    return [
        Sample(
            ops.triangular_solve,
            (a, b),
            {"left": left, "lower": lower, "transpose": transpose, "unit": unit},
            TOLERANCE[dtype],
            REASON,
        )
        for lower, transpose, unit in product(
            (True, False), ("none", "transpose", "adjoint"), (True, False)
        )
    ]


def _failing() -> list[Sample]:
    """A batch whose first matrix is well, and whose others fail or hold what is not a number."""
    well, nothing = np.diag([1.0, 2.0, 3.0]), np.zeros((3, 3))
    singular = np.array([[1.0, 2, 0], [2, 4, 0], [0, 0, 1]])
    holes = [np.where(well == n, value, well) for n in (1, 3) for value in (np.nan, np.inf)]
    batch = np.stack([well, nothing, singular, -well, *holes])
    rows = [_rows(op, (batch,)) for op in CHECKED if op is not ops.solve]
    return [row for found in rows for row in found] + _rows(ops.solve, (batch, batch))


def _every(
    rows: Callable[[str, tuple[int, ...]], list[Sample]],
    shapes: dict[str, tuple[tuple[int, ...], ...]],
    batch: tuple[int, ...],
) -> list[Sample]:
    cases = [(dtype, shape) for dtype in DTYPES for shape in (batch, *shapes.get(dtype, ()))]
    return [row for case in cases for row in rows(*case)]


SAMPLES = [
    *_every(_square, SHAPES, (2, 3, 3)),
    *_every(_rectangular, TALL_AND_WIDE, (2, 4, 3)),
    *(row for left in (True, False) for row in _triangular("complex128", (4, 4), left)),
    *(row for dtype in ("float32", "complex64") for row in _triangular(dtype, (2, 3, 3), True)),
    *(row for row in _triangular("float64", (0, 0), True)),
    *_failing(),
]

SAMPLES += [
    Sample(ops.permutation, (np.array(pivots, np.int32),), {"size": size})
    for pivots, size in (([2, 1, 3, 3], 4), ([[1, 2], [2, 1]], 3), (np.zeros((2, 0)), 0))
]

_ONE = [ops.cholesky, ops.eigh, ops.eigvalsh, ops.eig, ops.eigvals, ops.det, ops.slogdet, ops.inv]
_ANY = [ops.lu, ops.qr, ops.svd, ops.singular_values]
_PAIR = [ops.solve, ops.triangular_solve]
REFUSALS = [
    *(Refusal(op, (np.eye(3, dtype=np.float16),), DTypeError) for op in _ONE + _ANY),
    *(Refusal(op, (np.eye(3, dtype=np.int64),), DTypeError) for op in _ONE + _ANY),
    *(Refusal(op, (np.zeros(3),), ShapeError) for op in _ONE + _ANY),
    *(Refusal(op, (np.zeros((2, 3)),), ShapeError) for op in _ONE),
    *(Refusal(op, (np.eye(3), np.eye(3, dtype=np.float32)), DTypeError) for op in _PAIR),
    *(Refusal(op, (np.eye(3), np.ones(3)), ShapeError) for op in _PAIR),
    *(Refusal(op, (np.eye(3), np.ones((2, 3))), ShapeError) for op in _PAIR),
    *(Refusal(op, (np.ones((2, 3, 3)), np.ones((3, 3, 1))), ShapeError) for op in _PAIR),
    Refusal(ops.triangular_solve, (np.eye(3), np.eye(3)), ShapeError, {"transpose": "both"}),
    Refusal(ops.permutation, (np.zeros(3, np.int64),), DTypeError, {"size": 3}),
    Refusal(ops.permutation, (np.zeros(3, np.int32),), ShapeError, {"size": 2}),
    Refusal(ops.householder_product, (np.zeros((2, 3)), np.zeros(2)), ShapeError),
    Refusal(ops.householder_product, (np.zeros((3, 2)), np.zeros(3)), ShapeError),
    Refusal(ops.householder_product, (np.zeros((3, 2)), np.zeros(2, np.float32)), DTypeError),
]
