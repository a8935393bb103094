"""Lowerings of functions of complex numbers at their edges.

XLA's own functions are right for finite parts, unless the imaginary part is -0. NumPy and the array
API standard have C's results at infinities, NaN and on both sides of the branch cuts. So a function
is computed for non-negative parts, as far as its symmetries allow, corrected there, and its signs
are restored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.arithmetic import direct, parts_of
from lazytensor.backends.xla.elementwise.exponential import LN2
from lazytensor.backends.xla.emitter import Emitter, Lowering, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion, not_a_number, number
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import COMPLEX
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import TensorType

Parts = tuple[Node, Node]
Function = Callable[[Node, Node], Parts]
"""From the real and the imaginary part to those of the result."""
HALF_PI: Final = np.pi / 2
XLA_OPS: Final = {
    name: Op(f"library_{name}", lambda x: x)
    for name in (
        *("sine", "cosine", "tanh", "exponential", "exponential_minus_one", "sqrt"),
        *("log", "log_plus_one", "chlo.sinh", "chlo.cosh"),
        *("chlo.asinh", "chlo.atanh", "chlo.acos", "chlo.acosh"),
    )
}
"""XLA's own instructions by name, as ops of this module."""


def xla(name: str) -> Function:
    """XLA's own instruction."""
    op = XLA_OPS[name]

    def call(a: Node, b: Node) -> Parts:
        z = op(ops.complex_(a, b))
        return ops.real(z), ops.imag(z)

    return call


def _is(x: Node, value: float) -> Node:
    return ops.equal(x, number(value, x))


def _infinite(x: Node) -> Node:
    return _is(ops.abs(x), np.inf)


def _put(value: float, where: Node, x: Node) -> Node:
    """`x`, or `value` where `where` is true."""
    return ops.select(where, number(value, x), x)


def _wild(x: Node) -> Node:
    """Whether x is infinite or NaN."""
    return ~ops.is_finite(x)


def _signed(x: Node, *signs: Node) -> Node:
    """`x`, negated once for each of `signs` that is negative or -0."""
    for sign in signs:
        x = ops.select(ops.sign_bit(sign), -x, x)
    return x


def odd(f: Function) -> Function:
    """f(-z) = -f(z), f(conj z) = conj f(z): computed in the first quadrant."""

    def whole(a: Node, b: Node) -> Parts:
        p, q = f(ops.abs(a), ops.abs(b))
        return _signed(p, a), _signed(q, b)

    return whole


def even(f: Function) -> Function:
    """f(-z) = f(z), f(conj z) = conj f(z): computed in the first quadrant."""

    def whole(a: Node, b: Node) -> Parts:
        p, q = f(ops.abs(a), ops.abs(b))
        return p, _signed(q, a, b)

    return whole


def mirrored(f: Function) -> Function:
    """f(conj z) = conj f(z): computed in the upper half plane."""

    def whole(a: Node, b: Node) -> Parts:
        p, q = f(a, ops.abs(b))
        return p, _signed(q, b)

    return whole


def turned(f: Function) -> Function:
    """`-i f(i z)` of an odd f: sin from sinh, and the like."""

    def whole(a: Node, b: Node) -> Parts:
        p, q = f(ops.abs(b), ops.abs(a))
        return _signed(q, a), _signed(p, b)

    return whole


def _cos(a: Node, b: Node) -> Parts:
    """cosh(i z)."""
    p, q = _cosh(_turned_cos)(ops.abs(b), ops.abs(a))
    return p, -_signed(q, a, b)


def _turned_sin(a: Node, b: Node) -> Parts:
    """sinh from XLA's sin; it gives a more exact sin than XLA's sinh does."""
    p, q = xla("sine")(b, a)
    return q, p


def _turned_cos(a: Node, b: Node) -> Parts:
    p, q = xla("cosine")(b, a)
    return p, -q


def _sinh(f: Function) -> Function:
    def call(a: Node, b: Node) -> Parts:
        p, q = f(a, b)
        edge = _is(a, 0) | _is(a, np.inf)
        return ops.select(_wild(b) & edge, a, p), _put(0, _is(b, 0), q)

    return call


