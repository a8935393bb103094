"""Python numbers as nodes, and the dtypes that compositions compute in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, COMPLEX, F16, F32, F64, FLOATS, FLOATS8, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ops.casting import cast

HALVES: Final = (F16, BF16)
_INEXACT_DTYPES: Final = FLOATS | FLOATS8 | COMPLEX


def is_inexact(dtype: np.dtype) -> bool:
    """Whether a dtype is of floats or complex numbers."""
    return dtype in _INEXACT_DTYPES


def number(value: Any, dtype: np.dtype) -> Node:
    """A Python number as a scalar of `dtype`, converted as C does it: integers lose high bits."""
    kind = dtype.kind
    if kind == "b":
        return scalar(bool(value), dtype)
    if kind in "iu":
        wide = int(value)
        bits = dtype.itemsize * 8
        wide &= (1 << bits) - 1
        signed = kind == "i" and wide >> (bits - 1)
        return scalar(wide - (1 << bits) if signed else wide, dtype)
    return scalar(complex(value) if kind == "c" else float(value), dtype)


def cast_to(x: Any, dtype: np.dtype) -> Node:
    """A node or a Python number as a node of `dtype`."""
    return cast(x, dtype) if isinstance(x, Node) else number(x, dtype)


def like(value: Any, x: Node) -> Node:
    """A Python number as a scalar of the dtype of `x`."""
    return cast_to(value, x.type.dtype)


def double(value: float) -> Node:
    """A Python number as a scalar of f64."""
    return number(value, F64)


def whole(value: int) -> Node:
    """A Python number as a scalar of s64, the dtype of indices."""
    return number(value, S64)


def filled(shape: Sequence[int], value: Any, dtype: np.dtype) -> Node:
    """`value` in every element."""
    return ops.broadcast(cast_to(value, dtype), shape=tuple(shape))


def widened(x: Node) -> Node:
    """`x`, or f32 for f16 and bf16: the dtype that it is computed in."""
    return cast(x, F32) if x.type.dtype in HALVES else x
