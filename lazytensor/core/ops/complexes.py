"""Positions of the largest and smallest complex number, ordered by real, then imaginary part."""

from __future__ import annotations

import math

from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import COMPLEX, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, check_dtype, scalar
from lazytensor.core.ir.shapes import check_axes
from lazytensor.core.ops.elementwise import equal, imag, is_nan, real, select
from lazytensor.core.ops.movement import iota, reshape
from lazytensor.core.ops.reduction import reduce_max, reduce_min


@composite
def complex_argmax(x: Node, *, axis: int) -> Node:
    """Index along `axis` of the first largest, or of the first NaN.

    x: complex. Result: s64. Raises: DTypeError, ShapeError. Source: numpy.argmax.
    """
    check_dtype("complex_argmax", COMPLEX, x.type)
    check_axes("complex_argmax", x.type, (axis,))
    return _position(x, axis, reduce_max, -math.inf)


@composite
def complex_argmin(x: Node, *, axis: int) -> Node:
    """Index along `axis` of the first smallest, or of the first NaN.

    x: complex. Result: s64. Raises: DTypeError, ShapeError. Source: numpy.argmin.
    """
    check_dtype("complex_argmin", COMPLEX, x.type)
    check_axes("complex_argmin", x.type, (axis,))
    return _position(x, axis, reduce_min, math.inf)


def _position(x: Node, axis: int, best: Op, rest: float) -> Node:
    shape = tuple(1 if i == axis else n for i, n in enumerate(x.type.shape))
    re, im = real(x), imag(x)

    def extreme(part: Node) -> Node:
        return reshape(best(part, axes=(axis,)), shape=shape)

    among = equal(re, extreme(re))
    im = select(among, im, scalar(rest, im.type.dtype))
    among = among & equal(im, extreme(im))
    n = scalar(x.type.shape[axis], S64)
    places = iota(dtype=S64, shape=x.type.shape, axis=axis)
    found, missing = (
        reduce_min(select(flags, places, n), axes=(axis,)) for flags in (among, is_nan(x))
    )
    return select(missing < n, missing, found)
