"""Random programs of views, copies and writes, run on the device in step with the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st

Tensor = torch.Tensor

VIEWS: dict[str, Callable[[Tensor, int, int], Tensor]] = {
    "t": lambda x, i, j: x.transpose(i % x.dim(), j % x.dim()),
    "permute": lambda x, i, j: x.permute([(d + i) % x.dim() for d in range(x.dim())]),
    "select": lambda x, i, j: x.select(i % x.dim(), j % x.shape[i % x.dim()]),
    "slice": lambda x, i, j: x[(slice(None),) * (i % x.dim()) + (slice(j % 3, None, 1 + j % 2),)],
    "narrow": lambda x, i, j: x.narrow(i % x.dim(), 0, 1 + j % x.shape[i % x.dim()]),
    "unsqueeze": lambda x, i, j: x.unsqueeze(i % (x.dim() + 1)),
    "squeeze": lambda x, i, j: x.squeeze(),
    "expand": lambda x, i, j: x.unsqueeze(0).expand(1 + i % 2, *x.shape),
    "diagonal": lambda x, i, j: x.diagonal(j % 2, 0, 1),
    "view": lambda x, i, j: x.view(x.numel()),
    "halved": lambda x, i, j: x.view(*x.shape[:-1], -1, 2),
    "unfold": lambda x, i, j: x.unfold(i % x.dim(), 1 + j % 2, 1 + i % 2),
    "chunk": lambda x, i, j: x.chunk(2, i % x.dim())[-1],
    "unbind": lambda x, i, j: x.unbind(i % x.dim())[0],
    "movedim": lambda x, i, j: x.movedim(i % x.dim(), j % x.dim()),
    "as_strided": lambda x, i, j: x.as_strided((2, 2), (1 + i % 3, 1 + j % 3), j % 2),
    "detach": lambda x, i, j: x.detach(),
    "alias": lambda x, i, j: x.view_as(x),
}  # fmt: skip
"""Each takes a tensor and two numbers."""

COPIES: dict[str, Callable[[Tensor, int, int], Tensor]] = {
    "contiguous": lambda x, i, j: x.contiguous(),
    "reshape": lambda x, i, j: x.reshape(-1),
    "flatten": lambda x, i, j: x.flatten(),
    "clone": lambda x, i, j: x.clone(),
    "clone in rows": lambda x, i, j: x.clone(memory_format=torch.contiguous_format),
    "channels last": lambda x, i, j: x.contiguous(memory_format=torch.channels_last),
    "like": lambda x, i, j: torch.ones_like(x),
    "add": lambda x, i, j: x + x,
    "scale": lambda x, i, j: x * 2,
    "broadcast": lambda x, i, j: x + x.select(0, 0),
    "abs": lambda x, i, j: x.abs(),
    "where": lambda x, i, j: torch.where(x > 2, x, 0.0),
    "to": lambda x, i, j: x.to(torch.float64).to(torch.float32),
    "repeat": lambda x, i, j: x.repeat_interleave(2, 0),
}  # fmt: skip
"""What gives a copy, or does if it has to."""

WRITES: dict[str, Callable[[Tensor, int, int], Tensor]] = {
    "add_": lambda x, i, j: x.add_(1),
    "mul_": lambda x, i, j: x.mul_(2),
    "fill_": lambda x, i, j: x.fill_(i),
    "item": lambda x, i, j: x.select(0, 0).fill_(j),
    "copy_": lambda x, i, j: x.copy_(x.detach().clone() * 3),
    "masked_fill_": lambda x, i, j: x.masked_fill_(x.detach() > 3, 1.0),
    "t_": lambda x, i, j: x.transpose_(0, 1),
    "unsqueeze_": lambda x, i, j: x.unsqueeze_(0),
    "squeeze_": lambda x, i, j: x.squeeze_(),
}  # fmt: skip
"""What writes, or gives a tensor another geometry, in place."""

RESIZES: dict[str, Callable[[Tensor, int, int], Tensor]] = {
    "resize_": lambda x, i, j: x.resize_(1 + i % 3, 1 + j % 3),
    "set_": lambda x, i, j: x.set_(x.detach().clone()),
}  # fmt: skip
"""What may change a storage. Growing leaves elements undefined in torch, so nothing here grows."""


def is_undefined(name: str, x: Tensor) -> bool:
    """Whether torch does not say what the row does: growth, writes to overlapping windows.

    A masked write to an expanded tensor is deprecated in torch, and refused here.
    """
    if name == "resize_":
        return x.storage_offset() + 9 > x.untyped_storage().nbytes() // x.itemsize
    if not x.numel() and (name == "as_strided" or name in WRITES):
        return True  # strides of no elements are anybody's
    if name not in WRITES or 0 in x.stride():
        return name == "masked_fill_"
    places = torch.arange(4096).as_strided(x.shape, x.stride(), x.storage_offset())
    return places.unique().numel() < x.numel()


def steps(*tables: dict[str, Any]) -> st.SearchStrategy[list[tuple[str, int, int, int]]]:
    """Programs: the name of a row, the tensor it is given, two numbers."""
    small = st.integers(0, 6)
    names = st.sampled_from([name for table in tables for name in table])
    return st.lists(st.tuples(names, small, small, small), min_size=1, max_size=12)


def run(call: Callable[..., Any], *args: Any) -> Any:
    """The result, or the error that torch raised."""
    try:
        return call(*args)
    except (RuntimeError, IndexError, ZeroDivisionError) as error:
        return error
