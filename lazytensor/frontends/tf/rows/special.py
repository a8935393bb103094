"""Special functions that the core has as polynomials."""

from __future__ import annotations

import math
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import number, plain


def _with_pole(op: Op, pole: float) -> Function:
    """A function that is infinite at 0, and in TensorFlow below it, too."""

    def row(x: Node, **_: Any) -> Node:
        return ops.select(x < 0, number(pole, x), op(x))

    return row


ROWS: dict[str, Function] = {
    "BesselI0": plain(ops.bessel_i0),
    "BesselI0e": plain(ops.bessel_i0e),
    "BesselI1": plain(ops.bessel_i1),
    "BesselI1e": plain(ops.bessel_i1e),
    "BesselJ0": plain(ops.bessel_j0),
    "BesselJ1": plain(ops.bessel_j1),
    "BesselK0": _with_pole(ops.bessel_k0, math.inf),
    "BesselK0e": _with_pole(ops.bessel_k0e, math.inf),
    "BesselK1": _with_pole(ops.bessel_k1, math.inf),
    "BesselK1e": _with_pole(ops.bessel_k1e, math.inf),
    "BesselY0": _with_pole(ops.bessel_y0, -math.inf),
    "BesselY1": _with_pole(ops.bessel_y1, -math.inf),
    "Dawsn": plain(ops.dawsn),
    "Ndtri": plain(ops.ndtri),
    "Spence": plain(ops.spence),
}


rows(ROWS)
