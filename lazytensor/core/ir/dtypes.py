"""The dtypes that XLA has, as NumPy dtypes; their short names; the classes type rules use."""

from __future__ import annotations

import ml_dtypes
import numpy as np

DType = np.dtype
DTypes = frozenset[np.dtype]


def _dtypes(*names: object) -> DTypes:
    return frozenset(np.dtype(name) for name in names)  # type: ignore[call-overload]


BOOL = np.dtype(np.bool_)
S32, S64, U8, U32, U64 = (np.dtype(t) for t in ("int32", "int64", "uint8", "uint32", "uint64"))
F16, F32, F64 = (np.dtype(t) for t in ("float16", "float32", "float64"))
BF16 = np.dtype(ml_dtypes.bfloat16)
C64, C128 = np.dtype("complex64"), np.dtype("complex128")

BOOLS: DTypes = frozenset([BOOL])
SIGNED: DTypes = _dtypes("int8", "int16", "int32", "int64")
UNSIGNED: DTypes = _dtypes("uint8", "uint16", "uint32", "uint64")
INTS: DTypes = SIGNED | UNSIGNED
NARROW_INTS: DTypes = _dtypes(ml_dtypes.int4, ml_dtypes.uint4)
FLOATS: DTypes = _dtypes("float16", ml_dtypes.bfloat16, "float32", "float64")
FLOATS8: DTypes = _dtypes(
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e3m4,
)
COMPLEX: DTypes = frozenset([C64, C128])
REAL: DTypes = INTS | FLOATS
NUMBERS: DTypes = REAL | COMPLEX
ORDERED: DTypes = BOOLS | REAL
STORED: DTypes = BOOLS | NUMBERS | NARROW_INTS | FLOATS8
"""Every dtype that can be held, moved and converted."""

_PREFIX = {"b": "pred", "i": "s", "u": "u", "f": "f", "c": "c"}
_REAL_OF: dict[np.dtype, np.dtype] = {C64: F32, C128: F64}
_COMPLEX_OF: dict[np.dtype, np.dtype] = {F32: C64, F64: C128}


def short_name(dtype: np.dtype) -> str:
    """`f32`, `s64`, `pred`, `bf16`: the names that XLA prints."""
    if dtype == BOOL:
        return "pred"
    if dtype.isbuiltin == 1 and dtype.kind in _PREFIX:
        return f"{_PREFIX[dtype.kind]}{dtype.itemsize * 8}"
    name = dtype.name
    for long, short in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "s")):
        if name.startswith(long):
            return short + name[len(long) :]
    return name


def real_of(dtype: np.dtype) -> np.dtype:
    """The dtype of a complex dtype's parts; a real dtype is its own."""
    return _REAL_OF.get(dtype, dtype)


def complex_of(dtype: np.dtype) -> np.dtype:
    """The complex dtype whose parts have this dtype (`f32` or `f64`)."""
    return _COMPLEX_OF.get(dtype, dtype)
