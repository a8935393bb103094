"""The array: a cell or a view of the core's, and the operators of the standard."""

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.array_base import Holder
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.buffers.interop import Offer
from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.op import scalar
from lazytensor.core.ops.basic_index import window
from lazytensor.core.ops.casting import cast
from lazytensor.core.runtime import scheduler

KINDS = {bool: "b", int: "iuf", float: "f"}
"""Per Python number: the kinds of dtype that it may stand next to."""


class Array(Holder):
    """An array whose operations are recorded, and computed when a value is asked for."""

    __slots__ = ()

    def __init__(self, ref):
        self.ref = ref

    mT = property(lambda self: self.view(ops.transpose_step(_swapped(self.ndim))))

    def view(self, *steps):
        """An array that shows a part of this one: what is written to it is written here."""
        return Array(self.ref.view(*steps))

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        return self.view(*window(self.shape, key).steps)

    def __setitem__(self, key, value):
        part = self[key].ref
        (made,) = together(self, value)[1:]
        part.write(ops.broadcast(made, shape=part.type.shape))

    def __lazytensor__(self):
        return Offer(self.ref)

    def __array__(self, dtype=None, copy=None):
        return np.array(scheduler.observe(self.ref.node), dtype)

    def __bool__(self):
        return bool(scheduler.observe(self.ref.node))

    def __float__(self):
        return float(scheduler.observe(self.ref.node))

    def __repr__(self):
        return f"Array({scheduler.observe(self.ref.node)})"


def wrap(node):
    """A new array that holds `node`."""
    return Array(Cell(node))


def together(*values):
    """Arrays and Python numbers as nodes of one dtype, by the standard's rules.

    Raises: DTypeError for two kinds of dtypes, and for a number that does not fit.
    """
    dtypes = [x.dtype for x in values if isinstance(x, Array)]
    kinds = {dtype.kind.replace("u", "i") for dtype in dtypes}
    if len(kinds) != 1:
        raise DTypeError(f"no promotion is defined between {', '.join(map(str, dtypes))}")
    dtype = np.result_type(*dtypes)
    return [_node(x, dtype) for x in values]


def _node(x, dtype):
    if isinstance(x, Array):
        return cast(x.node, dtype)
    if dtype.kind not in KINDS.get(type(x), ""):
        raise DTypeError(f"{x!r} cannot stand next to an array of {dtype}")
    return scalar(dtype.type(x).item(), dtype)


def _swapped(ndim):
    return (*range(ndim - 2), ndim - 1, ndim - 2)
