"""SGD over lists of parameters is one op for all of them, and what torch computes on the CPU."""

from typing import Any

import pytest
import torch
from torch import nn

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import settings
from lazytensor.core.observe import events
from tests.pytorch.test_adam import trained

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "momentum": {"momentum": 0.9},
    "all": {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1, "maximize": True},
    "decay": {"weight_decay": 0.1},
    "nesterov": {"momentum": 0.9, "nesterov": True},
}


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))


@pytest.mark.parametrize("options", OPTIONS)
def test_sgd_over_lists(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    net = small()
    found = trained(net, "lazytensor", torch.optim.SGD, **OPTIONS[options])
    expected = trained(net, "cpu", torch.optim.SGD, **OPTIONS[options])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)


def test_sgd_is_one_op_for_all_parameters() -> None:
    events.clear()
    trained(small(), "lazytensor", torch.optim.SGD, momentum=0.9)
    steps = [e.program for e in events.events if e.cause == "optimizer.step()"]
    names = [[line[0].name for line in program.instructions] for program in steps]
    assert [line.count("sgd_steps") for line in names] == [1, 1, 1, 1]
    assert steps[0] == steps[1]
