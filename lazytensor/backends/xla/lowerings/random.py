"""Lowerings of the random bits."""

from __future__ import annotations

import numpy as np
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.core import ops
from lazytensor.core.ir.types import Shape, TensorType


def _rng_bit_generator(
    e: Emitter,
    types: tuple[TensorType, TensorType],
    state: Value,
    *,
    shape: Shape,
    dtype: np.dtype,
    algorithm: str,
) -> tuple[Value, ...]:
    kind = hlo.RngAlgorithmAttr.get(algorithm)
    return e.ops("rng_bit_generator", types, state, rng_algorithm=kind)


ROWS: Rows = {ops.rng_bit_generator: _rng_bit_generator}
