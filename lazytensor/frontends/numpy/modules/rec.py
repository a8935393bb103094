"""`numpy.rec`. It looks at the classes of its arguments, so it gets the memory of lazy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.functions.entry import dressed
from lazytensor.frontends.numpy.interop.sharing import opened


def array(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """See numpy.rec.array."""
    return np.rec.array(opened(obj), *args, **kwargs)


globals()["array"] = dressed(array, np.rec.array, laziness.COMPUTES_ARGUMENTS)


def __getattr__(name: str) -> Any:
    return getattr(np.rec, name)


def __dir__() -> list[str]:
    return sorted({*dir(np.rec), *globals()})
