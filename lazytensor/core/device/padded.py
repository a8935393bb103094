"""Values in buffers that are larger than they."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.device.host_memory import allocated, copied
from lazytensor.core.ir.types import TensorType


class Padded:
    """A leaf's value of `type`, the first elements on each axis of a buffer of type `capacity`.

    What lies beyond them is anything.
    """

    __slots__ = ("buffer", "capacity", "type")

    def __init__(self, buffer: Any, type: TensorType, capacity: TensorType) -> None:
        self.buffer = buffer
        self.type = type
        self.capacity = capacity

    def trimmed(self, whole: np.ndarray) -> np.ndarray:
        """The value, copied from the host's view of the buffer."""
        return copied(whole[_region(self.type)])


def padded(array: np.ndarray, capacity: TensorType) -> np.ndarray:
    """The array as the first elements on each axis of a larger one."""
    made = allocated(capacity.shape, capacity.dtype)
    made[...] = beyond(capacity.dtype)
    made[tuple(slice(n) for n in array.shape)] = array
    return made


def beyond(dtype: np.dtype) -> Any:
    """What is written where nothing is: a number that takes no longer to compute with."""
    return np.zeros((), dtype)


def _region(type: TensorType) -> tuple[slice, ...]:
    return tuple(slice(n) for n in type.shape)
