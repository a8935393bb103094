"""Views with more axes or longer axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import view_step
from lazytensor.frontends.numpy.arrays.array import ndarray
from lazytensor.frontends.numpy.arrays.flags import set_flags
from lazytensor.frontends.numpy.arrays.shadow import shadow, turned
from lazytensor.frontends.numpy.functions.signatures import Function, named
from lazytensor.frontends.numpy.functions.views import array_of, in_shape, shown
from lazytensor.frontends.numpy.indexing.basic import viewed


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """See numpy.broadcast_to."""
    x = array_of(array)
    layout = np.broadcast_to(shadow(x), shape, subok=True)
    if layout.shape == x.shape:
        return shown(x, layout)
    # `turned`, as a copy of the view has its repeated axes innermost.
    return shown(x, turned(layout), view_step(ops.broadcast, None, (("shape", layout.shape),)))


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """See numpy.broadcast_arrays."""
    arrays = [array_of(x) for x in args]
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    for x in arrays:
        told = type(x) is ndarray and x._shadow is not None and x._shadow.flags.writeable
        if told and x.shape != shape:
            set_flags(x, write=True)  # as NumPy does; refused for a view of a read-only array
    return tuple(x if x.shape == shape else broadcast_to(x, shape) for x in arrays)


_WHOLE_AXIS: Final = slice(None)
_NEW_AXES: Final = {
    (1, 2): (None, _WHOLE_AXIS),
    (1, 3): (None, _WHOLE_AXIS, None),
    (2, 3): (_WHOLE_AXIS, _WHOLE_AXIS, None),
}
"""By the given and the wanted number of axes: the key that adds the others."""


def _at_least(count: int) -> Callable[[Any], Any]:
    def one(x: Any) -> Any:
        array = array_of(x)
        shape = array.shape
        if len(shape) >= count:
            return array
        if not shape:
            return in_shape(array, (1,) * count)
        return viewed(array, _NEW_AXES[len(shape), count])

    return one


def _over(function: Callable[[Any], Any]) -> Function:
    def call(*arys: Any) -> Any:
        made = tuple(map(function, arys))
        return made[0] if len(made) == 1 else made

    return call


LAZY: dict[str, Function] = {
    **{f"atleast_{count}d": _over(_at_least(count)) for count in (1, 2, 3)},
    **named(broadcast_arrays, broadcast_to),
}
