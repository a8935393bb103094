"""From array-likes to lazy arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.memory import copied
from lazytensor.core.node import Node
from lazytensor.frontends.numpy.array import Lazy, Scalar, wrap
from lazytensor.frontends.numpy.fallback import lazies
from lazytensor.frontends.numpy.promotion import CANONICAL, convert, host_leaf


def asarray(x: Any, dtype: Any = None) -> Any:
    """`x` as a lazy array, itself where it is one; a real array if XLA has not its dtype."""
    kind = type(x)
    lazy = issubclass(kind, Lazy) and kind is not Scalar
    if lazy and (dtype is None or np.dtype(dtype) == x.dtype):
        return x
    return array(x, dtype)


def array(x: Any, dtype: Any = None) -> Any:
    """A new array of an array-like; real if XLA has not its dtype."""
    if issubclass(type(x), Lazy):
        wanted = x.dtype if dtype is None else np.dtype(dtype)
        if wanted in CANONICAL:
            return wrap(convert(x.node, wanted))
        return np.array(x, dtype)
    if (type(x) is list or type(x) is tuple) and lazies(x):
        from lazytensor.frontends.numpy.functions.arrays import nested

        return nested(x, dtype)
    made = copied(x, dtype) if type(x) is np.ndarray else _foreign(x, dtype)
    if issubclass(type(made), Lazy):
        return array(made, dtype)
    return wrap(host_leaf(made)) if made.dtype in CANONICAL else made


def _foreign(x: Any, dtype: Any) -> Any:
    """What NumPy makes of `x`, or the lazy array that its `__array__` gives.

    An immutable lazy tensor of another frontend gives its node: nothing is computed.
    """
    node = getattr(x, "node", None)
    if isinstance(node, Node):
        return wrap(node)
    try:
        return np.array(x, dtype, order="C")
    except ValueError:
        if not hasattr(type(x), "__array__"):
            raise
        found = x.__array__()  # NumPy knows no array but its own
        if not issubclass(type(found), Lazy):
            raise
        return found
