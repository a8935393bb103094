"""References of the random bits: counter-based generators, after Salmon et al. (2011).

"Parallel random numbers: as easy as 1, 2, 3": Philox4x32 with ten rounds and Threefry2x32 with
twenty. The layout of counters over the result's shape is XLA's, bit for bit.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.kernels.philox import philox
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.types import Shape

Words = list[np.ndarray]
"""Numbers as 32-bit words, the lowest first."""

HALF: Final = np.uint64(32)
ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY: Final = np.uint32(0x1BD11BDA)


def _words(numbers: np.ndarray) -> Words:
    return [numbers.astype(np.uint32), (numbers >> HALF).astype(np.uint32)]


def _joined(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    joined: np.ndarray = low.astype(np.uint64) | (high.astype(np.uint64) << HALF)
    return joined


def threefry(counter: Words, key: Words) -> Words:
    """Threefry2x32 of each counter."""
    schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY]
    x, y = counter[0] + schedule[0], counter[1] + schedule[1]
    for step in range(1, 6):
        for distance in ROTATIONS[(step - 1) % 2]:
            x = x + y
            y = x ^ ((y << np.uint32(distance)) | (y >> np.uint32(32 - distance)))
        x = x + schedule[step % 3]
        y = y + schedule[(step + 1) % 3] + np.uint32(step)
    return [x, y]


def _threefry_counters(start: np.ndarray, shape: Shape) -> Words:
    order = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape)
    return _words(start + order)


def _threefry_bits(state: np.ndarray, shape: Shape, dtype: np.dtype) -> tuple[np.ndarray, int]:
    key = _words(state[:1])
    if dtype.itemsize == 8:
        low, high = threefry(_threefry_counters(state[1], shape), key)
        return _joined(low, high).reshape(shape), low.size
    if not shape:
        return threefry(_threefry_counters(state[1], (1,)), key)[0].reshape(()), 1
    even = [axis for axis, n in enumerate(shape) if n % 2 == 0]
    axis = even[0] if even else shape.index(max(shape))
    half = (*shape[:axis], (shape[axis] + 1) // 2, *shape[axis + 1 :])
    pair = threefry(_threefry_counters(state[1], half), key)
    # The two words of a counter become neighbours on `axis`; an odd axis drops the last word.
    both = np.stack(pair, axis + 1).reshape((*shape[:axis], 2 * half[axis], *shape[axis + 1 :]))
    return np.take(both, range(shape[axis]), axis), pair[0].size


def _philox_bits(state: np.ndarray, shape: Shape, dtype: np.dtype) -> tuple[np.ndarray, int]:
    size = math.prod(shape)
    wide = np.dtype(np.uint64 if dtype.itemsize == 8 else np.uint32)
    count = -(-size * wide.itemsize // 16)
    # If the state has no upper half of the counter, XLA uses the key instead.
    key, low, *high = map(int, state)
    words = philox(key, low, high[0] if high else key, count)
    return words.view(wide).reshape(-1)[:size].reshape(shape), count


def _rng_bit_generator(
    state: np.ndarray, *, shape: Shape, dtype: np.dtype, algorithm: str
) -> tuple[np.ndarray, np.ndarray]:
    draw = _threefry_bits if algorithm == "THREE_FRY" else _philox_bits
    bits, used = draw(state, shape, dtype)
    after = state.copy()
    after[1:2] += np.uint64(used)
    if state.size == 3:
        after[2:] += after[1:2] < state[1:2]
    return after, bits.astype(dtype)


ROWS: Rows = {ops.rng_bit_generator: _rng_bit_generator}
