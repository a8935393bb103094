"""Conversion of nodes to another dtype."""

from __future__ import annotations

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, scalar
from lazytensor.core.ops.elementwise import convert


def cast(x: Node, dtype: np.dtype) -> Node:
    """`x` converted to `dtype`; `x` itself if it has that dtype. A scalar slot stays a slot."""
    if x.type.dtype is dtype:
        return x
    if x.op is SLOT and x.type.ndim == 0:
        return _number(x, dtype)
    return convert(x, dtype=dtype)


def _number(x: Node, dtype: np.dtype) -> Node:
    with np.errstate(over="ignore", invalid="ignore"):
        value = np.array(x.value, x.type.dtype)
        if value.dtype.kind == "c" and dtype.kind not in "cb":
            value = value.real
        value = value.astype(dtype)
    return scalar(value.item() if dtype.kind != "V" else float(value), dtype)
