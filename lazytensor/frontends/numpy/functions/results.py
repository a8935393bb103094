"""Results of functions: a new array or lazy scalar, or a write to `out`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.frontends.numpy.arrays.array import Lazy, wrap_result
from lazytensor.frontends.numpy.ufuncs import delivery
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, as_numpy, dummy


def deliver(node: Node, out: Any = None, casting: Any = "same_kind", spreads: bool = False) -> Any:
    """`node` as NumPy would return it, or written to `out`, which must have its shape.

    `spreads`: `out` may be larger, as with a ufunc.
    """
    if out is None:
        return wrap_result(node)
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    if not isinstance(getattr(out, "dtype", None), np.dtype):
        raise TypeError("return arrays must be of ArrayType")
    delivery.check_writeable(out)
    if out.shape != node.type.shape and not spreads:
        shapes = f"{node.type.shape} is to be written to {out.shape}"
        raise ValueError(f"output array has wrong shape: {shapes}")
    check_cast(node.type.dtype, out.dtype, casting)
    try:
        return delivery.deliver(node, out, True, casting)
    except ShapeError as error:
        as_numpy(error, np.add, dummy(node.type), dummy(node.type), out=out)


def check_target(out: Any, dtype: np.dtype) -> None:
    """Leave a reduction to NumPy if `out` makes it compute in another kind of number.

    Raises: HostOnly, also if `out` is no array, so that NumPy raises its own error.
    """
    if out is None:
        return
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    known = issubclass(type(out), Lazy | np.ndarray)
    if not known or not np.can_cast(dtype, out.dtype, "same_kind"):
        raise HostOnly(f"{dtype} is reduced into {type(out)}")


def check_out(out: Any, dtype: np.dtype, casting: Any = "same_kind") -> None:
    """Raise NumPy's error unless results of `dtype` may be written to `out`, whatever its shape."""
    if out is not None:
        delivery.check_writeable(out)
        check_cast(dtype, out.dtype, casting)


def check_cast(given: np.dtype, wanted: np.dtype, casting: Any = "same_kind") -> None:
    """Raise NumPy's error unless `given` may be written as `wanted`."""
    if not np.can_cast(given, wanted, casting=casting):
        rule = f"according to the rule {casting!r}"
        raise TypeError(f"Cannot cast array data from {given!r} to {wanted!r} {rule}")
