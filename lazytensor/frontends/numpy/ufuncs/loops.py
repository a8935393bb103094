"""Loops: the dtypes that a ufunc computes in, chosen by NumPy, and what is recorded for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.lib.numerics import Comparison
from lazytensor.frontends.numpy.ufuncs.promotion import (
    CANONICAL,
    PYTHON_NUMBERS,
    WEAK,
    convert,
    number,
)

Kind = Any
"""How an operand promotes: its dtype, or the Python type of a number."""

Body = Callable[..., Any]
Row = Mapping[str, Body]
"""By kinds of dtype (`b`, `iu`, `f`, `c`, as in `dtype.kind`): a function of nodes."""


class Loop(NamedTuple):
    """What a ufunc records for operands of certain kinds. `body` is None if NumPy computes it."""

    dtypes: tuple[np.dtype, ...]
    results: tuple[np.dtype, ...]
    body: Body | None

    def __call__(self, *operands: Any) -> Any:
        """Convert, compute, convert. Returns: a tuple if there are several results."""
        nodes = [fitted(x, dtype) for x, dtype in zip(operands, self.dtypes, strict=True)]
        assert self.body is not None
        made = self.body(*nodes)
        if len(self.results) == 1:
            return convert(made, self.results[0])
        return tuple(map(convert, made, self.results))


def fitted(x: Any, dtype: np.dtype) -> Node:
    """A node or a Python number as a node of `dtype`. Raises: OverflowError."""
    return convert(x, dtype) if isinstance(x, Node) else number(x, dtype)


def kind_letter(dtype: np.dtype) -> str:
    """`b`, `i`, `u`, `f` or `c`. The small floats whose kind in NumPy is void are floats."""
    return "f" if dtype.kind == "V" else dtype.kind


def body_for(row: Row, dtype: np.dtype) -> Body | None:
    """The row's function for a dtype."""
    letter = kind_letter(dtype)
    return next((body for letters, body in row.items() if letter in letters), None)


def resolve(real: np.ufunc, row: Row, kinds: tuple[Kind, ...], **how: Any) -> Loop:
    """The loop that NumPy chooses. Raises: TypeError, as NumPy would."""
    given = [PYTHON_NUMBERS[k] if k is bool else k for k in kinds]
    if all(k in WEAK for k in given):
        given = [PYTHON_NUMBERS[k] for k in given]
    dtypes = real.resolve_dtypes((*given, *[None] * real.nout), **how)
    if not all(dtype in CANONICAL for dtype in dtypes):
        return Loop(dtypes[: real.nin], dtypes[real.nin :], None)
    found = tuple(CANONICAL[dtype] for dtype in dtypes)
    ins, outs = found[: real.nin], found[real.nin :]
    body = body_for(row, ins[0])
    if isinstance(body, Comparison) and ins[0] is ins[1]:
        body = body.op
    return Loop(ins, outs, body if real.signature is not None else _checked(body, ins))


def check(real: np.ufunc, kinds: tuple[Kind, ...], outs: tuple[Any, ...], **how: Any) -> None:
    """Raise NumPy's error for dtypes that do not go together, or cannot be cast to `outs`.

    `resolve_dtypes` must not be called first: it crashes NumPy 2.4 for a Python integer that cannot
    be cast.
    """
    if real.signature is not None:
        given = [PYTHON_NUMBERS.get(k, k) for k in kinds]
        real.resolve_dtypes((*given, *(out if out is None else out.dtype for out in outs)), **how)
        return
    numbers = [k(1) if k in PYTHON_NUMBERS else np.ones(1, k) for k in kinds]
    like: list[Any] = [np.empty(1, out.dtype) if hasattr(out, "dtype") else out for out in outs]
    real(*numbers, out=tuple(like), **how)


def _checked(body: Body | None, dtypes: tuple[np.dtype, ...]) -> Body | None:
    """`body` if the ops in it take these dtypes."""
    if body is None:
        return None
    try:
        trace_types(body, [tensor_type(dtype) for dtype in dtypes], {})
    except DTypeError:
        return None
    return body
