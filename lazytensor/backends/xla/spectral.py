"""Lowerings of the Fourier transforms."""

from __future__ import annotations

from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Value
from lazytensor.core import ops
from lazytensor.core.types import Shape, TensorType


def _fft(e: Emitter, type: TensorType, x: Value, *, kind: str, lengths: Shape) -> Value:
    return e.op("fft", type, x, fft_type=hlo.FftTypeAttr.get(kind), fft_length=i64s(lengths))


LOWERINGS[ops.fft] = _fft
