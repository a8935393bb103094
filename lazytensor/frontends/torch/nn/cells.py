"""Recurrent cells of small tensors of which the host has the elements, by torch's CPU operations.

They keep what the recorded ones keep for the gradient (see `recurrent`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor

from lazytensor.frontends.torch.dispatch.eager import AT_HAND, SINGLE_OR_DOUBLE
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.tensors.tensor import is_lazy

Results = tuple[Tensor | None, ...]


def _sum(x: Tensor, *others: Tensor | None) -> Tensor:
    for other in others:
        if other is not None:
            x = x + other
    return x


def _lstm(
    x: Tensor, hidden: Tensor, cx: Tensor, input_bias: Any = None, hidden_bias: Any = None
) -> Results:
    first, second, third, last = _sum(x, hidden, input_bias, hidden_bias).chunk(4, 1)
    entering, kept, new, leaving = first.sigmoid(), second.sigmoid(), third.tanh(), last.sigmoid()
    cy = kept * cx + entering * new
    return leaving * cy.tanh(), cy, torch.cat([entering, kept, new, leaving], 1)


def _lstm_backward(
    grad_hy: Any, grad_cy: Any, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> Results:
    entering, kept, new, leaving = workspace.chunk(4, 1)
    bent = cy.tanh()
    to_state = torch.zeros_like(cy) if grad_hy is None else grad_hy
    to_cell = _sum(to_state * leaving * (1 - bent * bent), grad_cy)
    parts = [
        to_cell * new * entering * (1 - entering),
        to_cell * cx * kept * (1 - kept),
        to_cell * entering * (1 - new * new),
        to_state * bent * leaving * (1 - leaving),
    ]
    grad = torch.cat(parts, 1)
    return grad, to_cell * kept, grad.sum(0) if has_bias else None


def _gru(
    x: Tensor, hidden: Tensor, hx: Tensor, input_bias: Any = None, hidden_bias: Any = None
) -> Results:
    given, of_hidden = _sum(x, input_bias).chunk(3, 1), _sum(hidden, hidden_bias).chunk(3, 1)
    reset, update = ((given[i] + of_hidden[i]).sigmoid() for i in (0, 1))
    new = (given[2] + reset * of_hidden[2]).tanh()
    return new + update * (hx - new), torch.cat([reset, update, new, hx, of_hidden[2]], 1)


def _gru_backward(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> Results:
    reset, update, new, before, of_hidden = workspace.chunk(5, 1)
    to_new = grad_hy * (1 - update) * (1 - new * new)
    to_reset = to_new * of_hidden * reset * (1 - reset)
    to_update = grad_hy * (before - new) * update * (1 - update)
    to_input = torch.cat([to_reset, to_update, to_new], 1)
    to_hidden = torch.cat([to_reset, to_update, to_new * reset], 1)
    lines = (to_input.sum(0), to_hidden.sum(0)) if has_bias else (None, None)
    return to_input, to_hidden, grad_hy * update, *lines


def _at_hand(cell: Callable[..., Results]) -> Callable[..., Any]:
    def direct(*args: Any) -> Any:
        given = [boxed.alias(x) if isinstance(x, Tensor) and is_lazy(x) else x for x in args]
        if not all(x.dtype in SINGLE_OR_DOUBLE for x in given if isinstance(x, Tensor)):
            return NotImplemented
        made = cell(*given)
        return tuple([None if x is None else boxed.with_memory(x) for x in made])

    return direct


CELLS: Final[dict[str, Callable[..., Results]]] = {
    "_thnn_fused_lstm_cell": _lstm,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_backward,
    "_thnn_fused_gru_cell": _gru,
    "_thnn_fused_gru_cell_backward": _gru_backward,
}
AT_HAND.update({name: _at_hand(cell) for name, cell in CELLS.items()})
