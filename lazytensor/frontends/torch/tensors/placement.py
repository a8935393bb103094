"""The number of the device that a thread makes tensors on.

Torch keeps each tensor's number, and the boxed kernel makes the device of a call's operands the
current one for the time of the call. Where a value is follows from what it is computed of
(`core/runtime/sharded.py`). So only what is computed of nothing is put on the current device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from lazytensor.core.device import device_names
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import here
from lazytensor.core.runtime.sharded import devices_of
from lazytensor.core.trace.splitting import moved
from lazytensor.frontends.torch.native.extension import boxed
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.tensor import is_lazy, placing


def current() -> int:
    """The current device's number."""
    return 0 if boxed is None else int(boxed.current_device())


def number_of(device: Any) -> int:
    """The number of `lazytensor:1`, 1 or a `torch.device`; the current one's for one without it.

    Raises: RuntimeError for a device that is not there, or without torch's compiled kernel.
    """
    index = device if isinstance(device, int | None) else torch.device(device).index
    if index is None or index < 0:
        return current()
    if index:
        _use(index)
    return index


def _use(index: int) -> None:
    try:
        device_names.check(index)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    if boxed is None:
        text = f"{DEVICE}:{index} needs torch's kernel, which is not compiled"
        raise RuntimeError(f"{text}: `lazytensor build` compiles it, `lazytensor doctor` says why")
    boxed.set_device_count(device_names.count())
    placing[:] = [put]


class At:
    """`with At("lazytensor:1"):`: the current device is this one. None: it stays the same."""

    def __init__(self, device: Any) -> None:
        self.index = number_of(device)

    def __enter__(self) -> None:
        self.before = exchange(self.index)

    def __exit__(self, *error: object) -> None:
        exchange(self.before)


def exchange(index: int) -> int:
    """Make another device the current one. Result: the number of the one before."""
    return index if boxed is None else int(boxed.exchange_device(index))


def put(made: Node) -> Node:
    """The value on the current device, if it is computed of nothing that is on a device."""
    index = current()
    is_there = not index or here().tracing or devices_of(made)
    return made if is_there else moved(made, index)


def brought(made: Node, x: Any, index: int) -> Node:
    """The value of a tensor for a tensor of another device. made: the value where it is.

    Raises: RuntimeError in the body of a composite, which is of one device.
    """
    if not placing or x.device.index == index:
        return made
    if here().tracing and is_lazy(x):
        raise RuntimeError("a composite's body copies from one device to another")
    return moved(made, index)


def elsewhere(x: Any) -> RuntimeError:
    """Torch's error for a tensor that is not on the device of the others."""
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{device_names.name_of(current())} and {x.device}!"
    )


def device_of(args: Iterable[Any]) -> torch.device | None:
    """The device of the first tensor that is on one of ours."""
    return next((x.device for x in args if is_lazy(x)), None)
