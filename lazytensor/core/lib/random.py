"""Random numbers from counter-based streams; seed and counter are data of a program."""

from __future__ import annotations

import math
from threading import Lock

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import F32, F64, S64, U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar, varying
from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.types import Shape
from lazytensor.core.ops.random import PHILOX_FACTORS, PHILOX_ROUNDS, PHILOX_STEPS


class RandomStream:
    """A generator's position: all blocks of random bits before `counter` are used up."""

    __slots__ = ("__weakref__", "counter", "lock", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed % 2**64
        self.counter = 0
        self.lock = Lock()

    def take(self, blocks: int) -> tuple[int, int]:
        """Reserve `blocks` blocks. Result: seed and counter of the first one."""
        if thread.recorder.tracing:
            raise Unsupported("random numbers differ from call to call: no body of a composite")
        with self.lock:
            words = self.seed, self.counter
            self.counter = (self.counter + blocks) % 2**64
        return words

    def begin(self, seed: int, counter: int = 0) -> None:
        """Go on from `counter` of the stream that belongs to `seed`."""
        with self.lock:
            self.seed, self.counter = int(seed) % 2**64, counter


def philox(key: Node, low: Node, high: Node) -> list[Node]:
    """The four words u32 of each block of Philox4x32, after Salmon et al. (2011).

    key: u64[]. low, high: the halves of the blocks' counters, u64 of one shape.
    """
    shift = scalar(32, U64)
    keys = [ops.convert(k, dtype=U32) for k in (key, key >> shift)]
    first, third = (ops.convert(half, dtype=U32) for half in (low, high))
    second, fourth = (ops.convert(h >> shift, dtype=U32) for h in (low, high))
    for _ in range(PHILOX_ROUNDS):
        wide = [
            ops.convert(word, dtype=U64) * factor
            for word, factor in zip((first, third), PHILOX_FACTORS, strict=True)
        ]
        lower = [ops.convert(w, dtype=U32) for w in wide]
        upper = [ops.convert(w >> shift, dtype=U32) for w in wide]
        first = upper[1] ^ second ^ keys[0]
        third = upper[0] ^ fourth ^ keys[1]
        second, fourth = lower[1], lower[0]
        keys = [k + step for k, step in zip(keys, PHILOX_STEPS, strict=True)]
    return [first, second, third, fourth]


def advanced(low: Node, high: Node, blocks: Node) -> tuple[Node, Node]:
    """A counter of 128 bits (its halves u64), moved on by a number of blocks."""
    moved = low + blocks
    return moved, high + ops.convert(moved < low, dtype=U64)


def bits(shape: Shape, dtype: np.dtype, stream: RandomStream) -> Node:
    """Fresh random bits."""
    count = math.prod(shape) * max(dtype.itemsize // 4, 1)
    words = varying(stream.take(count // 4 + 1), U64)
    _, found = ops.rng_bit_generator(words, shape=shape, dtype=dtype, algorithm="PHILOX")
    return found


def uniform(shape: Shape, dtype: np.dtype, stream: RandomStream) -> Node:
    """Numbers from [0, 1), f64 or f32."""
    wide = dtype == F64
    word, kept = (U64, 53) if wide else (U32, 24)
    shift = scalar(word.itemsize * 8 - kept, word)
    whole = bits(shape, word, stream) >> shift
    whole = ops.convert(whole, dtype=F64 if wide else F32)
    return whole * 2.0**-kept


def normal(shape: Shape, dtype: np.dtype, stream: RandomStream) -> Node:
    """Numbers of mean 0 and variance 1, f64 or f32, by Box and Muller."""
    real = F64 if dtype == F64 else F32
    one, two = scalar(1.0, real), scalar(-2.0, real)
    radius = uniform(shape, real, stream)
    radius = ops.sqrt(two * ops.log(one - radius))
    angle = uniform(shape, real, stream) * (2 * np.pi)
    return radius * ops.cos(angle)


def exponential(shape: Shape, dtype: np.dtype, stream: RandomStream) -> Node:
    """Waiting times of mean 1, positive, f64 or f32."""
    unit = uniform(shape, dtype, stream)
    one = scalar(1.0, unit.type.dtype)
    tiny = scalar(float(np.finfo(unit.type.dtype).tiny), unit.type.dtype)
    return ops.maximum(-ops.log(one - unit), tiny)


def whole_numbers(shape: Shape, low: int, count: int, stream: RandomStream) -> Node:
    """Numbers from `low` on, s64, of which `count` are equally likely."""
    words = bits(shape, U64, stream)
    if count <= 2**63:  # the highest bit is left to the sign
        words = words >> 1
    if count < 2**64:
        words = words % scalar(count, U64)
    return ops.convert(words, dtype=S64) + scalar(low, S64)


def permutation(n: int, stream: RandomStream) -> Node:
    """The numbers below `n` in random order, s64."""
    return ops.argsort(bits((n,), U64, stream), axis=0)


def cauchy(shape: Shape, dtype: np.dtype, stream: RandomStream) -> Node:
    """Numbers of Cauchy's distribution of median 0 and scale 1, f64 or f32."""
    return ops.tan(uniform(shape, dtype, stream) * math.pi + -math.pi / 2)


def positive_uniform(shape: Shape, stream: RandomStream) -> Node:
    """Numbers from (0, 1], f64: their logarithms are finite."""
    return 1.0 - uniform(shape, F64, stream)


def categories_apart(weights: Node, count: int, stream: RandomStream) -> Node:
    """`count` places of each line of weights, all different: the first that come at random.

    weights: f64 or f32[..., n]. Result: s64[..., count].
    """
    rates = weights / exponential(weights.type.shape, weights.type.dtype, stream)
    return ops.top_k(rates, k=count)[1]


def categories(weights: Node, count: int, stream: RandomStream) -> Node:
    """`count` places of each line, each with the probability that its weight has.

    weights: f64 or f32[..., n], not negative. Result: s64[..., count].
    """
    *outer, n = weights.type.shape
    last = len(outer)
    total = ops.cumsum(weights, axis=last)
    whole = ops.part(total, last, n - 1, 1)
    draws = uniform((*outer, count), weights.type.dtype, stream) * whole
    below = ops.new_axis(total, last) <= ops.new_axis(draws)
    places = ops.reduce_sum(ops.convert(below, dtype=S64), axes=(last + 1,))
    return ops.minimum(places, scalar(n - 1, S64))  # a draw may be rounded up
