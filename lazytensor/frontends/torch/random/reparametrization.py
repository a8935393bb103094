"""How draws from gamma and beta distributions move with their parameters, in f64.

By implicit differentiation: Figurnov et al. (2018), arXiv 1805.08498. A distribution function is an
integral, and so is its derivative for a parameter; over the exponent `v` of a share `exp(-v)` of
where it ends, both are smooth and fall off at one scale, as far as parameters are at least 1: those
below are shifted by recurrences. Of the integral up to the draw and of that from there on, which
are each other's negative, the one is taken whose integrand keeps its sign.
"""

from __future__ import annotations

from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.implicit_gradients import dirichlet_slope, gamma_slope
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row


def _standard_gamma_grad(x: Node, output: Node) -> Node:
    made = gamma_slope(cast_to(x, F64), cast_to(output, F64))
    return cast_to(made, x.type.dtype)


def _dirichlet_grad(x: Node, alpha: Node, total: Node) -> Node:
    wide = [cast_to(t, F64) for t in (x, alpha, total)]
    return cast_to(dirichlet_slope(*wide), x.type.dtype)


ROWS: dict[str, Row] = {
    "_standard_gamma_grad": _standard_gamma_grad,
    "_dirichlet_grad": _dirichlet_grad,
}


rows(of_nodes(ROWS), composed=True)
