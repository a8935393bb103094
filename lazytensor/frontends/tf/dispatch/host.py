"""Inputs whose values a program needs to be made: shapes, axes, counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorflow.python.framework import tensor_shape

from lazytensor.frontends.tf.tensors.tensor import NUMPY, TF, EagerTensor, LazyTensor, value
from lazytensor.frontends.tf.tensors.variables import is_variable

Host = tuple[tuple[int, ...], tuple[Any, ...], str]
"""A host input in a key: shape, elements, dtype."""


class NotLazy(Exception):
    """What was given has a dtype, or a value, that only TF's kernel takes."""


class HostValue:
    """An input whose value is known while recording; `tensor`: TF's, once one was asked for."""

    __slots__ = ("array", "key", "tensor")

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.tensor: Any = None
        self.key: Host = (array.shape, tuple(array.ravel().tolist()), array.dtype.str)


def host_value(x: Any, dtype: Any = None) -> HostValue:
    """The value of an input, computed now if it is lazy."""
    kind = type(x)
    if kind is EagerTensor:
        known: HostValue | None = getattr(x, "_lazy_host", None)
        if known is None:
            known = x._lazy_host = HostValue(np.asarray(x._numpy()))
        return known
    if kind is LazyTensor:
        return HostValue(value(x.node))
    if is_variable(x):
        return host_value(x.value())
    if isinstance(x, tensor_shape.TensorShape):
        x = x.as_list()
    if isinstance(x, list | tuple) and any(type(item) is LazyTensor for item in x):
        x = [item._numpy() if type(item) is LazyTensor else item for item in x]
    array = np.asarray(x) if isinstance(x, np.ndarray | np.generic) else None
    if array is None:
        wanted = (
            None if dtype is None else NUMPY.get(int(getattr(dtype, "as_datatype_enum", dtype)))
        )
        array = np.asarray(x)
        if wanted is not None:
            array = np.asarray(x, wanted)
        elif array.dtype == np.int64 or array.size == 0:
            array = array.astype(np.int32)
        elif array.dtype == np.float64:
            array = array.astype(np.float32)
    if array.dtype not in TF:
        raise NotLazy
    return HostValue(array)
