"""Combinations of dtypes that elementwise operations refuse."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.ir.dtypes import BOOL, F16, F32, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.frontends.torch.dispatch.errors import require

_PARTS: Final = (F16, F32, F64)


def require_factor(factor: Any, dtype: np.dtype) -> None:
    """Refuse a factor of a higher kind than the operands' common dtype."""
    require(factor.__class__ is not bool or dtype == BOOL)
    require(not isinstance(factor, float | complex) or is_inexact(dtype))
    require(not isinstance(factor, complex) or dtype.kind == "c")


def require_numbers(x: Any, y: Any) -> None:
    """Refuse a subtraction of which either operand is a flag."""
    require(not any(isinstance(t, torch.Tensor) and t.dtype is torch.bool for t in (x, y)))


def require_ends(x: Node, end: Any, weight: Any) -> None:
    """Refuse operands of `lerp` that differ in dtype; a single weight may."""
    others = [end] if isinstance(weight, Node) and not weight.type.ndim else [end, weight]
    require(all(t.type.dtype == x.type.dtype for t in others if isinstance(t, Node)))


def require_parts(x: Node, y: Node) -> None:
    """Refuse nodes that cannot be the two parts of complex numbers."""
    require(x.type.dtype == y.type.dtype and x.type.dtype in _PARTS)
