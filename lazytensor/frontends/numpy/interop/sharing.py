"""An array's memory, shared with outside code: a write on either side is seen on the other.

NumPy's own Python code shares memory wherever `numpy.ndarray` would: masked arrays, matrices,
iterators, other classes. `copy=False`, `x.data`, `x.ctypes` and DLPack share memory too. The memory
is lent (see `core/runtime/lending.py`): while a view of it lives, an operation on the array copies
it first.

`numpy.asarray(x)` is a copy. Other libraries call it on any array and keep the result, though they
only read it; every later operation would copy.
"""

from __future__ import annotations

from types import FrameType
from typing import Any, Final

import numpy as np

from lazytensor.core.device.host_memory import copied
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.arguments import seen_through
from lazytensor.core.runtime.lending import Lent, hold, shown_in
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host.access_counters import memory_of, own
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.parts import layout_of


def memory(x: Lazy) -> np.ndarray | None:
    """A view of the memory that `x` shows, writable if `x` is.

    None for a scalar, and where NumPy has no such view.
    """
    if type(x) is Scalar:
        return None
    cell, like = x.ref.cell, layout_of(x)
    lent = None
    while lent is None:  # again if another thread has used the memory in between
        own(cell)
        lent = memory_of(cell, like)
    part = shown_in(lent, x.ref.chain)
    if part is None:
        return None
    view = part.view()
    if is_read_only(x):
        view.flags.writeable = False
    return view


def fixed(x: Lazy) -> np.ndarray | None:
    """The same, at an address that stays valid while the array's data live."""
    found = memory(x)
    if found is not None:
        hold(x.ref.cell)
    return found


def fetched(x: Lazy) -> np.ndarray:
    """The values in a real array of the caller's own, laid out as NumPy would have them."""
    layout = x._shadow
    if differing and is_raised() and layout is None and type(x.ref) is Lent:
        return copied(x.ref.known())  # the memory stays lent
    seen = seen_through(x.ref)
    if type(layout) is Turned and 0 not in layout.strides:  # a broadcast view is fetched in rows
        turned = np.empty_like(layout, subok=False)
        turned[...] = scheduler.observe(x.node) if seen is None else seen
        return turned
    return scheduler.fetch(x.node) if seen is None else copied(seen)


def opened(value: Any) -> Any:
    """`value` with its lazy arrays, in lists and tuples too, replaced by their memory."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(map(opened, value))
    if not issubclass(kind, Lazy):
        return value
    found = memory(value)
    return np.asarray(value) if found is None else found


def is_shared(x: Lazy, copy: bool | None, frame: FrameType) -> bool:
    """Whether a caller that asks `x` for a real array, with this `copy`, gets its memory.

    NumPy's own Python code does, and so does SciPy's C code that writes to it.
    """
    module = str(frame.f_globals.get("__name__", ""))
    if module.startswith("numpy."):
        return copy is None or frame.f_code.co_name == _AS_IT_IS
    return module.startswith("scipy.ndimage") and frame.f_locals.get("output") is x


_AS_IT_IS: Final = "filled"
"""NumPy's function that returns an ndarray as it is, and copies everything else."""
