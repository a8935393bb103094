"""Compiled code with tensors on the CPU: it gives, and writes to, what the code itself does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import lazytensor.torch
from tests.pytorch.agreement import numbers

DEVICE = "lazytensor"


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def compiled(f: Any, **how: Any) -> Any:
    return torch.compile(f, backend=lazytensor.torch.backend, **how)


def grown(x: Any) -> Any:
    x.mul_(2)
    return x + 1


def put(x: Any) -> Any:
    x[0] = 5
    return x


def grown_and_turned(x: Any) -> Any:
    x.mul_(2)
    return x.t()


def grown_beside(x: Any, y: Any) -> Any:
    x.mul_(2)
    return y + 1


def copied_there(x: Any) -> Any:
    y = x.to(DEVICE)
    y.add_(1)
    return y, x * 2


def copied_here(x: Any) -> Any:
    y = x.cpu()
    y.add_(1)
    return y, x * 2


def with_another_storage(x: Any, y: Any) -> Any:
    x.data = y * 2
    return x + 1


def turned_in_place(x: Any) -> Any:
    return x.t_() + 1


def broken(x: Any) -> Any:
    y = x * 2
    torch._dynamo.graph_break()
    return y + torch.arange(3)


def rounded(x: Any) -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        return x @ x


def rematerialized(x: Any) -> Any:
    return checkpoint(lambda y: y.sin() + torch.arange(4), x, use_reentrant=False)


def pieces(*shape: int) -> tuple[Any, Any]:
    x = numbers("cpu", *shape)
    return x, x[1:3]


def one(*shape: int, grad: bool = False, device: str = "cpu") -> Callable[[], tuple[Any]]:
    return lambda: (numbers(device, *shape, grad=grad),)


CALLS: dict[str, tuple[Any, Callable[[], tuple[Any, ...]]]] = {
    "plain": (lambda x: x * 2, one(3)),
    "nothing": (lambda: torch.ones(3) * 2, lambda: ()),
    "constants": (lambda x: x + torch.tensor(2.0) + torch.arange(3), one(3)),
    "constants on the device": (
        lambda x: x + torch.tensor(2.0) + torch.arange(3).to(x.device), one(3, device=DEVICE),
    ),
    "the CPU by name": (lambda x: x + torch.zeros(3, device="cpu") + x.new_ones(3), one(3)),
    "grown": (grown, one(3)),
    "put": (put, one(3)),
    "grown and turned": (grown_and_turned, one(3, 4)),
    "two that share": (grown_beside, lambda: pieces(4)),
    "copied there": (copied_there, one(3)),
    "copied here": (copied_here, one(3)),
    "from there": (copied_here, one(3, device=DEVICE)),
    "both": (lambda x, y: (x * 2, y * 3), lambda: (numbers("cpu", 2), numbers(DEVICE, 2))),
    "given there": (lambda x: x.to(DEVICE) * 2, one(2)),
    "another storage": (with_another_storage, lambda: (numbers("cpu", 2), numbers("cpu", 2))),
    "turned in place": (turned_in_place, one(3, 4)),
    "columns": (lambda x: x * 2, lambda: (numbers("cpu", 3, 4).t(),)),
    "gaps": (lambda x: x * 2, lambda: (numbers("cpu", 6, 4)[::2, ::2],)),
    "views": (lambda x: (x.t(), x[1:, 1]), one(3, 4, grad=True)),
    "a break": (broken, one(3, grad=True)),
    "halves": (rounded, one(3, 3)),
    "a checkpoint": (rematerialized, one(3, 4, grad=True)),
    "attention": (
        lambda q: functional.scaled_dot_product_attention(*[q.transpose(1, 2)] * 3),
        one(2, 5, 3, 8, grad=True),
    ),
    "a conjugate": (
        lambda x: (x * 2).conj(), lambda: (torch.complex(*[numbers("cpu", 3)] * 2).conj(),),
    ),
    "channels last": (
        lambda x: functional.conv2d(x, x[:, :, :2, :2]).permute(0, 2, 3, 1).reshape(2, -1),
        lambda: (numbers("cpu", 2, 3, 4, 4).to(memory_format=torch.channels_last),),
    ),
}  # fmt: skip


# dynamo itself looks at `grad` of tensors that are no leaves
LOOKING = "ignore:The .grad attribute of a Tensor that is not a leaf"


@pytest.mark.filterwarnings(LOOKING)
@pytest.mark.parametrize("name", CALLS)
def test_results_writes_and_gradients_are_the_codes_own(name: str) -> None:
    f, make = CALLS[name]
    found = []
    for call in (f, compiled(f)):
        for _ in range(2):
            args = make()
            made = call(*args)
            made = made if isinstance(made, tuple) else (made,)
            grads = []
            if any(x.requires_grad for x in args):
                sum(x.sum() for x in made).backward()
                grads = [x.grad for x in args]
        found.append([*made, *args, *grads])
    for theirs, ours in zip(*found, strict=True):
        assert (ours.device, ours.dtype) == (theirs.device, theirs.dtype)
        tolerance = 0.02 if ours.dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(ours.cpu(), theirs.cpu(), rtol=tolerance, atol=tolerance)


def test_a_view_of_an_argument_is_one() -> None:
    x = torch.ones(3, 4)
    found = compiled(lambda x: x.t())(x)
    found[1, 2] = 7
    assert x[2, 1] == 7


@pytest.mark.filterwarnings(LOOKING)
def test_what_is_written_to_a_result_has_its_gradient() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    (compiled(put)(y) * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 3, 3]


def test_sizes_that_change() -> None:
    f = compiled(lambda x, n: (x.t() * n + torch.arange(x.shape[0])).sum(1), dynamic=True)
    for n in (3, 4, 5):
        assert f(torch.ones(n, 2), n).tolist() == [n * n + sum(range(n))] * 2


def test_autocast_of_the_caller() -> None:
    f = compiled(lambda x: x @ x)
    with torch.autocast("cpu", torch.bfloat16):
        assert f(torch.ones(2, 2)).dtype == torch.bfloat16


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
def test_an_optimizer_of_the_cpu() -> None:
    found = []
    for how in (lambda step: step, compiled):
        torch.manual_seed(0)
        net = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
        step = how(lambda optimizer=optimizer: optimizer.step())
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).sum().backward()
            step()
        found.append(net.weight.detach().clone())
    torch.testing.assert_close(*found)


def test_what_a_backward_needs_stays_on_the_device() -> None:
    x = torch.ones(3, requires_grad=True)
    saved: list[str] = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda y: (saved.append(y.device.type), y)[1], lambda y: y
    ):
        compiled(lambda x: (x.sin() * x).exp())(x)
    assert set(saved) == {DEVICE}


def network() -> nn.Module:
    return nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)


def with_statistics() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).to(
        memory_format=torch.channels_last
    )


NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "a layer of a transformer": (network, (2, 5, 16)),
    "running statistics": (with_statistics, (2, 3, 6, 6)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_learn_what_they_learn_uncompiled(name: str) -> None:
    build, shape = NETWORKS[name]
    torch.manual_seed(0)
    net, x = build(), torch.randn(shape)
    there = copy.deepcopy(net)
    for one, call in ((net, net), (there, compiled(there))):
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            call(x).square().mean().backward()
            optimizer.step()
        one.eval()
    torch.testing.assert_close(compiled(there)(x), net(x), rtol=1e-4, atol=1e-5, check_stride=False)
    for ours, theirs in zip(there.state_dict().values(), net.state_dict().values(), strict=True):
        assert ours.device.type == "cpu"
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
