"""Samples of composites that NumPy has functions for: packed bits, divisors, complex extremes."""

from __future__ import annotations

import math

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from tests.ops.sample import Refusal, Sample

_random = np.random.default_rng(17)
FLAGS = _random.random((3, 24)) > 0.4
BYTES = _random.integers(0, 256, (3, 5)).astype("uint8")
DTYPES = ("int8", "uint8", "int32", "int64", "uint64")


def _complex(dtype: str) -> np.ndarray:
    """Few real parts, so that imaginary ones decide; NaN in two columns."""
    parts = _random.integers(-2, 3, (2, 6, 7)).astype(float)
    parts[0, 3, 2] = parts[1, 4, 5] = math.nan
    parts[0, 1, 1] = math.inf
    return (parts[0] + 1j * parts[1]).astype(dtype)


SAMPLES = [
    *(
        Sample(ops.pack_bits, (given,), {"little": little})
        for given in (FLAGS, FLAGS * np.uint8(130))
        for little in (False, True)
    ),
    *(Sample(ops.unpack_bits, (BYTES,), {"little": little}) for little in (False, True)),
    *(
        Sample(ops.reduce_gcd, (12 * _random.integers(0, 9, (4, 5)).astype(dtype),), {"axes": axes})
        for dtype in DTYPES
        for axes in ((0,), (1,), (0, 1))
    ),
    *(
        Sample(op, (_complex(dtype),), {"axis": axis})
        for op in (ops.complex_argmax, ops.complex_argmin)
        for dtype in ("complex64", "complex128")
        for axis in (0, 1)
    ),
]
REFUSALS = [
    Refusal(ops.pack_bits, (FLAGS[:, :7],), ShapeError, {"little": False}),
    Refusal(ops.pack_bits, (FLAGS.astype("int8"),), DTypeError, {"little": False}),
    Refusal(ops.unpack_bits, (FLAGS,), DTypeError, {"little": False}),
    Refusal(ops.unpack_bits, (BYTES[0, 0],), ShapeError, {"little": False}),
    Refusal(ops.reduce_gcd, (np.ones(3),), DTypeError, {"axes": (0,)}),
    Refusal(ops.reduce_gcd, (BYTES,), ShapeError, {"axes": (2,)}),
    *(
        Refusal(op, (np.ones(3),), DTypeError, {"axis": 0})
        for op in (ops.complex_argmax, ops.complex_argmin)
    ),
]
