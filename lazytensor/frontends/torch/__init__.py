"""A torch device named `lazytensor`: importing this registers it, and the kernels of the tables."""

from __future__ import annotations

from lazytensor.frontends.torch import (
    contraction,
    convolution,
    creation,
    device,
    elementwise,
    factorization,
    fallback,
    foreach,
    joining,
    linalg,
    modules,
    neural,
    pooling,
    reductions,
    scattering,
    sorting,
    spectral,
    steps,
    views,
)

TABLES = (
    creation,
    views,
    elementwise,
    reductions,
    spectral,
    contraction,
    convolution,
    joining,
    scattering,
    sorting,
    factorization,
    linalg,
    neural,
    pooling,
    foreach,
)
device.attach()
fallback.attach()
modules.attach()
steps.attach()
for table in TABLES:
    table.attach()
