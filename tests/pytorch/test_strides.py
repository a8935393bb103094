"""Results lie as they lie on the CPU, where a user's `view` may depend on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.pytorch.agreement import numbers

Make = Callable[[str], Any]


def fives(x: Any, *shape: int) -> Any:
    return torch.full(shape, 5.0, device=x.device)


GIVEN: dict[str, Make] = {
    "rows": lambda device: numbers(device, 4, 4),
    "columns": lambda device: numbers(device, 4, 4).t(),
    "gaps": lambda device: numbers(device, 9, 8)[1::2, ::2],
    "columns with gaps": lambda device: numbers(device, 6, 8)[1:5, :4].t(),
    "repeats": lambda device: numbers(device, 4).expand(4, 4),
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "select_scatter": lambda x: torch.select_scatter(x, fives(x, 4), 0, 1),
    "slice_scatter": lambda x: torch.slice_scatter(x, fives(x, 2, 4), 0, 1, 3),
    "diagonal_scatter": lambda x: torch.diagonal_scatter(x, fives(x, 4)),
    "as_strided_scatter": lambda x: torch.as_strided_scatter(x, fives(x, 2, 2), (2, 2), (1, 2)),
    "as_strided_scatter from a place on": lambda x: torch.as_strided_scatter(
        x, fives(x, 2, 2), (2, 2), (1, 2), 1
    ),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", CALLS)
def test_results_lie_as_on_the_cpu(name: str, given: str) -> None:
    if name.startswith("as_strided") and given == "repeats":
        pytest.skip("more is shown than there is")
    theirs, ours = (CALLS[name](GIVEN[given](device)) for device in ("cpu", "lazytensor"))
    assert ours.stride() == theirs.stride()
    torch.testing.assert_close(ours.cpu(), theirs)
