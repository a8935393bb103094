"""`_foreach_…` calls: what optimizers make of lists of parameters.

A row takes nodes of one list element; `List`, `Scalar`, `ScalarList` and `Tensor` overloads differ
only in whether the other operands are lists.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import torch

from lazytensor.frontends.torch import elementwise
from lazytensor.frontends.torch.kernels import KERNELS, Row, register, write
from lazytensor.frontends.torch.promotion import is_inexact, number
from lazytensor.frontends.torch.tensor import ref, wrap

ROWS: dict[str, Row] = {
    "add": elementwise.scaled_add,
    "sub": elementwise.scaled_subtract,
    "mul": elementwise.multiply,
    "div": elementwise.divide,
    "pow": elementwise.power,
    "lerp": elementwise.lerp,
    "addcmul": elementwise.addcmul,
    "addcdiv": elementwise.addcdiv,
    "maximum": elementwise.MADE["maximum"],
    "minimum": elementwise.MADE["minimum"],
    "clamp_max": elementwise.MADE["minimum"],
    "clamp_min": elementwise.MADE["maximum"],
    "sqrt": elementwise.MADE["sqrt"],
    "rsqrt": elementwise.MADE["rsqrt"],
    "reciprocal": elementwise.MADE["reciprocal"],
    "neg": elementwise.MADE["neg"],
    "exp": elementwise.MADE["exp"],
    "abs": elementwise.MADE["abs"],
    "sign": elementwise.MADE["sign"],
    "zero": lambda x: elementwise.multiply(x, 0),
}


def _lists(args: Any, kwargs: Any) -> Any:
    """The arguments of each element of the lists, one after another.

    A number is one slot for the whole list: one each would be a third of an optimizer's nodes.
    """
    if "scalars" in kwargs:
        args = (*args, kwargs["scalars"])
    dtypes = {ref(x).type.dtype for x in args[0]}
    own = dtypes.pop() if len(dtypes) == 1 else None

    def slot(x: Any) -> Any:
        if own is None or not is_inexact(own) or not isinstance(x, int | float):
            return x
        return number(x, own)

    named = {name: slot(x) for name, x in kwargs.items() if name in ("alpha", "value") and x != 1}
    several = [x if isinstance(x, list | tuple) else repeat(slot(x)) for x in args]
    return zip(*several, strict=False), named


def _functional(row: Row) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> list[Any]:
        each, named = _lists(args, kwargs)
        return [wrap(row(*values, **named)) for values in each]

    return kernel


def _in_place(row: Row) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> None:
        each, named = _lists(args, kwargs)
        for values in each:
            write(values[0], row(*values, **named))

    return kernel


def _norm(tensors: Any, ord: Any = 2, dtype: Any = None) -> list[Any]:
    return [torch.linalg.vector_norm(x, ord, dtype=dtype) for x in tensors]


def _copy(tensors: Any, sources: Any, non_blocking: bool = False) -> None:
    for x, y in zip(tensors, sources, strict=True):
        KERNELS["copy_"](x, y)


def attach() -> None:
    """Register every overload of the rows that torch has."""
    for name, row in ROWS.items():
        for base, make in ((f"_foreach_{name}", _functional), (f"_foreach_{name}_", _in_place)):
            for schema in torch._C._jit_get_schemas_for_operator(f"aten::{base}"):
                if not any(a.is_out for a in schema.arguments):
                    register(f"{base}.{schema.overload_name}".rstrip("."), make(row))
    register("_foreach_norm.Scalar", _norm)
    register("_foreach_copy_", _copy)
