"""TF's random numbers: Philox 4x32-10 bit for bit; seed and counter are data of a program.

Stateful random ops are TF's own, run on the host: their streams are in TF's kernels. What one of
them shuffles may be lazy: TF shuffles its positions.
"""

from __future__ import annotations

from math import pi, prod
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, F16, F32, F64, S64, U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.frontends.tf.dispatch import fallback
from lazytensor.frontends.tf.dispatch.table import answer, rows
from lazytensor.frontends.tf.rows.indexing import gathered
from lazytensor.frontends.tf.rows.shapes import attr
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import LazyTensor, ValueNeeded, of_array

_KEY: Final = 0x02461E29 << 32 | 0x3EC8F720
"""The key with which TF scrambles seeds (its `GenerateKey`)."""
_MANTISSAS: Final = {F16: (np.dtype(np.uint16), 10, 15), BF16: (np.dtype(np.uint16), 7, 127),
                     F32: (U32, 23, 127), F64: (U64, 52, 1023)}  # fmt: skip
"""Per float: the integer of its size, bits of its mantissa, bias of its exponent."""


def _bits(key: Node, counter: Node, shape: tuple[int, ...], dtype: np.dtype) -> Node:
    state = ops.concatenate(ops.reshape(key, shape=(1,)), counter, axis=0)
    _, found = ops.rng_bit_generator(state, shape=shape, dtype=dtype, algorithm="PHILOX")
    return found


def _key_counter(seed: Node, **_: Any) -> tuple[Node, Node]:
    """What TF makes of a seed of two numbers."""
    words = ops.convert(ops.convert(seed, dtype=S64), dtype=U64)
    key = ops.broadcast(scalar(_KEY, U64), shape=(1,))
    mixed = _bits(key, words, (2,), U64)
    first, second = (ops.part(mixed, 0, i, 1) for i in (0, 1))
    zero = ops.broadcast(scalar(0, U64), shape=(1,))
    return first, ops.concatenate(zero, second, axis=0)


def check_algorithm(alg: np.ndarray) -> None:
    """Refuse what is not Philox."""
    if int(alg) not in (1, 3):  # Philox, and what is chosen for a CPU
        raise ValueError("an algorithm that is not Philox")


def floats(bits: Node, dtype: np.dtype) -> Node:
    """Numbers of [0, 1) from random bits: the mantissa of one of [1, 2)."""
    word, mantissa, bias = _MANTISSAS[dtype]
    if bits.type.dtype != word:
        bits = ops.convert(bits, dtype=word)
    if dtype == F64:  # its upper word comes first
        half = scalar(32, U64)
        bits = (bits << half) | (bits >> half)
    kept = bits & ((1 << mantissa) - 1)
    whole = ops.bitcast(kept | (bias << mantissa), dtype=dtype)
    return whole - 1.0


def shape_of(given: np.ndarray) -> tuple[int, ...]:
    """A shape that is an input."""
    return tuple(int(n) for n in given.ravel())


def _uniform(
    given: np.ndarray, key: Node, counter: Node, alg: np.ndarray, *, dtype: np.dtype = F32,
    **_: Any,
) -> Node:  # fmt: skip
    check_algorithm(alg)
    return floats(_bits(key, counter, shape_of(given), U64 if dtype == F64 else U32), dtype)


def box_muller(first: Node, second: Node) -> tuple[Node, Node]:
    """Two normally distributed numbers of two of [0, 1)."""
    dtype = first.type.dtype
    least = scalar(1e-7, dtype)  # TF's, which keeps the logarithm finite
    radius = ops.sqrt(-2.0 * ops.log(ops.maximum(first, least)))
    angle = second * (2 * pi)
    return ops.sin(angle) * radius, ops.cos(angle) * radius


def _normal(
    given: np.ndarray, key: Node, counter: Node, alg: np.ndarray, *, dtype: np.dtype = F32,
    **_: Any,
) -> Node:  # fmt: skip
    """By Box and Muller, of neighbouring pairs."""
    check_algorithm(alg)
    shape = shape_of(given)
    own = F64 if dtype == F64 else F32
    pairs = -(-prod(shape) // 2)
    words = floats(_bits(key, counter, (pairs, 2), U64 if own == F64 else U32), own)
    first, second = (ops.at_index(words, 1, i) for i in (0, 1))
    both = [ops.reshape(x, shape=(pairs, 1)) for x in box_muller(first, second)]
    line = ops.reshape(ops.concatenate(*both, axis=1), shape=(2 * pairs,))
    if prod(shape) != 2 * pairs:
        line = ops.part(line, 0, 0, prod(shape))
    made = ops.reshape(line, shape=shape)
    return made if dtype == own else ops.convert(made, dtype=dtype)


def _integers(
    given: np.ndarray, key: Node, counter: Node, alg: np.ndarray, low: Node, high: Node, **_: Any
) -> Node:
    check_algorithm(alg)
    dtype = low.type.dtype
    word = U64 if dtype in (S64, U64) else U32
    span = ops.bitcast(high - low, dtype=word)
    bits = ops.remainder(_bits(key, counter, shape_of(given), word), span)
    return low + ops.bitcast(bits, dtype=dtype)


def _full_integers(
    given: np.ndarray, key: Node, counter: Node, alg: np.ndarray, *, dtype: np.dtype, **_: Any
) -> Node:
    check_algorithm(alg)
    word = U64 if dtype in (S64, U64) else U32
    bits = _bits(key, counter, shape_of(given), word)
    return ops.bitcast(bits, dtype=dtype)


def seeded(function: Any) -> Any:
    """The row of an op that takes a seed instead of key and counter."""

    def row(given: np.ndarray, seed: Node, *rest: Node, **attrs: Any) -> Node:
        key, counter = _key_counter(seed)
        return function(given, key, counter, np.array(1), *rest, **attrs)

    return row


def _shuffled(ctx: Any, name: Any, args: tuple[Any, ...]) -> Any:
    node = args[0].node
    if not node.type.ndim:
        return LazyTensor(node)
    if state.tracing:  # each call has an order of its own
        raise ValueNeeded
    seeds = (part for key in ("seed", "seed2") for part in (key, attr(args, 1, key, 0)))
    places = of_array(np.arange(node.type.shape[0]))
    order = fallback.execute(ctx, "RandomShuffle", name, places, *seeds)
    return LazyTensor(gathered(node, leaf(np.array(order._numpy())), 0))


answer("RandomShuffle", _shuffled)
rows({"StatelessRandomGetKeyCounter": _key_counter})
rows({"StatelessRandomUniformV2": _uniform, "StatelessRandomNormalV2": _normal,
      "StatelessRandomUniformIntV2": _integers,
      "StatelessRandomUniformFullIntV2": _full_integers}, host=(0, 3))  # fmt: skip
rows({"StatelessRandomUniform": seeded(_uniform),
      "StatelessRandomNormal": seeded(_normal),
      "StatelessRandomUniformFullInt": seeded(_full_integers),
      "StatelessRandomUniformInt": seeded(_integers)}, host=(0,))  # fmt: skip
