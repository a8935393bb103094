"""Operands: array-likes as nodes of one dtype, promoted by NumPy's own rules (NEP 50)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.dtypes import BOOL, STORED
from lazytensor.core.ir.memo import memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.ir.source_location import user_place
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.ops.casting import cast
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly

CANONICAL: Final = {dtype: dtype for dtype in STORED}
"""Per dtype that can be lazy, in whatever spelling (`q`, `l`): the one object we use for it."""

WEAK: Final[dict[Any, Any]] = {int: 0, float: 0.0, complex: 0j}
"""Python's number types, which adapt to the other operand's dtype."""

PYTHON_NUMBERS: Final[dict[Any, np.dtype]] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
"""Python's number types, and the dtypes of arrays of them."""

_results: Final[dict[tuple[Any, ...], np.dtype]] = memory()


def canonical(dtype: Any) -> np.dtype:
    """`dtype` as the dtype object that nodes have. Raises: HostOnly if XLA has not got it."""
    found = CANONICAL.get(dtype)
    if found is None:
        if dtype is None or not isinstance(dtype, np.dtype):
            return canonical(np.dtype(dtype))
        raise HostOnly(f"arrays of {dtype} are NumPy's own")
    return found


def supported(dtype: np.dtype) -> bool:
    """Whether arrays of this dtype can be lazy."""
    return dtype in CANONICAL


def operand(x: Any) -> Node:
    """The node of an array-like; host data are copied. Raises: HostOnly for dtypes XLA has not."""
    if issubclass(type(x), Lazy):
        own: Node = x.ref.node
        return own
    default = PYTHON_NUMBERS.get(type(x))
    if default is not None:
        return number(x, default)
    if isinstance(x, np.generic):
        return scalar(x.item(), canonical(x.dtype))
    if isinstance(x, np.ndarray):
        if is_special(x):
            raise HostOnly(f"{type(x).__name__} computes in its own way")
        return host_leaf(copied(x))
    from lazytensor.frontends.numpy.arrays import conversion

    made = conversion.array(x)
    if issubclass(type(made), Lazy):
        return operand(made)
    raise HostOnly(f"arrays of {made.dtype} are NumPy's own")


def mask_of(where: Any) -> Node:
    """`where=` as flags. Numbers in lists may be others: all but 0 are true. Raises: TypeError."""
    node = operand(where)
    if node.type.dtype.kind == "b":
        return node
    if hasattr(type(where), "__array__") and not isinstance(where, Scalar | np.generic):
        np.add(1.0, 1.0, out=np.empty(1), where=np.zeros(1, node.type.dtype))  # raises
    return convert(node, BOOL)


def is_special(x: Any) -> bool:
    """Whether `x` is of an array class of its own: what is made of it is NumPy's to say."""
    if type(x) is np.ndarray or not isinstance(x, np.ndarray):
        return False
    priority: float = x.__array_priority__
    return priority >= 0  # `np.memmap`'s is below: of one, plain arrays are made


def host_leaf(array: np.ndarray) -> Node:
    """A leaf of a real array that nobody else will write to. Raises: HostOnly."""
    dtype = canonical(array.dtype)
    return leaf(array if array.dtype is dtype else array.view(dtype))


def number(value: Any, dtype: np.dtype) -> Node:
    """A Python number as a scalar of `dtype`, checked and converted as NumPy does."""
    if type(value) is float and dtype.kind == "f" and dtype.itemsize == 8:
        return scalar(value, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return scalar(np.array(value, dtype).item() if dtype.kind != "V" else float(value), dtype)


def kind_of(x: Any) -> Any:
    """What decides how `x` promotes: a dtype, or a Python number type."""
    if type(x) in WEAK:
        return type(x)
    if issubclass(type(x), Lazy):
        return x.ref.type.dtype
    found = getattr(x, "dtype", None)
    if isinstance(found, np.dtype):
        return found
    from lazytensor.frontends.numpy.arrays import conversion

    return conversion.array(x).dtype


def result_type(*xs: Any) -> np.dtype:
    """The dtype that arrays, scalars, dtypes and Python numbers have in common."""
    key = tuple(
        x if isinstance(x, np.dtype) else np.dtype(x) if isinstance(x, type | str) else kind_of(x)
        for x in xs
    )
    found = _results.get(key)
    if found is None:
        found = np.result_type(*(WEAK.get(k, k) for k in key))
        _results[key] = found = CANONICAL.get(found, found)
    return found


def convert(node: Node, dtype: Any) -> Node:
    """`node` with its elements as `dtype`; itself where they are already."""
    return cast(node, canonical(dtype))


def recast(node: Node, dtype: Any) -> Node:
    """`convert`, with NumPy's warning where an imaginary part is lost."""
    if node.type.dtype.kind == "c" and canonical(dtype).kind not in "cb":
        text = "Casting complex values to real discards the imaginary part"
        warn_user(text, np.exceptions.ComplexWarning)
    return convert(node, dtype)


def warn_user(text: str, category: type[Warning]) -> None:
    """A warning at the user's line."""
    place = user_place()
    if place is not None:
        warn_at(place, text, category)


def common(*xs: Any) -> list[Node]:
    """The operands as nodes of the one dtype that they have in common."""
    nodes = [None if type(x) in WEAK else operand(x) for x in xs]
    dtype = result_type(
        *(
            type(x)(0) if node is None else node.type.dtype
            for x, node in zip(xs, nodes, strict=True)
        )
    )
    return [
        number(x, dtype) if node is None else convert(node, dtype)
        for x, node in zip(xs, nodes, strict=True)
    ]
