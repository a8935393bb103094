"""`linear` and its gradients, one node each: torch composes them of views, products and sums.

Torch has the derivative of `linear` for backends that bring a kernel, but only backwards (see
`forwards`).
"""

from __future__ import annotations

from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.dispatch.kernels import functional
from lazytensor.frontends.torch.dispatch.promotion import operand
from lazytensor.frontends.torch.dispatch.recipes import remembering
from lazytensor.frontends.torch.dispatch.registry import Plans, register
from lazytensor.frontends.torch.tensors.tensor import value

_composed: Final = torch.ops.aten.linear.default.decompose


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    given = [operand(t) for t in (x, weight, bias) if t is not None]
    if not _is_plain(*[t.type for t in given]) or x.is_conj() or weight.is_conj():
        return _composed(x, weight, bias)
    return ops.linear(*given)


def _is_plain(x: Any, weight: Any, bias: Any = None) -> bool:
    """Whether torch would take these: what it refuses, it refuses with its own words."""
    return (
        weight.ndim == 2
        and x.ndim > 0
        and x.shape[-1] == weight.shape[1]
        and x.dtype is weight.dtype
        and (bias is None or (bias.shape == weight.shape[:1] and bias.dtype is x.dtype))
    )


def _linear_backward(x: Any, grad: Any, weight: Any, mask: Any) -> tuple[Node | None, ...]:
    wanted = tuple(mask)
    found = iter(ops.linear_backward(value(grad), value(x), value(weight), wanted=wanted))
    return tuple([next(found) if each else None for each in wanted])


for name, row in (("linear", _linear), ("linear_backward", _linear_backward)):
    row = remembering(row)
    kernel = functional(name, row)
    register(name, kernel, has_derivative=True, translated=True, plans=Plans(row))
