"""Which dtypes a distribution draws, and between which bounds."""

from __future__ import annotations

from math import isfinite
from typing import Final

import numpy as np
import torch

from lazytensor.core.ir.dtypes import (
    BOOL,
    COMPLEX,
    F16,
    FLOATS,
    INTS,
    REAL,
    S64,
    U8,
    U64,
    UNSIGNED,
    real_of,
)
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe.warnings import warn_at
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.tensors.tensor import NUMPY, TORCH

Range = tuple[int, int]
LEAST, MOST = -(2**63), 2**63 - 1
"""The bounds of an s64."""
_WIDE: Final = UNSIGNED - {U8}
"""Unsigned dtypes that most of torch's kernels have not."""
_COMMON: Final = REAL - _WIDE
_FULL_RANGE: Final = (FLOATS - {F16}) | {S64}
"""Dtypes that torch draws every s64 for."""
_WHOLE_NUMBER_BITS: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""How many bits a whole number may have for a float dtype to have it and all below."""

_CPP_NAMES: Final = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
}  # fmt: skip
"""How C++ writes a dtype of floats."""
_IMPRECISE: Final = (
    "{name} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations {type} can "
    "support discrete uniform distribution only within this range. This warning will become an "
    "error in version 1.7 release, please fix the code in advance"
)

DRAWN: Final = {
    **dict.fromkeys(("uniform_", "normal_"), FLOATS | COMPLEX),
    **dict.fromkeys(("log_normal_", "exponential_", "cauchy_"), FLOATS),
    **dict.fromkeys(("bernoulli_.Tensor", "bernoulli_.float", "random_"), _COMMON | {BOOL}),
    **dict.fromkeys(("random_.to", "random_.from"), REAL | COMPLEX | {BOOL}),
    **dict.fromkeys(("geometric_", "randperm"), _COMMON),
}
"""The dtypes that torch's kernel of a distribution draws."""


def require_dtype(name: str, dtype: np.dtype) -> None:
    """Refuse a dtype that torch does not draw from the distribution."""
    require(name not in DRAWN or dtype in DRAWN[name])


def require_uniform(dtype: np.dtype, low: float, high: float) -> None:
    """Refuse bounds that a dtype of floats cannot hold, or that are exchanged."""
    most = float(torch.finfo(TORCH[real_of(dtype)]).max)
    require(all(isfinite(value) and abs(value) <= most for value in (low, high)))
    require(low <= high and high - low <= most)


def whole_range(dtype: np.dtype, low: int, high: int | None) -> Range:
    """The least number that `random_` draws, and the first beyond. Warns as torch."""
    if high is not None:
        return _between(dtype, low, high)
    if low == LEAST:
        require(dtype in _FULL_RANGE)
        return LEAST, MOST + 1
    require(dtype not in COMPLEX)
    last = greatest(dtype) if dtype != U64 else -1  # so it is as an s64
    if dtype in FLOATS:
        low = _rounded(dtype, low, -1)
        require(low <= last)
    _check_whole(dtype, low, last)
    return low, last + 1


def _between(dtype: np.dtype, low: int, high: int) -> Range:
    require(low < high and dtype not in COMPLEX)
    if dtype in FLOATS:
        low, high = _rounded(dtype, low, -1), _rounded(dtype, high, 1)
        require(low < high)
    _check_whole(dtype, low, high - 1)
    return low, high


def greatest(dtype: np.dtype) -> int:
    """The greatest number that `random_` draws where nothing is said."""
    if dtype in INTS:
        return min(int(np.iinfo(dtype).max), MOST)
    return 2 ** _WHOLE_NUMBER_BITS[dtype.name] if dtype in FLOATS else 1


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
    """Refuse numbers that a dtype cannot hold; warn of those between its own."""
    for name, value in (("from", first), ("to - 1", last)):
        if dtype in INTS:
            info = np.iinfo(dtype)
            fits = int(info.min) <= value <= int(info.max)
        else:
            fits = value in (0, 1) if dtype == BOOL else _fits(dtype, value)
        require(fits)
        if dtype in FLOATS and abs(value) > 2 ** _WHOLE_NUMBER_BITS[dtype.name]:
            type, bits = _CPP_NAMES[dtype.name], _WHOLE_NUMBER_BITS[dtype.name]
            text = _IMPRECISE.format(name=name, bits=bits, type=type)
            warn_at(user_place(), text, UserWarning)


def require_permutation(dtype: np.dtype, n: int) -> None:
    """Refuse more elements than a dtype has whole numbers."""
    require(n >= 0)
    require_dtype("randperm", dtype)
    if dtype in INTS:
        require(n - 1 <= np.iinfo(dtype).max)
    elif dtype != NUMPY[torch.bfloat16]:
        require(n <= 2 ** _WHOLE_NUMBER_BITS[dtype.name] + 1)
