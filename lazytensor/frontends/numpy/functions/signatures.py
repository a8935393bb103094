"""NumPy's signatures: a counterpart gets the arguments of a call by NumPy's own names for them.

So names, order and defaults are those of the installed NumPy, and are not repeated here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from inspect import Signature, signature
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.ufuncs.errors import as_numpy

Function = Callable[..., Any]
NO_VALUE: Final[Any] = np._NoValue  # NumPy's mark for an argument that is not given


class Given(SimpleNamespace):
    """The arguments of a call by name, defaults included; `NO_VALUE` for any other name."""

    def __getattr__(self, name: str) -> Any:
        return NO_VALUE


@cache
def _signature(real: Function) -> Signature:
    return signature(real)


def like(real: Function) -> Callable[[Callable[[Given], Any]], Function]:
    """The decorator of a function of `Given`: it takes arguments as NumPy's `real` does."""

    def decorate(function: Callable[[Given], Any]) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = _signature(real).bind(*args, **kwargs)
            except TypeError as error:
                as_numpy(error, real, *args, **kwargs)
            bound.apply_defaults()
            return function(Given(**bound.arguments))

        call.__name__ = call.__qualname__ = real.__name__
        return call

    return decorate


def named(*functions: Function, **others: Function) -> dict[str, Function]:
    """A table of functions by their own names, and of others by other names."""
    return {function.__name__: function for function in functions} | others


def along(a: Any, axis: Any, least: int = 0) -> tuple[Node, int]:
    """The node of an operand and the axis that a function works along.

    Without an axis all elements are in one line. `least`: 1 if a number counts as a line.
    Raises: AxisError, TypeError.
    """
    node = operand(a)
    if axis is None or node.type.ndim < least:
        node = ops.line(node)
        axis = 0 if axis is None else axis
    return node, normalize_axis_index(operator.index(axis), node.type.ndim)
