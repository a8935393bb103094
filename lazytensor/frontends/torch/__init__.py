"""A torch device named `lazytensor`: importing this module registers the device and its kernels."""

from __future__ import annotations

from lazytensor.frontends.torch.device import (
    accelerator,
    autocast,
    compilation,
    hooks,
    modules,
    registration,
    scopes,
)
from lazytensor.frontends.torch.dispatch import direct, fallback, forwards, refusals
from lazytensor.frontends.torch.distributed import functional, process_group
from lazytensor.frontends.torch.host import kernels, layers
from lazytensor.frontends.torch.linalg import decompositions, factorization, reflections
from lazytensor.frontends.torch.nn import (
    attention,
    cells,
    convolution,
    ctc,
    embeddings,
    fractional,
    linear,
    losses,
    margins,
    networks,
    neural,
    normalization,
    pooling,
    recurrent,
    resampling,
    sampling,
    unpooling,
)
from lazytensor.frontends.torch.optim import adam, foreach, optimizers, sgd, steps
from lazytensor.frontends.torch.random import at_hand, distributions, drawing, reparametrization
from lazytensor.frontends.torch.rows import (
    contraction,
    counting,
    creation,
    distances,
    elementwise,
    grouped,
    joining,
    polynomials,
    reductions,
    scattering,
    segments,
    sorting,
    special,
    spectral,
    windows,
)
from lazytensor.frontends.torch.tensors import sharing, storages, views

registration.attach()
storages.attach()
sharing.attach()
fallback.attach()
autocast.attach()
hooks.attach()
modules.attach()
scopes.attach()
accelerator.attach()
steps.attach()
adam.attach()
sgd.attach()
forwards.attach()
compilation.attach()
refusals.attach()
process_group.attach()
functional.attach()
