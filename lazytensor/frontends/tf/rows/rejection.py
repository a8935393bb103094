"""Random numbers that TF's kernels draw until one is accepted: gamma, truncated normal.

Each result, or each group of them, has its own stretch of the stream, so that the numbers do not
depend on the order of drawing. They equal TF's except in the last bits of logarithms.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import BOOL, F32, F64, S32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.random import advanced, philox
from lazytensor.core.ops.control import Region
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.random import (
    box_muller,
    check_algorithm,
    floats,
    seeded,
    shape_of,
)

STRETCH: Final = 256
"""Blocks of four words that TF reserves for a result, or for four of them."""
MOST_TRIES: Final = 200
"""Tries of one gamma distributed number; each is accepted with 0.95 and more, unless it is NaN."""
_SQUEEZE: Final = 0.0331
"""Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), section 4."""


def _f64(value: float) -> Node:
    return scalar(value, F64)


def _uniforms(words: list[Node]) -> list[Node]:
    """Two numbers f64 of [0, 1) from the words of a block, the upper word of each first."""
    wide = [ops.convert(word, dtype=U64) for word in words]
    shift = scalar(32, U64)
    return [floats((lower << shift) | upper, F64) for upper, lower in (wide[:2], wide[2:])]


class Stream(NamedTuple):
    """The key, and per number the first counter of its stretch and its shape parameter."""

    key: Node
    low: Node
    high: Node
    alpha: Node


class Tries(NamedTuple):
    """What a round of tries leaves to the next.

    `number`: the round's; `place`: blocks used of each stretch; `normal`, `uniform`: the other
    number of each one's last block; `kept`: whether that `uniform` is still unused.
    """

    number: Node
    place: Node
    normal: Node
    uniform: Node
    kept: Node
    done: Node
    result: Node


def _blocks(stream: Stream, places: list[Node]) -> list[list[Node]]:
    """Both numbers of [0, 1) of each block, for blocks at several places."""
    shape = (1, *places[0].type.shape)
    at = ops.concatenate(*(ops.reshape(p, shape=shape) for p in places), axis=0)
    found = _uniforms(philox(stream.key, *advanced(stream.low, stream.high, at)))
    return [[ops.at_index(x, 0, i) for x in found] for i in range(len(places))]


def _scale(alpha: Node) -> Node:
    """The method's `d`; where `alpha` is below 1, that of `alpha + 1`."""
    third = ops.select(alpha < 1.0, _f64(2 / 3), _f64(-1 / 3))
    return alpha + third


def _round(stream: Stream, tries: Tries) -> Tries:
    """One more try of every number; those that are done stay as they are."""
    even = ops.equal(ops.remainder(tries.number, scalar(2, S32)), scalar(0, S32))
    fresh = ~tries.kept
    second = tries.place + ops.convert(even, dtype=U64)
    third = second + ops.convert(fresh, dtype=U64)
    blocks = _blocks(stream, [tries.place, second, third])
    sine, cosine = box_muller(*blocks[0])
    x = ops.select(even, cosine, tries.normal)
    other = ops.select(fresh, blocks[1][0], tries.uniform)
    u = ops.select(fresh, blocks[1][1], tries.uniform)
    d = _scale(stream.alpha)
    v = 1.0 + 1 / 3 / ops.sqrt(d) * x
    fits = ~(v <= 0.0)
    v = v * v * v
    accepted = fits & _accepted(x, u, v, d)
    last = ops.select(fresh, other, blocks[2][1])  # one more of [0, 1), for those below 1
    power = last ** (1.0 / stream.alpha)
    made = d * v * ops.select(stream.alpha < 1.0, power, _f64(1.0))
    new = accepted & ~tries.done
    return Tries(
        tries.number + 1,
        ops.select(fits, third, second),
        ops.select(even, sine, tries.normal),
        ops.select(fits, other, tries.uniform),
        ops.select(fits, fresh, tries.kept),
        tries.done | accepted,
        ops.select(new, made, tries.result),
    )


def _accepted(x: Node, u: Node, v: Node, d: Node) -> Any:
    squared = x * x
    quick = u < 1.0 - _SQUEEZE * squared * squared
    bound = 0.5 * squared + d * (1.0 - v + ops.log(v))
    return quick | (ops.log(u) < bound)


