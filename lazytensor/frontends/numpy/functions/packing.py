"""Packing of bits into bytes, and of several indices into one."""

from __future__ import annotations

import math
import operator
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64, U8
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.arranging import fitted
from lazytensor.core.lib.manipulation import moveaxis
from lazytensor.core.lib.ranking import unraveled
from lazytensor.frontends.numpy.arrays.array import wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.functions.creation import shape_of
from lazytensor.frontends.numpy.functions.indices import bounded, every
from lazytensor.frontends.numpy.functions.signatures import along, named
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert


def _lines(a: Any, axis: Any) -> tuple[Node, int]:
    """The operand with `axis` moved last, and its place before. None means all in one line."""
    node, place = along(a, axis, least=1)
    return moveaxis(node, place, -1), place


def _is_little(bitorder: str) -> bool:
    """Whether the lowest bit comes first."""
    refuse_unless(bitorder in ("big", "little"))
    return bitorder == "little"


def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    """See numpy.packbits."""
    refuse_unless(operand(a).type.dtype.kind in "biu")
    node, place = _lines(a, axis)
    little = _is_little(bitorder)
    n = node.type.shape[-1]
    flags = node
    if node.type.dtype not in (BOOL, U8):
        flags = ops.not_equal(node, scalar(0, node.type.dtype))
    packed = ops.pack_bits(
        fitted(flags, flags.type.ndim - 1, -(-n // 8) * 8) if n % 8 else flags, little=little
    )
    return wrap(moveaxis(packed, -1, place))


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    """See numpy.unpackbits."""
    refuse_unless(operand(a).type.dtype == U8)
    node, place = _lines(a, axis)
    shape = node.type.shape
    flags = ops.unpack_bits(node, little=_is_little(bitorder))
    if count is not None:
        n = operator.index(count)
        refuse_unless(n >= 0 or -n <= 8 * shape[-1])
        flags = fitted(flags, flags.type.ndim - 1, n if n >= 0 else 8 * shape[-1] + n)
    return wrap(moveaxis(flags, -1, place))


def _strides(shape: tuple[int, ...], order: str | None) -> list[int]:
    """The strides of each axis, in elements. Raises: Refused."""
    refuse_unless(order in ("C", "F", None))
    if order == "F":
        return _strides(shape[::-1], "C")[::-1]
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """See numpy.unravel_index. An index out of range raises when it is computed."""
    node = operand(indices)
    sizes = shape_of(shape)
    refuse_unless(node.type.dtype.kind in "iub")
    refuse_unless(math.prod(sizes) < 2**63)
    node, size = convert(node, S64), math.prod(sizes)
    fine = (node >= 0) & (node < size)
    text = f"index is out of bounds for array with size {size}"
    flag = ops.guard(every(fine), error=ValueError, text=text)
    node = ops.guarded(node, flag)
    given = sizes if order != "F" else sizes[::-1]
    _strides(sizes, order)  # refuses another order
    found = unraveled(node, given)
    return tuple(map(wrap_result, found if order != "F" else found[::-1]))


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """See numpy.ravel_multi_index. Coordinates out of range raise when they are computed."""
    sizes = shape_of(dims)
    given = [operand(x) for x in multi_index]
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    refuse_unless(len(given) == len(sizes) and len(modes) == len(sizes))
    refuse_unless(all(node.type.dtype.kind in "iub" for node in given))
    refuse_unless(
        math.prod(sizes) < 2**63 and (0 not in sizes or not all(node.type.size for node in given))
    )
    total: Node = scalar(0, S64)
    steps = _strides(sizes, order)
    for node, n, how, step in zip(given, sizes, modes, steps, strict=True):
        place = _within(convert(node, S64), n, how)
        total = total + place * step
    return wrap_result(total)


def _within(node: Node, n: int, mode: str) -> Node:
    """Coordinates from 0 to n - 1."""
    made = bounded(node, n, mode)
    if made is not None:
        return made
    refuse_unless(mode == "raise")
    fine = (node >= 0) & (node < n)
    text = "invalid entry in coordinates array"
    return ops.guarded(node, ops.guard(every(fine), error=ValueError, text=text))


LAZY = named(packbits, ravel_multi_index, unpackbits, unravel_index)
