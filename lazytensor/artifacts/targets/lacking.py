"""What StableHLO has, and what other runtimes lack of it.

The rows of TFLite and IREE are what a sweep over this library's samples of operations has shown;
ONNX lacks what has no rule (see `onnx/convert.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

STABLEHLO: Final = frozenset([
    "abs", "add", "and", "atan2", "bitcast_convert", "broadcast_in_dim", "case", "cbrt", "ceil",
    "cholesky", "clamp", "compare", "complex", "concatenate", "constant", "convert", "convolution",
    "cosine", "count_leading_zeros", "custom_call", "divide", "dot_general",
    "dynamic_broadcast_in_dim", "dynamic_gather", "dynamic_iota", "dynamic_pad", "dynamic_reshape",
    "dynamic_slice", "dynamic_update_slice", "exponential", "exponential_minus_one", "fft", "floor",
    "gather", "get_dimension_size", "imag", "iota", "is_finite", "log", "log_plus_one", "logistic",
    "maximum", "minimum", "multiply", "negate", "not", "optimization_barrier", "or", "pad",
    "popcnt", "power", "real", "real_dynamic_slice", "reduce", "reduce_precision", "reduce_window",
    "remainder", "reshape", "reverse", "rng_bit_generator", "round_nearest_afz",
    "round_nearest_even", "rsqrt", "scatter", "select", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "sign", "sine", "slice", "sort", "sqrt", "subtract", "tan", "tanh",
    "transpose", "triangular_solve", "while", "xor",
])  # fmt: skip
"""The operations that portable programs have; each target has those that it does not lack."""
EXPANDED: Final = frozenset(["cholesky", "triangular_solve"])
"""Operations that ONNX and IREE get as loops."""


def _of(dtypes: Sequence[str], names: Sequence[str]) -> list[str]:
    """Operations that are lacking for these dtypes."""
    return [f"{name}:{dtype}" for name in names for dtype in dtypes]


LACKING_IN_TFLITE: Final = frozenset([
    "abs:int64", "and:int64", "cholesky", "complex", "count_leading_zeros", "custom_call",
    "dynamic_gather", "fft", "not:int64", "or:int64", "popcnt", "round_nearest_afz", "sort",
    "triangular_solve", "xor:bool", "xor:int32", "xor:int64",
    *_of(["int32", "int64"], [
        "convolution", "dot_general", "power", "shift_left", "shift_right_arithmetic",
        "shift_right_logical",
    ]),
    *_of(["float64"], [
        "abs", "add", "cosine", "divide", "exponential", "log", "log_plus_one", "maximum",
        "minimum", "multiply", "negate", "power", "reduce", "rsqrt", "sine", "sqrt", "subtract",
        "tanh",
    ]),
])  # fmt: skip
LACKING_IN_IREE: Final = frozenset([
    "custom_call",
    *_of(["float64"], [
        "atan2", "cbrt", "ceil", "cosine", "power", "remainder", "sine", "tan", "tanh",
    ]),
])  # fmt: skip
