"""Draws from gamma, Poisson, binomial and Dirichlet distributions, computed in f64.

Rejection sampling needs a loop of random length. Here each element has a fixed number of candidates
instead and takes the first accepted one. That none is accepted is rarer than a rounding error. The
uniform and normal numbers are drawn outside, so that each distribution is one composite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.distributions import binomial, dirichlet, gamma, poisson
from lazytensor.frontends.torch.dispatch.errors import sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.random.randomness import stream_of


def _standard_gamma(x: Any, generator: Any = None) -> Node:
    given = operand(x)
    dtype = given.type.dtype
    tiny = cast_to(float(np.finfo(dtype if dtype == F64 else np.float32).tiny), dtype)
    return ops.maximum(cast_to(gamma(cast_to(given, F64), stream_of(generator)), dtype), tiny)


def _sample_dirichlet(x: Any, generator: Any = None) -> Node:
    given = operand(x)
    return cast_to(dirichlet(cast_to(given, F64), stream_of(generator)), given.type.dtype)


def _sample_poisson(x: Any, generator: Any = None) -> Node:
    given = operand(x)
    positive = given >= 0
    given = sure(given, positive, "invalid Poisson rate, expected rate to be non-negative")
    return cast_to(poisson(cast_to(given, F64), stream_of(generator)), given.type.dtype)


def _sample_binomial(count: Any, prob: Any, generator: Any = None) -> Node:
    trials, p = operand(count), operand(prob)
    size = np.broadcast_shapes(trials.type.shape, p.type.shape)
    trials_, p_ = (ops.broadcast(cast_to(t, F64), shape=size) for t in (trials, p))
    return cast_to(binomial(trials_, p_, stream_of(generator)), trials.type.dtype)


ROWS: dict[str, Row] = {
    "_standard_gamma": _standard_gamma,
    "_sample_dirichlet": _sample_dirichlet,
    "poisson": _sample_poisson,
    "binomial": _sample_binomial,
}


rows(ROWS)
