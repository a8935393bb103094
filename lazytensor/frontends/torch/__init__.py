"""A torch device named `lazytensor`: importing this registers it, and the kernels of the tables."""

from __future__ import annotations

from lazytensor.frontends.torch import (
    accelerator,
    adam,
    autocast,
    bessel,
    compilation,
    contraction,
    convolution,
    counting,
    creation,
    device,
    distances,
    distributions,
    drawing,
    elementwise,
    embeddings,
    factorization,
    fallback,
    foreach,
    joining,
    linalg,
    modules,
    neural,
    normalization,
    optimizers,
    polynomials,
    pooling,
    reductions,
    resampling,
    sampling,
    scattering,
    scopes,
    sharing,
    sorting,
    special,
    spectral,
    steps,
    storages,
    views,
)

TABLES = (
    creation,
    drawing,
    distributions,
    views,
    elementwise,
    special,
    bessel,
    polynomials,
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
    normalization,
    pooling,
    resampling,
    sampling,
    distances,
    embeddings,
    counting,
    foreach,
    optimizers,
)
device.attach()
storages.attach()
sharing.attach()
fallback.attach()
autocast.attach()
modules.attach()
scopes.attach()
accelerator.attach()
steps.attach()
adam.attach()
compilation.attach()
for table in TABLES:
    table.attach()
