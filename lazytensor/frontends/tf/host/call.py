"""TensorFlow's CPU kernels called on NumPy arrays, past recording, tapes and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorflow.python.eager import context

from lazytensor.frontends.tf.dispatch.fallback import execute
from lazytensor.frontends.tf.tensors.tensor import EagerTensor


def call(name: str, inputs: Sequence[np.ndarray], *attrs: Any) -> np.ndarray:
    """The one result of a raw op. attrs: names and values in turn."""
    here = context.context()
    here.ensure_initialized()
    tensors = [EagerTensor(x, here.device_name, None) for x in inputs]
    return array_of(execute(here, name, None, *tensors, *attrs))


def array_of(tensor: EagerTensor) -> np.ndarray:
    """An array that shares the tensor's memory, which TensorFlow may read again."""
    array = np.asarray(tensor._numpy_internal())
    array.flags.writeable = False
    return array
