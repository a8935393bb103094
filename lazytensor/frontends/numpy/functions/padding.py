"""`pad`: the borders are slices of the array, so that padding fuses with its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.core.lib import arranging
from lazytensor.frontends.numpy.arrays.array import lazy, wrap
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand
from lazytensor.frontends.numpy.arrays.shadow import shadow
from lazytensor.frontends.numpy.functions.creation import laid_out
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.indexing.assignment import plain, source
from lazytensor.frontends.numpy.ufuncs.promotion import recast

_of_numpy = rebound("pad", "empty")
_OF_INDICES = {"edge", "reflect", "symmetric", "wrap"}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """See numpy.pad."""
    given = asarray(array)
    node = operand(given)
    pairs = _pairs(real(pad_width), node.type.ndim)
    if pairs is None or not node.type.size:
        return _of_numpy(array, pad_width, mode, **kwargs)
    if mode == "constant" and kwargs.keys() <= {"constant_values"}:
        return _as(given, _constant(node, pairs, kwargs.get("constant_values", 0)))
    if mode in _OF_INDICES and kwargs in ({}, {"reflect_type": "even"}):
        node = arranging.padded_with_itself(node, pairs, mode)
        return _as(given, node)
    return _of_numpy(array, pad_width, mode, **kwargs)


def _as(given: Any, node: Node) -> Any:
    """The padded array, in Fortran order if `given` is."""
    return laid_out(wrap(node), "F" if shadow(given).flags.fnc else "C")


def _pairs(pad_width: Any, ndim: int) -> list[tuple[int, int]] | None:
    """Widths before and after each axis; None if they are invalid, so that NumPy raises."""
    if isinstance(pad_width, dict):
        widths = np.zeros((ndim, 2), int)
        for axis, value in pad_width.items():
            widths[axis] = value
        pad_width = widths
    given = np.asarray(pad_width)
    if given.dtype.kind not in "iu" or (given < 0).any():
        return None
    try:
        return [tuple(pair) for pair in np.broadcast_to(given, (ndim, 2)).tolist()]
    except ValueError:
        return None


def _constant(node: Node, pairs: list[tuple[int, int]], values: Any) -> Node:
    """Padding with numbers, in one step if they are all the same."""
    ndim = node.type.ndim
    if np.ndim(values) == 0:
        return _padded(node, values, pairs)
    each = np.broadcast_to(np.asarray(real(values)), (ndim, 2)).astype(node.type.dtype)
    for axis, (low_width, high_width) in enumerate(pairs):
        for width, value, side in (
            (low_width, each[axis, 0], 0),
            (high_width, each[axis, 1], 1),
        ):
            widths = [(0, 0)] * ndim
            widths[axis] = (0, width) if side else (width, 0)
            node = _padded(node, value, widths)
    return node


def _padded(node: Node, value: Any, pairs: list[tuple[int, int]]) -> Node:
    dtype = node.type.dtype
    if not lazy(value):
        value = plain(np.asarray(value)[()], dtype)
    filler = recast(source(value, dtype), dtype)
    return arranging.padded(node, filler, pairs)


LAZY = named(pad)
