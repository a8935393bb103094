"""`numpy.linalg` over lazy arrays.

NumPy's own Python code runs over the kernels below, which replace its compiled `_umath_linalg`.
Wrong shapes raise at once. A matrix that cannot be factored raises when the program runs, or at
once if an `except` is around the call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.linalg import LinAlgError

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.except_table import is_caught
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.recording import thread, user_place
from lazytensor.core.runtime import scheduler
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import ndarray, wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand
from lazytensor.frontends.numpy.functions.differences import part
from lazytensor.frontends.numpy.functions.entry import Function, dressed, hosted, lazily
from lazytensor.frontends.numpy.functions.indices import every
from lazytensor.frontends.numpy.functions.rebound import SURFACE, rebound
from lazytensor.frontends.numpy.functions.reductions import axes_of
from lazytensor.frontends.numpy.host import parts
from lazytensor.frontends.numpy.host.fallback import on_host
from lazytensor.frontends.numpy.host.small import all_stay, entered
from lazytensor.frontends.numpy.modules import rest_of
from lazytensor.frontends.numpy.ufuncs import checks
from lazytensor.frontends.numpy.ufuncs.errors import as_numpy, dummy, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert, number

SINGULAR = "Singular matrix"
NOT_POSITIVE = "Matrix is not positive definite"
NO_EIGENVALUES = "Eigenvalues did not converge"
NO_SVD = "SVD did not converge"

Kernel = Callable[..., Any]


def _signed(nodes: list[Node], signature: str | None) -> list[Node]:
    """Operands converted to the dtypes of a signature, such as `dd->d`."""
    if signature is None:
        return nodes
    letters = signature.split("->")[0]
    return [convert(n, np.dtype(k)) for n, k in zip(nodes, letters, strict=False)]


def _sure(results: Any, ok: Node, text: str) -> list[Node]:
    """Results guarded by `ok`, which says for each matrix whether they are valid."""
    flag = ops.guard(every(ok) if ok.type.ndim else ok, error=LinAlgError, text=text)
    made = [ops.guarded(node, flag) for node in results]
    place = user_place()
    if place is not None and is_caught(place) and not thread.recorder.tracing:
        scheduler.sync(*made, cause="except")  # an error must be raised inside the handler
    return made


def _kernel(op: Op[Any], text: str | None = None, **attrs: Any) -> Kernel:
    """A kernel of one op of matrices. With `text`, the op is a checked one."""

    def run(*arrays: Any, signature: str | None = None, **_: Any) -> Any:
        nodes = _signed([operand(x) for x in arrays], signature)
        made = op(*nodes, **attrs)
        results = list(made) if isinstance(made, tuple) else [made]
        if text is not None:
            *results, ok = results
            results = _sure(results, ok, text)
        wrapped = tuple(map(wrap_result, results))
        return wrapped if len(wrapped) > 1 else wrapped[0]

    return run


def _solve(a: Any, b: Any, signature: str | None = None) -> Any:
    """Solve systems of equations. The stacks of `a` and `b` are broadcast."""
    left, right = _signed([operand(a), operand(b)], signature)
    try:
        left, right = ops.stacked(left, right)
    except ShapeError as error:
        as_numpy(error, np.linalg.solve, dummy(left.type), dummy(right.type))
    refuse_unless(left.type.shape[-1] == right.type.shape[-2])
    made, ok = ops.solve_checked(left, right)
    return wrap(_sure([made], ok, SINGULAR)[0])


def _solve_vector(a: Any, b: Any, signature: str | None = None) -> Any:
    """Solve systems of equations with one right-hand side each."""
    matrix, line = operand(a), operand(b)
    if matrix.type.shape[-1] != line.type.shape[-1]:
        np.linalg.solve(dummy(matrix.type), dummy(line.type))  # raises
    return _solve(a, asarray(b)[..., None], signature)[..., 0]


class Kernels:
    """Replaces NumPy's compiled module `_umath_linalg` in its Python code."""

    cholesky_lo = staticmethod(_kernel(ops.cholesky_checked, NOT_POSITIVE, lower=True))
    cholesky_up = staticmethod(_kernel(ops.cholesky_checked, NOT_POSITIVE, lower=False))
    det = staticmethod(_kernel(ops.det))
    eigh_lo = staticmethod(_kernel(ops.eigh_checked, NO_EIGENVALUES, lower=True))
    eigh_up = staticmethod(_kernel(ops.eigh_checked, NO_EIGENVALUES, lower=False))
    eigvalsh_lo = staticmethod(_kernel(ops.eigvalsh_checked, NO_EIGENVALUES, lower=True))
    eigvalsh_up = staticmethod(_kernel(ops.eigvalsh_checked, NO_EIGENVALUES, lower=False))
    inv = staticmethod(_kernel(ops.inv_checked, SINGULAR))
    slogdet = staticmethod(_kernel(ops.slogdet))
    solve = staticmethod(_solve)
    solve1 = staticmethod(_solve_vector)
    svd = staticmethod(_kernel(ops.singular_values_checked, NO_SVD))
    svd_f = staticmethod(_kernel(ops.svd_checked, NO_SVD, full=True))
    svd_m = svd_n = svd
    svd_m_f = svd_n_f = svd_f
    svd_s = staticmethod(_kernel(ops.svd_checked, NO_SVD, full=False))
    svd_m_s = svd_n_s = svd_s  # two names for one before NumPy 2.2


