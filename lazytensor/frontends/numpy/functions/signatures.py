"""NumPy's signatures: a counterpart gets the arguments of a call by NumPy's own names for them.

So names, order and defaults are those of the installed NumPy, and are not repeated here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from inspect import signature
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
def _parameters(real: Function) -> tuple[tuple[str, ...], dict[str, Any], frozenset[str]]:
    """The names of arguments that may be given by position, the defaults, and all names."""
    found = signature(real).parameters.values()
    return (
        tuple(x.name for x in found if x.kind is x.POSITIONAL_OR_KEYWORD),
        {x.name: x.default for x in found if x.default is not x.empty},
        frozenset(x.name for x in found),
    )


def like(real: Function) -> Callable[[Callable[[Given], Any]], Function]:
    """The decorator of a function of `Given`: it takes arguments as NumPy's `real` does."""

    def decorate(function: Callable[[Given], Any]) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            names, defaults, known = _parameters(real)
            given = Given()
            found = vars(given)
            found.update(defaults)
            found.update(zip(names, args, strict=False))
            found.update(kwargs)  # by hand, as `Signature.bind` takes longer than many functions
            twice = kwargs and not kwargs.keys().isdisjoint(names[: len(args)])
            if found.keys() != known or len(args) > len(names) or twice:
                error = TypeError(f"{real.__name__}() got arguments that it does not take")
                as_numpy(error, real, *args, **kwargs)
            return function(given)

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
