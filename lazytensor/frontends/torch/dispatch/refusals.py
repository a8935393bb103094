"""Torch's checks of operations that run by decompositions: a decomposition lacks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import torch

from lazytensor.frontends.torch.dispatch import fallback
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import refuse_devices, rows
from lazytensor.frontends.torch.dispatch.registry import KERNELS, Row, register
from lazytensor.frontends.torch.linalg.matrices import by_columns
from lazytensor.frontends.torch.tensors.tensor import node

Check = Callable[..., None]


def _check_reflected(x: Any, padding: Sequence[int]) -> None:
    shape = list(x.shape)
    if len(padding) != 4:
        raise RuntimeError(f"padding size is expected to be 4, but got: {len(padding)}")
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {shape}"
        )
    for place, axis in ((4, -1), (6, -2)):
        low, high = padding[place - 4 : place - 2]
        if max(low, high) >= shape[axis]:
            raise RuntimeError(
                f"Argument #{place}: Padding size should be less than the corresponding input "
                f"dimension, but got: padding ({low}, {high}) at dimension {len(shape) + axis} of "
                f"input {shape}"
            )


def _check_floats(name: str, x: Any, *_: Any, **__: Any) -> None:
    if not x.dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtype_name(x.dtype)}'")


CHECKS: Final[dict[str, Check]] = {"reflection_pad2d": _check_reflected}
ELEMENTWISE: Final[dict[str, Check]] = {
    name: partial(_check_floats, f"{name}_cpu")
    for name in ("softplus", "hardswish", "mish", "hardshrink", "elu", "leaky_relu", "hardsigmoid")
}


def _own(op: Any, *args: Any, **kwargs: Any) -> Any:
    found = fallback.torchs_own(op)
    assert found is not None, "these ops are in torch's table"
    return found(*args, **kwargs)


def _decomposed(name: str, check: Check) -> Row:
    decomposed = partial(_own, getattr(torch.ops.aten, name).default)

    def row(*args: Any, **kwargs: Any) -> Any:
        check(*args, **kwargs)
        made = decomposed(*args, **kwargs)
        return tuple(map(node, made)) if isinstance(made, tuple) else node(made)

    return row


def _equal(x: Any, y: Any) -> bool:
    refuse_devices((x, y))
    return bool(fallback._on_cpu(torch.ops.aten.equal.default, (x, y), {}))


def _nonzero(x: Any) -> Any:
    """`nonzero`, whose result torch lays column by column."""
    found = node(fallback._on_cpu(torch.ops.aten.nonzero.default, (x,), {}))
    return by_columns(found)


def attach() -> None:
    """Register the rows."""
    rows({n: _decomposed(n, c) for n, c in CHECKS.items()}, images=True, composed=True)
    table = {n: _decomposed(n, c) for n, c in ELEMENTWISE.items() if n not in KERNELS}
    rows(table, keeps=True, composed=True)
    register("equal", _equal)
    register("nonzero", _nonzero)
