"""`_foreach_…` calls: what optimizers make of lists of parameters.

A row takes nodes of one list element; `List`, `Scalar`, `ScalarList` and `Tensor` overloads differ
only in whether the other operands are lists. Where all is of one dtype of floats, as in an
optimizer, the rows of DIRECT are the op itself, and nothing is promoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.dtypes import F32, FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, scalar, varying
from lazytensor.core.ir.recording import record
from lazytensor.core.lib.numbers import HALVES
from lazytensor.frontends.torch.dispatch.kernels import write
from lazytensor.frontends.torch.dispatch.promotion import cast_to
from lazytensor.frontends.torch.dispatch.refused_dtypes import require_factor
from lazytensor.frontends.torch.dispatch.registry import KERNELS, Row, register
from lazytensor.frontends.torch.rows import elementwise
from lazytensor.frontends.torch.rows.creation import filled, stepping
from lazytensor.frontends.torch.tensors.tensor import ref, wrap

UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor",
    "frac", "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
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
    **{name: elementwise.MADE[name] for name in UNARY},
    "zero": lambda x: filled(x.type.shape, 0, x.type.dtype),
}

DIRECT: dict[str, Op] = {
    "add": ops.add,
    "sub": ops.subtract,
    "mul": ops.multiply,
    "div": ops.divide,
    "lerp": ops.lerp,
    "addcmul": ops.add_product,
    "addcdiv": ops.add_quotient,
    "maximum": ops.maximum,
    "minimum": ops.minimum,
    "sqrt": ops.sqrt,
    "neg": ops.negate,
}
ROUNDED_ONCE = {ops.multiply, ops.divide, ops.lerp, ops.add_product, ops.add_quotient}
"""Ops that halves are computed in f32 for, and rounded once."""
WEIGHED = {ops.add_product, ops.add_quotient}
"""Ops whose last operand is torch's `value`, 1 where it is not given."""


class _ListNumbers:
    """Python numbers as nodes of one dtype: a slot for all the tensors that a number meets.

    One each would be a third of an optimizer's nodes. In an optimizer's step they are data from the
    start: most follow a schedule there, or the count of steps.
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.make = varying if stepping.optimizer else scalar
        self.known: dict[Any, Any] = {}

    def __call__(self, x: Any) -> Any:
        if x.__class__ not in (int, float):
            return x
        found = self.known.get(x)
        if found is None:
            found = self.known[x] = self.make(float(x), self.dtype)
        return found

    def all(self, x: Any) -> Any:
        """A list's, or one for all the list."""
        if not isinstance(x, list):
            return self(x)
        return list(map(self, x)) if x and x[0].__class__ in (int, float) else x


def _nodes(column: Any) -> list[Any]:
    """Nodes for tensors on the device; anything else as it is."""
    found = []
    for x in column:
        try:  # as `tensor.node`; an optimizer's step does this some thousand times
            held = x.untyped_storage().handle
        except AttributeError:
            found.append(x)
        else:
            found.append(held.node if held.__class__ is Cell else held.shown(x).node)
    return found


def _columns(args: Any) -> list[Any]:
    """The operands by name: lists with nodes for tensors, and what is the same for all."""
    return [_nodes(x) if isinstance(x, list | tuple) else _nodes([x])[0] for x in args]


def _dtype(columns: Any) -> Any:
    """The one dtype of floats that all tensors have, or None."""
    several = [x if isinstance(x, list) else [x] for x in columns]
    if any(isinstance(x, torch.Tensor) for column in several for x in column):
        return None
    types = {x.type for column in several for x in column if x.__class__ not in (int, float)}
    dtypes = {type.dtype for type in types}
    found = dtypes.pop() if len(dtypes) == 1 else None
    return found if found in FLOATS else None


def _each(columns: list[Any]) -> Iterator[tuple[Any, ...]]:
    several = [x if isinstance(x, list) else repeat(x) for x in columns]
    return zip(*several, strict=False)


def _results(name: str, args: Any, kwargs: Any) -> list[Any]:
    """The nodes of the results, one for each element of the lists."""
    if "scalars" in kwargs:
        args = (*args, kwargs["scalars"])
    columns, op = _columns(args), DIRECT.get(name)
    dtype = _dtype(columns) if op is not None else None
    if op is None or dtype is None:
        named = {k: x for k, x in kwargs.items() if k in ("alpha", "value")}
        return [ROWS[name](*values, **named) for values in _each(columns)]
    wide = F32 if dtype in HALVES and (op in ROUNDED_ONCE or kwargs.get("alpha", 1) != 1) else dtype
    number = _ListNumbers(wide)
    if op in WEIGHED and len(columns) == 3:
        columns.append(kwargs.get("value", 1))
    columns = [x if isinstance(x, Node) else number.all(x) for x in columns]
    alpha = kwargs.get("alpha", 1)
    require_factor(alpha, dtype)
    if alpha != 1:
        columns[1] = [cast_to(x, wide) * number(alpha) for x in columns[1]]
    if wide is dtype:
        return _recorded(op, _each(columns))
    each = (tuple([cast_to(x, wide) for x in operands]) for operands in _each(columns))
    return [cast_to(made, dtype) for made in _recorded(op, each)]


def _recorded(op: Op, each: Iterator[tuple[Any, ...]]) -> list[Any]:
    """A node of `op` for each tuple of operands; what `op(*operands)` does, without its search."""
    signatures, made = op.signatures, []
    for operands in each:
        signature = signatures.get(tuple([x.type for x in operands]))
        made.append(op(*operands) if signature is None else record(signature, operands))
    return made


def _functional(name: str) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> list[Any]:
        return list(map(wrap, _results(name, args, kwargs)))

    return kernel


def _in_place(name: str) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> None:
        for target, value in zip(args[0], _results(name, args, kwargs), strict=True):
            held = ref(target)
            if held.type is value.type and not held.chain:
                held.write(value)
            else:
                write(target, value)

    return kernel


def _norm(tensors: Any, ord: Any = 2, dtype: Any = None) -> list[Any]:
    return [torch.linalg.vector_norm(x, ord, dtype=dtype) for x in tensors]


def _copy(tensors: Any, sources: Any, non_blocking: bool = False) -> None:
    for x, y in zip(tensors, sources, strict=True):
        KERNELS["copy_"](x, y)


OF_EACH: dict[str, Callable[..., Any]] = {
    "max": torch.max,
    "clone": torch.clone,
    "mm": torch.mm,
}
"""Operations that are called for each element of the lists."""


def _of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(*lists: Any, **kwargs: Any) -> list[Any]:
        return [function(*operands, **kwargs) for operands in zip(*lists, strict=True)]

    return kernel


for name in ROWS:
    for base, make in ((f"_foreach_{name}", _functional), (f"_foreach_{name}_", _in_place)):
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{base}"):
            if not any(a.is_out for a in schema.arguments):
                register(f"{base}.{schema.overload_name}".rstrip("."), make(name))
for name, function in OF_EACH.items():
    register(f"_foreach_{name}", _of_each(function))
register("_foreach_norm.Scalar", _norm)
register("_foreach_copy_", _copy)
