"""Raw ops as TensorFlow's own CPU kernels compute them: loops over windows, slow in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from lazytensor.core.interpreter.rows import HOST_KERNELS, Reference
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.types import TensorType
from lazytensor.frontends.tf.host.call import call

LEAST_ELEMENTS: Final = 2**10
"""Elements from which a call of TensorFlow's is faster."""
POOLS: Final = frozenset(
    f"{name}{kind}{which}"
    for name in ("MaxPool", "AvgPool")
    for kind in ("", "3D")
    for which in ("", "Grad")
)


def kernel(
    name: str, operands: Sequence[TensorType], _: TensorType, *, statics: tuple[Any, ...]
) -> Reference | None:
    """The kernel of a raw op for operands of these types.

    statics: the values of inputs that the host has, which come first; then attributes by name.
    """
    if max(x.size for x in operands) < LEAST_ELEMENTS:
        return None
    dtypes = (F32,) if "3D" in name else (F32, F64)
    if any(x.dtype not in dtypes for x in operands):
        return None
    attrs = [part for named in statics if isinstance(named[0], str) for part in named]
    known = [
        np.array(elements, dtype).reshape(shape)
        for shape, elements, dtype in (x for x in statics if not isinstance(x[0], str))
    ]

    def function(*arrays: np.ndarray) -> np.ndarray:
        return call(name, [*known, *arrays], *attrs)

    return function


HOST_KERNELS.update({f"tf.{name}": partial(kernel, name) for name in POOLS})
