"""Lowerings of the random bits.

XLA:CPU computes a block of Philox four times, once for each of its words, without vectors. Written
in ops, in which each place chooses its word, blocks are vector instructions.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.lib.random import advanced, philox


def _philox(state: Node, *, shape: Shape, dtype: np.dtype) -> tuple[Node, Node]:
    """The state after, and bits u32 or u64, of which a block has four or two."""
    size, lanes = math.prod(shape), 16 // dtype.itemsize
    count = -(-size // lanes)
    key, low, *rest = (ops.at_index(state, 0, i) for i in range(state.type.size))
    high = rest[0] if rest else key  # as XLA's
    blocks = ops.iota(dtype=U64, shape=(count,), axis=0)
    words = philox(key, *advanced(low, high, blocks))
    if dtype == U64:
        whole = [ops.convert(word, dtype=U64) for word in words]
        words = [whole[0] | (whole[1] << 32), whole[2] | (whole[3] << 32)]
    lane = ops.iota(dtype=U32, shape=(count, lanes), axis=1)
    chosen = ops.new_axis(words[-1])
    for i, word in enumerate(words[:-1]):
        chosen = ops.select(ops.equal(lane, scalar(i, U32)), ops.new_axis(word), chosen)
    flat = ops.part(ops.reshape(chosen, shape=(count * lanes,)), 0, 0, size)
    after = advanced(low, high, scalar(count, U64))
    kept = (key, *after)[: state.type.size]
    return ops.concatenate(*(ops.new_axis(x) for x in kept), axis=0), ops.reshape(flat, shape=shape)


_BY_LANES: Final = expansion(_philox)


def _rng_bit_generator(
    e: Emitter,
    types: tuple[TensorType, TensorType],
    state: Value,
    *,
    shape: Shape,
    dtype: np.dtype,
    algorithm: str,
) -> tuple[Value, ...]:
    if algorithm == "PHILOX" and dtype in (U32, U64) and not e.is_plain:
        found: tuple[Value, ...] = _BY_LANES(e, types, state, shape=shape, dtype=dtype)
        return found
    kind = hlo.RngAlgorithmAttr.get(algorithm)
    return e.ops("rng_bit_generator", types, state, rng_algorithm=kind)


ROWS: Rows = {ops.rng_bit_generator: _rng_bit_generator}
