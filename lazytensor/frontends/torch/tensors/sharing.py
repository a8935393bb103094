"""Tensors and other libraries' arrays: lazy ones share their data, others cross by DLPack.

What is shared is the core's (`core/buffers/interop.py`), so that passing an array on computes
nothing. Growing a tensor (`resize_`) gives its storage a new cell, and ends the sharing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.buffers.cell import WRITES, Cell, View
from lazytensor.core.buffers.interop import METHOD, Offer, offered
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.op import leaf
from lazytensor.core.lib.geometry import in_rows
from lazytensor.core.runtime.sharded import devices_of
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.placement import At
from lazytensor.frontends.torch.tensors.tensor import (
    TORCH,
    Storage,
    holding,
    is_lazy,
    ref,
    share,
    wrap,
)

_GRADIENT: Final = (
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
)
"""Torch's own words for it."""


def from_lazy(array: Any) -> Any:
    """A tensor of the device that shares what `array` holds; nothing is computed.

    array: a lazy array of any frontend, or any array with `__array__` (jax, NumPy). Of the latter,
    immutable memory, as jax's on a CPU, is used in place; all other memory is copied. Writes to a
    lazy NumPy array and to the tensor are seen on both sides. Immutable arrays (tensors of
    TensorFlow, read-only arrays) give a tensor of their present value.
    Raises: TypeError for anything else, or a dtype that torch lacks.
    """
    offer = offered(array)
    if offer is None:
        if not hasattr(array, "__array__"):
            raise TypeError(f"from_lazy: an array is needed, got {type(array).__name__}")
        data = np.asarray(array)
        offer = Offer(leaf(copied(data) if data.flags.writeable else data))
    return taken(offer)


def taken(offer: Offer) -> Any:
    """A tensor that shares an offer's data. Raises: TypeError for a dtype that torch lacks."""
    held = offer.ref
    shape, dtype = held.type.shape, held.type.dtype
    if dtype not in TORCH:
        raise TypeError(f"from_lazy: torch has no dtype for {held.type}")
    with At(_home(held)):
        if any(step.op not in WRITES for step in held.chain):
            return wrap(held.node)
        # A storage even for a plain cell: the other frontend may lend the cell's memory.
        return holding(Storage(held, in_rows(shape)), shape, TORCH[dtype])


def _home(held: Cell | View) -> int:
    """The number of the device with a cell's value; 0 if it is split, or on no device yet."""
    cell = held.cell if isinstance(held, View) else held
    devices = devices_of(cell.node)
    return devices[0] if len(devices) == 1 else 0


def offer(x: Any) -> Offer | None:
    """A tensor's offer to other frontends; None for a tensor that is not on the device."""
    if not is_lazy(x):
        return None
    refusal = _GRADIENT if x.requires_grad else ""
    plain = x.detach().resolve_conj().resolve_neg()
    share(plain.untyped_storage())
    strides = tuple(step * plain.itemsize for step in plain.stride())
    return Offer(ref(plain), strides, refusal)


def _on_host(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """The method, applied to a CPU copy: the next program may overwrite a program's memory."""

    @wraps(theirs)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return theirs(self.cpu() if is_lazy(self) else self, *args, **kwargs)

    return method


def _sharing(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.from_dlpack` or `torch.from_numpy`, which shares lazy arrays."""

    @wraps(theirs)
    def function(array: Any, *, device: Any = None, copy: bool | None = None, **more: Any) -> Any:
        offer = offered(array)
        if offer is not None and (device is None or torch.device(device).type == DEVICE):
            return taken(Offer(offer.copy) if copy else offer)
        given = {"device": device, "copy": copy, **more}
        return theirs(array, **{name: x for name, x in given.items() if x is not None})

    return function


def _taking(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.asarray`, which shares lazy arrays.

    From Python 3.12 on lazy arrays have a buffer, which torch would read as a line of floats.
    """

    @wraps(theirs)
    def function(obj: Any, **how: Any) -> Any:
        offer = offered(obj) if hasattr(type(obj), "__buffer__") else None
        return theirs(obj if offer is None else taken(offer), **how)

    return function


def attach() -> None:
    """Let DLPack and other frontends take tensors of the device."""
    for name in ("__dlpack__", "__dlpack_device__"):
        setattr(torch.Tensor, name, _on_host(getattr(torch.Tensor, name)))
    setattr(torch.Tensor, METHOD, offer)
    torch.to_dlpack = torch.utils.dlpack.to_dlpack = _on_host(torch.to_dlpack)
    torch.from_dlpack = torch.utils.dlpack.from_dlpack = _sharing(torch.from_dlpack)
    torch.from_numpy = _sharing(torch.from_numpy)
    torch.asarray = _taking(torch.asarray)
