"""Fourier transforms."""

from __future__ import annotations

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import COMPLEX, F32, F64, DTypes, complex_of, real_of
from lazytensor.core.ir.op import check_dtype, primitive
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

REAL_PARTS: DTypes = frozenset([F32, F64])
KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")


@primitive
def fft(x: TensorType, *, kind: str, lengths: Shape) -> TensorType:
    """The discrete Fourier transform over the last one to three axes.

    x: complex; for `kind` "RFFT" f32 or f64. "FFT" and "RFFT" sum without a factor, "IFFT" and
    "IRFFT" divide by the number of points. `lengths`: the sizes of those axes on the side of time,
    none zero. A real signal's spectrum keeps the first n // 2 + 1 frequencies of the last axis.
    Raises: DTypeError, ShapeError. Source: StableHLO, fft.
    """
    if kind not in KINDS or not 1 <= len(lengths) <= min(3, x.ndim):
        raise ShapeError(f"fft: {kind} over one to three axes {lengths}, got {x}")
    dtype = check_dtype("fft", REAL_PARTS if kind == "RFFT" else COMPLEX, x)
    half = (*lengths[:-1], lengths[-1] // 2 + 1)
    given = half if kind == "IRFFT" else lengths
    result = half if kind == "RFFT" else lengths
    kept = x.ndim - len(lengths)
    if x.shape[kept:] != given or 0 in lengths:
        raise ShapeError(f"fft: {kind} of lengths {lengths} takes {given} last, got {x}")
    changed = {"RFFT": complex_of, "IRFFT": real_of}.get(kind)
    return tensor_type(changed(dtype) if changed else dtype, x.shape[:kept] + result)
