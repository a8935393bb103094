"""Converts array-likes to lazy arrays, and to nodes of one dtype by NumPy's own rules (NEP 50)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.interop import offered
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.memo import memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, wrap
from lazytensor.frontends.numpy.host.fallback import lazies, real
from lazytensor.frontends.numpy.interop.interchange import shared, unpacked
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly
from lazytensor.frontends.numpy.ufuncs.promotion import (
    CANONICAL,
    PYTHON_NUMBERS,
    WEAK,
    canonical,
    convert,
    host_leaf,
    is_special,
    number,
)

_results: Final[dict[tuple[Any, ...], np.dtype]] = memory()
_ARRAY_CLASSES: Final = (Lazy, np.ndarray, np.generic, bool, int, float, complex)


def asarray(x: Any, dtype: Any = None) -> Any:
    """`x` as a lazy array, `x` itself if it is one; a real array if XLA lacks its dtype.

    Data of another frontend's array are shared.
    """
    kind = type(x)
    found = x if issubclass(kind, Lazy) else shared(x)
    if found is None or kind is Scalar or (dtype is not None and np.dtype(dtype) != found.dtype):
        return array(x, dtype)
    return found


def array(x: Any, dtype: Any = None, copy: bool = True) -> Any:
    """A new array of an array-like; a real one if XLA lacks its dtype.

    `copy`: whether a lazy array that the `__array__` of `x` returns is copied.
    """
    if issubclass(type(x), Lazy):
        wanted = x.dtype if dtype is None else np.dtype(dtype)
        if wanted in CANONICAL:
            return wrap(convert(x.node, wanted))
        return np.array(x, dtype)
    if (type(x) is list or type(x) is tuple) and lazies(x):
        return _nested(x, dtype)
    made = copied(x, dtype) if type(x) is np.ndarray else _foreign(x, dtype)
    if issubclass(type(made), Lazy | list | tuple):
        return array(made, dtype) if copy else asarray(made, dtype)
    return wrap(host_leaf(made)) if made.dtype in CANONICAL else made


def _foreign(x: Any, dtype: Any) -> Any:
    """NumPy's array of `x`, or the lazy arrays that its `__array__`, or its items', return.

    A lazy tensor of another frontend becomes an array of its node: nothing is computed.
    """
    offer = offered(x)
    if offer is not None:
        return wrap(offer.copy.node)
    try:
        return np.array(x, dtype, order="C")
    except ValueError:
        found = unpacked(x)
        if not lazies(found):
            raise
        return found


def _nested(x: Any, dtype: Any) -> Any:
    """The array of a nested list with lazy arrays, joined without computing them."""
    if dtype is not None and np.dtype(dtype) == np.object_:
        return _of_objects(x)
    parts = [_part(y) for y in x]
    if not all(isinstance(y, _ARRAY_CLASSES) for y in parts):
        return np.array(real(x), dtype)
    # In a list, unlike next to an array, a Python number has its default dtype.
    strong = [PYTHON_NUMBERS.get(type(y), y) for y in parts]
    kind = result_type(*strong) if dtype is None else np.dtype(dtype)
    if kind not in CANONICAL:
        return np.array(real(x), dtype)
    nodes = [number(y, kind) if type(y) in PYTHON_NUMBERS else operand(y) for y in parts]
    shape = nodes[0].type.shape
    if any(node.type.shape != shape for node in nodes):
        return np.array(real(x), dtype)  # raises
    rows = [ops.reshape(convert(node, kind), shape=(1, *shape)) for node in nodes]
    return wrap(ops.concatenate(*rows, axis=0))


def _of_objects(x: Any) -> np.ndarray:
    """The array of objects of a nested list. Its elements that are arrays stay the lazy ones."""
    made = np.array(real(x), object)

    def put(item: Any, *place: int) -> None:
        if len(place) == made.ndim:
            if issubclass(type(item), Lazy) and item.ndim:
                made[place] = item
        elif type(item) in (list, tuple):
            for i, y in enumerate(item):
                put(y, *place, i)

    put(x)
    return made


def _part(x: Any) -> Any:
    if type(x) in (list, tuple):
        return _nested(x, None) if lazies(x) else array(x)
    return x


def operand(x: Any) -> Node:
    """The node of an array-like. Host data are copied. Raises: HostOnly for dtypes XLA lacks."""
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
    made = array(x)
    if issubclass(type(made), Lazy):
        return operand(made)
    raise HostOnly(f"arrays of {made.dtype} are NumPy's own")


def mask_of(where: Any) -> Node:
    """`where=` as flags. Numbers in lists are true unless they are 0. Raises: TypeError."""
    node = operand(where)
    if node.type.dtype.kind == "b":
        return node
    if hasattr(type(where), "__array__") and not isinstance(where, Scalar | np.generic):
        np.add(1.0, 1.0, out=np.empty(1), where=np.zeros(1, node.type.dtype))  # raises
    return convert(node, BOOL)


def kind_of(x: Any) -> Any:
    """The kind of `x` for promotion: its dtype, or a Python number type."""
    if type(x) in WEAK:
        return type(x)
    if issubclass(type(x), Lazy):
        return x.ref.type.dtype
    found = getattr(x, "dtype", None)
    if isinstance(found, np.dtype):
        return found
    return array(x).dtype


def result_type(*xs: Any) -> np.dtype:
    """The common dtype of arrays, scalars, dtypes and Python numbers."""
    key = tuple(
        x if isinstance(x, np.dtype) else np.dtype(x) if isinstance(x, type | str) else kind_of(x)
        for x in xs
    )
    found = _results.get(key)
    if found is None:
        found = np.result_type(*(WEAK.get(k, k) for k in key))
        _results[key] = found = CANONICAL.get(found, found)
    return found


def common(*xs: Any) -> list[Node]:
    """The operands as nodes of their common dtype."""
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
