"""Special functions by polynomials: composites that compute in f64 and round once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lazytensor.core.ir.composite import Composite, composite
from lazytensor.core.ir.dtypes import F64, FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, scalar
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ops.bits import bitcast
from lazytensor.core.ops.elementwise import convert

Function = Callable[[Node], Node]


def head(x: Node) -> Node:
    """The first 26 bits of the f64 x."""
    bits = bitcast(x, dtype=S64) & -(1 << 27)
    return bitcast(bits, dtype=F64)


def in_double(name: str, function: Function, doc: str) -> Composite:
    """A row: a function of one operand, computed in f64 and rounded to the operand's dtype."""

    def body(x: Node) -> Node:
        dtype = check_dtype(name, FLOATS, x.type)
        if dtype == F64:
            return function(x)
        return convert(function(convert(x, dtype=F64)), dtype=dtype)

    body.__name__ = name
    made = composite(body)
    made.traits |= {Trait.ELEMENTWISE}
    made.__doc__ = f"{doc} x: floats, any shape. Result: type of x. Raises: DTypeError."
    return made


def number(value: float) -> Node:
    """A constant."""
    return scalar(value, F64)


def polynomial(x: Node, coefficients: Sequence[float]) -> Node:
    """The polynomial with these coefficients, lowest power first, by Horner's rule."""
    found = number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        found = found * x + c
    return found


def beside_zeros(x: Node, zeros: Sequence[tuple[float, float]]) -> Node:
    """The product of `x - zero` over the zeros; each is the sum of two numbers, for exactness."""
    found = None
    for high, low in zeros:
        apart = x - high - low
        found = apart if found is None else found * apart
    assert found is not None
    return found
