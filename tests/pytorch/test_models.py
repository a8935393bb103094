"""Models of `transformers`: losses equal to torch's on the CPU, two compiles, no fallback."""

import copy
import warnings
from typing import Any

import pytest
import torch

pytest.importorskip("transformers")

import lazytensor.torch
from lazytensor import metrics, settings
from lazytensor.core.runtime.program_cache import cache
from tests.pytorch.models import SAMPLES
from tests.sweeps import one_in

STEPS = 20

OPTIMIZERS: dict[str, Any] = {
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-3),
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05),
}
COMPILED = {"bert", "resnet"}
"""Whose programs are compiled in every run; the others' are interpreted, which is the same test of
everything but XLA, and takes a tenth of the time."""


OBSERVATIONS = {"bert": 1, "wav2vec2": 2, "llava": 2}
"""How often `transformers` looks at values in a step: whether a mask masks anything, whether labels
are words, how long they are, whether there are as many places as pictures."""


def compiles() -> int:
    """How often XLA compiles what the cache has seen, were nothing interpreted.

    That is once a program, and once more whenever its slots are not what was assumed of them.
    """
    return sum(1 + entry.history.changes for entry in cache.entries())


def losses(net: torch.nn.Module, batch: dict[str, Any], optimizer: Any) -> list[float]:
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = net(**batch).loss
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return [loss.item() for loss in found]


@one_in(3)
@pytest.mark.filterwarnings("ignore:Using a target size:UserWarning")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", SAMPLES)
def test_training(name: str, optimizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = name in COMPILED and optimizer == "AdamW"
    monkeypatch.setattr(settings, "tier", "compile" if compiled else "interpret")
    monkeypatch.setattr(settings, "disk", False)  # what is compiled is counted
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of transformers, about kernels that are not installed
        net = SAMPLES[name].build().train()
    batch = SAMPLES[name].batch()
    there = copy.deepcopy(net).to("lazytensor")
    theirs = {key: value.to("lazytensor") for key, value in batch.items()}
    torch.lazytensor.synchronize()
    metrics.reset()
    cache.clear()
    found = losses(there, theirs, OPTIMIZERS[optimizer](there.parameters()))
    counts = metrics.snapshot()
    expected = losses(net, batch, OPTIMIZERS[optimizer](net.parameters()))
    assert found == pytest.approx(expected, rel=1e-4)
    assert counts["fallbacks"] == counts["automatic_cuts"] == 0
    observations = OBSERVATIONS.get(name, 0)
    assert compiles() <= max(2, 1 + observations)
    assert not compiled or counts["compiles"] <= 2
    assert counts["cuts"] == STEPS * (1 + observations)


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm`:FutureWarning")
@pytest.mark.parametrize("dim", [0, 1, None])
@pytest.mark.parametrize(
    "normed",
    [torch.nn.utils.weight_norm, torch.nn.utils.parametrizations.weight_norm],
    ids=["hook", "parametrization"],
)
def test_weight_norm(normed: Any, dim: int | None) -> None:
    """A hook's weight, which was computed of parameters, does not keep them from being moved."""
    metrics.reset()
    found = []
    for device in ("cpu", "lazytensor"):
        torch.manual_seed(0)
        net = normed(torch.nn.Conv1d(4, 6, 3), dim=dim).to(device)
        net(torch.linspace(-1, 1, 64).view(2, 4, 8).to(device)).square().sum().backward()
        found.append([p.grad.cpu() for p in net.parameters() if p.grad is not None])
    assert len(found[0]) == 3
    torch.testing.assert_close(*found)
    assert metrics.snapshot()["fallbacks"] == 0


def test_moving_a_module_keeps_its_parameters() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    net[1].weight = net[0].weight
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    before = list(net.parameters())
    net(torch.ones(2, 3)).sum().backward()
    net.to("lazytensor")
    assert net[1].weight is net[0].weight
    assert [a is b for a, b in zip(net.parameters(), before, strict=True)] == [True] * 3
    start = net[0].weight.detach().cpu().clone()
    assert net[0].weight.grad.device.type == "lazytensor"
    optimizer.step()
    assert not torch.equal(net[0].weight.detach().cpu(), start)
    net.to("cpu")
    assert net[1].weight is net[0].weight
    assert net[0].weight.device.type == "cpu"


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_compiled_models_of_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    torch.manual_seed(0)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nets = [SAMPLES[name].build().train()]
        batch = SAMPLES[name].batch()
        nets.append(copy.deepcopy(nets[0]))
        calls = [nets[0], torch.compile(nets[1], backend=lazytensor.torch.backend)]
        found: list[list[float]] = []
        for net, call in zip(nets, calls, strict=True):
            optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
            call(**batch).loss.backward()
            optimizer.step()
            with torch.no_grad():
                made = call(**batch)
            assert made.logits.device.type == "cpu"
            found.append([made.loss.item(), *(p.grad.norm().item() for p in net.parameters())])
    assert found[1] == pytest.approx(found[0], rel=1e-3, abs=1e-5)
