"""Special functions, and those that are written out of several ops."""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S32
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import special
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    floating,
    of_nodes,
    on_nodes,
    promoted,
)
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of


def _polygamma(n: int, x: Any) -> Node:
    (given,) = floating(x)
    if n == 0:
        return ops.digamma(given)
    return ops.polygamma(cast_to(n, given.type.dtype), given)


def _round(x: Node, *, decimals: int = 0) -> Node:
    if not is_inexact(x.type.dtype):
        return x
    return special.rounded(x, decimals)


def _logcumsumexp(x: Any, dim: int) -> Node:
    (given,) = floating(x)
    axis = axis_of(dim, given.type.ndim)
    return special.running_log_sum_exp(given, axis) if given.type.ndim else given


def _frexp(x: Node) -> tuple[Node, Node]:
    mantissa, exponent = ops.frexp(x)
    return mantissa, cast_to(exponent, S32)


ROWS: dict[str, Row] = {
    "xlogy.Tensor": lambda x, y: special.x_log_y(*floating(x, y)),
    "heaviside": lambda x, values: special.step_at_zero(*promoted(x, values)),
    "logaddexp": lambda x, y: special.log_add_exp(*floating(x, y)),
    "igamma": lambda x, y: ops.igamma(*floating(x, y)),
    "igammac": lambda x, y: ops.igammac(*floating(x, y)),
    "special_zeta": lambda x, y: ops.zeta(*floating(x, y)),
    "polygamma": _polygamma,
    "round.decimals": _round,
    "angle": lambda x: special.angle(*floating(x)),
}


rows(of_nodes(ROWS), keeps=True, composed=True)
rows({"_logcumsumexp": _logcumsumexp}, composed=True)  # in rows, however the operand lies
rows({"frexp.Tensor": on_nodes(_frexp)})
