"""Combinations of dtypes that elementwise operations refuse, with torch's errors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.ir.dtypes import BOOL, F16, F32, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.random.bounds import CPP_NAMES
from lazytensor.frontends.torch.tensors.tensor import TORCH

MINUS_FLAGS: Final = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)
MINUS_A_FLAG: Final = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead."
)
_INTEGER_QUOTIENT: Final = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
    "perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be "
    "implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer "
    "inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
    "behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all "
    "dtypes."
)
_PARTS: Final = (F16, F32, F64)


def check_factor(factor: Any, dtype: np.dtype, name: str = "alpha") -> None:
    """Raise torch's error for a factor of a higher kind than the operands' common dtype."""
    if factor.__class__ is bool and dtype != BOOL:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if isinstance(factor, float | complex) and not is_inexact(dtype):
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )
    if isinstance(factor, complex) and dtype.kind != "c":
        raise RuntimeError(
            f"For non-complex input tensors, argument {name} must not be a complex number."
        )


def check_difference(x: Any, y: Any) -> None:
    """Raise torch's error where either operand of a subtraction is a flag."""
    flags = [isinstance(t, torch.Tensor) and t.dtype is torch.bool for t in (x, y)]
    if any(flags):
        raise RuntimeError(MINUS_FLAGS if all(flags) else MINUS_A_FLAG)


def check_quotient(*operands: Node) -> None:
    """Raise torch's error where `addcdiv` would divide integers."""
    if not any(is_inexact(x.type.dtype) for x in operands):
        raise RuntimeError(_INTEGER_QUOTIENT)


def check_ends(x: Node, end: Any, weight: Any) -> None:
    """Raise torch's error where the operands of `lerp` differ in dtype."""
    for name, other in (("end", end), ("weight", weight)):
        if not isinstance(other, Node) or (name == "weight" and not other.type.ndim):
            continue
        wanted, given = (CPP_NAMES[t.type.dtype.name] for t in (x, other))
        if wanted != given:
            raise RuntimeError(f"expected dtype {wanted} for `{name}` but got dtype {given}")


def check_parts(x: Node, y: Node) -> None:
    """Raise torch's error for nodes that cannot be the two parts of complex numbers."""
    names = [dtype_name(TORCH[t.type.dtype]) for t in (x, y)]
    if any(t.type.dtype not in _PARTS for t in (x, y)):
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{names[0]} and {names[1]}"
        )
    if names[0] != names[1]:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second "
            "argument"
        )
