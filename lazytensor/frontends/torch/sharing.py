"""Tensors and other libraries' arrays: lazy ones share their data, others cross by DLPack.

Lazy arrays of every frontend hold the core's cells, so that passing one on computes nothing, and
what is written to one is seen in the other. A cell has no owner: it lives as long as somebody
shows it. Growing a tensor (`resize_`) gives its storage a new cell, and ends the sharing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core.cell import WRITES, Cell, View
from lazytensor.core.memory import copied
from lazytensor.core.op import leaf
from lazytensor.frontends.torch.strides import in_rows
from lazytensor.frontends.torch.tensor import TORCH, Storage, create, is_lazy, ref, wrap

_NUMPY: Final = "lazytensor.frontends.numpy.interchange"
"""By its name, as frontends know nothing of each other; it is there when it is asked for."""


def from_lazy(array: Any) -> Any:
    """A tensor of the device that shares what `array` holds; nothing is computed.

    array: a lazy array of another frontend, written to in both directions; or a jax, NumPy or
    other array that has `__array__`: what nobody can write to, as jax's on a CPU, is used where it
    is, all else is copied. Read-only lazy arrays are as they are now.
    Raises: TypeError for anything else, or a dtype that torch has not.
    """
    held = getattr(array, "ref", None)
    if not isinstance(held, Cell | View):
        if not hasattr(array, "__array__"):
            raise TypeError(f"from_lazy: an array is needed, got {type(array).__name__}")
        data = np.asarray(array)
        held = Cell(leaf(copied(data) if data.flags.writeable else data))
    if held.type.dtype not in TORCH:
        raise TypeError(f"from_lazy: torch has no dtype for {held.type}")
    if any(step.op not in WRITES for step in held.chain):
        return wrap(held.node)
    shape = held.type.shape
    tensor = create(shape, TORCH[held.type.dtype])
    tensor.untyped_storage().handle = (
        held if isinstance(held, Cell) else Storage(held, in_rows(shape))
    )
    return tensor


def as_lazy_numpy(tensor: Any) -> Any:
    """A lazy NumPy array that shares what `tensor` holds, as `Tensor.numpy()` shares memory.

    Nothing is computed. Raises: TypeError if the tensor is not on the device; RuntimeError if it
    requires a gradient.
    """
    if not is_lazy(tensor):
        raise TypeError(f"as_lazy_numpy: a tensor on the device is needed, got {tensor!r:.80}")
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    plain = tensor.resolve_conj().resolve_neg()
    strides = tuple(step * plain.itemsize for step in plain.stride())
    made: Any = import_module(_NUMPY).sharing(ref(plain), strides)
    return made


def _on_host(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a copy on the CPU: memory of a program's may be overwritten by the next."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return theirs(self.cpu() if is_lazy(self) else self, *args, **kwargs)

    return method


def attach() -> None:
    """Let DLPack take tensors of the device."""
    for name in ("__dlpack__", "__dlpack_device__"):
        setattr(torch.Tensor, name, _on_host(getattr(torch.Tensor, name)))
