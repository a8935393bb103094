"""Lowerings of the Fourier transforms."""

from __future__ import annotations

import math
from typing import Final

from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, HostRules, Rows
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import C64, F32
from lazytensor.core.ir.types import Shape, TensorType

HOST_LINE_ELEMENTS: Final = 2**12
"""Elements of a line from which the host transforms it."""


def _fft(e: Emitter, type: TensorType, x: Value, *, kind: str, lengths: Shape) -> Value:
    return e.op("fft", type, x, fft_type=hlo.FftTypeAttr.get(kind), fft_length=i64s(lengths))


def _one_line(x: TensorType, *, kind: str, lengths: Shape) -> bool:
    """One line of doubles: XLA uses one thread for it, and NumPy is up to twice as fast."""
    single = x.dtype in (F32, C64)
    return (
        not single
        and len(lengths) == 1
        and x.size >= HOST_LINE_ELEMENTS
        and math.prod(x.shape[:-1]) == 1
    )


HOST: HostRules = {ops.fft: _one_line}
ROWS: Rows = {ops.fft: _fft}
