"""Functions of each element: by kinds of dtype, what is recorded."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.lib.numerics import complex_rint, constant, floor_divide, integer_power, same
from lazytensor.frontends.array_api.array import Array, together, wrap

NAMED_ALIKE: Final = [
    "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "copysign", "cos", "cosh",
    "divide", "equal", "exp", "expm1", "greater", "greater_equal", "hypot", "imag", "less",
    "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "maximum", "minimum", "multiply",
    "not_equal", "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
]  # fmt: skip
"""Functions that are the op of their name."""
ELEMENTWISE: Final[dict[str, Any]] = {
    **{name: getattr(ops, name) for name in NAMED_ALIKE},
    **{name: {"iu": same, "f": getattr(ops, name)} for name in ("floor", "ceil", "trunc")},
    "abs": {"bu": same, "ifc": ops.abs}, "bitwise_and": ops.and_, "bitwise_invert": ops.not_,
    "bitwise_left_shift": ops.shift_left, "bitwise_or": ops.or_, "bitwise_xor": ops.xor,
    "bitwise_right_shift": ops.shift_right, "conj": {"iuf": same, "c": ops.conj},
    "floor_divide": {"iu": ops.floor_divide, "f": floor_divide},
    "isfinite": {"biu": constant(True), "fc": ops.is_finite},
    "isinf": {"biu": constant(False), "fc": ops.is_inf},
    "isnan": {"biu": constant(False), "fc": ops.is_nan}, "logical_and": ops.and_,
    "logical_not": ops.not_, "logical_or": ops.or_, "logical_xor": ops.xor,
    "negative": ops.negate, "nextafter": ops.next_after, "positive": same,
    "pow": {"iu": integer_power, "fc": ops.power}, "remainder": ops.modulo,
    "real": {"iuf": same, "c": ops.real}, "signbit": ops.sign_bit,
    "round": {"iu": same, "f": ops.round_even, "c": complex_rint},
}  # fmt: skip
"""The op, or by letters of NumPy's kinds the function of nodes."""
REFLECTED: Final = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow",
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
    "matmul": "matmul",
}  # fmt: skip
"""Operators that have a reflected and an in-place form, and their functions."""
OPERATORS: Final = REFLECTED | {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal", "neg": "negative", "pos": "positive", "abs": "abs",
    "invert": "bitwise_invert",
}  # fmt: skip
NUMBERS: Final = (bool, int, float, complex, operator.index)


def elementwise(name: str, row: Any) -> Any:
    """The function of a row: two operands are promoted and broadcast."""

    def recorded(*nodes: Any) -> Array:
        kind = nodes[0].type.dtype.kind
        chosen = [r for k, r in row.items() if kind in k] if isinstance(row, dict) else [row]
        if not chosen:
            raise TypeError(f"{name} takes no arrays of {nodes[0].type.dtype}")
        return wrap(chosen[0](*nodes))

    def unary(x: Array, /) -> Array:
        return recorded(x.node)

    def binary(x1: Any, x2: Any, /) -> Array:
        return recorded(*together(x1, x2))

    made = binary if getattr(getattr(np, name), "nin", 1) == 2 else unary
    made.__name__ = made.__qualname__ = name
    return made
