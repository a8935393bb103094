"""Products of groups of rows, whose lengths are data, against torch's on the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lazytensor.core.observe.metrics import counts
from lazytensor.core.settings import settings
from tests.pytorch.agreement import check, numbers, raised

COUNT, GROUPS, K, N = 40, 4, 8, 16
ENDS = {
    "even": [10, 20, 30, 40],
    "one has all": [0, 40, 40, 40],
    "some have none": [0, 7, 7, 40],
    "of one": [1, 2, 3, 40],
}


def shapes(kind: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return {
        "rows by matrices": ((COUNT, K), (GROUPS, K, N)),
        "matrices by rows": ((GROUPS, K, N), (N, COUNT)),
        "rows by rows": ((K, COUNT), (COUNT, N)),
        "matrices": ((GROUPS, K, N), (GROUPS, N, K)),
    }[kind]


def multiplied(kind: str, ends: list[int], device: str, dtype: torch.dtype) -> Any:
    given = [numbers(device, *shape).to(dtype).requires_grad_() for shape in shapes(kind)]
    offs = torch.tensor(ends, dtype=torch.int32).to(device) if kind != "matrices" else None
    made = torch.nn.functional.grouped_mm(*given, offs=offs)
    weights = torch.linspace(0, 1, made.numel()).view(made.shape).to(device, dtype)
    return made.detach(), *torch.autograd.grad(made, given, weights)


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize(
    "kind", ["rows by matrices", "matrices by rows", "rows by rows", "matrices"]
)
def test_values(kind: str, ends: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    before = counts["fallbacks"]
    check(lambda device: multiplied(kind, ends, device, torch.float32))
    assert counts["fallbacks"] == before


def test_rows_of_no_group_are_zero() -> None:
    x, y = numbers("lazytensor", COUNT, K), numbers("lazytensor", GROUPS, K, N)
    offs = torch.tensor([5, 4, 9, 20], dtype=torch.int32).to("lazytensor")  # a group ends too soon
    made = torch.nn.functional.grouped_mm(x, y, offs=offs).cpu()
    assert not made[20:].any()
    torch.testing.assert_close(made[:5], (x[:5] @ y[0]).cpu())


def test_lengths_are_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    check(lambda device: multiplied("rows by matrices", ENDS["even"], device, torch.float32))
    compiles = counts["compiles"]
    for ends in ENDS.values():
        check(lambda d, ends=ends: multiplied("rows by matrices", ends, d, torch.float32))
    assert counts["compiles"] == compiles


WRONG: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any, torch.dtype]] = {
    "no lengths": ((4, 8), (2, 8, 4), None, torch.float32),
    "wide lengths": ((4, 8), (2, 8, 4), torch.tensor([1, 4]), torch.float32),
    "matrices": ((4, 8), (2, 8, 4), torch.tensor([1, 2, 4]).int(), torch.float32),
    "sizes": ((4, 8), (2, 12, 4), torch.tensor([1, 4]).int(), torch.float32),
    "dtype": ((4, 8), (2, 8, 4), torch.tensor([1, 4]).int(), torch.float64),
    "axes": ((8,), (2, 8, 4), torch.tensor([1, 4]).int(), torch.float32),
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
def test_errors(given: Any) -> None:
    first, second, offs, dtype = given

    def program(device: str) -> Any:
        x, y = (numbers(device, *shape).to(dtype) for shape in (first, second))
        return torch._grouped_mm(x, y, offs=offs if offs is None else offs.to(device))

    assert raised(program, "lazytensor") == raised(program, "cpu")