def _cosh(f: Function) -> Function:
    def call(a: Node, b: Node) -> Parts:
        p, q = f(a, b)
        wild = _wild(b)
        p = _put(np.inf, wild & _is(a, np.inf), p)
        flat = _is(b, 0) | (wild & _is(a, 0))
        return p, _put(0, flat, q)

    return call


def _tanh(a: Node, b: Node) -> Parts:
    p, q = xla("tanh")(a, b)
    wild, far = _wild(b), _is(a, np.inf)
    p = _put(1, far, _put(0, wild & _is(a, 0), p))
    return p, _put(0, far | (not_a_number(a) & _is(b, 0)), q)


def _asinh(a: Node, b: Node) -> Parts:
    p, q = xla("chlo.asinh")(a, b)
    nan = not_a_number(a)
    p = _put(np.nan, nan & ops.not_equal(b, number(np.inf, b)), p)
    return p, _put(0, nan & _is(b, 0), q)


def _atanh(a: Node, b: Node) -> Parts:
    p, q = xla("chlo.atanh")(a, b)
    nan = not_a_number(a) | not_a_number(b)
    far = _is(b, np.inf)
    flat = far | (_is(a, 0) | _is(a, np.inf))
    p = ops.select(nan, _put(0, flat, number(np.nan, p)), p)
    return p, ops.select(nan, _put(HALF_PI, far, number(np.nan, q)), q)


def _acos(a: Node, b: Node) -> Parts:
    p, q = xla("chlo.acos")(a, b)
    lost = not_a_number(b) & ops.is_finite(a)
    p = ops.select(lost, _put(HALF_PI, _is(a, 0), number(np.nan, p)), p)
    return p, _put(np.nan, lost, q)


def _acosh(a: Node, b: Node) -> Parts:
    p, q = xla("chlo.acosh")(a, b)
    nan = not_a_number(b)
    p = _put(np.nan, nan & ops.is_finite(a), p)
    return p, _put(HALF_PI, nan & _is(a, 0), q)


def _exp(a: Node, b: Node) -> Parts:
    p, q = xla("exponential")(a, b)
    wild = _wild(b)
    p = _put(np.inf, wild & _is(a, np.inf), p)
    none = wild & _is(a, -np.inf)
    return _put(0, none, p), _put(0, none, q)


def _expm1(a: Node, b: Node) -> Parts:
    p, q = xla("exponential_minus_one")(a, b)
    wild, flat = _wild(b), _is(b, 0)
    p = _put(np.inf, wild & _is(a, np.inf), p)
    none = wild & _is(a, -np.inf)
    zero = flat & _is(a, 0)  # +0, as 1 - 1 is
    return _put(0, zero, _put(-1, none, p)), _put(0, none, ops.select(flat, b, q))


def _far(f: Function) -> Function:
    """A logarithm that is infinite if either part is."""

    def call(a: Node, b: Node) -> Parts:
        p, q = f(a, b)
        return _put(np.inf, _infinite(a) | _infinite(b), p), q

    return call


def _scaled(f: Function, before: float, after: float) -> Function:
    """`after * f(before * z)`, part by part: a complex product with infinities may be NaN."""

    def call(a: Node, b: Node) -> Parts:
        p, q = f(*(x * before if before != 1 else x for x in (a, b)))
        p, q = (x * after if after != 1 else x for x in (p, q))
        return p, q

    return call


def _sqrt(a: Node, b: Node) -> Parts:
    p, q = xla("sqrt")(a, b)
    nan, far = not_a_number(b), _is(b, np.inf)
    p = _put(np.inf, far | (nan & _is(a, np.inf)), p)
    q = _put(np.inf, far | (nan & _is(a, -np.inf)), q)
    return p, q


def _sign(a: Node, b: Node) -> Parts:
    """z / |z|, and for one infinite part its direction."""
    p, q = _plain_sign(a, b)
    along, across = _infinite(a), _infinite(b)
    one = number(1, a)
    a_only = along & ~across
    b_only = across & ~along
    p = ops.select(a_only, ops.copysign(_all(one, a), a), _put(0, b_only, p))
    q = ops.select(b_only, ops.copysign(_all(one, b), b), _put(0, a_only, q))
    return p, q


