"""Hooks of a backward pass that raise: the exception arrives, and the next pass is as any."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazytensor.torch  # noqa: F401

Register = Callable[[Any, Any, Any, Callable[..., Any]], Any]
HOOKS: dict[str, Register] = {
    "of a tensor": lambda model, x, y, hook: y.register_hook(hook),
    "of an input": lambda model, x, y, hook: x.register_hook(hook),
    "of a parameter": lambda model, x, y, hook: model.weight.register_hook(hook),
    "after a gradient is added": lambda model, x, y, hook: (
        model.weight.register_post_accumulate_grad_hook(hook)
    ),
}
OF_MODULES: dict[str, Callable[[Any, Callable[..., Any]], Any]] = {
    "after": lambda model, hook: model.register_full_backward_hook(hook),
    "before": lambda model, hook: model.register_full_backward_pre_hook(hook),
}


class Mine(Exception):
    """Of the user's."""


def refuse(*args: Any) -> None:
    raise Mine("no such gradient")


def check(model: Any, x: Any, y: Any, handle: Any) -> None:
    with pytest.raises(Mine, match="no such gradient"):
        y.backward(retain_graph=True)
    handle.remove()
    model.zero_grad()
    model(x).sum().backward()
    assert model.weight.grad.cpu().tolist() == [[2.0, 2.0, 2.0]]
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.ones(2, device="lazytensor").sum().backward()


@pytest.mark.parametrize("register", HOOKS.values(), ids=HOOKS)
def test_a_tensors_hook_that_raises(register: Register) -> None:
    model = torch.nn.Linear(3, 1).to("lazytensor")
    x = torch.ones(2, 3, device="lazytensor", requires_grad=True)
    y = model(x).sum()
    check(model, x, y, register(model, x, y, refuse))


@pytest.mark.parametrize("register", OF_MODULES.values(), ids=OF_MODULES)
def test_a_modules_hook_that_raises(register: Callable[..., Any]) -> None:
    model = torch.nn.Linear(3, 1).to("lazytensor")
    x = torch.ones(2, 3, device="lazytensor", requires_grad=True)
    handle = register(model, refuse)
    check(model, x, model(x).sum(), handle)


def test_a_hook_changes_a_gradient() -> None:
    x = torch.ones(3, device="lazytensor", requires_grad=True)
    y = x * 2.0
    y.register_hook(lambda grad: grad * 10.0)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.cpu().tolist() == [20.0] * 3
