"""Reading `x[mask]`, put off: elementwise functions of it stay in the full shape.

`Z[m] = f(Z[m])` then becomes `select(m, f(Z), Z)`, with no shape that depends on data. Anything else
that is done with such an array first computes the mask, and it becomes an ordinary array.
"""

from __future__ import annotations

from typing import Any

from lazytensor.frontends.numpy.array import ndarray


class Masked(ndarray):
    """What `x[mask]` gives."""

    __slots__ = ()


def any_masked(xs: Any) -> bool:
    """Whether a masked read is among the operands."""
    return any(type(x) is Masked for x in xs)


def apply(function: Any, inputs: Any) -> Any:
    """The masked result; None if the operands do not go together in the full shape."""
    return None
