"""Triangular systems and Cholesky factors as loops, for compilers that have no operation for them.

XLA has both. The loops are jax's lowering of the functions below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from lazytensor.backends.xla import client
from lazytensor.backends.xla.builder import PORTABLE, attribute_names, operations
from lazytensor.backends.xla.lowerings import library
from lazytensor.backends.xla.portable.modules import parsed, serialized, tidy
from lazytensor.backends.xla.portable.operations import attribute, type_of
from lazytensor.backends.xla.session import jax
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.types import tensor_type


def _triangular_solve(a: Any, b: Any, **attributes: Any) -> Any:
    """The solution row by row. The rows that are not known yet are zero."""
    np, lax = jax().numpy, jax().lax
    kind, lower = attributes["transpose_a"], attributes["lower"]
    if kind != "NO_TRANSPOSE":
        a, lower = (np.conj(a) if kind == "ADJOINT" else a).mT, not lower
    if not attributes["left_side"]:
        a, b, lower = a.mT, b.mT, not lower
    n = a.shape[-1]

    def row(k: Any, x: Any) -> Any:
        i = k if lower else n - 1 - k
        line = lax.dynamic_slice_in_dim(a, i, 1, axis=-2)
        left = lax.dynamic_slice_in_dim(b, i, 1, axis=-2) - line @ x
        if not attributes["unit_diagonal"]:
            left = left / lax.dynamic_slice_in_dim(line, i, 1, axis=-1)
        return lax.dynamic_update_slice_in_dim(x, left, i, axis=-2)

    found = lax.fori_loop(0, n, row, np.zeros_like(b))
    return found if attributes["left_side"] else found.mT


def _cholesky(a: Any, **attributes: Any) -> Any:
    """The lower factor column by column; of the upper one the adjoint."""
    np, lax = jax().numpy, jax().lax
    n = a.shape[-1]
    if not attributes.get("lower", False):
        a = np.conj(a).mT
    places = np.arange(n)[:, None]

    def column(j: Any, factor: Any) -> Any:
        line = lax.dynamic_slice_in_dim(factor, j, 1, axis=-2)
        left = lax.dynamic_slice_in_dim(a, j, 1, axis=-1) - factor @ np.conj(line).mT
        corner = np.sqrt(lax.dynamic_slice_in_dim(left, j, 1, axis=-2))
        made = np.where(places >= j, left / corner, np.zeros_like(left))
        return lax.dynamic_update_slice_in_dim(factor, made, j, axis=-1)

    found = lax.fori_loop(0, n, column, np.zeros_like(a))
    return found if attributes.get("lower", False) else np.conj(found).mT


LOOPS: Final[dict[str, Callable[..., Any]]] = {
    "stablehlo.cholesky": _cholesky,
    "stablehlo.triangular_solve": _triangular_solve,
}


def expanded(data: bytes) -> bytes:
    """The program with loops in the places of these operations."""
    module = parsed(data)
    with client.context(), ir.Location.unknown():
        found = [op for op in operations(module) if op.name in LOOPS]
        for number, op in enumerate(found):
            _replace(module, op, f"loop_{number}")
    if not found:
        return data
    tidy(module)
    return serialized(module)


def _replace(module: ir.Module, op: Any, name: str) -> None:
    types = [type_of(x.type) for x in op.operands]
    if any(-1 in t.shape for t in types):
        raise Unsupported(f"{op.name} of a size that is known at run time only")
    fixed = tuple((key, attribute(op.attributes[key])) for key in sorted(attribute_names(op)))
    signature = tuple(tensor_type(t.dtype, t.shape) for t in types)
    body = library.bytecode(LOOPS[op.name], signature, fixed, PORTABLE)
    merged = jax().interpreters.mlir.merge_mlir_modules(
        module, name, ir.Module.parse(body, client.context())
    )
    with ir.InsertionPoint(op), op.location:
        made = func.CallOp(
            [op.results[0].type], ir.FlatSymbolRefAttr.get(merged), list(op.operands)
        )
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
