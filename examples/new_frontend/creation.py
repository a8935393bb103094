"""Arrays of data, of one value, and of other arrays."""

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.interop import offered
from lazytensor.core.ir.op import leaf, scalar

from .array import Array, together, wrap


def asarray(obj, dtype=None, copy=None):
    """An array of data, or one that shares what a lazy array of any frontend shows."""
    offer = offered(obj)
    if offer is None:
        return wrap(leaf(np.array(obj, dtype, order="C")))
    return Array(offer.copy if copy else offer.ref)


def full(shape, value, dtype=np.float64):
    """An array of one value."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    dtype = np.dtype(dtype)
    return wrap(ops.broadcast(scalar(dtype.type(value).item(), dtype), shape=shape))


def zeros(shape, dtype=np.float64):
    """An array of zeros."""
    return full(shape, 0, dtype)


def ones(shape, dtype=np.float64):
    """An array of ones."""
    return full(shape, 1, dtype)


def arange(stop, dtype=np.int64):
    """The numbers below `stop`."""
    return wrap(ops.iota(dtype=np.dtype(dtype), shape=(stop,), axis=0))


def concat(arrays, axis=0):
    """Arrays one after another."""
    return wrap(ops.concatenate(*together(*arrays), axis=axis % arrays[0].ndim))
