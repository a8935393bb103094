"""Counter-based random bits."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import U64, UNSIGNED
from lazytensor.core.ir.op import check_dtype, primitive
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

PHILOX_FACTORS: Final = (0xD2511F53, 0xCD9E8D57)
PHILOX_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
"""Per round of Philox4x32: factors of two counter words; increments of the key's words."""
PHILOX_ROUNDS: Final = 10
STATE_SIZES = {"THREE_FRY": (2,), "PHILOX": (2, 3)}


@primitive
def rng_bit_generator(
    state: TensorType, *, shape: Shape, dtype: np.dtype, algorithm: str
) -> tuple[TensorType, TensorType]:
    """Uniformly distributed bits, and the state that continues the stream.

    state: u64[2] (key, counter); "PHILOX" also takes u64[3] (key, 128 bits of counter). `dtype`: an
    unsigned integer. Result: state, and bits of `shape`; the same for the same state, everywhere.
    Raises: DTypeError, ShapeError. Source: StableHLO, rng_bit_generator; Salmon et al., "Parallel
    random numbers: as easy as 1, 2, 3" (2011).
    """
    check_dtype("rng_bit_generator", frozenset([U64]), state)
    if dtype not in UNSIGNED:
        raise DTypeError(f"rng_bit_generator: bits are unsigned integers, got {dtype}")
    sizes = STATE_SIZES.get(algorithm)
    if sizes is None or state.ndim != 1 or state.size not in sizes:
        raise ShapeError(f"rng_bit_generator: {algorithm} takes a state of {sizes}, got {state}")
    return state, tensor_type(dtype, shape)
