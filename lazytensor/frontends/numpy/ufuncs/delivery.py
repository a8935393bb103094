"""Delivers a result: as a new array or scalar, or as a write into `out=`, under `where=`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numerics import filled
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import mask_of, operand
from lazytensor.frontends.numpy.indexing.assignment import settled, write_host
from lazytensor.frontends.numpy.ufuncs.promotion import convert


def deliver(node: Node, out: Any, where: Any = True, casting: Any = "same_kind") -> Any:
    """`node` as NumPy returns it, written into `out` where `where` holds, if these are given."""
    if out is None:
        return wrap_result(node if where is True else _chosen(where, node, None))
    if not isinstance(out, Lazy):
        if not isinstance(out, np.ndarray):
            raise TypeError("return arrays must be of ArrayType")
        value = node if where is True else _chosen(where, node, operand(out))
        if value.type.shape != np.shape(out):
            value = _fitting(value, out)
        write_host(out, value, casting if where is True else "unsafe")
        return out
    check_writeable(out)
    value = convert(node, out.dtype)
    if where is not True:
        value = _chosen(where, value, out.node)
    if value.type.shape != out.shape:
        value = _fitting(value, out)
    out.ref.write(settled(value))
    return out


def check_array(out: Any) -> None:
    """Raise NumPy's error if `out` is a scalar."""
    if isinstance(out, Scalar | np.generic):
        raise TypeError("return arrays must be of ArrayType")


def check_writeable(out: Any) -> None:
    """Raise NumPy's error if `out` is a scalar, or an array that must not be written to."""
    check_array(out)
    shown = out._shadow if isinstance(out, Lazy) else out
    if isinstance(shown, np.ndarray) and not shown.flags.writeable:
        raise ValueError("output array is read-only")


def _fitting(value: Node, out: Any) -> Node:
    """`value` broadcast to the shape of `out`.

    Raises: ValueError; ShapeError if the two cannot be broadcast together: NumPy's text says more.
    """
    given = value.type.shape
    try:
        fits = np.broadcast_shapes(given, out.shape) == out.shape
    except ValueError:
        raise ShapeError(
            f"out: a result of shape {given} is to be written to {out.shape}"
        ) from None
    if not fits:
        shapes = [str(shape).replace(" ", "") for shape in (out.shape, given)]
        raise ValueError(
            f"non-broadcastable output operand with shape {shapes[0]} "
            f"doesn't match the broadcast shape {shapes[1]}"
        )
    return ops.broadcast(value, shape=out.shape)


def _chosen(where: Any, node: Node, otherwise: Node | None) -> Node:
    mask = mask_of(where)
    return ops.select(
        mask, node, filled(0, node) if otherwise is None else convert(otherwise, node.type.dtype)
    )
