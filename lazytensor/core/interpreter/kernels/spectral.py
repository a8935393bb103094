"""References of the Fourier transforms."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.types import Shape

TRANSFORMS: Final = {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}
"""By kind: NumPy's function. NumPy imports `numpy.fft` once it is asked for."""


def _fft(x: np.ndarray, *, kind: str, lengths: Shape) -> np.ndarray:
    function = getattr(np.fft, TRANSFORMS[kind])
    return np.asarray(function(x, lengths, axes=range(-len(lengths), 0)))


ROWS: Rows = {ops.fft: _fft}
