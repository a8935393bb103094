"""MLIR types and attributes, made once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.core.ir.dtypes import BOOL, BOOLS, COMPLEX, FLOATS, FLOATS8, real_of
from lazytensor.core.ir.types import TensorType

_FLOATS: dict[str, Any] = {
    "bfloat16": ir.BF16Type,
    "float16": ir.F16Type,
    "float32": ir.F32Type,
    "float64": ir.F64Type,
    "float8_e4m3fn": ir.Float8E4M3FNType,
    "float8_e5m2": ir.Float8E5M2Type,
    "float8_e4m3b11fnuz": ir.Float8E4M3B11FNUZType,
    "float8_e4m3fnuz": ir.Float8E4M3FNUZType,
    "float8_e5m2fnuz": ir.Float8E5M2FNUZType,
    "float8_e4m3": ir.Float8E4M3Type,
    "float8_e3m4": ir.Float8E3M4Type,
}


@cache
def element_type(dtype: np.dtype) -> ir.Type:
    """The MLIR type of an element. Needs the client's context to be current."""
    if dtype == BOOL:
        return ir.IntegerType.get_signless(1)
    if dtype.name in _FLOATS:
        return _FLOATS[dtype.name].get()
    if dtype in COMPLEX:
        return ir.ComplexType.get(element_type(real_of(dtype)))
    bits = int("".join(filter(str.isdigit, dtype.name)))
    if dtype.name.startswith("uint"):
        return ir.IntegerType.get_unsigned(bits)
    return ir.IntegerType.get_signless(bits)


@cache
def ir_type(type: TensorType) -> ir.Type:
    """The MLIR type of a tensor."""
    return ir.RankedTensorType.get(type.shape, element_type(type.dtype))


def i64s(values: Iterable[int]) -> ir.Attribute:
    """`array<i64: …>`."""
    return ir.DenseI64ArrayAttr.get(list(values))


@cache
def i64(value: int) -> ir.Attribute:
    """An i64."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


@cache
def direction(name: str) -> ir.Attribute:
    """A direction of comparison: `EQ NE LT LE GT GE`."""
    return hlo.ComparisonDirectionAttr.get(name)


@cache
def comparison(dtype: np.dtype) -> ir.Attribute:
    """The comparison type of this dtype: float, unsigned or signed."""
    if dtype in FLOATS | FLOATS8 | COMPLEX:
        return hlo.ComparisonTypeAttr.get("FLOAT")
    unsigned = dtype in BOOLS or dtype.name.startswith("uint")
    return hlo.ComparisonTypeAttr.get("UNSIGNED" if unsigned else "SIGNED")
