"""Flags of IEEE arithmetic: for each function, where its operands and results set a flag.

The processor flags each operation; here the flags follow from operands and results. So the tables
list the functions with exact infinities (poles) and those whose results may be too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar

Where = Callable[..., Node]
Axes = tuple[int, ...] | None


class Flag(NamedTuple):
    """Whether a function has set the flag `kind`: `pred[]`."""

    kind: str
    raised: Node


class Reduced(NamedTuple):
    """The elements that a result is computed from: all along `axes`; with `running`, all before it.

    `axes` is None for products of matrices and other functions in which all elements count.
    """

    axes: Axes = ()
    running: bool = False


POLES: Final[dict[str, Where]] = {
    "divide": lambda x, y: _equals(y, 0),
    "floor_divide": lambda x, y: _equals(y, 0),
    "divmod": lambda x, y: _equals(y, 0),
    "reciprocal": lambda x: _equals(x, 0),
    "log": lambda x: _equals(x, 0),
    "log2": lambda x: _equals(x, 0),
    "log10": lambda x: _equals(x, 0),
    "log1p": lambda x: _equals(x, -1),
    "arctanh": lambda x: _equals(x, 1) | _equals(x, -1),
    "power": lambda x, y: _equals(x, 0),
    "float_power": lambda x, y: _equals(x, 0),
}
"""Where an infinite result of finite operands is exact and no overflow."""

WHOLE: Final = frozenset(["floor_divide", "remainder", "divmod", "fmod"])
"""Functions of two integers that flag a division by zero."""

TINY: Final[dict[str, Where]] = {
    **dict.fromkeys(
        [
            *("arctan2", "cast", "divide", "exp", "exp2", "float_power", "ldexp", "multiply"),
            *("power", "reciprocal", "square"),
        ],
        lambda result, *operands: _tiny_of(result, *operands),
    ),
    **dict.fromkeys(
        ["floor_divide", "divmod"],
        lambda result, x, y: _both(_equals(result, 0), _tiny_of(x / y, x, y)),
    ),
    "logaddexp": lambda result, x, y: _tiny_of(ops.exp(_apart(x, y)), x, y, zeros=True),
    "logaddexp2": lambda result, x, y: _tiny_of(ops.exp2(_apart(x, y)), x, y, zeros=True),
    "nextafter": lambda result, x, y: _both(_is_tiny(result), ops.not_equal(x, y)),
}
"""Where a result, or a value that it is computed from, underflows. Tiny results of other functions
are exact."""

LOST: Final[dict[str, Where]] = {
    "divmod": lambda x, y: _both(~ops.is_nan(x), _equals(y, 0)),
    "logaddexp": lambda x, y: ops.is_nan(x) | ops.is_nan(y),
    "logaddexp2": lambda x, y: ops.is_nan(x) | ops.is_nan(y),
    **dict.fromkeys(
        ["fft", "ifft", "irfft", "rfft_n_even", "rfft_n_odd"],
        lambda x: any_of(ops.is_inf(x)),
    ),
}
"""Where the operands alone set the flag for an invalid value."""

QUIET: Final = frozenset(["spacing"])
"""Functions that return NaN for numbers without setting a flag."""


def flags(
    name: str, operands: Sequence[Node], result: Node, where: Any, reduced: Reduced
) -> Iterator[Flag]:
    """The flags of the function `name`, in the order in which NumPy checks them."""
    kind = result.type.dtype.kind
    if kind in "iu":
        if name in WHOLE or name == "reciprocal":
            yield from _of_integers(name, operands, result, where)
        elif name == "cast" and operands[0].type.dtype.kind in "fV":
            yield Flag("invalid", any_of(_is_beyond(operands[0], result.type.dtype), where))
        return
    if kind not in "fc" and result.type.dtype.name != "bfloat16":
        return
    floats = [x for x in operands if x.type.dtype.kind in "fcV"]
    infinite = _every(ops.is_finite, floats, reduced) & ~ops.is_finite(result)
    nan = ops.is_nan(result)
    beyond = infinite & ~nan
    if name in POLES:
        pole = POLES[name](*operands)
        exact = beyond & pole
        if name == "divide" and kind == "c":
            exact = pole & _has_number(operands[0])
        yield Flag("divide", any_of(exact, where))
        beyond = beyond & ~pole
    yield Flag("over", any_of(beyond, where))
    if name in TINY and kind == "f":
        yield Flag("under", any_of(TINY[name](result, *operands), where))
    if name in QUIET:
        return
    lost = nan & _every(lambda x: ~ops.is_nan(x), floats, reduced)
    if name in LOST:
        lost = lost | LOST[name](*operands)
    if name in ("floor_divide", "divmod"):
        lost = lost | beyond  # an infinite quotient has no remainder
    yield Flag("invalid", any_of(lost, where))


def _of_integers(name: str, operands: Sequence[Node], result: Node, where: Any) -> Iterator[Flag]:
    shape = result.type.shape  # an empty result flags nothing, even with a scalar divisor
    zero = any_of(ops.broadcast(_equals(operands[-1], 0), shape=shape), where)
    yield Flag("divide", zero)
    if name == "reciprocal":
        yield Flag("invalid", zero)  # it is a division of floats, cast
    elif name in ("floor_divide", "divmod") and result.type.dtype.kind == "i":
        lowest = _equals(operands[0], int(np.iinfo(result.type.dtype).min))
        beyond = lowest & _equals(operands[1], -1)
        yield Flag("over", any_of(ops.broadcast(beyond, shape=shape), where))


def _is_beyond(x: Node, dtype: np.dtype) -> Node:
    """Where floats are out of an integer dtype's range. Narrow integers are cast by wider ones."""
    bits = max(32, dtype.itemsize * 8 * (2 if dtype.kind == "u" and dtype.itemsize < 8 else 1))
    highest = 2.0**64 if dtype == np.uint64 else 2.0 ** (bits - 1)
    wide = x if x.type.dtype.itemsize > 2 else ops.convert(x, dtype=np.dtype(np.float32))
    limits = [scalar(limit, wide.type.dtype) for limit in (-(2.0 ** (bits - 1)), highest)]
    inside = (wide >= limits[0]) & (wide < limits[1])
    return ~inside


