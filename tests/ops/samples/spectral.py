"""Samples of the Fourier transforms."""

from __future__ import annotations

from itertools import product

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from tests.ops.sample import Refusal, Sample

KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")
TOLERANCE = {"complex64": 1e-6, "complex128": 1e-14}
REASON = "the additions are made in another order"
LENGTHS = (
    (1,),
    (2,),
    (3,),
    (7,),
    (12,),
    (31,),
    (64,),
    (97,),
    (210,),
    (1, 1),
    (3, 4),
    (5, 7),
    (2, 3, 5),
)


def _signal(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def _sample(kind: str, lengths: tuple[int, ...], dtype: str, batch: tuple[int, ...]) -> Sample:
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    x = _signal((*batch, *(half if kind == "IRFFT" else lengths)), dtype)
    given = x.real.copy() if kind == "RFFT" else x
    attrs = {"kind": kind, "lengths": lengths}
    return Sample(ops.fft, (given,), attrs, TOLERANCE[dtype], REASON)


SAMPLES = [
    *(
        _sample(kind, lengths, dtype, batch)
        for kind, lengths, (dtype, batch) in product(
            KINDS, LENGTHS, (("complex128", (2,)), ("complex64", ()))
        )
    ),
    *(_sample(kind, (4,), "complex64", (2, 0)) for kind in KINDS),
    Sample(
        ops.fft,
        (np.array([[1, np.nan, 2], [1, 2, 3]], np.complex64),),
        {"kind": "FFT", "lengths": (3,)},
        1e-6,
        REASON,
    ),
]

REFUSALS = [
    Refusal(ops.fft, (np.zeros(4),), DTypeError, {"kind": "FFT", "lengths": (4,)}),
    Refusal(ops.fft, (np.zeros(4, np.complex64),), DTypeError, {"kind": "RFFT", "lengths": (4,)}),
    Refusal(ops.fft, (np.zeros(4, np.float16),), DTypeError, {"kind": "RFFT", "lengths": (4,)}),
    Refusal(ops.fft, (np.zeros(4, complex),), ShapeError, {"kind": "FFT", "lengths": (5,)}),
    Refusal(ops.fft, (np.zeros(4, complex),), ShapeError, {"kind": "IRFFT", "lengths": (4,)}),
    Refusal(ops.fft, (np.zeros(4, complex),), ShapeError, {"kind": "DCT", "lengths": (4,)}),
    Refusal(ops.fft, (np.zeros(0, complex),), ShapeError, {"kind": "FFT", "lengths": (0,)}),
    Refusal(ops.fft, (np.zeros(4, complex),), ShapeError, {"kind": "FFT", "lengths": ()}),
]
