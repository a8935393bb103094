"""Lowerings of linear algebra: jax's calls of LAPACK, inlined."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, HostRules, Lowering, Rows
from lazytensor.backends.xla.lowerings.library import Function, JaxFunction, call, inlined
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.linalg import CHECKED

BLOCKED_ROWS: Final = 64
_JAX: Final = "lazytensor.backends.xla.lowerings.jax_linalg"


def without_flag(function: Function) -> Lowering:
    """A row: all but the last result of `function`, whose type is pred[batch]."""

    def lower(e: Emitter, type: Any, *operands: Value, **attrs: Any) -> Any:
        types = type if isinstance(type, tuple) else (type,)
        flag = tensor_type(BOOL, operands[0].type.shape[:-2])
        results = call(e, function, (*types, flag), operands, **attrs)[:-1]
        return results if isinstance(type, tuple) else results[0]

    return lower


def _linalg(name: str) -> JaxFunction:
    return JaxFunction(_JAX, name)


MAY_FAIL: dict[Op[Any], Function] = {
    ops.cholesky: _linalg("cholesky"),
    ops.svd: _linalg("svd"),
    ops.singular_values: _linalg("singular_values"),
    ops.eigh: _linalg("eigh"),
    ops.eigvalsh: _linalg("eigvalsh"),
    ops.eig: _linalg("eig"),
    ops.eigvals: _linalg("eigvals"),
    ops.inv: _linalg("inv"),
    ops.solve: _linalg("solve"),
}

ROWS: Rows = {
    **{op: without_flag(function) for op, function in MAY_FAIL.items()},
    **{CHECKED[op]: inlined(function) for op, function in MAY_FAIL.items()},
    ops.triangular_solve: inlined(_linalg("triangular_solve")),
    ops.lu: inlined(JaxFunction("jax.lax.linalg", "lu")),
    ops.permutation: inlined(_linalg("permutation")),
    ops.householder_product: inlined(JaxFunction("jax.lax.linalg", "householder_product")),
    ops.qr: inlined(_linalg("qr")),
    ops.det: inlined(_linalg("det")),
    ops.slogdet: inlined(_linalg("slogdet")),
}


def _large(x: TensorType, *_: TensorType, **__: Any) -> bool:
    """NumPy's LAPACK makes fewer copies, and shares its threads with NumPy's BLAS.

    jax calls SciPy's LAPACK, which has threads of its own: right after NumPy's BLAS, both compete
    for the processors and take twice as long. For `eigvalsh` jax computes the vectors as well,
    which NumPy does not.
    """
    return min(x.shape[-2:]) >= BLOCKED_ROWS


_ON_HOST = (
    *(ops.cholesky, ops.eigh, ops.eigvalsh, ops.inv),
    *(ops.singular_values, ops.solve, ops.svd),
)
HOST: HostRules = {row: _large for op in _ON_HOST for row in (op, CHECKED[op])}
