"""From array-likes to lazy arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.buffers.interop import offered
from lazytensor.core.device.host_memory import copied
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, wrap
from lazytensor.frontends.numpy.host.fallback import lazies
from lazytensor.frontends.numpy.interop.interchange import shared, unpacked
from lazytensor.frontends.numpy.ufuncs.promotion import CANONICAL, convert, host_leaf


def asarray(x: Any, dtype: Any = None) -> Any:
    """`x` as a lazy array, itself where it is one; a real array if XLA has not its dtype.

    What another frontend's array shows is shared.
    """
    kind = type(x)
    found = x if issubclass(kind, Lazy) else shared(x)
    if found is None or kind is Scalar or (dtype is not None and np.dtype(dtype) != found.dtype):
        return array(x, dtype)
    return found


def array(x: Any, dtype: Any = None, copy: bool = True) -> Any:
    """A new array of an array-like; real if XLA has not its dtype.

    `copy`: also where the `__array__` of `x` gives a lazy array.
    """
    if issubclass(type(x), Lazy):
        wanted = x.dtype if dtype is None else np.dtype(dtype)
        if wanted in CANONICAL:
            return wrap(convert(x.node, wanted))
        return np.array(x, dtype)
    if (type(x) is list or type(x) is tuple) and lazies(x):
        from lazytensor.frontends.numpy.functions.arrays import nested

        return nested(x, dtype)
    made = copied(x, dtype) if type(x) is np.ndarray else _foreign(x, dtype)
    if issubclass(type(made), Lazy | list | tuple):
        return array(made, dtype) if copy else asarray(made, dtype)
    return wrap(host_leaf(made)) if made.dtype in CANONICAL else made


def _foreign(x: Any, dtype: Any) -> Any:
    """What NumPy makes of `x`, or the lazy arrays that its `__array__` gives, or its items'.

    A lazy tensor of another frontend gives its node: nothing is computed.
    """
    offer = offered(x)
    if offer is not None:
        return wrap(offer.copy.node)
    try:
        return np.array(x, dtype, order="C")
    except ValueError:
        found = unpacked(x)
        if not lazies(found):
            raise
        return found
