"""Which dtypes a distribution draws, and between which bounds: torch's checks of its arguments."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.ir.dtypes import BOOL, COMPLEX, FLOATS, INTS, REAL, U8, U64, UNSIGNED, real_of
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe.warnings import warn_at
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.tensors.tensor import NUMPY, TORCH

Range = tuple[int, int]
LEAST, MOST = -(2**63), 2**63 - 1
"""The bounds of an s64."""
_WIDE: Final = UNSIGNED - {U8}
"""Unsigned dtypes that most of torch's kernels have not."""
_COMMON: Final = REAL - _WIDE
_HALF_DTYPES: Final = frozenset([NUMPY[torch.float16], NUMPY[torch.bfloat16]])
_WHOLE_NUMBER_BITS: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""How many bits a whole number may have for a float dtype to have it and all below."""

CPP_NAMES: Final = {
    "bool": "bool", "uint8": "unsigned char", "uint16": "short unsigned int",
    "uint32": "unsigned int", "uint64": "long unsigned int", "int8": "signed char",
    "int16": "short int", "int32": "int", "int64": "long int", "float16": "c10::Half",
    "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip
"""How C++ writes a dtype."""
_IMPRECISE: Final = (
    "{name} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations {type} can "
    "support discrete uniform distribution only within this range. This warning will become an "
    "error in version 1.7 release, please fix the code in advance"
)
_CONTINUOUS: Final = (
    "{} distribution is a continuous probability distribution. dtype must be a floating point but "
    "you specified {}"
)

KERNELS: Final = {
    "uniform_": ("check_uniform_bounds", FLOATS | COMPLEX),
    "normal_": ("normal_kernel_cpu", FLOATS | COMPLEX),
    "log_normal_": ("log_normal_cpu", FLOATS),
    "geometric_": ("geometric_cpu", _COMMON),
    "bernoulli_.Tensor": ("bernoulli_tensor_cpu_self_", _COMMON | {BOOL}),
    "bernoulli_.float": ("bernoulli_scalar_cpu_", _COMMON | {BOOL}),
    "random_": ("random_kernel_cpu", _COMMON | {BOOL}),
    "random_.to": ("random_update_from_to", REAL | COMPLEX | {BOOL}),
    "random_.from": ("random_update_from_to", REAL | COMPLEX | {BOOL}),
    "randperm": ("randperm", _COMMON),
}
"""What torch's kernel of a distribution is called in its errors, and the dtypes that it has."""
_EVERY_INTEGER: Final = (
    "random_full_64_bits_range_kernel_cpu", (_COMMON - _HALF_DTYPES) | {NUMPY[torch.bfloat16]},
)  # fmt: skip


def cpp_name(dtype: Any) -> str:
    """How C++ writes one of torch's dtypes."""
    name = str(dtype).removeprefix("torch.")
    return CPP_NAMES.get(name, name)


def require(true: bool, text: str) -> None:
    """Raise torch's error where something does not hold."""
    if not true:
        raise RuntimeError(text)


def require_dtype(name: str, dtype: np.dtype) -> None:
    """Raise torch's error where it does not draw numbers of a dtype from the distribution."""
    if name in KERNELS:
        _require_kernel(*KERNELS[name], dtype)
    elif name == "exponential_":
        text = _CONTINUOUS.format("Exponential", dtype_name(TORCH[dtype]))
        require(dtype in FLOATS, text)
    elif name == "cauchy_":
        require(
            dtype in FLOATS, _CONTINUOUS.format("Cauchy", CPP_NAMES.get(dtype.name, dtype.name))
        )


def _require_kernel(name: str, known: frozenset[np.dtype], dtype: np.dtype) -> None:
    if dtype not in known:
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtype_name(TORCH[dtype])}'")


def check_uniform(dtype: np.dtype, low: float, high: float) -> None:
    """Raise torch's error for bounds that a dtype of floats cannot hold, or that are exchanged."""
    real = real_of(dtype)
    most = float(torch.finfo(TORCH[real]).max)
    for name, value in (("from", low), ("to", high)):
        require(
            isfinite(value) and abs(value) <= most,
            f"{name} is out of bounds for {CPP_NAMES[real.name]}",
        )
    require(
        low <= high,
        f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}",
    )
    require(
        high - low <= most,
        f"uniform_ expects to-from <= std::numeric_limits<{dtype_name(TORCH[real])}>::max(), but "
        f"found to={high:g} and from={low:g} which result in to-from to exceed the limit",
    )