def _every(test: Callable[[Node], Node], nodes: list[Node], reduced: Reduced) -> Node:
    made = scalar(True, BOOL)
    for node in nodes:
        passed = test(node)
        axes = tuple(range(node.type.ndim)) if reduced.axes is None else reduced.axes
        if axes:
            along = ops.cummin(passed, axis=axes[0]) if reduced.running else None
            passed = ops.reduce_and(passed, axes=axes) if along is None else along
        made = made & passed
    return made


def any_of(mask: Node, where: Any = True) -> Node:
    """Whether `mask` holds anywhere, among the elements of `where`."""
    chosen = mask if where is True else mask & where
    axes = tuple(range(chosen.type.ndim))
    return ops.reduce_or(chosen, axes=axes) if axes else chosen


def _equals(x: Node, value: int) -> Node:
    kind = x.type.dtype.kind
    number: Any = complex(value) if kind == "c" else float(value) if kind in "fV" else value
    return ops.equal(x, scalar(number, x.type.dtype))


def _both(x: Node, y: Node) -> Node:
    return x & y


def _has_number(x: Node) -> Node:
    """Whether a part of a complex number is finite and not zero, so that `x / 0` flags a pole."""
    parts = [ops.is_finite(y) & ~_equals(y, 0) for y in (ops.real(x), ops.imag(x))]
    return ops.or_(*parts)


def _apart(x: Node, y: Node) -> Node:
    return -ops.abs(x - y)


def _is_tiny(x: Node) -> Node:
    """Whether numbers are below the normal ones."""
    tiny = scalar(float(np.finfo(x.type.dtype).tiny), x.type.dtype)
    return ops.abs(x) < tiny


def _tiny_of(result: Node, *operands: Node, zeros: bool = False) -> Node:
    """Where a result is tiny and its operands are finite and, unless `zeros`, not zero."""
    made = _is_tiny(result)
    for x in operands:
        if x.type.dtype.kind in "fV":
            made = made & ops.is_finite(x)
            made = made if zeros else made & ~_equals(x, 0)
    return made
