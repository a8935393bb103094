"""Torch's own shape inference, run for its errors: it computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import torch
from torch.utils._pytree import tree_map

from lazytensor.frontends.torch.tensors.tensor import is_lazy

_STRUCTURED: Final = "CompositeExplicitAutogradNonFunctional"
"""The key of the kernels that torch generates from a definition with shape inference."""


def is_implemented(op: Any, key: str) -> bool:
    """Whether torch has a kernel of an overload for a dispatch key."""
    found: bool = torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key)
    return found


def is_structured(op: Any) -> bool:
    """Whether shape inference is a part of an operation's definition."""
    return is_implemented(op, _STRUCTURED)


def infer(op: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise the error that the inference of `op` raises for operands of these types, if any."""
    try:
        with suppress(NotImplementedError, TypeError):  # it does not know
            op(*tree_map(_without_data, args), **tree_map(_without_data, dict(kwargs)))
    except AssertionError as error:  # where it is Python's
        raise RuntimeError(str(error)) from None


def _without_data(x: Any) -> Any:
    if isinstance(x, torch.device):
        return torch.device("meta")
    if not is_lazy(x):
        return x
    return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
