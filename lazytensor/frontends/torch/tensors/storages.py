"""Torch's storages of the device as Python sees them: their bytes, copies, files.

`torch.save` and `torch.load`, pickling and deep copies work on storages, not on tensors, through
methods that reach for memory. Ours has none, so these methods are given ways round it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.types import TensorType
from lazytensor.core.lib.geometry import Ints, in_rows, order_of
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.placement import At, number_of, put
from lazytensor.frontends.torch.tensors.strides import reach
from lazytensor.frontends.torch.tensors.tensor import NUMPY, Storage, holding, share

Method = Callable[..., Any]
META: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)
place: Final[Any] = torch.ops.aten.set_.source_Storage_storage_offset._handle.redispatch_boxed


class Unread(Storage):
    """What a storage holds that no tensor shows yet: a copy, or bytes of a file.

    The first tensor decides the dtype and the order that its elements are kept in.
    """

    __slots__ = ()

    def settled(self, size: Ints, stride: Ints, start: int, dtype: torch.dtype) -> Cell | Storage:
        """What it holds once a tensor of this geometry shows it."""
        nbytes, wanted = self.cell.type.nbytes, NUMPY[dtype]
        if (
            start
            or order_of(size, stride) is None
            or (reach(size, stride, 0) * wanted.itemsize != nbytes)
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
    with At(storage.device):
        place(META, holding(None, (0,), torch.uint8), storage, 0, (nbytes,), (1,))


def storage_of(cell: Cell, lies: Ints) -> Any:
    """A torch storage that no tensor shows yet."""
    storage = holding(Unread(cell, lies), (0,), torch.uint8).untyped_storage()
    measure(storage)
    return storage


def from_host(storage: Any, device: Any = DEVICE) -> Any:
    """A storage of the device with the bytes of one on the CPU."""
    data = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
    with At(device):
        return storage_of(Cell(put(leaf(copied(data)))), (1,))


def _clone(storage: Any) -> Any:
    held = storage.handle
    with At(storage.device):
        if held.__class__ is Cell:
            return storage_of(Cell(held.node), in_rows(held.type.shape))
        return storage_of(Cell(held.cell.node), held.lies)


def to_host(storage: Any) -> Any:
    """A storage on the CPU with the bytes of one of the device."""
    held = storage.handle
    if held.__class__ is Cell:
        held = Storage(held, in_rows(held.type.shape))
    order = order_of(held.cell.type.shape, held.lies)
    data = np.ascontiguousarray(scheduler.fetch(held.cell.node).transpose(order))
    return torch.from_numpy(data.reshape(-1).view(np.uint8).copy()).untyped_storage()


def _to(storage: Any, *, device: Any, non_blocking: bool = False) -> Any:
    if is_ours(device):
        is_there = storage.device.index == number_of(device)
        return storage if is_there else from_host(to_host(storage), device)
    return to_host(storage).to(device=device)


def _copy(storage: Any, source: Any, non_blocking: Any = None) -> Any:
    if storage.nbytes() != source.nbytes():
        raise RuntimeError(
            f"size does not match, self was {storage.nbytes()} bytes but src was "
            f"{source.nbytes()} bytes"
        )
    bytes_ = from_host(source.cpu(), storage.device).handle.cell.node
    share(storage).view((source.nbytes(),), (1,), 0, torch.uint8).write(bytes_)
    return storage


def _read(storage: Any, file: Any, offset: Any, is_real_file: bool, element_size: int) -> Any:
    host = torch.UntypedStorage(storage.nbytes())
    host._set_from_file(file, offset, is_real_file, element_size)
    storage.handle = from_host(host, storage.device).handle
    return storage


def _resize(storage: Any, nbytes: int) -> Any:
    """Drop the bytes of a storage, or give it as many zeros as it had bytes.

    torch's `fully_shard` does so with the parameters of a layer that is not at work. Raises:
    RuntimeError for any other size.
    """
    held = storage.handle
    cell = held if held.__class__ is Cell else held.cell
    whole: TensorType = cell.type
    if nbytes not in (0, whole.nbytes):
        raise RuntimeError(
            f"resize_({nbytes}) of a storage on the device {DEVICE}: expected its size, "
            f"{whole.nbytes} bytes, or 0; make a new tensor for another size"
        )
    storage.is_empty = nbytes == 0
    if storage.is_empty:
        one = np.zeros((), whole.dtype)
        cell.write(leaf(np.broadcast_to(one, whole.shape), whole))  # the memory of one element
    return storage


def is_ours(device: Any) -> bool:
    """Whether it is the device's name."""
    return torch.device(device).type == DEVICE


STORAGE_METHODS: Final[dict[str, Method]] = {
    "clone": _clone,
    "copy_": _copy,
    "cpu": to_host,
    "to": _to,
    "__getitem__": lambda storage, place: to_host(storage)[place],
    "_set_from_file": _read,
    "resize_": _resize,
    "_write_file": lambda storage, *args: to_host(storage)._write_file(*args),
    "data_ptr": lambda storage: (
        storage._cdata << 16
    ),  # nobody's memory, but what tells storages apart
}
"""What the methods do for a storage of the device."""


def _either(ours: Method, theirs: Method) -> Method:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        chosen = ours if self.device.type == DEVICE else theirs
        return chosen(self, *args, **kwargs)

    return method


def _measured(theirs: Method) -> Method:
    """A method that works as it is once torch knows how many bytes there are."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "is_empty", False):
            return 0
        measure(self)
        return theirs(self, *args, **kwargs)

    return method


def _arriving(theirs: Method) -> Method:
    """`to` and `copy_` of a storage on the CPU, where the other one may be of the device."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == "cpu":
            if "device" in kwargs and is_ours(kwargs["device"]):
                return from_host(self, kwargs["device"])
            if args and isinstance(args[0], torch.UntypedStorage) and is_ours(args[0].device):
                args = (args[0].cpu(), *args[1:])
        return theirs(self, *args, **kwargs)

    return method


def _address(theirs: Method) -> Method:
    """`data_ptr` of tensors: nobody's memory, but what tells elements of the device apart."""

    def data_ptr(self: Any) -> int:
        if self.device.type != DEVICE or not self.numel():
            found: int = theirs(self)
            return found
        start: int = self.untyped_storage()._cdata << 16  # leaves room for offsets
        return start + self.storage_offset() * self.itemsize

    return data_ptr


def _made(theirs: Method) -> Method:
    """`UntypedStorage(...)`; torch's own asks for the allocator of the device, which has none."""

    def __new__(kind: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None:
            return theirs(kind, *args, **kwargs)
        if is_ours(device):
            return from_host(theirs(kind, *args, **kwargs), device)
        return theirs(kind, *args, device=device, **kwargs)

    return __new__


def attach() -> None:
    """Replace the methods of torch's classes."""
    torch.Tensor.data_ptr = _address(torch.Tensor.data_ptr)
    kind: Any = torch.UntypedStorage
    kind.__new__ = _made(kind.__new__)
    for name in ("nbytes", "size", "__len__"):
        theirs = getattr(kind, name)
        setattr(kind, name, _either(_measured(theirs), theirs))
    for name, ours in STORAGE_METHODS.items():
        setattr(kind, name, _either(ours, getattr(kind, name)))
    for name in ("to", "copy_"):
        setattr(kind, name, _arriving(getattr(kind, name)))
