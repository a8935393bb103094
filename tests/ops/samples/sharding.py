"""Samples of sharding constraints, which change no value."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.sharding import Mesh, Spec, sharding
from tests.ops.sample import Sample

MESH = Mesh((2, 2), ("a", "b"))
SPECS: tuple[tuple[tuple[int, ...], Spec], ...] = (
    ((), ()),
    ((6,), ("a",)),
    ((8,), (("a", "b"),)),
    ((4, 3), (None,)),
    ((4, 3, 2), ("b", None, "a")),
)


def _sample(shape: tuple[int, ...], spec: Spec, dtype: str) -> Sample:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return Sample(ops.sharding_constraint, (array,), {"sharding": sharding(MESH, spec, shape)})


SAMPLES = [_sample(*row, dtype) for row in SPECS for dtype in ("float32", "int64", "bool")]
