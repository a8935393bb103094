"""References of the Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.types import Shape

TRANSFORMS: dict[str, Callable[..., Any]] = {
    "FFT": np.fft.fftn,
    "IFFT": np.fft.ifftn,
    "RFFT": np.fft.rfftn,
    "IRFFT": np.fft.irfftn,
}


def _fft(x: np.ndarray, *, kind: str, lengths: Shape) -> np.ndarray:
    return np.asarray(TRANSFORMS[kind](x, lengths, axes=range(-len(lengths), 0)))


ROWS: Rows = {ops.fft: _fft}