def _sampled(stream: Stream) -> Any:
    """Gamma distributed numbers of the stream's shape."""
    shape = stream.alpha.type.shape

    def full(value: float, dtype: np.dtype) -> Node:
        return ops.broadcast(scalar(value, dtype), shape=shape)

    first = _blocks(stream, [full(0, U64)])[0][1]
    exponential = -ops.log1p(-first)  # what a shape parameter of 1 gives
    tries = Tries(
        ops.broadcast(scalar(0, S32), shape=()), full(0, U64), full(0.0, F64), full(0.0, F64),
        full(False, BOOL), ops.equal(stream.alpha, _f64(1.0)), exponential,
    )  # fmt: skip
    state = (*stream, *tries)
    types = [node.type for node in state]
    count = len(stream)

    def more(*state: Node) -> Node:
        now = Tries(*state[count:])
        axes = tuple(range(now.done.type.ndim))
        few = now.number < MOST_TRIES
        return few & ~ops.reduce_and(now.done, axes=axes)

    def body(*state: Node) -> tuple[Node, ...]:
        return (*state[:count], *_round(Stream(*state[:count]), Tries(*state[count:])))

    made = ops.while_(
        *state,
        condition=Region("gamma: more tries", trace_types(more, types, {})),
        body=Region("gamma: tries", trace_types(body, types, {})),
    )
    return Tries(*made[count:]).result


def _gamma(
    given: np.ndarray, key: Node, counter: Node, alg: np.ndarray, alpha: Node, **_: Any
) -> Node:
    check_algorithm(alg)
    shape, own = shape_of(given), alpha.type
    if not prod(shape):
        return ops.broadcast(scalar(0.0, own.dtype), shape=shape)
    count = prod(shape) // own.size
    # The kernel draws all samples of one parameter in a row; in the result they are not adjacent.
    number = ops.transpose(
        ops.reshape(ops.iota(dtype=U64, shape=(prod(shape),), axis=0), shape=(own.size, count)),
        axes=(1, 0),
    )
    low, high = advanced(ops.at_index(counter, 0, 0), ops.at_index(counter, 0, 1), number * STRETCH)
    wide = ops.broadcast(
        ops.reshape(ops.convert(alpha, dtype=F64), shape=(1, own.size)), shape=(count, own.size)
    )
    made = _sampled(Stream(ops.at_index(key, 0, 0), low, high, wide))
    return ops.convert(ops.reshape(made, shape=shape), dtype=own.dtype)


_LIMIT: Final = 2.0
_CANDIDATES: Final = {F32: (4, 5), F64: (2, 8)}
"""Per dtype: numbers in a group, blocks drawn for it. One normal number in 22 is beyond the limit,
so that at most one group in 10^18 lacks a number."""


def _truncated(
    given: np.ndarray, key: Node, counter: Node, alg: np.ndarray, *, dtype: np.dtype = F32,
    **_: Any,
) -> Node:  # fmt: skip
    """The first normal numbers of each group that lie within two deviations."""
    check_algorithm(alg)
    shape, own = shape_of(given), F64 if dtype == F64 else F32
    size, blocks = _CANDIDATES[own]
    groups = -(-prod(shape) // size)
    number = ops.iota(dtype=U64, shape=(groups, blocks), axis=0)
    ahead = number * (STRETCH * size // 4)
    at = ahead + ops.iota(dtype=U64, shape=(groups, blocks), axis=1)
    words = philox(
        ops.at_index(key, 0, 0),
        *advanced(ops.at_index(counter, 0, 0), ops.at_index(counter, 0, 1), at),
    )
    found = _uniforms(words) if own == F64 else [floats(word, own) for word in words]
    pairs = [box_muller(*found[i : i + 2]) for i in range(0, len(found), 2)]
    parts = [ops.reshape(x, shape=(groups, blocks, 1)) for pair in pairs for x in pair]
    line = ops.reshape(ops.concatenate(*parts, axis=2), shape=(groups, 1, blocks * len(parts)))
    fits = ops.abs(line) < _LIMIT
    rank = ops.cumsum(ops.convert(fits, dtype=S32), axis=2)
    wanted = ops.iota(dtype=S32, shape=(size, 1), axis=0) + 1
    chosen = fits & ops.equal(rank, wanted)
    made = ops.reduce_sum(ops.select(chosen, line, scalar(0.0, own)), axes=(2,))
    flat = ops.reshape(made, shape=(groups * size,))
    if prod(shape) != groups * size:
        flat = ops.part(flat, 0, 0, prod(shape))
    return ops.convert(ops.reshape(flat, shape=shape), dtype=dtype)


rows({"StatelessRandomGammaV3": _gamma, "StatelessTruncatedNormalV2": _truncated}, host=(0, 3))
rows(
    {
        "StatelessRandomGammaV2": seeded(_gamma),
        "StatelessTruncatedNormal": seeded(_truncated),
    },
    host=(0,),
)
