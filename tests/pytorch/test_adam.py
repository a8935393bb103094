"""Adam over lists of parameters is one op for all of them, and what torch computes on the CPU."""

import copy
from typing import Any

import pytest
import torch
from torch import nn

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import settings
from lazytensor.core.observe import events

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "decay": {"weight_decay": 0.1},
    "amsgrad": {"amsgrad": True, "weight_decay": 0.1},
    "maximize": {"maximize": True, "weight_decay": 0.1},
    "betas": {"betas": (0.8, 0.95), "eps": 1e-3},
    "capturable": {"capturable": True},
}


def trained(net: nn.Module, device: str, make: Any, **options: Any) -> tuple[Any, Any]:
    """Parameters and states after steps of which one has no gradient for the first parameter."""
    there = copy.deepcopy(net).to(device)
    if device == "cpu":
        options.pop("capturable", None)  # is for accelerators; the same result
    optimizer = make(there.parameters(), lr=1e-2, foreach=True, **options)
    x = torch.linspace(-1, 1, 32).reshape(4, 8).to(device)
    for i in range(4):
        optimizer.zero_grad()
        there(x).square().mean().backward()
        if i == 2:
            next(there.parameters()).grad = None
        optimizer.step()
    parameters = [p.detach().cpu() for p in there.parameters()]
    states = [s for state in optimizer.state_dict()["state"].values() for s in state.values()]
    return parameters, [s.cpu() for s in states]


@pytest.mark.parametrize("make", [torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("options", OPTIONS)
def test_adam_over_lists(make: Any, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
    found = trained(net, "lazytensor", make, **OPTIONS[options])
    expected = trained(net, "cpu", make, **OPTIONS[options])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)


def test_adam_is_one_op_for_all_parameters_that_are_as_old() -> None:
    net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
    events.clear()
    trained(net, "lazytensor", torch.optim.AdamW)
    steps = [e.program for e in events.events if e.cause == "optimizer.step()"]
    names = [[line[0].name for line in program.instructions] for program in steps]
    assert [line.count("adam_steps") for line in names] == [1, 1, 1, 2]
    assert not any("lerp" in line for line in names)
