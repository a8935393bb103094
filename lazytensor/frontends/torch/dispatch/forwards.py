"""Forward derivatives (`torch.autograd.forward_ad`) of operations that torch differentiates only
backwards.

While a level is open, such operations are composed above autograd of others that have both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import torch
from torch import Tensor
from torch.autograd import forward_ad


def _with_bias(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else x + bias


def _lstm_cell(
    of_input: Tensor, of_hidden: Tensor, cx: Tensor, input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The states, and the gates in the workspace's place: nothing reads it here."""
    gates = _with_bias(of_input, input_bias) + _with_bias(of_hidden, hidden_bias)
    entering, kept, new, leaving = gates.chunk(4, -1)
    cell = kept.sigmoid() * cx + entering.sigmoid() * new.tanh()
    return leaving.sigmoid() * cell.tanh(), cell, gates


def _gru_cell(
    of_input: Tensor, of_hidden: Tensor, hx: Tensor, input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    gates = _with_bias(of_input, input_bias)
    first, second, third = gates.chunk(3, -1)
    reset, update, hidden = _with_bias(of_hidden, hidden_bias).chunk(3, -1)
    new = (third + (first + reset).sigmoid() * hidden).tanh()
    return new + (second + update).sigmoid() * (hx - new), gates


FORWARD_DECOMPOSITIONS: Final[dict[str, Callable[..., Any]]] = {
    "linear": torch.ops.aten.linear.default.decompose,
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_gru_cell": _gru_cell,
}


class _Levels:
    """Composes the table's operations while a level of forward derivatives is open."""

    def __init__(self) -> None:
        self.library: Any = None

    def enter(self, original: Callable[[], int]) -> Callable[[], int]:
        """torch's function that opens a level, with the kernels registered."""

        @wraps(original)
        def opened() -> int:
            level = original()
            if self.library is None:
                self.library = torch.library.Library("aten", "IMPL")
                for name, composed in FORWARD_DECOMPOSITIONS.items():
                    self.library.impl(name, composed, "AutogradPrivateUse1")
            return level

        return opened

    def leave(self, original: Callable[..., None]) -> Callable[..., None]:
        """torch's function that closes a level, with the kernels removed. Levels do not nest."""

        @wraps(original)
        def closed(*args: Any, **kwargs: Any) -> None:
            original(*args, **kwargs)
            if self.library is not None:
                self.library._destroy()
                self.library = None

        return closed


def attach() -> None:
    """Wrap torch's functions that open and close a level."""
    levels = _Levels()
    forward_ad.enter_dual_level = levels.enter(forward_ad.enter_dual_level)
    forward_ad.exit_dual_level = levels.leave(forward_ad.exit_dual_level)
