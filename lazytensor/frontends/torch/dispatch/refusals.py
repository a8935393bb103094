"""Torch's checks of operations that run by decompositions: a decomposition lacks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import torch

from lazytensor.frontends.torch.dispatch import fallback
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import refuse_devices, rows
from lazytensor.frontends.torch.dispatch.registry import KERNELS, Row, register
from lazytensor.frontends.torch.linalg.matrices import by_columns
from lazytensor.frontends.torch.tensors.tensor import node

Check = Callable[..., None]


def _check_reflected(x: Any, padding: Sequence[int]) -> None:
    require(len(padding) == 4 and x.ndim in (3, 4) and 0 not in x.shape[-3:])
    sides = (padding[2 * i : 2 * i + 2] for i in range(2))
    require(all(max(pair) < x.shape[axis] for pair, axis in zip(sides, (-1, -2), strict=True)))


def _check_floats(x: Any, *_: Any, **__: Any) -> None:
    require(x.dtype.is_floating_point)


CHECKS: Final[dict[str, Check]] = {"reflection_pad2d": _check_reflected}
FLOATS_ONLY: Final = "softplus hardswish mish hardshrink elu leaky_relu hardsigmoid"


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
    names = [n for n in FLOATS_ONLY.split() if n not in KERNELS]
    table = {n: _decomposed(n, _check_floats) for n in names}
    rows(table, keeps=True, composed=True)
    register("equal", _equal)
    register("nonzero", _nonzero)
