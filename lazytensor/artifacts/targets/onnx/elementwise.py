"""StableHLO's operations on elements, as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.artifacts.targets.onnx.graph import OPSET_OF_BITS, Graph, Refused, element
from lazytensor.backends.xla.portable.operations import Operation

Rule = Callable[..., Any]
"""`rule(graph, operation, *inputs)`: the name of the result, or a list of names."""


def _kind(g: Graph, op: Operation) -> str:
    """The kind of the first operand's dtype, as NumPy says it; bfloat16 is a float."""
    dtype = g.type(op.operands[0]).dtype
    return "f" if dtype.kind == "V" else dtype.kind


def same(name: str) -> Rule:
    """A node of ONNX's with the same meaning."""
    return lambda g, op, *xs: g.node(name, *xs)


def by_kind(**names: str) -> Rule:
    """A node for each kind of dtype: b, i, u, f."""

    def rule(g: Graph, op: Operation, *xs: str) -> str:
        kind = _kind(g, op)
        if kind not in names:
            raise Refused(f"{op.name} of {g.type(op.operands[0]).dtype}")
        return g.node(names[kind], *xs)

    return rule


def identity(g: Graph, op: Operation, *xs: str) -> list[str]:
    """The operands."""
    return list(xs)


def number(g: Graph, op: Operation, value: float) -> str:
    """A number of the first operand's dtype; -1 is the largest of an unsigned one."""
    return g.constant(np.asarray(value).astype(g.type(op.operands[0]).dtype))


def _rsqrt(g: Graph, op: Operation, x: str) -> str:
    return g.node("Reciprocal", g.node("Sqrt", x))


def _exponential_minus_one(g: Graph, op: Operation, x: str) -> str:
    """`2 t / (1 - t)` with `t = tanh(x / 2)` where x is small, as `exp(x) - 1` loses its digits."""
    one, two, half = (number(g, op, value) for value in (1, 2, 0.5))
    t = g.node("Tanh", g.node("Mul", x, half))
    near = g.node("Div", g.node("Mul", two, t), g.node("Sub", one, t))
    is_near = g.node("Less", g.node("Abs", x), half)
    return g.node("Where", is_near, near, g.node("Sub", g.node("Exp", x), one))


def _log_plus_one(g: Graph, op: Operation, x: str) -> str:
    """`log(u) x / (u - 1)` with `u = 1 + x`, whose rounding cancels; x where that is 1."""
    one = number(g, op, 1)
    u = g.node("Add", x, one)
    less = g.node("Sub", u, one)
    is_one = g.node("Equal", u, one)
    safe = g.node("Where", is_one, one, less)
    scaled = g.node("Div", g.node("Mul", g.node("Log", u), x), safe)
    is_large = g.node("IsInf", x, detect_negative=0)
    return g.node("Where", g.node("Or", is_one, is_large), x, scaled)


def _cbrt(g: Graph, op: Operation, x: str) -> str:
    root = g.node("Pow", g.node("Abs", x), number(g, op, 1 / 3))
    return g.node("Mul", g.node("Sign", x), root)


def _round_away(g: Graph, op: Operation, x: str) -> str:
    up = g.node("Floor", g.node("Add", g.node("Abs", x), number(g, op, 0.5)))
    return g.node("Mul", g.node("Sign", x), up)


def _is_finite(g: Graph, op: Operation, x: str) -> str:
    return g.node("Not", g.node("Or", g.node("IsInf", x), g.node("IsNaN", x)))


def _atan2(g: Graph, op: Operation, y: str, x: str) -> str:
    """The angle of (x, y), from that of a point in the right half-plane."""
    zero, pi = number(g, op, 0), number(g, op, np.pi)
    are_infinite = g.node("And", g.node("IsInf", x), g.node("IsInf", y))
    x, y = (g.node("Where", are_infinite, g.node("Sign", each), each) for each in (x, y))
    at = g.node("Atan", g.node("Div", y, x))
    is_left, is_below = g.node("Less", x, zero), g.node("Less", y, zero)
    turned = g.node("Where", is_below, g.node("Sub", at, pi), g.node("Add", at, pi))
    found = g.node("Where", is_left, turned, at)
    upright = g.node("Mul", g.node("Sign", y), number(g, op, np.pi / 2))
    return g.node("Where", g.node("Equal", x, zero), upright, found)


