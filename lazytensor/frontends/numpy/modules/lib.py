"""`numpy.lib`: NumPy's own, except for `stride_tricks`."""

from __future__ import annotations

import numpy as np

from lazytensor.frontends.numpy.modules import rest_of
from lazytensor.frontends.numpy.modules import stride_tricks as stride_tricks

__getattr__, __dir__ = rest_of(np.lib, globals())
