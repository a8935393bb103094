"""Torch tensors on the device `lazytensor`: what they hold, and how they are made.

Torch keeps the geometry (size, strides, offset) of every tensor, and which of them share a storage;
the storage's `handle` holds the data. It is a `Cell` while every tensor of the storage shows it as
it is, so that the hot path is one attribute; from the first view on a `Storage`, which finds the
core's view for a tensor's geometry. Nothing is kept on tensors: torch makes new objects for one
storage (what autograd saved, `detach()`, `.data`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.memo import memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.types import NUMPYS_AXES, Shape, TensorType
from lazytensor.core.lib.geometry import Ints, in_rows, steps_of
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.native.extension import boxed

NUMPY: Final[dict[torch.dtype, np.dtype]] = {
    torch.bool: np.dtype(np.bool_),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.uint8: np.dtype(np.uint8),
    torch.uint16: np.dtype(np.uint16),
    torch.uint32: np.dtype(np.uint32),
    torch.uint64: np.dtype(np.uint64),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(ml_dtypes.bfloat16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
    torch.float8_e4m3fn: np.dtype(ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: np.dtype(ml_dtypes.float8_e5m2),
    torch.float8_e4m3fnuz: np.dtype(ml_dtypes.float8_e4m3fnuz),
    torch.float8_e5m2fnuz: np.dtype(ml_dtypes.float8_e5m2fnuz),
}
TORCH: Final = {numpy: theirs for theirs, numpy in NUMPY.items()}
NUMBERS: Final = (bool, int, float, complex)
"""What torch hands to a kernel for a Python number."""
_BITS: Final = {1: torch.uint8, 2: torch.int16}
_layouts: Final[dict[TensorType, tuple[Shape, torch.dtype]]] = memory()


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """The dtype of torch's name for it. Raises: TypeError where XLA has none."""
    found = NUMPY.get(dtype)
    if found is None:
        raise TypeError(f"{dtype} is not supported on the device lazytensor")
    return found


def is_lazy(x: Any) -> bool:
    """Whether `x` is a tensor on the device."""
    return isinstance(x, Tensor) and x.device.type == "lazytensor"


class Storage:
    """A cell that is shown in several ways; `lies` are the strides of its elements.

    views: what tensors show, by shape, strides, start and dtype. geometries: the same for the boxed
    kernel, by the bytes of these.
    """

    __slots__ = ("cell", "geometries", "lies", "views")

    def __init__(self, cell: Cell | View, lies: Ints) -> None:
        self.cell = cell
        self.lies = lies
        self.views: dict[Any, Cell | View] = {}
        self.geometries: dict[bytes, Cell | View] = {}

    def shown(self, x: Any) -> Cell | View:
        """What a tensor with this storage shows."""
        key = x.shape, x.stride(), x.storage_offset(), x.dtype
        found = self.views.get(key)
        if found is None:
            if len(self.views) >= _VIEWS_BOUND:
                self.views.clear()
            found = self.views[key] = self.view(*key)
        return found

    def forget(self) -> None:
        """Forget what tensors show: the cell is another one."""
        self.views.clear()
        self.geometries.clear()

    def view(self, size: Shape, stride: Ints, offset: int, dtype: torch.dtype) -> Cell | View:
        """What a tensor of this geometry shows."""
        type = self.cell.type
        steps = steps_of(
            type.shape, self.lies, type.dtype, tuple(size), stride, offset, NUMPY[dtype]
        )
        return self.cell.view(*steps)


_VIEWS_BOUND: Final = 1024
"""Views remembered of one storage: a loop over its elements may make any number."""


def ref(x: Any) -> Cell | View:
    """What holds the data of a tensor on the device."""
    held = x.untyped_storage().handle
    found: Cell | View = held if held.__class__ is Cell else held.shown(x)
    return found


def held_by(x: Any) -> Cell | View | None:
    """What holds the data of a tensor, if it is on the device: other storages have no handle."""
    try:
        held = x.untyped_storage().handle
    except (AttributeError, NotImplementedError):  # sparse tensors have no storage
        return None
    found: Cell | View = held if held.__class__ is Cell else held.shown(x)
    return found


def node(x: Any) -> Node:
    """The current value of a tensor on the device."""
    held = x.untyped_storage().handle
    return held.node if held.__class__ is Cell else held.shown(x).node


def value(x: Any) -> Node:
    """The current value, with the conjugation and negation done that torch puts off."""
    found = node(x)
    if x.is_conj():
        found = ops.conj(found)
    return -found if x.is_neg() else found


