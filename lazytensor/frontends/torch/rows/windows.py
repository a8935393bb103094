"""Kaiser's window, for which torch has a kernel a device; of the others it makes them itself."""

from __future__ import annotations

from typing import Any

import torch

from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.registry import Row


def _kaiser(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    dtype: Any = None,
    device: Any = None,
    **_: Any,
) -> Any:
    kind = torch.get_default_dtype() if dtype is None else dtype
    require(window_length >= 0 and kind.is_floating_point)
    if window_length < 2:
        return torch.ones(window_length, dtype=kind, device=device)
    half = (window_length if periodic else window_length - 1) / 2
    places = torch.arange(window_length, dtype=kind, device=device) / half - 1
    heights = torch.special.i0(beta * (1 - places.square()).clamp_min(0).sqrt())
    return heights / torch.special.i0(torch.tensor(float(beta), dtype=kind, device=device))


ROWS: dict[str, Row] = {
    "kaiser_window": _kaiser,
    "kaiser_window.periodic": _kaiser,
    "kaiser_window.beta": _kaiser,
}


rows(ROWS)
