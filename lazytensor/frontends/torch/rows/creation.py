"""New tensors, and copies between devices."""

from __future__ import annotations

import math
import threading
from sys import _getframe
from types import FrameType
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, F64, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.types import NUMPYS_AXES
from lazytensor.core.lib.geometry import kept_strides, order_of
from lazytensor.core.lib.numbers import HALVES, is_inexact
from lazytensor.core.lib.signal import spaced_from_both_ends
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.dispatch.errors import UNFIT, require
from lazytensor.frontends.torch.dispatch.kernels import refuse_overlap, rows, write
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    number_dtype,
    operand,
    refuse_overflow,
)
from lazytensor.frontends.torch.dispatch.registry import Row, prepare_thread, register
from lazytensor.frontends.torch.dispatch.verdicts import REFUSALS, refuse
from lazytensor.frontends.torch.tensors.placement import brought, number_of
from lazytensor.frontends.torch.tensors.strides import is_repeated, reach, sized, strides_for
from lazytensor.frontends.torch.tensors.tensor import (
    from_cpu,
    is_lazy,
    laid,
    node,
    numpy_dtype,
    ref,
    restride,
    share,
    stored,
    to_cpu,
    wrap,
)
from lazytensor.frontends.torch.tensors.tensor import value as resolved


def filled(shape: Any, value: Any, dtype: np.dtype) -> Node:
    """`value` everywhere."""
    return ops.broadcast(cast_to(value, dtype), shape=sized(shape))


def _dtype(dtype: torch.dtype | None) -> np.dtype:
    return numpy_dtype(dtype or torch.get_default_dtype())


def unset(dtype: np.dtype) -> Any:
    """What an element holds that nothing is written to: zero.

    Where torch is told to be deterministic, and to fill such memory: NaN, or the largest integer.
    """
    if not (torch.are_deterministic_algorithms_enabled() and _fills()):
        return 0
    if is_inexact(dtype):
        return math.nan
    return True if dtype == BOOL else int(np.iinfo(dtype).max)


_fills: Final = torch._C._get_deterministic_fill_uninitialized_memory


def _zeros(size: Any, dtype: Any = None, **_: Any) -> Node:
    return filled(size, 0, _dtype(dtype))


def _empty(size: Any, dtype: Any = None, **_: Any) -> Node:
    wanted = _dtype(dtype)
    return filled(size, unset(wanted), wanted)


def _empty_format(size: Any, *, memory_format: Any = None, **kwargs: Any) -> Any:
    return laid(_empty(size, **kwargs), strides_for(tuple(size), memory_format))


def _empty_strided(size: Any, stride: Any, dtype: Any = None, **_: Any) -> Any:
    shape, steps = tuple(size), tuple(stride)
    if len(shape) != len(steps):
        refuse("empty_strided", RuntimeError(UNFIT), (size, stride))
    if order_of(shape, steps) is not None:
        return laid(_empty(shape, dtype), steps)
    made = wrap(_empty((reach(shape, steps, 0),), dtype))
    share(made.untyped_storage())
    return restride(made, shape, steps, 0)


def _new_empty_strided(x: Any, size: Any, stride: Any, dtype: Any = None, **_: Any) -> Any:
    return _empty_strided(size, stride, x.dtype if dtype is None else dtype)


def _full(size: Any, fill_value: Any, dtype: Any = None, **_: Any) -> Node:
    wanted = number_dtype(type(fill_value)) if dtype is None else numpy_dtype(dtype)
    refuse_overflow(fill_value, wanted)
    return filled(size, fill_value, wanted)


def _scalar_tensor(value: Any, dtype: Any = None, **_: Any) -> Node:
    """What is assigned to elements becomes one first: it may be infinite in a half."""
    wanted = _dtype(dtype)
    if wanted not in HALVES:
        refuse_overflow(value, wanted)
    return filled((), value, wanted)


class _Stepping(threading.local):
    call: FrameType | None = None
    """The running call of an optimizer's `step`, if any."""

    @property
    def optimizer(self) -> bool:
        """Whether the thread is in an optimizer's step. One that has raised is not running."""
        if self.call is None:
            return False
        frame: FrameType | None = _getframe(1)
        while frame is not None:
            if frame is self.call:
                return True
            frame = frame.f_back
        self.call = None
        return False


