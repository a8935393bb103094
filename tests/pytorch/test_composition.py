"""A call that is several operations is one node, traced once for each signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from lazytensor import metrics, settings
from lazytensor.core.ir.recording import nodes_made
from tests.pytorch import agreement
from tests.pytorch.agreement import numbers

Call = Callable[[Any], Any]

CALLS: dict[str, Call] = {
    "a decomposition": functional.hardsigmoid,
    "another shape": lambda x: functional.hardsigmoid(x[0]),
    "a view with gaps": lambda x: functional.hardsigmoid(x[:, 1:]),
    "another order": lambda x: functional.mish(x.t()).stride(),
    "no elements": lambda x: functional.hardsigmoid(x[:0]),
    "no axes": lambda x: functional.hardsigmoid(x[0, 0]),
    "several operands": lambda x: functional.huber_loss(x, x * 2),
    "a number": lambda x: functional.softplus(x, beta=2),
    "several results": lambda x: functional.logsigmoid(x),
    "arrays of its own": torch.pdist,
    "places of its own": lambda x: functional.interpolate(x[None], scale_factor=2, mode="linear"),
    "a row": torch.matrix_exp,
    "in place": lambda x: functional.hardsigmoid(x, inplace=True),
    "out=": lambda x: torch.special.i0e(x, out=torch.empty(4, 4, device=x.device)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_it_gives_on_the_cpu_each_time(name: str) -> None:
    for _ in range(2):
        agreement.check(lambda device: CALLS[name](numbers(device, 4, 4)))


ONE = ["a decomposition", "no axes", "several operands", "arrays of its own", "a row"]


@pytest.mark.parametrize("name", ONE)
def test_a_call_is_one_node_from_the_second_on(name: str) -> None:
    x = numbers("lazytensor", 4, 4)
    CALLS[name](x)
    before = nodes_made()
    operands = 1 if name == "several operands" else 0  # which makes one, and its number
    CALLS[name](x)
    assert nodes_made() - before <= 1 + 2 * operands + (name == "no axes") * 4


def test_a_number_that_changes_compiles_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    x = numbers("lazytensor", 5)
    compiles = []
    for beta in (1.5, 2.5, 3.5, 4.5, 5.5):
        metrics.reset()
        found = functional.softplus(x, beta=beta)
        torch.testing.assert_close(found.cpu(), functional.softplus(x.cpu(), beta=beta))
        compiles.append(metrics.snapshot()["compiles"])
    assert compiles[3:] == [0, 0]


def test_data_is_checked_by_each_call() -> None:
    x, places = numbers("lazytensor", 4), torch.tensor([1, 9], device="lazytensor")
    assert torch.take(x, places % 4).tolist() == [0, 0]
    with pytest.raises((IndexError, RuntimeError), match="out of range"):
        torch.take(x, places).tolist()


def test_what_draws_random_numbers_draws_the_same_under_a_seed_from_the_first_call_on() -> None:
    x = numbers("lazytensor", 50)

    def drawn() -> Any:
        torch.manual_seed(4)
        return functional.rrelu(x, training=True).cpu(), torch.rand(3, device="lazytensor").cpu()

    torch.testing.assert_close(drawn(), drawn(), rtol=0, atol=0)


def test_what_is_wrong_is_raised_in_each_call() -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError):
            torch.ops.aten.huber_loss(numbers("lazytensor", 3), numbers("lazytensor", 4))
