"""Views: torch works out their geometry, from which `Storage` finds what they show.

Most views are C++ that ends in `as_strided`; what else touches no memory is torch's kernel for the
CPU, and only has to announce that the storage is shared from now on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.lib.geometry import in_rows, order_of
from lazytensor.frontends.torch.dispatch.kernels import functional, variants
from lazytensor.frontends.torch.dispatch.promotion import cast_to
from lazytensor.frontends.torch.dispatch.registry import prepare_thread, register, thread
from lazytensor.frontends.torch.dispatch.verdicts import overload
from lazytensor.frontends.torch.rows.creation import filled, unset
from lazytensor.frontends.torch.tensors.storages import META, Unread, place
from lazytensor.frontends.torch.tensors.strides import axis_of, is_repeated, reach, strides_for
from lazytensor.frontends.torch.tensors.tensor import (
    TORCH,
    Storage,
    is_lazy,
    laid,
    node,
    numpy_dtype,
    ref,
    restride,
    share,
    wrap,
)

CPU: Final = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

NATIVE: Final = (
    "view",
    "_unsafe_view",
    "_reshape_alias",
    "unfold",
    "view.dtype",
    "view_as_real",
    "view_as_complex",
)
"""Views that torch's kernel for the CPU makes."""


def _torchs(name: str) -> Callable[..., Any]:
    """Torch's own kernel, to be given the dispatch keys of a device that has it."""
    found: Callable[..., Any] = overload(name)._handle.redispatch_boxed
    return found


def _native(name: str) -> Callable[..., Any]:
    make = _torchs(name)

    def kernel(self: Any, *args: Any) -> Any:
        if not thread.ready:
            prepare_thread()
        storage = self.untyped_storage()
        if storage.handle.__class__ is Cell:
            share(storage)
        return make(CPU, self, *args)

    return kernel


def _as_strided(self: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    if not thread.ready:
        prepare_thread()
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    storage = share(self.untyped_storage())
    start = self.storage_offset() if storage_offset is None else storage_offset
    needed = reach(tuple(size), tuple(stride), start) * self.itemsize
    if needed > storage.cell.type.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and "
            f"itemsize {self.itemsize} requiring a storage size of {needed} are out of bounds for "
            f"storage of size {storage.cell.type.nbytes}"
        )
    return restride(self, size, stride, start)


def _pieces(self: Any, sizes: Sequence[int], dim: int) -> list[Any]:
    """Views of `sizes` along a dimension, one after another."""
    if not thread.ready:
        prepare_thread()
    share(self.untyped_storage())
    shape, strides, start = [*self.shape], self.stride(), self.storage_offset()
    made = []
    for n in sizes:
        shape[dim] = n
        made.append(restride(self, shape, strides, start))
        start += n * strides[dim]
    return made


def _split(self: Any, split_size: int, dim: int = 0) -> Any:
    axis = axis_of(dim, self.ndim)
    if not self.ndim or split_size <= 0:
        return _torchs("split.Tensor")(CPU, self, split_size, dim)  # for its errors
    n = self.shape[axis]
    whole, rest = divmod(n, split_size)
    sizes = [split_size] * whole + [rest] * (rest > 0)
    return _pieces(self, sizes or [0], axis)


def _split_with_sizes(self: Any, split_sizes: Sequence[int], dim: int = 0) -> Any:
    axis = axis_of(dim, self.ndim)
    if not self.ndim or min(split_sizes, default=0) < 0 or sum(split_sizes) != self.shape[axis]:
        return _torchs("split_with_sizes")(CPU, self, split_sizes, dim)  # for its errors
    return _pieces(self, split_sizes, axis)


