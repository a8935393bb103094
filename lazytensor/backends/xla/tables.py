"""The lowerings of all ops, and the ops that the host runs faster: the rows of all modules."""

from __future__ import annotations

from typing import Final

from lazytensor.backends.xla.convolution import forms
from lazytensor.backends.xla.elementwise import (
    angle,
    arc,
    arithmetic,
    bits,
    complexes,
    division,
    exponential,
    hyperbolic,
    power,
    root,
    special,
)
from lazytensor.backends.xla.emitter import HostRules, Rows
from lazytensor.backends.xla.lowerings import (
    chosen,
    contraction,
    control,
    cumulative,
    foreign,
    indexing,
    linalg,
    movement,
    random,
    reduction,
    sharding,
    sorting,
    spectral,
    transposition,
    update,
    window,
)

REAL_MODULES: Final = (
    *(angle, arc, arithmetic, bits, division, exponential, hyperbolic, power, root, special),
    *(chosen, contraction, control, cumulative, foreign, forms, indexing, linalg, movement),
    *(random, reduction, sharding, sorting, spectral, transposition, update, window),
)
_REAL: Final[Rows] = {op: row for module in REAL_MODULES for op, row in module.ROWS.items()}
LOWERINGS: Final[Rows] = _REAL | complexes.over(_REAL)
HOST: Final[HostRules] = indexing.HOST | linalg.HOST | sorting.HOST | spectral.HOST
"""Ops that the host runs faster than XLA:CPU."""
