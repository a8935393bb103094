"""Mixed precision: dtypes of results as CUDA's lists say, losses near f32's, the scaler's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from lazytensor.frontends.torch.device import autocast
from tests.pytorch.agreement import net, numbers

Call = Callable[[Any, Any], Any]
HALF, SINGLE, DOUBLE = torch.bfloat16, torch.float32, torch.float64
RESULTS: dict[str, tuple[Call, torch.dtype]] = {
    "matmul": (lambda x, y: x @ y, HALF),
    "linear": (lambda x, y: functional.linear(x, y, y[0]), HALF),
    "addmm": (lambda x, y: torch.addmm(x, x, y), HALF),
    "conv2d": (lambda x, y: functional.conv2d(x[None, None], y[None, None]), HALF),
    "einsum": (lambda x, y: torch.einsum("ij,jk->ik", x, y), HALF),
    "sdpa": (lambda x, y: functional.scaled_dot_product_attention(x[None], y[None], y[None]), HALF),
    "exp": (lambda x, y: x.to(HALF).exp(), SINGLE),
    "pow": (lambda x, y: x.to(HALF) ** 2, SINGLE),
    "layer_norm": (lambda x, y: functional.layer_norm(x.to(HALF), (3,)), SINGLE),
    "softmax": (lambda x, y: x.to(HALF).softmax(-1), SINGLE),
    "softmax to a dtype": (lambda x, y: x.softmax(-1, dtype=HALF), HALF),
    "sum": (lambda x, y: x.to(HALF).sum(), SINGLE),
    "cumsum": (lambda x, y: x.to(HALF).cumsum(0), SINGLE),
    "mse_loss": (lambda x, y: functional.mse_loss(x.to(HALF), y.to(HALF)), SINGLE),
    "cat": (lambda x, y: torch.cat([x.to(HALF), y]), SINGLE),
    "cat of halves": (lambda x, y: torch.cat([x.to(HALF), y.to(HALF)]), HALF),
    "addcmul": (lambda x, y: torch.addcmul(x, x.to(HALF), y.to(HALF)), SINGLE),
    "relu": (lambda x, y: (x @ y).relu(), HALF),
    "add": (lambda x, y: (x @ y) + x, SINGLE),
    "f64": (lambda x, y: x.double() @ y.double(), DOUBLE),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_the_dtype_that_cuda_would_give(name: str) -> None:
    call, dtype = RESULTS[name]
    x, y = numbers("lazytensor", 3, 3), numbers("lazytensor", 3, 3)
    with torch.autocast("lazytensor", dtype=HALF):
        made = call(x, y)
        with torch.autocast("lazytensor", enabled=False):
            assert (x @ y).dtype == SINGLE
    assert made.dtype == dtype
    torch.testing.assert_close(
        made.cpu().double(), call(x.cpu(), y.cpu()).double(), rtol=2e-2, atol=2e-2
    )  # bf16 has 8 bits


def test_no_operation_is_in_two_lists() -> None:
    names = [name for group, _ in autocast.POLICIES for name in group]
    assert len(names) == len(set(names))


def test_losses_that_overflow_are_refused() -> None:
    x = torch.full((3,), 0.5, device="lazytensor")
    with (
        torch.autocast("lazytensor", dtype=torch.float16),
        pytest.raises(RuntimeError, match="unsafe to autocast"),
    ):
        functional.binary_cross_entropy(x, x)


def losses(device: str, dtype: torch.dtype, enabled: bool) -> list[float]:
    model = net(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = numbers(device, 6, 4), torch.arange(6, device=device) % 3
    found = []
    for _ in range(8):
        optimizer.zero_grad()
        with torch.autocast(device, dtype=dtype, enabled=enabled):
            loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    assert all(p.dtype == p.grad.dtype == SINGLE for p in model.parameters())
    return found


def test_training_in_bf16_stays_near_f32() -> None:
    plain = losses("cpu", HALF, enabled=False)
    assert losses("lazytensor", HALF, enabled=True) == pytest.approx(plain, rel=2e-2)


def scaled(device: str) -> list[Any]:
    """Steps with a scaler, one of which has an infinite gradient."""
    model = torch.nn.Linear(2, 1, bias=False).to(device)
    torch.nn.init.constant_(model.weight, 0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=2)
    found = []
    for step in range(6):
        optimizer.zero_grad()
        value = float("inf") if step == 3 else 1.0
        loss = model(torch.full((1, 2), value, device=device)).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        found += [scaler.get_scale(), *model.weight.flatten().tolist()]
    return found


def test_a_scaler_skips_what_overflowed_and_adapts() -> None:
    assert scaled("lazytensor") == pytest.approx(scaled("cpu"))
