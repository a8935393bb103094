"""`segment_reduce` and its gradient, against torch's on the CPU."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from lazytensor.core.settings import settings
from tests.pytorch.agreement import raised, result

DATA = [
    [1.0, -2.0], [3.0, 0.0], [3.0, 0.0], [0.5, math.nan], [-1.0, 0.0], [4.0, 2.0], [4.0, math.inf],
]  # fmt: skip
BOUNDS: dict[str, dict[str, Any]] = {
    "lengths": {"lengths": [2, 0, 4, 1]},
    "one": {"lengths": [7], "dtype": torch.int32},
    "none": {"lengths": []},
    "offsets": {"offsets": [0, 2, 2, 7]},
    "not all": {"offsets": [1, 3, 5]},
    "less than all": {"lengths": [1, 2], "unsafe": True},
    "rows": {"lengths": [[1, 0, 1], [2, 0, 0], [0, 1, 1], [0, 0, 2], *[[1, 1, 0]] * 3], "axis": 1},
}


def reduced(reduce: str, bounds: dict[str, Any], initial: float | None, device: str) -> Any:
    data = torch.tensor(DATA).to(device).requires_grad_()
    options = {"unsafe": bounds.get("lengths") == [], **bounds}
    dtype = options.pop("dtype", torch.int64)
    for name in {"lengths", "offsets"} & options.keys():
        options[name] = torch.tensor(options[name], dtype=dtype).to(device)
    made = torch.segment_reduce(data, reduce, initial=initial, **options)
    weights = torch.linspace(-1, 2, made.numel()).view(made.shape).to(device)
    return made, torch.autograd.grad(made, data, weights)


@pytest.mark.parametrize("initial", [None, 2.0], ids=str)
@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_values(
    reduce: str, bounds: Any, initial: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    mine, theirs = (
        result(lambda device: reduced(reduce, bounds, initial, device), device)
        for device in ("lazytensor", "cpu")
    )
    torch.testing.assert_close(mine, theirs, equal_nan=True)


WRONG: dict[str, dict[str, Any]] = {
    "too short": {"lengths": [2, 3]},
    "negative": {"lengths": [-1, 8]},
    "axis": {"lengths": [3, 4], "axis": 1},
    "floats": {"lengths": [3, 4], "dtype": torch.float32},
    "nothing": {},
}


@pytest.mark.parametrize("bounds", WRONG.values(), ids=WRONG)
def test_errors(bounds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    (kind, mine), (wanted, theirs) = (
        raised(lambda device: result(lambda d: reduced("sum", bounds, None, d), device), device)
        for device in ("lazytensor", "cpu")
    )
    assert issubclass(kind, wanted)
    assert mine.startswith(theirs)  # what is data is named with the line that recorded it
