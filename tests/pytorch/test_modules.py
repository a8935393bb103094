"""Modules that move to the device and back: the same parameters, whatever refers to them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import lazytensor.torch  # noqa: F401 -- registers the device

D = "lazytensor"


def ones(device: str = D) -> torch.Tensor:
    return torch.ones(2, 3, device=device)


def graph(module: Any) -> Any:
    return module(ones())


HELD: dict[str, Callable[[Any], Any]] = {
    "a graph": graph,
    "a view": lambda m: m.weight[0],
    "a detached view": lambda m: m.weight.detach()[0],
    "an iterator of parameters": lambda m: list(m.parameters()),
    "a weak reference": lambda m: weakref.ref(m.weight),
    "a gradient with a graph": lambda m: torch.autograd.grad(
        m(ones()).square().sum(), m.weight, create_graph=True
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_modules_move_whatever_refers_to_their_parameters(name: str) -> None:
    module = nn.Linear(3, 2).to(D)
    weight = module.weight
    values = weight.detach().cpu()
    held = HELD[name](module)
    assert module.cpu().weight is weight
    assert weight.device.type == "cpu"
    assert torch.equal(weight, values)
    assert module(ones("cpu")).requires_grad
    module.to(D)
    assert module.weight is weight
    assert weight.device.type == D
    assert held is not None


def test_a_view_keeps_what_it_showed() -> None:
    module = nn.Linear(3, 2).to(D)
    row = module.weight[0]
    values = module.weight[0].tolist()
    module.cpu().weight.data.zero_()
    assert row.device.type == D
    assert row.tolist() == values


def test_a_weak_reference_stays() -> None:
    module = nn.Linear(3, 2)
    found = weakref.ref(module.weight)
    assert found() is module.to(D).weight


def test_gradients_come_to_where_the_parameter_is() -> None:
    module = nn.Linear(3, 2).to(D)
    loss = module(ones()).sum()
    module.cpu()
    loss.backward()
    assert module.bias.grad.tolist() == [2, 2]
    module(ones("cpu")).sum().backward()
    assert module.bias.grad.tolist() == [4, 4]


def test_gradients_and_hooks_move_along() -> None:
    module, seen = nn.Linear(3, 2), []
    module.weight.register_hook(lambda grad: seen.append("gradient"))
    module.weight.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
    module(ones("cpu")).sum().backward()
    grad = module.weight.grad
    module.to(D)
    assert module.weight.grad is grad
    assert grad is not None
    assert grad.device.type == D
    module(ones()).sum().backward()
    assert seen == ["gradient", "accumulated"] * 2
    assert grad.cpu().tolist() == [[4, 4, 4]] * 2


def test_an_optimizer_made_before_goes_on_with_them() -> None:
    module = nn.Linear(3, 2).to(D)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    loss = module(ones()).sum()
    module.cpu()
    optimizer.zero_grad()
    module(ones("cpu")).sum().backward()
    before = module.bias.detach().clone()
    optimizer.step()
    assert (before - module.bias).tolist() == pytest.approx([1, 1])
    assert loss.device.type == D


@pytest.mark.parametrize("there", [D, "cpu"])
def test_tied_weights_stay_tied(there: str) -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to("cpu" if there == D else D)
    module[1].weight = module[0].weight
    graph = module(torch.ones(1, 3, device="cpu" if there == D else D))
    module.to(there)
    assert module[0].weight is module[1].weight
    assert graph is not None


@pytest.mark.filterwarnings("error")
def test_what_torch_refers_to_weakly_is_made_anew_and_stays_tied() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    module[1].weight = module[0].weight
    weak = torch._C._WeakTensorRef(module[0].weight)
    with pytest.warns(UserWarning, match="another object after the move"):
        module.to(D)
    assert module[0].weight is module[1].weight
    assert module[0].weight.device.type == D
    assert weak is not None


SCRIPTS: dict[str, Callable[[Any], Any]] = {
    "scripted": torch.jit.script,
    "traced": lambda m: torch.jit.trace(m, ones("cpu")),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_move_and_train(name: str) -> None:
    module = SCRIPTS[name](nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    expected = module(ones("cpu"))
    module.to(D)
    assert {p.device.type for p in module.parameters()} == {D}
    found = module(ones())
    torch.testing.assert_close(found.cpu(), expected)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    found.sum().backward()
    optimizer.step()
    assert not torch.equal(module(ones()).cpu(), expected)
    assert module.cpu()(ones("cpu")).device.type == "cpu"


LAZY: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "linear": (lambda: nn.Sequential(nn.LazyLinear(3)), (2, 5)),
    "convolution": (lambda: nn.LazyConv2d(3, 2), (1, 2, 4, 4)),
    "normalisation": (nn.LazyBatchNorm1d, (2, 3)),
}


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize("name", LAZY)
def test_lazy_modules_find_their_shapes_on_the_device(name: str) -> None:
    make, shape = LAZY[name]
    module = make().to(D)
    module(torch.ones(shape, device=D)).sum().backward()
    tensors = [*module.parameters(), *module.buffers()]
    assert {x.device.type for x in tensors} == {D}
    assert {type(p) for p in module.parameters()} == {nn.Parameter}
    assert all(p.grad.shape == p.shape for p in module.parameters())


def test_what_moves_a_module_is_called_once_for_each_tensor() -> None:
    module = nn.Linear(3, 2)
    expected = module.weight.detach() * 2
    module._apply(lambda x: x.to(D) * 2)
    torch.testing.assert_close(module.weight.detach().cpu(), expected)


def test_moved_within_inference_mode_a_module_can_be_trained() -> None:
    module = nn.Linear(3, 2)
    with torch.inference_mode():
        module.to(D)
    module(ones()).sum().backward()
    assert module.bias.grad.tolist() == [2, 2]
