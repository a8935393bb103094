"""Tensors of 16 bits and Python numbers: as on the CPU to the last bit, without a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import settings

Call = Callable[[torch.Tensor, float], Any]

CALLS: dict[str, Call] = {
    "multiply": lambda x, n: x * n,
    "multiply from the left": lambda x, n: n * x,
    "multiply in place": lambda x, n: x.clone().mul_(n),
    "multiply by a tensor": lambda x, n: x * torch.tensor(n),
    "divide": lambda x, n: x / n,
    "divide in place": lambda x, n: x.clone().div_(n),
    "divide a number": lambda x, n: n / x,
    "add": lambda x, n: x + n,
    "subtract": lambda x, n: n - x,
    "compare": lambda x, n: x < n,
    "lerp": lambda x, n: x.lerp(x.flip(0), n),
    "addcmul": lambda x, n: x.addcmul(x, x.flip(0), value=n),
    "addcdiv": lambda x, n: x.addcdiv(x, x.flip(0), value=n),
    "add several": lambda x, n: torch.add(x, x.flip(0), alpha=n),
    "lists": lambda x, n: torch._foreach_mul([x, x[32:]], n)[1],
    "lists of quotients": lambda x, n: torch._foreach_div([x], n)[0],
    "lists of means": lambda x, n: torch._foreach_lerp([x], [x.flip(0)], n)[0],
    "lists of products": lambda x, n: torch._foreach_addcmul([x], [x], [x.flip(0)], n)[0],
    "where": lambda x, n: torch.where(x > 0, x, n),
    "where not": lambda x, n: torch.where(x > 0, n, x),
}
WRITES: dict[str, Any] = {
    "an element": lambda x: 0,
    "a slice": lambda x: slice(0, 2),
    "a mask": lambda x: x > 0,
    "all": lambda x: ...,
    "indices": lambda x: torch.tensor([0, 2]),
}
NUMBERS = [0.1, 70_000.0, -1e9]
HALVES = [torch.bfloat16, torch.float16]


def written(key: Callable[[torch.Tensor], Any]) -> Call:
    def call(x: torch.Tensor, n: float) -> torch.Tensor:
        made = x.clone()
        made[key(x)] = n
        return made

    return call


def result(call: Call, x: torch.Tensor, number: float) -> Any:
    """What it gives, or what torch raises where there is no such half."""
    try:
        made: torch.Tensor = call(x, number).cpu()
    except RuntimeError as error:
        return str(error)
    return made


ALL = CALLS | {f"write to {name}": written(key) for name, key in WRITES.items()}


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_they_meet_as_on_the_cpu(
    dtype: torch.dtype, number: float, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    x = torch.linspace(-3, 3, 64).to(dtype)  # without a zero, and whole vectors of the CPU's
    there = x.to("lazytensor")
    for name, call in ALL.items():
        for _ in range(2):  # calls of a kind are remembered
            made, wanted = result(call, there, number), result(call, x, number)
            assert type(made) is type(wanted), (name, made, wanted)
            if isinstance(made, str):
                assert made == wanted, name
            else:
                torch.testing.assert_close(made, wanted, rtol=0, atol=0, msg=name)
