"""Composed calls as torch's own CPU kernels: the call that was recorded, on the host's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch

from lazytensor.core.interpreter.rows import Reference
from lazytensor.core.ir.dtypes import F32, F64, S64
from lazytensor.core.ir.types import ResultType, TensorType
from lazytensor.core.lib.geometry import in_rows
from lazytensor.frontends.torch.dispatch.forms import Form, rebuilt, strides_in
from lazytensor.frontends.torch.host.call import on_arrays

POOLS: Final = frozenset(
    f"{name}{which}"
    for n in (2, 3)
    for name in (f"max_pool{n}d_with_indices", f"avg_pool{n}d", f"adaptive_max_pool{n}d")
    for which in ("", "_backward")
)
"""Calls that are loops over windows, for which NumPy has nothing."""
DTYPES: Final = frozenset([F32, F64, S64])


def overload(name: str) -> Any:
    """The overload whose own kernel computes the call named "aten.name"; None for most."""
    _, base = name.split(".", 1)
    return getattr(torch.ops.aten, base).default if base in POOLS else None


def kernel(
    called: Any, operands: Sequence[TensorType], type: ResultType, *, form: Form
) -> Reference | None:
    """The overload's kernel for a call of this form, if all tensors lie in rows."""
    held = list(strides_in(form.parts))
    given = operands[: len(held)]
    if any(s != in_rows(t.shape) for s, t in zip(held, given, strict=True)):
        return None
    if not all(t.dtype in DTYPES for t in operands):
        return None

    def call(*tensors: Any) -> Any:
        rest = iter(tensors)
        args, kwargs = (rebuilt(part, rest, lay=_as_it_is) for part in form.parts[1:])
        made = called(*args, **kwargs)
        if isinstance(made, torch.Tensor):
            return made.contiguous()
        return [x.contiguous() for x in made]

    return on_arrays(call)


def _as_it_is(tensor: Any, _: object) -> Any:
    return tensor