stepping: Final = _Stepping()
"""In an optimizer's step, the state that the first one makes is data, as it is in every later
step, and so the first step is the program of all."""


def _like(value: Any) -> Row:
    def row(x: Any, *args: Any, dtype: Any = None, **_: Any) -> Node:
        type = ref(x).type
        wanted = type.dtype if dtype is None else numpy_dtype(dtype)
        filling = args[0] if args else unset(wanted) if value is None else value
        if args:
            refuse_overflow(filling, wanted)
        if stepping.optimizer:
            return leaf(np.full(type.shape, filling, wanted))
        return filled(type.shape, filling, wanted)

    return row


def _sized_like(value: Any) -> Row:
    def row(x: Any, size: Any, *args: Any, dtype: Any = None, **_: Any) -> Node:
        own = ref(x).type.dtype if dtype is None else numpy_dtype(dtype)
        if args:
            refuse_overflow(args[0], own)
        return filled(size, args[0] if args else unset(own) if value is None else value, own)

    return row


def _arange(start: Any, end: Any, step: Any = 1, dtype: Any = None, **_: Any) -> Node:
    require(all(math.isfinite(bound) for bound in (start, end) if isinstance(bound, float)))
    if dtype is torch.int64:
        start, end, step = (int(x) for x in (start, end, step))
    require(step != 0 and (end - start) * step >= 0)
    whole = all(isinstance(x, int) for x in (start, end, step))
    wanted = (S64 if whole else _dtype(None)) if dtype is None else numpy_dtype(dtype)
    count = math.ceil((end - start) / step)
    inner = S64 if whole else np.dtype(np.float64)
    places = ops.iota(dtype=inner, shape=(count,), axis=0)
    if step != 1:
        places = places * cast_to(step, inner)
    if start != 0:
        places = cast_to(start, inner) + places
    return cast_to(places, wanted)


def _line_dtype(dtype: Any, *bounds: Any) -> Any:
    """The dtype of numbers between bounds: none of real ones between complex ones."""
    if not any(isinstance(x, complex) for x in bounds):
        return dtype
    inferred = torch.promote_types(torch.get_default_dtype(), torch.complex32)
    require(dtype is None or torch.can_cast(inferred, dtype))
    return dtype or inferred


def _linspace(start: Any, end: Any, steps: int, dtype: Any = None, **_: Any) -> Node:
    """Each half is counted from its own end, so that both ends are exact."""
    require(steps >= 0)
    wanted = _dtype(_line_dtype(dtype, start, end))
    inner = F64 if wanted.kind in "iu" or wanted in (F32, F64, F16, BF16) else wanted
    step = (end - start) / max(steps - 1, 1)
    if wanted.kind in "iu":
        start, end = int(start), int(end)
    first, last, width = (cast_to(x, inner) for x in (start, end, step))
    return cast_to(spaced_from_both_ends(first, last, width, steps), wanted)


def _eye(n: int, m: int | None = None, dtype: Any = None, **_: Any) -> Node:
    shape = (n, n if m is None else m)
    require(min(shape) >= 0)
    sides = [ops.iota(dtype=S64, shape=shape, axis=axis) for axis in (0, 1)]
    return cast_to(ops.equal(*sides), _dtype(dtype))


def _copy(target: Any, source: Any, non_blocking: bool = False) -> Any:
    prepare_thread()
    if not isinstance(source, torch.Tensor):
        source = torch.tensor(source)
    if not is_lazy(target):
        return target.copy_(to_cpu(resolved(source)))
    try:
        _copy_lazily(target, source)
    except REFUSALS as error:
        refuse("copy_", error, (target, source))
    return target