def _made_array(a: Any) -> tuple[Any, Function]:
    """An array, and a wrapper for results that leaves them as they are."""
    return asarray(a), lambda result, *_: result


SURFACE["_umath_linalg"] = Kernels
SURFACE["_makearray"] = _made_array

_norm_of_numpy = rebound("norm", of=np.linalg)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """See numpy.linalg.norm."""
    node = operand(x)
    plain = ord is None or (ord == 2 and (node.type.ndim == 1 or isinstance(axis, int)))
    frobenius = isinstance(ord, str) and ord == "fro" and axis is None and node.type.ndim == 2
    if not plain and not frobenius:
        return _norm_of_numpy(x, ord, axis, keepdims)
    if node.type.dtype.kind in "biu":
        node = convert(node, np.dtype(np.float64))
    axes = axes_of(axis, node.type.ndim)
    if axis is not None and len(axes) > 2:
        raise ValueError("Improper number of dimensions to norm.")
    made = ops.norm2(node, axes=axes, keepdims=bool(keepdims))
    if checks.current() is not checks.OFF:
        _check_norm(node, made, axis, axes)
    return wrap_result(made)


def _check_norm(node: Node, made: Node, axis: Any, axes: tuple[int, ...]) -> None:
    """Check the operations that NumPy uses: a dot product, or sums of squares over axes."""
    if axis is None:
        checks.check("dot", [node], made, axes=None)
        return
    squares = ops.square(ops.abs(node))
    checks.check("multiply", [node], squares)
    checks.check("reduce", [squares], ops.reduce_sum(squares, axes=axes), axes=axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """See numpy.linalg.vecdot."""
    return np.vecdot(np.moveaxis(asarray(x1), axis, -1), np.moveaxis(asarray(x2), axis, -1))


def qr(a: Any, mode: str = "reduced") -> Any:
    """See numpy.linalg.qr."""
    if mode not in ("reduced", "complete", "r"):
        return on_host("qr", np.linalg.qr, (a, mode), {})
    node = operand(a)
    if node.type.ndim < 2:
        raise LinAlgError(
            f"{node.type.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    given, wide = _computed_in(node)
    q, r = (convert(part, given) for part in ops.qr(wide, full=mode == "complete"))
    if mode == "r":
        return wrap(r)
    named: Any = np.linalg._linalg.QRResult
    return named(wrap(q), wrap(r))


def _computed_in(node: Node) -> tuple[np.dtype, Node]:
    """The dtype of the results, and the operand in the dtype that LAPACK computes in."""
    dtype = node.type.dtype
    if dtype.kind in "biu":
        dtype = np.dtype(np.float64)
    elif dtype not in map(np.dtype, "fdFD"):
        raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    return dtype, convert(node, np.dtype("D" if dtype.kind == "c" else "d"))


def cond(x: Any, p: Any = None) -> Any:
    """See numpy.linalg.cond."""
    array = asarray(x)
    if not array.size and math.prod(array.shape[-2:]) == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = operand(LAZY["svd"](array, compute_uv=False))
        places = (-1, 0) if p == -2 else (0, -1)
        made = ops.divide(*(_last_at(s, place) for place in places))
    else:
        np.linalg.inv(np.zeros((*array.shape[:-2], 0, 0)) if _square(array) else array)
        given, wide = _computed_in(array.node)
        own, inverse = (norm(wrap(node), p, (-2, -1)) for node in (wide, ops.inv(wide)))
        made = operand(own) * operand(inverse)
        made = convert(made, np.dtype(given.char.lower()))
    missing = ops.is_nan(made)
    if array.dtype.kind in "fc":
        nan = ops.reduce_or(ops.is_nan(array.node), axes=(array.ndim - 2, array.ndim - 1))
        missing = missing & ~nan
    return wrap_result(ops.select(missing, number(math.inf, made.type.dtype), made))


def _last_at(x: Node, place: int) -> Node:
    """The element at `place`, 0 or -1, of the last axis."""
    axis = x.type.ndim - 1
    place %= x.type.shape[axis]
    return ops.reshape(part(x, axis, place, place + 1), shape=x.type.shape[:axis])


def _square(array: Any) -> bool:
    return bool(array.ndim >= 2 and array.shape[-1] == array.shape[-2])


_OWN: dict[str, Function] = {"cond": cond, "norm": norm, "qr": qr, "vecdot": vecdot}
_DATA_DEPENDENT = "eig eigvals lstsq"
"""Functions whose results' dtypes or shapes depend on data."""
_REBOUND = (
    "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose multi_dot outer pinv slogdet solve svd svdvals tensordot tensorinv "
    "tensorsolve trace vector_norm"
)

_AT_ONCE = "cholesky eigh eigvalsh inv solve svd svdvals"
"""LAPACK's decompositions that NumPy computes at once where the host has the matrix."""
_ITERATED = frozenset(["eigh", "eigvalsh", "svd", "svdvals"])
"""Those of them that never return from OpenBLAS if the matrix holds NaN or infinity."""
LARGEST_AT_ONCE: Final = 2**17
"""Most elements of a matrix that NumPy decomposes at once. The cost of a program for a larger one
is negligible. The program can also take in what follows; after a call of NumPy's, OpenBLAS's
threads spin and leave XLA one processor."""


def at_once(function: Function) -> Function:
    """`function`, or NumPy's own at once if the host has the matrix: nothing fuses with it.

    A lazy call would end in LAPACK as well, with a program around it.
    """
    real = getattr(np.linalg, function.__name__)
    iterates = function.__name__ in _ITERATED

    def call(*args: Any, **kwargs: Any) -> Any:
        if settings.small and args and type(args[0]) is ndarray and all_stay(kwargs.values()):
            given = parts.at_hand(args)
            if given is not None and _is_small(given[0], iterates):
                return entered(real(*given, **kwargs))
        return function(*args, **kwargs)

    return dressed(call, real)


def _is_small(a: np.ndarray, finite: bool) -> bool:
    small = a.ndim == 2 and a.size <= LARGEST_AT_ONCE
    return small and (not finite or bool(np.isfinite(a).all()))


LAZY: dict[str, Function] = {
    **{name: rebound(name, of=np.linalg) for name in _REBOUND.split()},
    **{name: lazily(name, own, getattr(np.linalg, name)) for name, own in _OWN.items()},
}
LAZY.update({name: at_once(LAZY[name]) for name in _AT_ONCE.split()})
HOST: dict[str, Function] = {
    name: hosted(name, getattr(np.linalg, name)) for name in _DATA_DEPENDENT.split()
}

globals().update({**LAZY, **HOST})


__getattr__, __dir__ = rest_of(np.linalg, globals())