def _compare(g: Graph, op: Operation, x: str, y: str) -> str:
    names = {"EQ": "Equal", "NE": "Equal", "LT": "Less", "LE": "LessOrEqual"}
    names |= {"GT": "Greater", "GE": "GreaterOrEqual"}
    direction = op.attributes["comparison_direction"]
    if op.attributes.get("compare_type") == "TOTALORDER":
        raise Refused("a comparison in total order")
    if _kind(g, op) == "b" and direction not in ("EQ", "NE"):
        x, y = (g.cast(each, np.dtype("int32")) for each in (x, y))
    made = g.node(names[direction], x, y)
    return g.node("Not", made) if direction == "NE" else made


def _select(g: Graph, op: Operation, flag: str, x: str, y: str) -> str:
    if g.type(op.operands[1]).dtype.kind != "b":
        return g.node("Where", flag, x, y)
    other = g.node("And", g.node("Not", flag), y)  # runtimes lack `Where` of flags
    return g.node("Or", g.node("And", flag, x), other)


def _clamp(g: Graph, op: Operation, low: str, x: str, high: str) -> str:
    return g.node("Min", g.node("Max", x, low), high)


def _convert(g: Graph, op: Operation, x: str) -> str:
    return g.cast(x, g.type(op.results[0]).dtype)


def _divide(g: Graph, op: Operation, x: str, y: str) -> str:
    if _kind(g, op) not in "iu":
        return g.node("Div", x, y)
    quotient = g.node("Div", x, _safe(g, op, y))
    return _where_unsafe(g, op, y, number(g, op, -1), lambda: g.node("Neg", x), quotient)


def _remainder(g: Graph, op: Operation, x: str, y: str) -> str:
    if _kind(g, op) not in "iu":
        return g.node("Mod", x, y, fmod=1)
    rest = g.node("Mod", x, _safe(g, op, y), fmod=1)
    return _where_unsafe(g, op, y, x, lambda: number(g, op, 0), rest)


def _power(g: Graph, op: Operation, x: str, y: str) -> str:
    if _kind(g, op) != "f":
        raise Refused(f"power of {g.type(op.operands[0]).dtype}, which wraps around")
    return g.node("Pow", x, y)


def _safe(g: Graph, op: Operation, y: str) -> str:
    """A divisor of integers, with ones where runtimes end the process: for 0 and -1."""
    if _is_safe(g, y):
        return y
    is_bad = g.node("Equal", y, number(g, op, 0))
    if _kind(g, op) == "i":
        is_bad = g.node("Or", is_bad, g.node("Equal", y, number(g, op, -1)))
    return g.node("Where", is_bad, number(g, op, 1), y)


def _where_unsafe(
    g: Graph, op: Operation, y: str, of_zero: str, of_minus_one: Callable[[], str], found: str
) -> str:
    """What XLA gives for a divisor of 0 or -1, and else what was found."""
    if _is_safe(g, y):
        return found
    if _kind(g, op) == "i":
        is_minus_one = g.node("Equal", y, number(g, op, -1))
        found = g.node("Where", is_minus_one, of_minus_one(), found)
    return g.node("Where", g.node("Equal", y, number(g, op, 0)), of_zero, found)


def _is_safe(g: Graph, y: str) -> bool:
    """Whether a divisor is known, and neither 0 nor -1 at any place."""
    known = g.known(y)
    return known is not None and not np.isin(known, (0, -1)).any()


