"""`numpy.rec`. It looks at the classes of its arguments, so it gets the memory of lazy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.functions.entry import dressed
from lazytensor.frontends.numpy.interop.sharing import opened
from lazytensor.frontends.numpy.modules import rest_of


def array(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """See numpy.rec.array."""
    return np.rec.array(opened(obj), *args, **kwargs)


globals()["array"] = dressed(array, np.rec.array, laziness.COMPUTES_ARGUMENTS)


__getattr__, __dir__ = rest_of(np.rec, globals())
