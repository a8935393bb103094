"""Lowerings of dot_general and convolution."""

from __future__ import annotations

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Value
from lazytensor.core import ops
from lazytensor.core.ops.contraction import Axes, AxesPair, Pairs, dense, layouts
from lazytensor.core.types import TensorType


def _dot_general(
    e: Emitter,
    type: TensorType,
    x: Value,
    y: Value,
    *,
    batch: AxesPair,
    contract: AxesPair,
    dtype: np.dtype | None,
) -> Value:
    numbers = hlo.DotDimensionNumbers.get(batch[0], batch[1], contract[0], contract[1])
    return e.op(
        "dot_general", type, x, y, dot_dimension_numbers=numbers, precision_config=_highest()
    )


def _convolution(
    e: Emitter,
    type: TensorType,
    x: Value,
    w: Value,
    *,
    strides: Axes,
    padding: Pairs,
    lhs_dilation: Axes,
    rhs_dilation: Axes,
    feature_groups: int,
    batch_groups: int,
    dimensions: tuple[Axes, Axes, Axes],
    reversal: tuple[bool, ...],
) -> Value:
    outer, inner, backward = dense(len(strides), lhs_dilation, rhs_dilation, reversal)
    data, kernel, result = layouts(dimensions, type.ndim)
    numbers = hlo.ConvDimensionNumbers.get(
        data[0], data[1], list(data[2:]),
        kernel[1], kernel[0], list(kernel[2:]),
        result[0], result[1], list(result[2:]),
    )  # fmt: skip
    return e.op(
        "convolution",
        type,
        x,
        w,
        window_strides=i64s(strides),
        padding=ir.DenseElementsAttr.get(np.array(padding, np.int64)),
        lhs_dilation=i64s(outer),
        rhs_dilation=i64s(inner),
        window_reversal=ir.DenseBoolArrayAttr.get(list(backward)),
        dimension_numbers=numbers,
        feature_group_count=i64(feature_groups),
        batch_group_count=i64(batch_groups),
        precision_config=_highest(),
    )


def _highest() -> ir.Attribute:
    """As a CPU does it anyway: products of f32 in f32, not in a narrower type."""
    precision = hlo.PrecisionAttr.get("HIGHEST")
    return ir.ArrayAttr.get([precision, precision])


LOWERINGS.update({ops.dot_general: _dot_general, ops.convolution: _convolution})
