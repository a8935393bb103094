"""Random numbers of small tensors of which the host has the elements, without a program.

They are the numbers that a program would draw. What is refused, or of another dtype than a float's,
is left to the kernels (`drawing.py`). `native/draws.h` has `uniform_` and `normal_`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Final

import torch

from lazytensor.frontends.torch.dispatch.eager import AT_HAND, SINGLE_OR_DOUBLE
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.random.randomness import stream_of

_TINY: Final = {dtype: torch.finfo(dtype).tiny for dtype in SINGLE_OR_DOUBLE}


def _unit(shape: Any, dtype: torch.dtype = torch.float32, generator: Any = None) -> Any:
    """A CPU tensor of numbers from [0, 1)."""
    made = torch.empty(shape, dtype=dtype)
    boxed.fill_uniform(made, stream_of(generator))
    return made


def _bernoulli(self: Any, p: float = 0.5, generator: Any = None) -> Any:
    if self.dtype not in SINGLE_OR_DOUBLE or not 0 <= p <= 1:
        return NotImplemented
    boxed.alias(self).copy_(_unit(self.shape, generator=generator) < p)
    return self


def _fresh_bernoulli(x: Any, generator: Any = None) -> Any:
    p = boxed.alias(x)
    if x.dtype not in SINGLE_OR_DOUBLE or not bool(((p >= 0) & (p <= 1)).all()):
        return NotImplemented
    draws = _unit(x.shape, generator=generator) < p.to(torch.float32)
    return boxed.with_memory(draws.to(x.dtype))


def _dropout(x: Any, p: float, train: bool | None = None) -> Any:
    if x.dtype not in SINGLE_OR_DOUBLE or train is False or not 0 <= p <= 1:
        return NotImplemented
    kept = _unit(x.shape) < 1.0 - p
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    return boxed.with_memory(boxed.alias(x) * kept * scale), boxed.with_memory(kept)


def _multinomial(x: Any, count: int, replacement: bool = False, generator: Any = None) -> Any:
    weights = boxed.alias(x)
    if x.dtype not in SINGLE_OR_DOUBLE or not 1 <= x.ndim <= 2 or not 0 < count <= x.shape[-1]:
        return NotImplemented
    is_right = bool(((weights >= 0) & (weights < inf)).all() & (weights > 0).any(-1).all())
    if not is_right or (replacement and count > 1):
        return NotImplemented
    unit = _unit(x.shape, x.dtype, generator)
    waits = unit.neg_().add_(1).log_().neg_().clamp_(min=_TINY[x.dtype])
    return boxed.with_memory((weights / waits).topk(count)[1])


DRAWS: Final[dict[str, Callable[..., Any]]] = {
    "bernoulli_.float": _bernoulli,
    "bernoulli": _fresh_bernoulli,
    "native_dropout": _dropout,
    "multinomial": _multinomial,
}
AT_HAND.update(DRAWS)
