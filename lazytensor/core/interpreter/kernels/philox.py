"""Philox4x32 with ten rounds, after Salmon et al. (2011). `philox.pyx` does the same."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.core.ops.random import PHILOX_FACTORS, PHILOX_ROUNDS, PHILOX_STEPS

HALF: Final = np.uint64(32)
MULTIPLIERS: Final = tuple(map(np.uint64, PHILOX_FACTORS))
WEYL: Final = tuple(map(np.uint32, PHILOX_STEPS))


def _words(numbers: np.ndarray) -> list[np.ndarray]:
    return [numbers.astype(np.uint32), (numbers >> HALF).astype(np.uint32)]


def philox(key: int, low: int, high: int, count: int) -> np.ndarray:
    """The words u32[count, 4] of `count` counters that follow each other.

    key: 64 bits. low, high: the halves of the first counter, of 64 bits each.
    """
    lows = np.uint64(low) + np.arange(count, dtype=np.uint64)
    highs = np.uint64(high) + (lows < np.uint64(low)).astype(np.uint64)
    a, b, c, d = *_words(lows), *_words(highs)
    left, right = _words(np.array([key], np.uint64))
    for _ in range(PHILOX_ROUNDS):
        first, second = _words(a.astype(np.uint64) * MULTIPLIERS[0])
        third, fourth = _words(c.astype(np.uint64) * MULTIPLIERS[1])
        a, b, c, d = fourth ^ b ^ left, third, second ^ d ^ right, first
        left, right = left + WEYL[0], right + WEYL[1]
    return np.stack([a, b, c, d], -1)
