"""Torch's storages of the device as Python sees them: their bytes, copies, files.

`torch.save` and `torch.load`, pickling and deep copies work on storages, not on tensors, through
methods that reach for memory. Ours has none, so these methods are given ways round it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.cell import Cell
from lazytensor.core.memory import copied
from lazytensor.core.op import leaf
from lazytensor.frontends.torch.strides import Ints, in_rows, order_of, reach
from lazytensor.frontends.torch.tensor import NUMPY, Storage, create, wrap

Method = Callable[..., Any]
META: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
place: Final[Any] = (
    torch.ops.aten.set_.source_Storage_storage_offset._handle.redispatch_boxed
)


class Unread(Storage):
    """What a storage holds that no tensor shows yet: a copy, or bytes of a file.

    The first tensor decides the dtype and the order that its elements are kept in.
    """

    __slots__ = ()

    def settled(self, size: Ints, stride: Ints, start: int, dtype: torch.dtype) -> Cell | Storage:
        """What it holds once a tensor of this geometry shows it."""
        nbytes, wanted = self.cell.type.nbytes, NUMPY[dtype]
        if start or order_of(size, stride) is None or (
            reach(size, stride, 0) * wanted.itemsize != nbytes
        ):
            if nbytes % wanted.itemsize:
                return Storage(self.cell, self.lies)
            size, stride = (nbytes // wanted.itemsize,), (1,)
        shown = self.view(size, stride, 0, dtype)
        known = shown.known()
        cell = Cell(shown.node if known is None else leaf(copied(known)))
        if stride == in_rows(size) and not start:
            return cell
        return Storage(cell, stride)


def measure(storage: Any) -> None:
    """Tell torch how many bytes a storage has; it is made with none, as that is quicker."""
    held = storage.handle
    nbytes = (held if held.__class__ is Cell else held.cell).type.nbytes
    place(META, create((0,), torch.uint8), storage, 0, (nbytes,), (1,))


def holding(cell: Cell, lies: Ints) -> Any:
    """A torch storage that no tensor shows yet."""
    storage = create((0,), torch.uint8).untyped_storage()
    storage.handle = Unread(cell, lies)
    measure(storage)
    return storage


def from_host(storage: Any) -> Any:
    """A storage of the device with the bytes of one on the CPU."""
    data = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
    return holding(Cell(leaf(copied(data))), (1,))


def _clone(storage: Any) -> Any:
    held = storage.handle
    if held.__class__ is Cell:
        return holding(Cell(held.node), in_rows(held.type.shape))
    return holding(Cell(held.cell.node), held.lies)


def _to(storage: Any, *, device: Any, non_blocking: bool = False) -> Any:
    if torch.device(device).type == "lazytensor":
        return storage
    measure(storage)
    return _UNTYPED_TO(storage, device=device, non_blocking=non_blocking)


def _read(storage: Any, file: Any, offset: Any, is_real_file: bool, element_size: int) -> Any:
    measure(storage)
    host = torch.UntypedStorage(storage.nbytes())
    host._set_from_file(file, offset, is_real_file, element_size)
    storage.handle = from_host(host).handle
    return storage


OURS: Final[dict[str, Method]] = {
    "clone": _clone,
    "to": _to,
    "_set_from_file": _read,
    "_write_file": lambda storage, *args: storage.cpu()._write_file(*args),
    "data_ptr": lambda storage: storage._cdata,  # nobody's memory, but what tells storages apart
}
"""What the methods do for a storage of the device."""

MEASURED: Final = ("nbytes", "size", "__len__", "__getitem__", "__setitem__", "copy_", "cpu")
"""Methods that work as they are once torch knows how many bytes there are."""
_UNTYPED_TO: Final = torch.UntypedStorage.to


def _either(ours: Method, theirs: Method) -> Method:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        chosen = ours if self.device.type == "lazytensor" else theirs
        return chosen(self, *args, **kwargs)

    return method


def _measured(theirs: Method) -> Method:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        measure(self)
        return theirs(self, *args, **kwargs)

    return method


def _arriving(theirs: Method) -> Method:
    """`to` of a storage on the CPU, which may go to the device."""

    def method(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        if self.device.type == "cpu" and torch.device(device).type == "lazytensor":
            return from_host(self)
        return theirs(self, device=device, non_blocking=non_blocking)

    return method


def attach() -> None:
    """Replace the methods of torch's class."""
    kind: Any = torch.UntypedStorage
    for name in MEASURED:
        theirs = getattr(kind, name)
        setattr(kind, name, _either(_measured(theirs), theirs))
    for name, ours in OURS.items():
        setattr(kind, name, _either(ours, getattr(kind, name)))
    kind.to = _arriving(kind.to)
