"""Linear algebra in jax, which calls LAPACK: what `linalg.py` lowers by library.

Importing this module imports jax.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax.lax import linalg

Array: TypeAlias = jax.Array


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


def cholesky(x: Array, *, lower: bool) -> tuple[Array, ...]:
    triangle = linalg.cholesky(x if lower else _adjoint(x), symmetrize_input=False)
    # Where LAPACK fails jax puts NaN everywhere; NaN in the data spoils only later elements.
    corner = jnp.isnan(triangle[..., :1, :1]) & ~jnp.isnan(x[..., :1, :1])
    ok = ~jnp.any(corner, axis=(-1, -2))
    return _flagged(ok, triangle if lower else _adjoint(triangle))


def triangular_solve(
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


def svd(x: Array, *, full: bool) -> tuple[Array, ...]:
    def decompose(finite: Array) -> tuple[Array, ...]:
        u, s, vh = linalg.svd(finite, full_matrices=full)
        return s, u, vh

    s, u, vh, ok = _iterated(x, decompose)
    return u, s, vh, ok


def singular_values(x: Array) -> tuple[Array, ...]:
    return _iterated(x, lambda finite: (linalg.svd(finite, compute_uv=False),))


def eigh(x: Array, *, lower: bool) -> tuple[Array, ...]:
    def decompose(finite: Array) -> tuple[Array, ...]:
        vectors, values = linalg.eigh(finite, lower=lower, symmetrize_input=False)
        return values, vectors

    return _iterated(jnp.tril(x) if lower else jnp.triu(x), decompose)


def eigvalsh(x: Array, *, lower: bool) -> tuple[Array, ...]:
    values, _, ok = eigh(x, lower=lower)
    return values, ok


def eig(x: Array) -> tuple[Array, ...]:
    return _iterated(x, lambda finite: linalg.eig(finite, compute_left_eigenvectors=False))


def eigvals(x: Array) -> tuple[Array, ...]:
    options = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
    return _iterated(x, lambda finite: tuple(linalg.eig(finite, **options)))


def solve(a: Array, b: Array) -> tuple[Array, ...]:
    packed, _, permutation = linalg.lu(a)
    x = jnp.take_along_axis(b, permutation[..., None], axis=-2)
    x = linalg.triangular_solve(packed, x, left_side=True, lower=True, unit_diagonal=True)
    x = linalg.triangular_solve(packed, x, left_side=True, lower=False)
    return _flagged(jnp.all(_diagonal(packed) != 0, axis=-1), x)


def inv(x: Array) -> tuple[Array, ...]:
    return solve(x, jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape))


def qr(x: Array, *, full: bool) -> tuple[Array, ...]:
    return linalg.qr(x, full_matrices=full)


def permutation(pivots: Array, *, size: int) -> Array:
    if not size:
        return jnp.zeros((*pivots.shape[:-1], 0), pivots.dtype)
    return linalg.lu_pivots_to_permutation(pivots, size)


def slogdet(x: Array) -> tuple[Array, Array]:
    packed, pivots, _ = linalg.lu(x)
    diagonal = _diagonal(packed)
    size = jnp.abs(diagonal)
    swaps = jnp.sum(pivots != jnp.arange(x.shape[-1]), axis=-1) % 2
    phases = diagonal / size
    if not jnp.iscomplexobj(x):  # by a comparison, so that infinity has a sign
        phases = jnp.where(diagonal < 0, -1, 1).astype(x.dtype)
    phase = jnp.prod(jnp.where(size == 0, 0, phases), axis=-1)
    return jnp.where(swaps == 1, -phase, phase), jnp.sum(jnp.log(size), axis=-1)


def det(x: Array) -> Array:
    sign, logabs = slogdet(x)
    return sign * jnp.exp(logabs).astype(x.dtype)
