"""`x.flags`, `x.strides`, `x.base`: the layout that NumPy's array would have."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core.ir.types import Shape
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, extends
from lazytensor.frontends.numpy.arrays.shadow import read_only, shadow, writeable

_OWN_FLAGS: Final = {
    "O": "owndata",
    "OWNDATA": "owndata",
    "W": "writeable",
    "WRITEABLE": "writeable",
}
"""Flags whose value may differ between the shadow and the array."""
_SHOWN: Final = [
    "C_CONTIGUOUS",
    "F_CONTIGUOUS",
    "OWNDATA",
    "WRITEABLE",
    "ALIGNED",
    "WRITEBACKIFCOPY",
]
_OWNDATA: Final = 4
_OURS: Final = frozenset(["_array", "writeable", "aligned"])
"""Attributes of `Flags` that can be set."""


class Flags:
    """NumPy's flags object for a lazy array."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Lazy) -> None:
        self._array = array

    def __getattr__(self, name: str) -> Any:
        return getattr(shadow(self._array).flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OURS:
            object.__setattr__(self, name, value)
        else:
            setattr(shadow(self._array).flags, name, value)  # raises, as there are no others

    @property
    def owndata(self) -> bool:
        """Whether the array is not a view."""
        return self._array._base is None

    @property
    def writeable(self) -> bool:
        """Whether the array may be written to."""
        return type(self._array) is not Scalar and bool(shadow(self._array).flags.writeable)

    @writeable.setter
    def writeable(self, value: Any) -> None:
        if type(self._array) is Scalar:
            raise ValueError("Cannot set flags on array scalars.")
        set_flags(self._array, write=bool(value))

    @property
    def aligned(self) -> bool:
        """Whether the elements of NumPy's array would be aligned."""
        return bool(shadow(self._array).flags.aligned)

    @aligned.setter
    def aligned(self, value: Any) -> None:
        bool(value)  # raises as NumPy does; the elements stay in place

    @property
    def num(self) -> int:
        """All flags as a number."""
        return int(shadow(self._array).flags.num) | (_OWNDATA if self.owndata else 0)

    def __getitem__(self, key: Any) -> Any:
        name = _OWN_FLAGS.get(key)
        return shadow(self._array).flags[key] if name is None else getattr(self, name)

    def __setitem__(self, key: Any, value: Any) -> None:
        if _OWN_FLAGS.get(key) != "writeable":
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other: object) -> bool:
        return hasattr(other, "num") and self.num == other.num

    def __repr__(self) -> str:
        return "".join(f"  {name} : {self[name]}\n" for name in _SHOWN)


@extends(Lazy)
class LayoutAttributes(Lazy):
    """Attributes of an array's layout in memory."""

    @property
    def flags(self) -> Flags:
        """NumPy's `flags`."""
        return Flags(self)

    @property
    def strides(self) -> Shape:
        """NumPy's `strides`."""
        return shadow(self).strides

    @property
    def base(self) -> Lazy | None:
        """NumPy's `base`."""
        return self._base

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """NumPy's `setflags`."""
        set_flags(self, write)


def set_flags(x: Lazy, write: Any = None) -> None:
    """Make an array writeable, or not."""
    if write is None or type(x) is Scalar:
        return
    if write and not _may_become_writeable(x):
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    layout = shadow(x)
    if bool(write) != layout.flags.writeable:
        x._shadow = writeable(layout) if write else read_only(layout)


def _may_become_writeable(x: Lazy) -> bool:
    layout = shadow(x)
    pairs = zip(layout.shape, layout.strides, strict=True)
    if layout.size and any(n > 1 and not stride for n, stride in pairs):
        return False  # elements of a broadcast array share memory
    return x._base is None or bool(shadow(x._base).flags.writeable)


def is_read_only(x: Lazy) -> bool:
    """Whether writing must raise."""
    return x._shadow is not None and not x._shadow.flags.writeable
