"""Lowerings of the random bits.

XLA:CPU computes a block of Philox four times, once for each of its words, without vectors. Written
in ops, in which each place chooses its word, blocks are vector instructions.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.lib.manipulation import stack, unstack
from lazytensor.core.lib.random import advanced, philox


def _blocks(state: Node, *, count: int, dtype: np.dtype) -> Node:
    """The bits of `count` blocks, u32 or u64, of which a block has four or two."""
    lanes = 16 // dtype.itemsize
    key, low, high = _parts(state)
    words = philox(key, *advanced(low, high, ops.iota(dtype=U64, shape=(count,), axis=0)))
    if dtype == U64:
        whole = [ops.convert(word, dtype=U64) for word in words]
        words = [whole[0] | (whole[1] << 32), whole[2] | (whole[3] << 32)]
    lane = ops.iota(dtype=U32, shape=(count, lanes), axis=1)
    chosen = ops.new_axis(words[-1])
    for i, word in enumerate(words[:-1]):
        chosen = ops.select(ops.equal(lane, scalar(i, U32)), ops.new_axis(word), chosen)
    return chosen


def _after(state: Node, *, count: int) -> Node:
    """The state after `count` blocks."""
    key, low, high = _parts(state)
    kept = (key, *advanced(low, high, scalar(count, U64)))[: state.type.size]
    return stack(kept)


def _parts(state: Node) -> tuple[Node, Node, Node]:
    """The key, and the halves of the counter, of which XLA takes the key for a missing one."""
    key, low, *rest = unstack(state)
    return key, low, rest[0] if rest else key


_PHILOX: Final = expansion(_blocks)
_STATE_AFTER: Final = expansion(_after)


def _by_lanes(e: Emitter, type: TensorType, state: Value, count: int) -> Value:
    """Bits of `count` blocks. The blocks' loop is a function: a loop over several axes has few
    vectors.
    """
    lanes = 16 // type.dtype.itemsize
    run = partial(_PHILOX, e, count=count, dtype=type.dtype)
    bits = e.call("philox", run, None, type.with_shape((count, lanes)), state)
    flat = e.reshape(bits, (count * lanes,))
    return e.reshape(static_slice(e, flat, (0,), (type.size,), (1,)), type.shape)


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
        count = -(-types[1].nbytes // 16)
        return _STATE_AFTER(e, types[0], state, count=count), _by_lanes(e, types[1], state, count)
    kind = hlo.RngAlgorithmAttr.get(algorithm)
    return e.ops("rng_bit_generator", types, state, rng_algorithm=kind)


ROWS: Rows = {ops.rng_bit_generator: _rng_bit_generator}
