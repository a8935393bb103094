"""Lowerings of linear algebra: jax's calls of LAPACK, inlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import jax
import jax.numpy as jnp
from jax.lax import linalg

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, HostRules, Lowering, Rows
from lazytensor.backends.xla.lowerings.library import Function, call, inlined
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.linalg import CHECKED

Array: TypeAlias = jax.Array
BLOCKED_ROWS: Final = 64
PER_ELEMENT: Final = 120
"""Multiplications of LAPACK that count as one element of other work (see `HostRule`): LAPACK takes
eight times as long for them as NumPy does for one element of a function."""


def _adjoint(x: Array) -> Array:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _diagonal(x: Array) -> Array:
    return jnp.diagonal(x, axis1=-2, axis2=-1)


def _flagged(ok: Array, *results: Array) -> tuple[Array, ...]:
    """`results`, NaN where a matrix is not `ok`, and `ok`."""
    wide = [ok.reshape(ok.shape + (1,) * (r.ndim - ok.ndim)) for r in results]
    return *(jnp.where(o, r, jnp.nan) for o, r in zip(wide, results, strict=True)), ok


def _iterated(x: Array, decompose: Callable[[Array], tuple[Array, ...]]) -> tuple[Array, ...]:
    """`decompose(x)`, whose first result is NaN for matrices that failed, and a flag.

    Matrices with NaN or infinity fail here: OpenBLAS may never return for them.
    """
    finite = jnp.all(jnp.isfinite(x), axis=(-1, -2))
    safe = jnp.where(finite[..., None, None], x, 0)
    results = decompose(safe)
    return _flagged(finite & jnp.all(~jnp.isnan(results[0]), axis=-1), *results)


def _cholesky(x: Array, *, lower: bool) -> tuple[Array, ...]:
    triangle = linalg.cholesky(x if lower else _adjoint(x), symmetrize_input=False)
    # Where LAPACK fails jax puts NaN everywhere; NaN in the data spoils only later elements.
    corner = jnp.isnan(triangle[..., :1, :1]) & ~jnp.isnan(x[..., :1, :1])
    ok = ~jnp.any(corner, axis=(-1, -2))
    return _flagged(ok, triangle if lower else _adjoint(triangle))


def _triangular_solve(
    a: Array, b: Array, *, left: bool, lower: bool, transpose: str, unit: bool
) -> Array:
    return linalg.triangular_solve(
        a,
        b,
        left_side=left,
        lower=lower,
        transpose_a=transpose != "none",
        conjugate_a=transpose == "adjoint",
        unit_diagonal=unit,
    )


def _svd(x: Array, *, full: bool) -> tuple[Array, ...]:
    def decompose(finite: Array) -> tuple[Array, ...]:
        u, s, vh = linalg.svd(finite, full_matrices=full)
        return s, u, vh

    s, u, vh, ok = _iterated(x, decompose)
    return u, s, vh, ok


def _singular_values(x: Array) -> tuple[Array, ...]:
    return _iterated(x, lambda finite: (linalg.svd(finite, compute_uv=False),))


def _eigh(x: Array, *, lower: bool) -> tuple[Array, ...]:
    def decompose(finite: Array) -> tuple[Array, ...]:
        vectors, values = linalg.eigh(finite, lower=lower, symmetrize_input=False)
        return values, vectors

    return _iterated(jnp.tril(x) if lower else jnp.triu(x), decompose)


def _eigvalsh(x: Array, *, lower: bool) -> tuple[Array, ...]:
    values, _, ok = _eigh(x, lower=lower)
    return values, ok


def _eig(x: Array) -> tuple[Array, ...]:
    return _iterated(x, lambda finite: linalg.eig(finite, compute_left_eigenvectors=False))


def _eigvals(x: Array) -> tuple[Array, ...]:
    options = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
    return _iterated(x, lambda finite: tuple(linalg.eig(finite, **options)))


def _solve(a: Array, b: Array) -> tuple[Array, ...]:
    packed, _, permutation = linalg.lu(a)
    x = jnp.take_along_axis(b, permutation[..., None], axis=-2)
    x = linalg.triangular_solve(packed, x, left_side=True, lower=True, unit_diagonal=True)
    x = linalg.triangular_solve(packed, x, left_side=True, lower=False)
    return _flagged(jnp.all(_diagonal(packed) != 0, axis=-1), x)


def _inv(x: Array) -> tuple[Array, ...]:
    return _solve(x, jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape))


def _qr(x: Array, *, full: bool) -> tuple[Array, ...]:
    return linalg.qr(x, full_matrices=full)


def _permutation(pivots: Array, *, size: int) -> Array:
    if not size:
        return jnp.zeros((*pivots.shape[:-1], 0), pivots.dtype)
    return linalg.lu_pivots_to_permutation(pivots, size)


def _slogdet(x: Array) -> tuple[Array, Array]:
    packed, pivots, _ = linalg.lu(x)
    diagonal = _diagonal(packed)
    size = jnp.abs(diagonal)
    swaps = jnp.sum(pivots != jnp.arange(x.shape[-1]), axis=-1) % 2
    phases = diagonal / size
    if not jnp.iscomplexobj(x):  # by a comparison, so that infinity has a sign
        phases = jnp.where(diagonal < 0, -1, 1).astype(x.dtype)
    phase = jnp.prod(jnp.where(size == 0, 0, phases), axis=-1)
    return jnp.where(swaps == 1, -phase, phase), jnp.sum(jnp.log(size), axis=-1)


def _det(x: Array) -> Array:
    sign, logabs = _slogdet(x)
    return sign * jnp.exp(logabs).astype(x.dtype)


def without_flag(function: Function) -> Lowering:
    """A row: all but the last result of `function`, whose type is pred[batch]."""

    def lower(e: Emitter, type: Any, *operands: Value, **attrs: Any) -> Any:
        types = type if isinstance(type, tuple) else (type,)
        flag = tensor_type(BOOL, operands[0].type.shape[:-2])
        results = call(e, function, (*types, flag), operands, **attrs)[:-1]
        return results if isinstance(type, tuple) else results[0]

    return lower


MAY_FAIL: dict[Op[Any], Function] = {
    ops.cholesky: _cholesky,
    ops.svd: _svd,
    ops.singular_values: _singular_values,
    ops.eigh: _eigh,
    ops.eigvalsh: _eigvalsh,
    ops.eig: _eig,
    ops.eigvals: _eigvals,
    ops.inv: _inv,
    ops.solve: _solve,
}

ROWS: Rows = {
    **{op: without_flag(function) for op, function in MAY_FAIL.items()},
    **{CHECKED[op]: inlined(function) for op, function in MAY_FAIL.items()},
    ops.triangular_solve: inlined(_triangular_solve),
    ops.lu: inlined(linalg.lu),
    ops.permutation: inlined(_permutation),
    ops.householder_product: inlined(linalg.householder_product),
    ops.qr: inlined(_qr),
    ops.det: inlined(_det),
    ops.slogdet: inlined(_slogdet),
}


def _large(x: TensorType, *others: TensorType, **_: Any) -> int:
    """NumPy's LAPACK makes fewer copies, and shares its threads with NumPy's BLAS.

    jax calls SciPy's LAPACK, which has threads of its own: right after NumPy's BLAS, both compete
    for the processors and take twice as long. So the host pays beside some other work, too. For
    `eigvalsh` jax computes the vectors as well, which NumPy does not.
    """
    size = min(x.shape[-2:])
    if size < BLOCKED_ROWS:
        return 0
    products = max(y.size for y in (x, *others)) * size * (4 if x.dtype in COMPLEX else 1)
    return max(products // PER_ELEMENT, 1)


_ON_HOST = (ops.cholesky, ops.eigh, ops.inv, ops.singular_values, ops.solve, ops.svd)
HOST: HostRules = {ops.eigvalsh: _large, ops.eigvalsh_checked: _large}
ALONE: HostRules = {row: _large for op in _ON_HOST for row in (op, CHECKED[op])}
