"""Where steps end: at an optimizer's step, at an observation, or at the head of the user's loop."""

import copy
import resource
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics, settings
from lazytensor.core.policy import PROGRAM_NODES_BOUND
from lazytensor.inspection.advice import advice
from lazytensor.inspection.finding import findings
from lazytensor.inspection.ledger import Ledger


@pytest.fixture(autouse=True)
def _compile(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)  # what is compiled is counted
    torch.lazytensor.synchronize()
    yield
    torch.lazytensor.synchronize()


def deep(layers: int, width: int = 8) -> nn.Module:
    torch.manual_seed(0)
    parts = [p for _ in range(layers) for p in (nn.Linear(width, width), nn.Tanh())]
    return nn.Sequential(*parts, nn.Linear(width, 1))


def accumulate(net: nn.Module, device: str, cycles: int, rounds: int) -> list[float]:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.manual_seed(1)
    batches = [torch.randn(4, 8).to(device) for _ in range(rounds)]
    losses = []
    for _ in range(cycles):
        optimizer.zero_grad()
        for x in batches:
            loss = net(x).square().mean() / rounds
            loss.backward()
            losses.append(loss.detach())
        optimizer.step()
    return [loss.item() for loss in losses]


def test_gradients_of_several_batches_are_added_in_programs_that_repeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    net = deep(120)
    there = copy.deepcopy(net).to("lazytensor")
    expected = accumulate(net, "cpu", 4, 6)
    torch.lazytensor.synchronize()
    programs = []
    found = []
    for _ in range(4):
        metrics.reset()
        found += accumulate(there, "lazytensor", 1, 6)
        programs.append(metrics.snapshot())
    assert found == pytest.approx(expected, rel=1e-4)
    assert programs[-1]["automatic_cuts"] == 5
    assert {counts["cuts"] for counts in programs} == {6}


def test_accumulation_in_a_small_model_is_one_program() -> None:
    net = deep(2).to("lazytensor")
    torch.lazytensor.synchronize()
    metrics.reset()
    accumulate(net, "lazytensor", 5, 3)
    counts = metrics.snapshot()
    assert (counts["cuts"], counts["automatic_cuts"]) == (5, 0)
    assert counts["compiles"] <= 2


def test_a_step_of_a_large_model_is_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    net = deep(130).to("lazytensor")
    torch.lazytensor.synchronize()
    metrics.reset()
    accumulate(net, "lazytensor", 1, 1)
    counts = metrics.snapshot()
    assert counts["nodes"] > PROGRAM_NODES_BOUND
    assert counts["cuts"] == 1


def test_a_step_that_raises_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    net = deep(1).to("lazytensor")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def closure() -> float:
        raise ValueError("no data")

    with pytest.raises(ValueError, match="no data"):
        optimizer.step(closure)
    x = torch.ones(128, 128, device="lazytensor")
    metrics.reset()
    with torch.no_grad():
        for _ in range(400):
            x = torch.sin(x)
    assert metrics.snapshot()["automatic_cuts"] >= 1


def test_inference_without_gradients_is_cut_at_the_loops_head() -> None:
    net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)).to("lazytensor")
    data = torch.randn(128, 512, 128).to("lazytensor")
    torch.lazytensor.synchronize()
    metrics.reset()
    with torch.inference_mode():
        results = [net(x).argmax(-1) for x in data]
    assert metrics.snapshot()["automatic_cuts"] >= 4
    again = metrics.snapshot()["compiles"]
    with torch.no_grad():
        results += [net(x).argmax(-1) for x in data]
    torch.lazytensor.synchronize()
    assert metrics.snapshot()["compiles"] <= again + 2
    assert torch.equal(results[0].cpu(), results[128].cpu())


def test_an_observation_within_a_step_is_a_cut_that_repeats() -> None:
    net = deep(2).to("lazytensor")
    optimizer = torch.optim.AdamW(net.parameters())
    x = torch.ones(4, 8, device="lazytensor")
    torch.lazytensor.synchronize()
    metrics.reset()
    total = 0.0
    for _ in range(6):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        total += loss.item()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    counts = metrics.snapshot()
    assert (counts["cuts"], counts["automatic_cuts"]) == (12, 0)
    assert counts["compiles"] <= 3


def test_a_number_that_changes_in_every_step_compiles_nothing_more() -> None:
    net = deep(1).to("lazytensor")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    x = torch.ones(4, 8, device="lazytensor")
    torch.lazytensor.synchronize()

    def step(i: int) -> None:
        optimizer.param_groups[0]["lr"] = 1e-3 / (i + 1)
        optimizer.zero_grad()
        hidden = functional.dropout(net(x) * (1.0 + i), p=0.1 + 0.01 * i)
        ((hidden - i).square().mean() / (i + 1)).backward()
        optimizer.step()

    for i in range(3):
        step(i)
    metrics.reset()
    for i in range(3, 20):
        step(i)
    assert metrics.snapshot()["compiles"] == 0


def test_an_optimizers_numbers_are_data_from_the_first_step() -> None:
    net = deep(1).to("lazytensor")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    x = torch.ones(4, 8, device="lazytensor")
    torch.lazytensor.synchronize()
    metrics.reset()
    for i in range(5):
        optimizer.param_groups[0]["lr"] = 1e-3 * (i + 1)
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    assert metrics.snapshot()["compiles"] == 1


def test_memory_stays_flat() -> None:
    net = deep(1)
    there = net.to("lazytensor")
    optimizer = torch.optim.AdamW(there.parameters())
    x = torch.ones(4, 8, device="lazytensor")

    def run(steps: int) -> int:
        for _ in range(steps):
            optimizer.zero_grad()
            there(x).square().mean().backward()
            optimizer.step()
        torch.lazytensor.synchronize()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(200)
    assert run(1000) - before < 4096  # KiB; a leak of one small array a step would pass it


def test_doctor_takes_a_step_for_work_and_a_loss_that_is_read_for_an_observation() -> None:
    net = nn.Linear(3, 2).to("lazytensor")
    x = torch.ones(4, 3, device="lazytensor")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ledger = Ledger()
    with ledger.open():
        for _ in range(10):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            (loss * 2).sum().item()
    found = {finding.source.text: finding for finding in findings(ledger.sites)}
    step, read = found["optimizer.step()"], found["(loss * 2).sum().item()"]
    assert (step.cuts, step.observations) == (10, 0)
    assert (read.cuts, read.observations) == (10, 10)
    assert "conversion" in advice(read)


def test_a_model_that_was_made_on_the_device_has_one_program() -> None:
    metrics.reset()
    with torch.device("lazytensor"):
        net, x = deep(2), torch.randn(4, 8)
    optimizer = torch.optim.AdamW(net.parameters())
    begun = metrics.snapshot()["compiles"]
    for _ in range(3):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()
    assert metrics.snapshot()["compiles"] == begun + 1
    assert metrics.snapshot()["cuts"] == 4


class Chain(torch.autograd.Function):
    """A forward that is a loop, in which torch says that no gradients are recorded."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        for _ in range(40):
            x = x.roll(1).cumsum(0) * 0.5
        return x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


def test_a_loop_in_a_functions_forward_does_not_end_the_step() -> None:
    weight = nn.Parameter(torch.ones(300_000, device="lazytensor"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    torch.lazytensor.synchronize()
    metrics.reset()
    for _ in range(3):
        optimizer.zero_grad()
        Chain.apply(weight).sum().backward()
        optimizer.step()
    assert metrics.snapshot()["cuts"] == 3
    assert metrics.snapshot()["automatic_cuts"] == 0
