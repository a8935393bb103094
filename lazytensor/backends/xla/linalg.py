"""Lowerings of linear algebra: jax's calls of LAPACK, inlined."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.lax import linalg

from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Lowering, Value
from lazytensor.backends.xla.library import Function, call, inlined
from lazytensor.core import ops
from lazytensor.core.dtypes import BOOL
from lazytensor.core.op import Op
from lazytensor.core.ops.linalg import CHECKED
from lazytensor.core.types import tensor_type

Array = jax.Array


def _adjoint(x: Array) -> Array:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _diagonal(x: Array) -> Array:
    return jnp.diagonal(x, axis1=-2, axis2=-1)


def _no_nan(x: Array) -> Array:
    """Per row: whether LAPACK succeeded; where it did not, jax has put NaN everywhere."""
    return jnp.all(~jnp.isnan(x), axis=-1)


def _cholesky(x: Array, *, lower: bool) -> tuple[Array, ...]:
    triangle = linalg.cholesky(x if lower else _adjoint(x), symmetrize_input=False)
    ok = _no_nan(_diagonal(triangle))
    return (triangle if lower else _adjoint(triangle)), ok


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
    u, s, vh = linalg.svd(x, full_matrices=full)
    return u, s, vh, _no_nan(s)


def _singular_values(x: Array) -> tuple[Array, ...]:
    s = linalg.svd(x, compute_uv=False)
    return s, _no_nan(s)


def _eigh(x: Array, *, lower: bool) -> tuple[Array, ...]:
    vectors, values = linalg.eigh(x, lower=lower, symmetrize_input=False)
    return values, vectors, _no_nan(values)


def _eigvalsh(x: Array, *, lower: bool) -> tuple[Array, ...]:
    values, _, ok = _eigh(x, lower=lower)
    return values, ok


def _eig(x: Array) -> tuple[Array, ...]:
    values, vectors = linalg.eig(x, compute_left_eigenvectors=False)
    return values, vectors, _no_nan(values)


def _eigvals(x: Array) -> tuple[Array, ...]:
    (values,) = linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    return values, _no_nan(values)


def _solve(a: Array, b: Array) -> tuple[Array, ...]:
    packed, _, permutation = linalg.lu(a)
    x = jnp.take_along_axis(b, permutation[..., None], axis=-2)
    x = linalg.triangular_solve(packed, x, left_side=True, lower=True, unit_diagonal=True)
    x = linalg.triangular_solve(packed, x, left_side=True, lower=False)
    return x, jnp.all(_diagonal(packed) != 0, axis=-1)


def _inv(x: Array) -> tuple[Array, ...]:
    return _solve(x, jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape))


def _qr(x: Array, *, full: bool) -> tuple[Array, ...]:
    return linalg.qr(x, full_matrices=full)


def _slogdet(x: Array) -> tuple[Array, Array]:
    packed, pivots, _ = linalg.lu(x)
    diagonal = _diagonal(packed)
    size = jnp.abs(diagonal)
    swaps = jnp.sum(pivots != jnp.arange(x.shape[-1]), axis=-1) % 2
    phase = jnp.prod(jnp.where(size == 0, 0, diagonal / size), axis=-1)
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


MAY_FAIL: dict[Op, Function] = {
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

for _op, _function in MAY_FAIL.items():
    LOWERINGS[CHECKED[_op]] = inlined(_function)
    LOWERINGS[_op] = without_flag(_function)

LOWERINGS.update(
    {
        ops.triangular_solve: inlined(_triangular_solve),
        ops.lu: inlined(linalg.lu),
        ops.qr: inlined(_qr),
        ops.det: inlined(_det),
        ops.slogdet: inlined(_slogdet),
    }
)