def _all(x: Node, like: Node) -> Node:
    return ops.broadcast(x, shape=like.type.shape)


def _plain_sign(a: Node, b: Node) -> Parts:
    size = ops.abs(ops.complex_(a, b))
    none = _is(size, 0)
    p, q = (ops.select(none, number(0, x), x / size) for x in (a, b))
    return p, q


def _length(real: Lowering, e: Emitter, type: TensorType, x: Value) -> Value:
    """The absolute value, infinite if either part is."""
    if x.type.dtype not in COMPLEX:
        return real(e, type, x)
    if e.is_plain:
        return _infinite_length(e, type, x, e.op("abs", type, x))
    return _length_of_parts(e, type, *parts_of(e, x))


def _scaled_length(a: Node, b: Node) -> Node:
    """The absolute value within 1 ulp (XLA's own is within 2).

    The parts are scaled by a power of two before they are squared. It takes the parts, because a
    loop over pairs is not vectorised, and does not divide.
    """
    bits = np.finfo(a.type.dtype).nmant
    unsigned = np.dtype(f"u{a.type.dtype.itemsize}")
    top = 2 * np.finfo(a.type.dtype).maxexp - 3  # field of the power of two that divides the least
    a, b = ops.abs(a), ops.abs(b)
    largest = number(2.0 ** (np.finfo(a.type.dtype).maxexp - 3), a)
    most = ops.bitcast(ops.minimum(ops.maximum(a, b), largest), dtype=unsigned)
    field = most & number((2 ** (unsigned.itemsize * 8 - 1 - bits) - 1) << bits, most)
    down = ops.bitcast((top << bits) - field, dtype=a.type.dtype)
    up = ops.bitcast(field + (1 << bits), dtype=a.type.dtype)
    x, y = a * down, b * down
    size = ops.sqrt(x * x + y * y) * up
    return _put(np.inf, _infinite(a) | _infinite(b), size)


def _edged_length(z: Node, size: Node) -> Node:
    far = _infinite(ops.real(z)) | _infinite(ops.imag(z))
    return _put(np.inf, far, size)


def _of_parts(real: Lowering, f: Function) -> Lowering:
    """A row: `real` for floats, `f` for complex numbers."""
    own = expansion(lambda z: ops.complex_(*f(ops.real(z), ops.imag(z))))

    def lower(e: Emitter, type: TensorType, x: Value) -> Value:
        return (own if type.dtype in COMPLEX else real)(e, type, x)

    return lower


_infinite_length = expansion(_edged_length)
_length_of_parts = expansion(_scaled_length)

FUNCTIONS: Final[dict[Op[Any], Function]] = {
    ops.sinh: odd(_sinh(xla("chlo.sinh"))),
    ops.tanh: odd(_tanh),
    ops.asinh: odd(_asinh),
    ops.atanh: odd(_atanh),
    ops.sin: turned(_sinh(_turned_sin)),
    ops.tan: turned(_tanh),
    ops.asin: turned(_asinh),
    ops.atan: turned(_atanh),
    ops.cosh: even(_cosh(xla("chlo.cosh"))),
    ops.cos: _cos,
    ops.acos: mirrored(_acos),
    ops.acosh: mirrored(_acosh),
    ops.sqrt: mirrored(_sqrt),
    ops.exp: mirrored(_exp),
    ops.exp2: _scaled(mirrored(_exp), LN2, 1),
    ops.expm1: mirrored(_expm1),
    ops.log: _far(xla("log")),
    ops.log1p: _far(xla("log_plus_one")),
    ops.log2: _scaled(_far(xla("log")), 1, 1 / LN2),
    ops.log10: _scaled(_far(xla("log")), 1, 1 / float(np.log(10.0))),
    ops.sign: _sign,
}


def over(real: Rows) -> Rows:
    """Rows that compute complex numbers by this module, and floats as in `real`."""
    made = {op: _of_parts(real[op], f) for op, f in FUNCTIONS.items()}
    own = {op: direct(name) for name, op in XLA_OPS.items()}
    return own | made | {ops.abs: partial(_length, real[ops.abs])}
