"""Samples of the random bits, which are the same everywhere, to the bit."""

from __future__ import annotations

from itertools import product

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from tests.ops.sample import Refusal, Sample

STATES = {
    "middle": (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0),
    "about to carry": (7, 2**64 - 3, 2**64 - 1),
}
SHAPES = ((), (5,), (0,), (3, 5), (3, 4), (3, 2, 7), (3, 50))


def _state(name: str, size: int) -> np.ndarray:
    return np.array(STATES[name][:size], np.uint64)


def _sample(state: str, size: int, shape: tuple[int, ...], dtype: str, algorithm: str) -> Sample:
    attrs = {"shape": shape, "dtype": np.dtype(dtype), "algorithm": algorithm}
    return Sample(ops.rng_bit_generator, (_state(state, size),), attrs)


SAMPLES = [
    *(
        _sample(state, size, shape, dtype, algorithm)
        for (algorithm, size), state, shape, dtype in product(
            (("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)), STATES, SHAPES, ("uint32", "uint64")
        )
    ),
    *(
        _sample("middle", 2, (3, 5), dtype, algorithm)
        for dtype, algorithm in product(("uint8", "uint16"), ("THREE_FRY", "PHILOX"))
    ),
]

BITS = {"shape": (4,), "dtype": np.dtype(np.uint32), "algorithm": "THREE_FRY"}
REFUSALS = [
    Refusal(ops.rng_bit_generator, (np.zeros(2, np.uint32),), DTypeError, BITS),
    Refusal(ops.rng_bit_generator, (np.zeros(3, np.uint64),), ShapeError, BITS),
    Refusal(
        ops.rng_bit_generator,
        (np.zeros(2, np.uint64),),
        DTypeError,
        {**BITS, "dtype": np.dtype(np.float32)},
    ),
    Refusal(
        ops.rng_bit_generator, (np.zeros(2, np.uint64),), ShapeError, {**BITS, "algorithm": "MT"}
    ),
]