def _shift(direction: str) -> Rule:
    """A shift of bits: ONNX's is of unsigned integers."""

    def rule(g: Graph, op: Operation, x: str, by: str) -> str:
        dtype = g.type(op.operands[0]).dtype
        if dtype.kind == "u":
            return g.node("BitShift", x, by, direction=direction)
        unsigned = np.dtype(f"u{dtype.name}")
        made = g.node("BitShift", g.cast(x, unsigned), g.cast(by, unsigned), direction=direction)
        return g.cast(made, dtype)

    return rule


def _shift_right_arithmetic(g: Graph, op: Operation, x: str, by: str) -> str:
    """A logical shift of x, or of its complement where x is negative."""
    right = ROWS["shift_right_logical"]
    if g.type(op.operands[0]).dtype.kind == "u":
        return str(right(g, op, x, by))
    is_negative = g.node("Less", x, number(g, op, 0))
    folded = g.node("Where", is_negative, g.node("BitwiseNot", x), x)
    shifted = right(g, op, folded, by)
    return g.node("Where", is_negative, g.node("BitwiseNot", shifted), shifted)


def _bitcast(g: Graph, op: Operation, x: str) -> str:
    given, wanted = g.type(op.operands[0]), g.type(op.results[0])
    if given.shape != wanted.shape:
        raise Refused(f"bits of {given.dtype} read as {wanted.dtype}")
    g.root.opset = OPSET_OF_BITS
    return g.node("BitCast", x, to=element(wanted.dtype))


def _reduce_precision(g: Graph, op: Operation, x: str) -> str | list[str]:
    dtype = g.type(op.operands[0]).dtype
    wanted = op.attributes["exponent_bits"], op.attributes["mantissa_bits"]
    formats = {(8, 23): "float32", (11, 52): "float64", (5, 10): "float16", (8, 7): "bfloat16"}
    name = formats.get(wanted)
    if name is None:
        raise Refused(f"rounding to {wanted[0]} bits of exponent and {wanted[1]} of mantissa")
    if np.dtype(name) == dtype:
        return [x]
    return g.cast(g.cast(x, np.dtype(name)), dtype)


_LOGIC: Final = {
    "and": by_kind(b="And", i="BitwiseAnd", u="BitwiseAnd"),
    "or": by_kind(b="Or", i="BitwiseOr", u="BitwiseOr"),
    "xor": by_kind(b="Xor", i="BitwiseXor", u="BitwiseXor"),
    "not": by_kind(b="Not", i="BitwiseNot", u="BitwiseNot"),
}
_ARITHMETIC: Final = {
    "add": by_kind(b="Or", i="Add", u="Add", f="Add"),
    "multiply": by_kind(b="And", i="Mul", u="Mul", f="Mul"),
    "maximum": by_kind(b="Or", i="Max", u="Max", f="Max"),
    "minimum": by_kind(b="And", i="Min", u="Min", f="Min"),
}
_SAME: Final = {
    "abs": "Abs", "ceil": "Ceil", "cosine": "Cos", "exponential": "Exp",
    "floor": "Floor", "log": "Log", "logistic": "Sigmoid", "negate": "Neg",
    "round_nearest_even": "Round", "sign": "Sign", "sine": "Sin",
    "sqrt": "Sqrt", "subtract": "Sub", "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip
ROWS: Final[dict[str, Rule]] = {
    **{name: same(theirs) for name, theirs in _SAME.items()},
    **_LOGIC,
    **_ARITHMETIC,
    "atan2": _atan2,
    "bitcast_convert": _bitcast,
    "cbrt": _cbrt,
    "clamp": _clamp,
    "compare": _compare,
    "convert": _convert,
    "divide": _divide,
    "exponential_minus_one": _exponential_minus_one,
    "is_finite": _is_finite,
    "log_plus_one": _log_plus_one,
    "optimization_barrier": identity,
    "power": _power,
    "reduce_precision": _reduce_precision,
    "remainder": _remainder,
    "round_nearest_afz": _round_away,
    "rsqrt": _rsqrt,
    "select": _select,
    "shift_left": _shift("LEFT"),
    "shift_right_arithmetic": _shift_right_arithmetic,
    "shift_right_logical": _shift("RIGHT"),
}