def whole_range(dtype: np.dtype, low: int, high: int | None) -> Range:
    """The least number that `random_` draws, and the first beyond. Raises and warns as torch."""
    if high is not None:
        return _between(dtype, low, high)
    if low == LEAST:
        _require_kernel(*_EVERY_INTEGER, dtype)
        if dtype in INTS - {NUMPY[torch.int64]}:
            raise RuntimeError(
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and "
                "bfloat16"
            )
        return LEAST, MOST + 1
    _require_real("random_from_to_impl", dtype)
    last = greatest(dtype) if dtype != U64 else -1  # so it is as an s64
    if dtype in FLOATS:
        low = _rounded(dtype, low, -1)
        require(
            low <= last,
            "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
            f"dtype, but got from={low} > to_inc={last}",
        )
    _check_whole(dtype, low, last)
    return low, last + 1


def _between(dtype: np.dtype, low: int, high: int) -> Range:
    require(
        low < high,
        f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
    )
    if dtype in FLOATS:
        low, high = _rounded(dtype, low, -1), _rounded(dtype, high, 1)
        require(
            low < high,
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
            f"from={low} >= to={high}",
        )
    _require_real("check_random_bounds", dtype)
    _check_whole(dtype, low, high - 1)
    return low, high


def greatest(dtype: np.dtype) -> int:
    """The greatest number that `random_` draws where nothing is said."""
    if dtype in INTS:
        return min(int(np.iinfo(dtype).max), MOST)
    return 2 ** _WHOLE_NUMBER_BITS[dtype.name] if dtype in FLOATS else 1


def _require_real(name: str, dtype: np.dtype) -> None:
    text = f"{name} handles only integral, floating-point and boolean types"
    require(dtype not in COMPLEX, text)


def _rounded(dtype: np.dtype, bound: int, away: int) -> int:
    """A bound from which no number inside is rounded to the outside, as torch moves it."""
    inner = bound - away
    at = int(np.array(inner).astype(dtype).astype(np.float64)) if _fits(dtype, inner) else inner
    if at < bound if away > 0 else at >= bound:
        return bound
    step: int = 2 ** (abs(inner).bit_length() - _WHOLE_NUMBER_BITS[dtype.name])
    return at - away * step


def _fits(dtype: np.dtype, value: int) -> bool:
    return abs(value) <= float(torch.finfo(TORCH[dtype]).max)


def _check_whole(dtype: np.dtype, first: int, last: int) -> None:
    """Raise torch's error for numbers that a dtype cannot hold; warn of those between its own."""
    for name, value in (("from", first), ("to - 1", last)):
        if dtype in INTS:
            info = np.iinfo(dtype)
            fits = int(info.min) <= value <= int(info.max)
        else:
            fits = value in (0, 1) if dtype == BOOL else _fits(dtype, value)
        type = CPP_NAMES[dtype.name]
        require(fits, f"{name} is out of bounds for {type}")
        if dtype in FLOATS and abs(value) > 2 ** _WHOLE_NUMBER_BITS[dtype.name]:
            text = _IMPRECISE.format(name=name, bits=_WHOLE_NUMBER_BITS[dtype.name], type=type)
            warn_at(user_place(), text, UserWarning)


def check_permutation(dtype: np.dtype, n: int) -> None:
    """Raise torch's error for more elements than a dtype has whole numbers."""
    require(n >= 0, f"Trying to create tensor with negative dimension {n}: [{n}]")
    require_dtype("randperm", dtype)
    if dtype in INTS:
        if n - 1 > np.iinfo(dtype).max:
            raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    elif dtype != NUMPY[torch.bfloat16]:
        bits, name = _WHOLE_NUMBER_BITS[dtype.name], dtype_name(TORCH[dtype])
        text = "2049" if name == "Half" else f"2^{bits}+1"
        require(n <= 2**bits + 1, f"n cannot be greater than {text} for {name} type.")


def check_probabilities(dtype: np.dtype) -> None:
    """Raise torch's error for probabilities that are not floats."""
    _require_kernel("bernoulli_tensor_cpu_p_", FLOATS, dtype)
