"""Flags in the bits of bytes: composites."""

from __future__ import annotations

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import BOOL, U8, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, scalar
from lazytensor.core.ops.bits import bitcast
from lazytensor.core.ops.elementwise import convert, not_equal
from lazytensor.core.ops.movement import reshape

# Eight flags are one number of eight bytes. Multiplying by GATHERING moves each flag to its bit of
# the highest byte. BIT_MASKS picks each byte's bit out of eight copies.
# In each pair the first puts the highest bit first, the second the lowest.
GATHERING = (0x8040201008040201, 0x0102040810204080)
BIT_MASKS = (0x0102040810204080, 0x8040201008040201)
COPIES = 0x0101010101010101


@composite
def pack_bits(x: Node, *, little: bool) -> Node:
    """The flags along the last axis, eight to a byte, the first in the highest bit or the lowest.

    x: pred[..., 8n], or u8, where nonzero is true. Result: u8[..., n]. Raises: DTypeError,
    ShapeError. Source: numpy.packbits.
    """
    check_dtype("pack_bits", frozenset([BOOL, U8]), x.type)
    if not x.type.ndim or x.type.shape[-1] % 8:
        raise ShapeError(f"pack_bits: eight flags a byte are needed, got {x.type}")
    shape = (*x.type.shape[:-1], x.type.shape[-1] // 8, 8)
    flags = x if x.type.dtype == BOOL else not_equal(x, scalar(0, U8))
    words = bitcast(reshape(convert(flags, dtype=U8), shape=shape), dtype=U64)
    moved = words * GATHERING[little]
    return convert(moved >> 56, dtype=U8)


@composite
def unpack_bits(x: Node, *, little: bool) -> Node:
    """The bits of bytes, zeros and ones along the last axis, the highest first or the lowest.

    x: u8[..., n]. Result: u8[..., 8n]. Raises: DTypeError, ShapeError. Source: numpy.unpackbits.
    """
    check_dtype("unpack_bits", frozenset([U8]), x.type)
    if not x.type.ndim:
        raise ShapeError(f"unpack_bits: an axis is needed, got {x.type}")
    shape = (*x.type.shape[:-1], 8 * x.type.shape[-1])
    copies = convert(x, dtype=U64) * COPIES
    picked = copies & BIT_MASKS[little]
    bits = not_equal(bitcast(picked, dtype=U8), scalar(0, U8))
    return reshape(convert(bits, dtype=U8), shape=shape)
