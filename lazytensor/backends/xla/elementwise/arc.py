"""Lowerings of the inverses of the trigonometric ops."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.elementwise.angle import series
from lazytensor.backends.xla.elementwise.arithmetic import real_or_complex
from lazytensor.backends.xla.emitter import Rows
from lazytensor.backends.xla.lowerings.expansion import costly, number, polynomial
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.node import Node

# Minimax polynomials for the power series from the second term on, in x².
ARCTANGENT: Final = {
    F32: (
        -0.3333331512921842,
        0.19998467205871998,
        -0.14243438976075903,
        0.10593031334804498,
        -0.06076053903339628,
    ),
    F64: (
        -0.3333333333333319,
        0.1999999999995282,
        -0.14285714280121414,
        0.11111110779802373,
        -0.09090897655156936,
        0.07692058431341679,
        -0.06663084177468007,
        0.05847747206951652,
        -0.05038674040336377,
        0.03804874846006091,
        -0.017890094716065754,
    ),
}
ARCSINE: Final = {
    F32: (
        0.1666675260547766,
        0.0749529127376115,
        0.04547136508264161,
        0.02417378417358871,
        0.04217730866167521,
    ),
    F64: (
        0.1666666666666676,
        0.07499999999970633,
        0.044642857174779116,
        0.030381942699375473,
        0.022372215234765576,
        0.017351607400918498,
        0.013980877827600005,
        0.011398427978611245,
        0.010783051369515058,
        0.003695528107003427,
        0.021734655134856076,
        -0.021038581921550677,
        0.032653960202800474,
    ),
}
TAN_EIGHTH: Final = 2**0.5 - 1
PI_REST: Final = 1.2246467991473532e-16
"""The difference of pi and its f64."""


def _quadrant(y: Node, x: Node) -> Node:
    """The angle of the point (x, y), neither of them negative.

    The quotient of the lesser by the greater is at most 1; beyond tan(pi / 8) the point is turned
    back by pi / 4.
    """
    less, greater = ops.minimum(x, y), ops.maximum(x, y)
    turned = less > greater * TAN_EIGHTH
    above = ops.select(turned, less - greater, less)
    below = ops.select(turned, less + greater, greater)
    angle = series(workarounds.fixed(above / below), ARCTANGENT)
    quarter = np.pi / 4 + (angle + PI_REST / 4)
    angle = ops.select(turned, quarter, angle)
    return ops.select(y > x, _from_pi(angle, 2), angle)


def _from_pi(angle: Node, units: int) -> Node:
    """`pi / units - angle`."""
    rest = angle - PI_REST / units
    return np.pi / units - rest


def _arctangent(x: Node) -> Node:
    angle = _quadrant(ops.abs(x), ops.broadcast(number(1, x), shape=x.type.shape))
    return ops.copysign(angle, x)


def _angle(y: Node, x: Node) -> Node:
    # Halve large operands, so that their sum does not overflow. Replace two infinities by two ones,
    # and 0 / 0 by 0 / 1.
    one, infinity = number(1, x), number(np.inf, x)
    large = ops.maximum(ops.abs(y), ops.abs(x)) > one
    scale = ops.select(large, number(0.5, x), one)
    y_size, x_size = (ops.abs(v) * scale for v in (y, x))
    far = ops.equal(ops.minimum(x_size, y_size), infinity)
    none = ops.equal(ops.maximum(x_size, y_size), number(0, x))
    abscissa = ops.select(far | none, one, x_size)
    angle = _quadrant(ops.select(far, one, y_size), abscissa)
    return ops.copysign(ops.select(ops.sign_bit(x), _from_pi(angle, 1), angle), y)


def _arcsine_parts(x: Node) -> tuple[Node, Node]:
    """Whether |x| > 1/2; and asin(sqrt((1 - |x|) / 2)) if so, else asin(x)."""
    size, half = ops.abs(x), number(0.5, x)
    outer = size > half
    square = (1 - size) * half
    square = ops.select(outer, square, x * x)
    root = ops.select(outer, ops.sqrt(square), x)
    more = square * polynomial(square, ARCSINE[x.type.dtype])
    return outer, root + root * more


def _arcsine(x: Node) -> Node:
    outer, angle = _arcsine_parts(x)
    far = _from_pi(angle * 2, 2)
    return ops.select(outer, ops.copysign(far, x), angle)


def _arccosine(x: Node) -> Node:
    outer, angle = _arcsine_parts(x)
    twice = angle * 2
    far = ops.select(ops.sign_bit(x), _from_pi(twice, 1), twice)
    return ops.select(outer, far, _from_pi(angle, 2))


ROWS: Rows = {
    ops.asin: real_or_complex(costly(_arcsine), "chlo.asin"),
    ops.acos: real_or_complex(costly(_arccosine), "chlo.acos"),
    ops.atan: real_or_complex(costly(_arctangent), "chlo.atan"),
    ops.atan2: real_or_complex(costly(_angle), "atan2"),
}