def _copy_lazily(target: Any, source: Any) -> None:
    held = target.untyped_storage().handle
    if held.__class__ is not Cell:
        refuse_overlap(target, (source,))
        held = held.shown(target)
    type = held.type
    value = resolved(source) if is_lazy(source) else from_cpu(source)
    value = brought(value, source, target.device.index)
    if value.type is not type:
        value = cast_to(value, type.dtype)
        if value.type.shape != type.shape:
            value = ops.broadcast(value, shape=type.shape)
    write(target, stored(value, target))


def _copy_from(source: Any, target: Any, non_blocking: bool = False) -> Any:
    return _copy(target, source)


def _to_copy(
    x: Any, dtype: Any = None, device: Any = None, memory_format: Any = None, **_: Any
) -> Any:
    value = resolved(x) if is_lazy(x) else from_cpu(x)
    if dtype is not None:
        value = cast_to(value, numpy_dtype(dtype))
    shape = value.type.shape
    if memory_format is not None and memory_format is not torch.preserve_format:
        stride = strides_for(shape, memory_format)
    else:
        stride = kept_strides(shape, ((shape, x.stride()),))
    place = None if device is None else torch.device(device)
    if place is None or place.type == "lazytensor":
        return laid(brought(value, x, number_of(place)), stride)
    made = to_cpu(value)
    if stride != made.stride():
        made = torch.empty_strided(shape, stride, dtype=made.dtype).copy_(made)
    return made.to(device)


def _fill(self: Any, value: Any) -> Any:
    if is_repeated(self):  # each element is written once
        once = [n if s else 1 for n, s in zip(self.shape, self.stride(), strict=True)]
        _fill(restride(self, once, self.stride(), self.storage_offset()), value)
        return self
    type = ref(self).type
    filling = operand(value)
    if isinstance(filling, Node):
        if filling.type.ndim:
            refuse("fill_.Tensor", RuntimeError(UNFIT), (self, value))
    else:
        refuse_overflow(filling, type.dtype)
    write(self, ops.broadcast(cast_to(filling, type.dtype), shape=type.shape))
    return self


def placed(row: Row) -> Row:
    """The row, for a device that is there."""

    def made(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is not None and device.index:
            number_of(device)
        return row(*args, **kwargs)

    return made


def _item(x: Any) -> Any:
    held = node(x)
    if held.type.ndim > NUMPYS_AXES:
        held = ops.reshape(held, shape=())
    return scheduler.observe(held).item()


ROWS: dict[str, Row] = {
    "zeros": _zeros,
    "_efficientzerotensor": _zeros,
    "ones": lambda size, dtype=None, **_: filled(size, 1, _dtype(dtype)),
    "full": _full,
    "scalar_tensor": _scalar_tensor,
    "arange": lambda end, **k: _arange(0, end, **k),
    "arange.start": _arange,
    "arange.start_step": _arange,
    "linspace": _linspace,
    "eye": _eye,
    "eye.m": _eye,
    "new_empty": _sized_like(None),
    "new_zeros": _sized_like(0),
    "new_ones": _sized_like(1),
    "new_full": _sized_like(None),
}

KEEPING: dict[str, Row] = {
    "empty_like": _like(None),
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "full_like": _like(None),
    "clone": resolved,
    "_lazy_clone": resolved,
}
"""Results lie as the operand does, but for a memory format that is asked for."""

KERNELS: dict[str, Row] = {
    "empty.memory_format": placed(_empty_format),
    "empty_strided": placed(_empty_strided),
    "new_empty_strided": placed(_new_empty_strided),
    "_to_copy": _to_copy,
    "copy_": _copy,
    "_copy_from": _copy_from,
    "_copy_from_and_resize": _copy_from,
    "fill_.Scalar": _fill,
    "fill_.Tensor": _fill,
    "zero_": lambda self: _fill(self, 0),
    "_local_scalar_dense": _item,
}

TRANSLATED: Final = frozenset([
    "copy_", "fill_.Scalar", "fill_.Tensor", "zero_", "empty.memory_format", "empty_strided",
    "_to_copy",
])  # fmt: skip
"""The hot ones, which raise torch's errors themselves."""


rows({name: placed(row) for name, row in ROWS.items()})
rows(KEEPING, keeps=True)
for name, made in KERNELS.items():
    register(name, made, translated=name in TRANSLATED)
