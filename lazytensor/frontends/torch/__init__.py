"""A torch device named `lazytensor`: importing this registers it, and the kernels of the tables."""

from __future__ import annotations

from lazytensor.frontends.torch import (
    contraction,
    convolution,
    creation,
    device,
    elementwise,
    fallback,
    foreach,
    joining,
    neural,
    reductions,
    views,
)

TABLES = (
    creation,
    views,
    elementwise,
    reductions,
    contraction,
    convolution,
    joining,
    neural,
    foreach,
)
device.attach()
fallback.attach()
for table in TABLES:
    table.attach()