def stored(shown: Node, x: Any) -> Node:
    """What `x` holds where it shows `shown`, by its marks of a conjugation and negation put off."""
    if x.is_conj() and shown.type.dtype.kind == "c":
        shown = ops.conj(shown)
    return -shown if x.is_neg() else shown


def _holding(handle: Any, shape: Shape, dtype: torch.dtype) -> Any:
    tensor = torch._C._acc.create_empty_tensor(shape, dtype)
    tensor.untyped_storage().handle = handle
    return tensor


holding: Final[Any] = _holding if boxed is None else boxed.holding
"""Function from a handle, a shape and a dtype to a tensor in rows, on the current device."""
placing: Final[list[Callable[[Node], Node]]] = []
"""What puts a new value on the current device, once a device that is not the first was named."""


def wrap(made: Node) -> Any:
    """A tensor of its own that holds `made`, its elements in rows."""
    if placing:
        made = placing[0](made)
    type = made.type
    layout = _layouts.get(type)
    if layout is None:
        if not type.size:  # torch's way of making tensors gives these strides of 0
            return laid(made, in_rows(type.shape))
        layout = _layouts[type] = (type.shape, TORCH[type.dtype])
    return holding(Cell(made), *layout)


def laid(made: Node, stride: Ints) -> Any:
    """A tensor of its own that holds `made`, its elements without gaps at strides `stride`."""
    shape = made.type.shape
    if made.type.size and stride == in_rows(shape):
        return wrap(made)
    if placing:
        made = placing[0](made)
    tensor = holding(Storage(Cell(made), stride), shape, TORCH[made.type.dtype])
    return restride(tensor, shape, stride, 0)


def share(storage: Any) -> Storage:
    """What a torch storage holds, from now on for tensors of any geometry."""
    held = storage.handle
    if held.__class__ is Cell:
        held = storage.handle = Storage(held, in_rows(held.type.shape))
    found: Storage = held
    return found


def restride(x: Any, size: Any, stride: Any, offset: int) -> Any:
    """A tensor with the storage of `x` and another geometry; the storage has to be shared."""
    return _restride(_META_KEYS, x, size, stride, offset)


# The only kernels of torch's that make a tensor with strides; they touch no memory.
_restride: Final[Any] = torch.ops.aten.as_strided.default._handle.redispatch_boxed
_META_KEYS: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)


def memory_of(held: Cell | Storage) -> Any:
    """A CPU tensor of its own with the elements that a storage holds, where they lie in it."""
    value = to_cpu(held.cell.node)
    if not isinstance(held, Storage):
        return value.clone()
    return torch.empty_strided(value.shape, held.lies, dtype=value.dtype).copy_(value)


def entered(whole: Any, is_shared: bool) -> Cell | Storage:
    """The handle of a storage that has the memory of a CPU tensor; nobody else writes to that.

    is_shared: tensors show the storage in other ways than `whole` does.
    """
    cell = Cell(from_cpu(whole, is_ours=True))
    if is_shared or whole.stride() != in_rows(whole.shape):
        return Storage(cell, whole.stride())
    return cell


def from_cpu(x: Any, is_ours: bool = False) -> Node:
    """A leaf with the data of a CPU tensor. Raises: TypeError for one that is not dense.

    is_ours: nobody else writes to its memory, which needs no copy.
    """
    dtype = numpy_dtype(x.dtype)
    if x.layout is not torch.strided:
        raise TypeError(
            f"a tensor of layout {x.layout} is not supported on the device lazytensor, which has "
            "dense ones only: call `to_dense()` before"
        )
    if x._is_zerotensor():  # what autograd makes of a gradient that is nothing
        x = torch.zeros(x.shape, dtype=x.dtype)
    if x.ndim > NUMPYS_AXES:
        return ops.reshape(from_cpu(x.flatten()), shape=tuple(x.shape))
    dense = x.detach().resolve_conj().resolve_neg().contiguous()
    is_builtin = dtype.isbuiltin == 1
    array = (dense if is_builtin else dense.view(_BITS[dtype.itemsize])).numpy()
    if not is_ours:
        array = copied(array)
    return leaf(array if is_builtin else array.view(dtype))


def to_cpu(made: Node) -> Any:
    """A CPU tensor of its own with the value, computed now if it is pending."""
    if made.type.ndim > NUMPYS_AXES:
        return to_cpu(ops.line(made)).view(made.type.shape)
    array = scheduler.fetch(made)
    dtype = TORCH[made.type.dtype]
    if array.dtype.isbuiltin != 1:
        bits = np.ascontiguousarray(array).view(f"i{array.dtype.itemsize}")
        return torch.from_numpy(bits.reshape(made.type.shape)).view(dtype)
    return torch.from_numpy(np.asarray(array).reshape(made.type.shape))
