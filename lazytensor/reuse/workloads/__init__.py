"""The workloads: one computation each, written as users of each framework write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

Data = Mapping[str, np.ndarray]
Run = Callable[[Data], Any]


class Workload(NamedTuple):
    """A workload's name, description and inputs: `data` makes arrays of float32 and int64."""

    name: str
    says: str
    data: Callable[[np.random.Generator], dict[str, np.ndarray]]


def _normal(**shapes: tuple[int, ...]) -> Callable[[np.random.Generator], dict[str, np.ndarray]]:
    def data(random: np.random.Generator) -> dict[str, np.ndarray]:
        return {
            name: random.normal(scale=0.5, size=shape).astype(np.float32)
            for name, shape in shapes.items()
        }

    return data


WORKLOADS: Final = (
    Workload(
        "mlp",
        "three training steps of a two-layer perceptron: forward, backward, descent",
        _normal(x=(64, 16), target=(64, 8), w1=(32, 16), b1=(32,), w2=(8, 32), b2=(8,)),
    ),
    Workload(
        "convolution",
        "a convolution block: 3×3 windows, bias, ReLU, the mean over each image",
        _normal(x=(4, 3, 16, 16), weight=(8, 3, 3, 3), bias=(8,)),
    ),
    Workload(
        "attention",
        "a block of attention with four heads: projections, softmax, residual",
        _normal(x=(2, 8, 32), query=(32, 32), key=(32, 32), value=(32, 32), out=(32, 32)),
    ),
    Workload(
        "k-means",
        "three rounds of Lloyd's algorithm: distances, nearest centre, new centres",
        _normal(points=(256, 4), centres=(8, 4)),
    ),
    Workload(
        "stencil",
        "eight Jacobi sweeps over a grid, in place",
        _normal(grid=(48, 48)),
    ),
)
"""All workloads; images are `NCHW`, weights in the layout of torch's layers: (out, in, …)."""

LEARNING_RATE: Final = 0.05
STEPS: Final = 3
HEADS: Final = 4
SWEEPS: Final = 8
