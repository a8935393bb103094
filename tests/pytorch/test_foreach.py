"""`_foreach_…` calls give what the CPU gives, for each element of their lists."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import lazytensor.torch  # noqa: F401
from lazytensor.frontends.torch.optim.foreach import OF_EACH, UNARY

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int32)


def outcome(name: str, dtype: torch.dtype, device: str) -> Any:
    """The results of a call and its operands after it, or the kind of its error."""
    lists = [torch.linspace(0.1, 0.9, n).reshape(shape).to(dtype).to(device)
             for n, shape in ((6, (2, 3)), (4, (4,)), (1, ()))]  # fmt: skip
    given = [lists]
    if name == "mm":
        given = [[x.reshape(1, -1) for x in lists], [x.reshape(-1, 1) for x in lists]]
    try:
        made = getattr(torch, f"_foreach_{name}")(*given)
    except (RuntimeError, NotImplementedError) as error:
        return type(error)
    return [x.cpu() for x in (*(made or ()), *lists)]


@pytest.mark.parametrize("name", [*UNARY, *(f"{name}_" for name in UNARY), *OF_EACH])
def test_results_are_the_cpus(name: str) -> None:
    for dtype in DTYPES:
        expected, found = (outcome(name, dtype, device) for device in ("cpu", "lazytensor"))
        if isinstance(expected, type):
            assert found is expected, dtype
            continue
        for x, y in zip(found, expected, strict=True):
            assert x.dtype == y.dtype
            torch.testing.assert_close(
                x, y, rtol=2e-2 if dtype is torch.bfloat16 else 1e-5, atol=1e-6
            )
