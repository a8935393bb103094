"""The debugging mode with torch: every operation at once, and training steps all the same."""

from collections.abc import Iterator

import pytest
import torch

import lazytensor.torch  # noqa: F401
from lazytensor.core.observe import metrics
from lazytensor.core.trace import eager_mode


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    eager_mode.attach()
    yield
    eager_mode.detach()


def losses(device: str) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.linspace(0, 1, 32).reshape(4, 8).to(device)
    found = []
    for _ in range(4):
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_training_gives_the_cpus_losses_without_a_cut() -> None:
    cuts = metrics.snapshot()["cuts"]
    assert losses("lazytensor") == pytest.approx(losses("cpu"), rel=1e-5)
    assert metrics.snapshot()["cuts"] == cuts
