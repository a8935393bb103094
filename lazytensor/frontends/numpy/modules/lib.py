"""`numpy.lib`: NumPy's own, but for what makes views."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.modules import stride_tricks as stride_tricks


def __getattr__(name: str) -> Any:
    return getattr(np.lib, name)


def __dir__() -> list[str]:
    return sorted({*dir(np.lib), *globals()})
