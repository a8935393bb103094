"""Arrays to and from other libraries by DLPack.

A lazy array has no memory of its own that others could share: it may be overwritten or moved by the
program that uses it last. So everything crosses by copy, also where `copy=False` is asked for;
between lazy arrays, which do share, nothing is computed at all.
"""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core import runtime
from lazytensor.core.cell import Cell, View
from lazytensor.frontends.numpy.array import Lazy, ndarray, new, wrap_view
from lazytensor.frontends.numpy.shadow import ADDRESS, c_strides, make

_CPU: Final = (1, 0)
"""DLPack's type and number of the device."""


def to_dlpack(
    x: Lazy,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """`__dlpack__`: a capsule with a copy. Raises: BufferError for another device."""
    if dl_device not in (None, _CPU):
        raise BufferError(f"unsupported device requested: {dl_device}")
    version: dict[str, Any] = (
        {} if max_version is None else {"max_version": max_version}
    )  # from NumPy 2.1 on
    return runtime.fetch(x.node).__dlpack__(stream=stream, **version)


def dlpack_device(x: Lazy) -> tuple[int, int]:
    """`__dlpack_device__`: where what `__dlpack__` gives is."""
    return _CPU


def sharing(ref: Cell | View, strides: tuple[int, ...]) -> ndarray:
    """An array that shows what `ref` shows: what is written to one is seen in the other.

    For another frontend's array; `strides` are its, in bytes.
    """
    owner: ndarray = new(ndarray)
    owner.ref, owner._shadow, owner._base = ref.cell, None, None
    type = ref.type
    if ref is ref.cell and strides == c_strides(type):
        return owner
    return wrap_view(ref, make(ADDRESS, type.dtype, type.shape, strides, True), owner)
