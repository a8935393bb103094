"""`numpy.ctypeslib`. Its pointers take lazy arrays too: C gets their memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.functions.entry import dressed
from lazytensor.frontends.numpy.interop import sharing
from lazytensor.frontends.numpy.modules import rest_of


def ndpointer(*args: Any, **kwargs: Any) -> Any:
    """See numpy.ctypeslib.ndpointer."""
    return _taking_lazy(np.ctypeslib.ndpointer(*args, **kwargs))


@cache
def _taking_lazy(kind: Any) -> Any:
    """NumPy's class of pointers, made to take lazy arrays.

    NumPy makes one class for each dtype, shape and flags.
    """

    def from_param(cls: Any, obj: Any) -> Any:
        found = sharing.fixed(obj) if issubclass(type(obj), Lazy) else None
        return kind.from_param(obj if found is None else found)

    return type(kind.__name__, (kind,), {"from_param": classmethod(from_param)})


globals()["ndpointer"] = dressed(ndpointer, np.ctypeslib.ndpointer, laziness.COMPUTES_ARGUMENTS)


__getattr__, __dir__ = rest_of(np.ctypeslib, globals())
