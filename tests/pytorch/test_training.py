"""Training: losses equal to torch's own on the CPU, one cut a step, at most two compiles."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics, settings

STEPS = 10

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-3),
    "AdamW foreach": lambda p: torch.optim.AdamW(p, lr=1e-3, foreach=True),
    "AdamW fused": lambda p: torch.optim.AdamW(p, lr=1e-3, fused=True),
    "Adam fused": lambda p: torch.optim.Adam(p, lr=1e-3, weight_decay=1e-2, fused=True),
    "Adam fused amsgrad": lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True, fused=True),
    "SGD fused": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, fused=True),
    "Adagrad fused": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=1e-2, fused=True),
    "Adam amsgrad": lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
}


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 32), nn.ReLU(),
        nn.Linear(32, 10),
    )  # fmt: skip


def train(net: nn.Module, optimizer: Any, device: str, schedule: Any = None) -> list[float]:
    torch.manual_seed(1)
    x, y = torch.randn(8, 16).to(device), torch.randint(10, (8,)).to(device)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        losses.append(loss)
    return [loss.item() for loss in losses]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_losses_are_torchs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    net = model()
    there = copy.deepcopy(net).to("lazytensor")
    expected = train(net, OPTIMIZERS[name](net.parameters()), "cpu")
    torch.lazytensor.synchronize()
    metrics.reset()
    found = train(there, OPTIMIZERS[name](there.parameters()), "lazytensor")
    assert found == pytest.approx(expected, rel=1e-5)
    counts = metrics.snapshot()
    assert counts["cuts"] == STEPS
    assert counts["compiles"] <= 2
    assert counts["fallbacks"] == 0


def test_a_step_of_many_operations_is_one_cut() -> None:
    layers = [part for _ in range(16) for part in (nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8))]
    net = nn.Sequential(*layers, nn.Linear(8, 10)).to("lazytensor")
    x, y = torch.ones(4, 8, device="lazytensor"), torch.ones(4, device="lazytensor").long()
    optimizer = torch.optim.AdamW(net.parameters())
    for step in range(4):
        metrics.reset()
        optimizer.zero_grad()
        functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        counts = metrics.snapshot()
        assert step == 0 or (counts["cuts"], counts["automatic_cuts"]) == (1, 0)


def test_a_schedule_of_the_learning_rate_compiles_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    net = model().to("lazytensor")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    torch.lazytensor.synchronize()
    metrics.reset()
    train(net, optimizer, "lazytensor", torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9))
    assert metrics.snapshot()["compiles"] <= 2


def test_dropout_differs_from_step_to_step_and_repeats_under_a_seed() -> None:
    x = torch.ones(1000, device="lazytensor", requires_grad=True)

    def masks() -> list[Any]:
        torch.manual_seed(3)
        return [functional.dropout(x, 0.25).detach().cpu() for _ in range(2)]

    (first, second), again = masks(), masks()
    assert not torch.equal(first, second)
    assert torch.equal(first, again[0])
    assert abs(float((first == 0).float().mean()) - 0.25) < 0.06
    y = functional.dropout(x, 0.25)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad.cpu(), y.detach().cpu())


def test_convolution_and_its_gradients_are_torchs() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 2))
    there = copy.deepcopy(net).to("lazytensor")
    x = torch.randn(2, 3, 9, 9)
    net(x).square().sum().backward()
    there(x.to("lazytensor")).square().sum().backward()
    for mine, theirs in zip(there.parameters(), net.parameters(), strict=True):
        assert mine.grad is not None
        torch.testing.assert_close(mine.grad.cpu(), theirs.grad)


def test_embedding_and_its_gradient_are_torchs() -> None:
    torch.manual_seed(0)
    net = nn.Embedding(7, 3, padding_idx=2)
    there = copy.deepcopy(net).to("lazytensor")
    ids = torch.tensor([[1, 2, 1], [6, 0, 2]])
    net(ids).square().sum().backward()
    there(ids.to("lazytensor")).square().sum().backward()
    torch.testing.assert_close(there.weight.grad.cpu(), net.weight.grad)


def test_double_backward() -> None:
    grads = []
    for device in ("cpu", "lazytensor"):
        x = torch.linspace(-1, 1, 5).to(device).requires_grad_()
        (first,) = torch.autograd.grad((x.tanh() * x.exp()).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), x)
        grads.append(second.cpu())
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("name", ["AdamW fused", "SGD fused"])
def test_a_fused_step_leaves_everything_as_it_was_where_the_scaler_found_an_infinity(
    name: str,
) -> None:
    shown = []
    for device in ("cpu", "lazytensor"):
        net = model().to(device)
        optimizer = OPTIMIZERS[name](net.parameters())
        scaler = torch.amp.GradScaler(device, init_scale=4.0)
        for scale in (1.0, float("inf"), 2.0):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 16, device=device)).square().mean()
            scaler.scale(loss * scale).backward()
            scaler.step(optimizer)
            scaler.update()
        shown.append([p.detach().cpu() for p in net.parameters()] + [scaler.get_scale()])
    for ours, theirs in zip(shown[1], shown[0], strict=True):
        torch.testing.assert_close(ours, theirs)
