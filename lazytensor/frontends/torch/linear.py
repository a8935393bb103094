"""`linear` and its gradients, one node each: torch composes them of views, products and sums.

Torch has the derivative of `linear` for backends that bring a kernel, but only backwards. So while
derivatives are taken forwards (`torch.autograd.forward_ad`), it is composed as it is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import torch
from torch.autograd import forward_ad

from lazytensor.core import ops
from lazytensor.core.node import Node
from lazytensor.frontends.torch.kernels import functional, register
from lazytensor.frontends.torch.promotion import operand
from lazytensor.frontends.torch.recipes import remembering
from lazytensor.frontends.torch.tensor import value

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


class _Levels:
    """While a level of forward derivatives is open, `linear` is composed above autograd."""

    def __init__(self) -> None:
        self.library: Any = None

    def enter(self, original: Callable[[], int]) -> Callable[[], int]:
        """torch's function that opens a level."""

        @wraps(original)
        def opened() -> int:
            level = original()
            if self.library is None:
                self.library = torch.library.Library("aten", "IMPL")
                self.library.impl("linear", _composed, "AutogradPrivateUse1")
            return level

        return opened

    def leave(self, original: Callable[..., None]) -> Callable[..., None]:
        """torch's function that closes one; it opens no second within the first."""

        @wraps(original)
        def closed(*args: Any, **kwargs: Any) -> None:
            original(*args, **kwargs)
            if self.library is not None:
                self.library._destroy()
                self.library = None

        return closed


def attach() -> None:
    """Register the kernels, and be told of forward derivatives."""
    kernel = functional(remembering(_linear))
    register("linear", kernel, has_derivative=True, translated=True)
    kernel = functional(remembering(_linear_backward))
    register("linear_backward", kernel, translated=True)
    levels = _Levels()
    forward_ad.enter_dual_level = levels.enter(forward_ad.enter_dual_level)
    forward_ad.exit_dual_level = levels.leave(forward_ad.exit_dual_level)
