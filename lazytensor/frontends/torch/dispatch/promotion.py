"""Torch's promotion: from operands as kernels get them to nodes of one dtype.

An operand is a tensor on the device, a CPU tensor without axes, or a Python number. Tensors with
axes decide; those without count only where they are of a higher kind (bool, integer, float,
complex); numbers come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F32, FLOATS, S64
from lazytensor.core.ir.memo import memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.numbers import is_inexact, number
from lazytensor.core.ops.casting import cast
from lazytensor.frontends.torch.dispatch.errors import sure
from lazytensor.frontends.torch.tensors.placement import elsewhere
from lazytensor.frontends.torch.tensors.tensor import (
    NUMBERS,
    NUMPY,
    TORCH,
    held_by,
    is_lazy,
    node,
    numpy_dtype,
)

_KINDS: Final = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
_results: Final[dict[Any, np.dtype]] = memory()


def default_float() -> np.dtype:
    """The dtype that an integer becomes where a float is needed."""
    return NUMPY[torch.get_default_dtype()]


def promote(x: np.dtype, y: np.dtype) -> np.dtype:
    """The common dtype of two operands of equal priority."""
    return x if x == y else NUMPY[torch.promote_types(TORCH[x], TORCH[y])]


def number_dtype(kind: type) -> np.dtype:
    """The dtype that a Python number counts as."""
    if issubclass(kind, bool):
        return BOOL
    if issubclass(kind, int):
        return S64
    return default_float() if issubclass(kind, float) else complex_of(default_float())


def result_dtype(*operands: Any) -> np.dtype:
    """The common dtype of the operands, nodes and Python numbers."""
    key = (
        torch.get_default_dtype(),
        *((x.type if isinstance(x, Node) else type(x)) for x in operands),
    )
    found = _results.get(key)
    if found is None:
        found = _results[key] = _result(operands)
    return found


def _result(operands: Sequence[Any]) -> np.dtype:
    ranks: list[np.dtype | None] = [None, None, None]
    for x in operands:
        made = isinstance(x, Node)
        rank = (0 if x.type.ndim else 1) if made else 2
        dtype = x.type.dtype if made else number_dtype(type(x))
        before = ranks[rank]
        ranks[rank] = dtype if before is None else promote(before, dtype)
    found = ranks[0]
    for lower in ranks[1:]:
        found = _combined(found, lower)
    assert found is not None, "there is an operand"
    return found


def _combined(higher: np.dtype | None, lower: np.dtype | None) -> np.dtype | None:
    if higher is None or lower is None:
        return higher if lower is None else lower
    kinds = _KINDS[higher.kind], _KINDS[lower.kind]
    if kinds[0] >= kinds[1]:
        return higher
    if kinds == (2, 3):
        return complex_of(higher)
    return promote(higher, lower)


def complex_of(dtype: np.dtype) -> np.dtype:
    """The complex dtype whose parts a real dtype fits into."""
    return NUMPY[torch.promote_types(TORCH[dtype], torch.complex64)]


def operand(x: Any) -> Any:
    """A node, or a Python number as it is."""
    kind = x.__class__
    if kind is Tensor or kind is Parameter:
        held = held_by(x)
        if held is not None:
            return held.node
    if isinstance(x, (NUMBERS, Node)):
        return x
    if is_lazy(x):
        return node(x)
    if x.ndim:
        raise elsewhere(x)
    return scalar(x.item(), numpy_dtype(x.dtype))


_NO_TENSORS: Final = frozenset(
    [bool, int, float, complex, str, list, tuple, type(None), torch.dtype]
)


def on_nodes(row: Callable[..., Any]) -> Callable[..., Any]:
    """A row on nodes as a row on tensors; tensors in lists are passed as they are."""

    def call(*args: Any, **kwargs: Any) -> Any:
        given = [x if x.__class__ in _NO_TENSORS else operand(x) for x in args]
        if not kwargs:
            return row(*given)
        named = {k: operand(x) if isinstance(x, Tensor) else x for k, x in kwargs.items()}
        return row(*given, **named)

    return call


def of_nodes(table: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The table, whose rows take nodes, as one whose rows take tensors."""
    return {name: on_nodes(row) for name, row in table.items()}


_CONVERTED_NAMES: Final = {
    "bool": "bool", "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int",
    "int64": "int64_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
}  # fmt: skip
"""Torch's names of dtypes in errors about converting numbers."""


def refuse_overflow(value: Any, dtype: np.dtype) -> None:
    """Raise torch's error for a Python number that `dtype` cannot hold, as in `fill_`.

    For an unsigned dtype a negative number counts as the number with the same bits.
    """
    kind = value.__class__
    if kind is float or kind is int:
        if 0 <= value <= 127:
            return  # every dtype except bool has these
    elif not isinstance(value, NUMBERS):
        return
    if dtype.kind in "bc":
        return
    if isinstance(value, complex):
        fits = not value.imag
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        fits = (-info.max if dtype.kind == "u" else info.min) <= value <= info.max
    else:
        fits = value != value or abs(value) in (inf, 0) or abs(value) <= _most(dtype)
    if not fits:
        raise RuntimeError(_overflow(dtype))


def without_imaginary(x: Any, dtype: np.dtype) -> Any:
    """A number or node about to become a `dtype`: its real part, if that is not complex.

    A guard checks that a node's imaginary part is zero. A number's was checked before.
    """
    if not isinstance(x, Node) or x.type.dtype.kind != "c" or dtype.kind in "bc":
        return x
    zero = like(0.0, ops.imag(x))
    return sure(ops.real(x), ops.equal(ops.imag(x), zero), _overflow(dtype))


def _overflow(dtype: np.dtype) -> str:
    name = _CONVERTED_NAMES.get(dtype.name, dtype.name)
    return f"value cannot be converted to type {name} without overflow"


def _most(dtype: np.dtype) -> float:
    return float(torch.finfo(TORCH[dtype]).max)


def like(value: Any, x: Node) -> Node:
    """A Python number as a scalar of the dtype of `x`."""
    return cast_to(value, x.type.dtype)


def cast_to(x: Any, dtype: np.dtype) -> Node:
    """A node or a Python number as a node of `dtype`."""
    if not isinstance(x, Node):
        return number(x, dtype)
    return cast(_bounded(x) if dtype is _BOUNDED else x, dtype)


_BOUNDED: Final = NUMPY[torch.float8_e4m3fn]
"""A float without infinities: torch rounds values out of range to its largest numbers."""


def _bounded(x: Node) -> Node:
    if x.type.dtype is _BOUNDED:
        return x
    wide = x if x.type.dtype in FLOATS else cast(x, F32)
    most = _most(_BOUNDED)
    return ops.minimum(ops.maximum(wide, like(-most, wide)), like(most, wide))


def promoted(*xs: Any) -> list[Node]:
    """The operands as nodes of their common dtype."""
    operands = [operand(x) for x in xs]
    dtype = result_dtype(*operands)
    return [cast_to(x, dtype) for x in operands]


def floating(*xs: Any) -> list[Node]:
    """The operands as nodes of their common dtype; integers become default floats."""
    operands = [operand(x) for x in xs]
    dtype = result_dtype(*operands)
    if not is_inexact(dtype):
        dtype = default_float()
    return [cast_to(x, dtype) for x in operands]
