"""NumPy's arrays as arguments of a function whose body is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.trace.frameworks import Framework
from lazytensor.frontends.numpy.arrays.array import Lazy, wrap
from lazytensor.frontends.numpy.host.bound import everything_lazy


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | Lazy)


def _value_of(x: Any) -> np.ndarray:
    return fetch(x.node) if isinstance(x, Lazy) else np.array(x)


FRAMEWORK = Framework(
    is_array=_is_array,
    array=wrap,
    value_of=_value_of,
    from_host=np.array,
    is_model=lambda _: False,
    model=lambda _: None,
    recording=everything_lazy,
)