def _as_strided_in_place(
    self: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    start = self.storage_offset() if storage_offset is None else storage_offset
    _as_strided(self, size, stride, start)  # for its errors
    return _place(self, self.untyped_storage(), start, size, stride)


def _resize(self: Any, size: Any, memory_format: Any = None) -> Any:
    """Elements keep their places in the storage, which grows where it has to: by zeros."""
    shape = tuple(size)
    start = self.storage_offset()
    if shape == self.shape and memory_format is None:
        return self
    stride = strides_for(shape, memory_format)
    return _place(self, self.untyped_storage(), start, shape, stride)


def _set_storage(
    self: Any, source: Any, storage_offset: int = 0, size: Any = None, stride: Any = ()
) -> Any:
    if size is None:
        size = (share(source).cell.type.nbytes // self.itemsize,)
    return _place(self, source, storage_offset, size, tuple(stride) or in_rows(tuple(size)))


def _set_tensor(self: Any, source: Any) -> Any:
    return _place(
        self, source.untyped_storage(), source.storage_offset(), source.shape, source.stride()
    )


def _set_empty(self: Any) -> Any:
    return _set_tensor(self, wrap(filled((0,), 0, numpy_dtype(self.dtype))))


def _place(self: Any, storage: Any, start: int, size: Any, stride: Any) -> Any:
    """Give a tensor another geometry in a storage, which grows to have room for it."""
    geometry = tuple(size), tuple(stride)
    if isinstance(storage.handle, Unread):
        storage.handle = storage.handle.settled(*geometry, start, self.dtype)
    held = storage.handle
    if held.__class__ is not Cell or start or geometry != (held.type.shape, in_rows(*geometry[:1])):
        grow(share(storage), reach(*geometry, start) * self.itemsize)
    place(META, self, storage, start, size, stride)
    return self


def grow(storage: Storage, nbytes: int) -> None:
    """Let a storage have `nbytes` at least; nothing is written to what is new."""
    type = storage.cell.type
    if nbytes <= type.nbytes:
        return
    count = -(-nbytes // type.dtype.itemsize)
    line = storage.view((type.size,), (1,), 0, TORCH[type.dtype]).node
    new = filled((count - type.size,), unset(type.dtype), type.dtype)
    storage.cell = Cell(ops.concatenate(line, new, axis=0))
    storage.lies = (1,)
    storage.forget()


SCATTERED: Final = {
    "diagonal_scatter": "diagonal",
    "select_scatter": "select.int",
    "slice_scatter": "slice.Tensor",
    "as_strided_scatter": "as_strided",
}
"""What gives a copy with what a view of it shows replaced; torch's own copies a storage's bytes."""


def _scattered(name: str) -> Callable[..., Any]:
    show = overload(name)

    def scatter(self: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
        made = _kept(self)
        part = show(made, *args, **kwargs)
        if part.shape != source.shape:
            raise RuntimeError(
                f"expected src to have a size equal to the slice of self. src size = "
                f"{list(source.shape)}, slice size = {list(part.shape)}"
            )
        ref(part).write(cast_to(node(source), ref(part).type.dtype))
        return made

    return scatter


def _kept(x: Any) -> Any:
    """A copy with every element where it is in the storage; in rows if one shows several times."""
    if is_repeated(x):
        return wrap(node(x))
    if not x.storage_offset() and order_of(x.shape, x.stride()) is not None:
        return laid(node(x), x.stride())
    whole = wrap(node(x.as_strided((_count(x),), (1,), 0)))
    return whole.as_strided(x.shape, x.stride(), x.storage_offset())


def _is_set_to(self: Any, other: Any) -> bool:
    geometries = [(x.shape, x.stride(), x.storage_offset()) for x in (self, other)]
    same = self.untyped_storage()._cdata == other.untyped_storage()._cdata
    return same and geometries[0] == geometries[1]


def _count(x: Any) -> int:
    """Elements that the storage of `x` has room for; of ours, torch does not know it."""
    storage = x.untyped_storage()
    room = share(storage).cell.type.nbytes if is_lazy(x) else storage.nbytes()
    return int(room) // int(x.itemsize)


def _zeros_laid_as(self: Any, other: Any, *, self_num_batch_dims: int = 0) -> Any:
    """What torch keeps a tangent in: zeros of the batch of `self` in the geometry of `other`."""
    batch, room = self.shape[:self_num_batch_dims], _count(other)
    outer = [step * room for step in in_rows(tuple(batch))]
    line = torch.zeros(room * prod(batch), dtype=self.dtype, device=self.device)
    size, stride = (*batch, *other.shape), (*outer, *other.stride())
    return line.as_strided(size, stride, other.storage_offset())


def _or_of_stand_in(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, but torch's own for what stands for a tensor in a compiler, and holds nothing."""
    theirs = _torchs(name)

    def either(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(self.untyped_storage(), "handle"):
            return theirs(META, self, *args, **kwargs)
        return kernel(self, *args, **kwargs)

    return either


KERNELS: Final[dict[str, Callable[..., Any]]] = {
    "_new_zeros_with_same_feature_meta": _zeros_laid_as,
    "_has_same_storage_numel": lambda x, y: _count(x) == _count(y),
    "is_set_to": _is_set_to,
    "as_strided_": _or_of_stand_in("as_strided_", _as_strided_in_place),
    "resize_": _or_of_stand_in("resize_", _resize),
    "set_": _set_empty,
    "set_.source_Tensor": _set_tensor,
    "set_.source_Storage": _set_storage,
    "set_.source_Storage_storage_offset": _set_storage,
}


for name in NATIVE:
    register(name, _native(name), translated=True, view="CPU")
register("split.Tensor", _split, translated=True, view="CPU")
register("split_with_sizes", _split_with_sizes, translated=True, view="CPU")
register("as_strided", _as_strided, translated=True, view="Meta")
for name, kernel in KERNELS.items():
    register(name, kernel, translated=True)
for name, base in SCATTERED.items():
    scatter = _scattered(base)
    register(name, functional(name, scatter), translated=True)
    variants(name, lambda *args, scatter=scatter, **named: node(scatter(*args, **named)))
