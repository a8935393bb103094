"""Autograd above the device is torch's: functions, hooks, checkpoints, transforms, versions."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import lazytensor
from lazytensor.core.observe.metrics import counts
from tests.pytorch import agreement
from tests.pytorch.agreement import net, numbers


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 3


def custom_function(device: str) -> Any:
    x = numbers(device, 4, grad=True)
    (first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    first.square().sum().backward()
    return first, x.grad


def function_that_writes(device: str) -> Any:
    x = numbers(device, 4, grad=True)
    y = x * 1
    z = Tripled.apply(y)
    z.sum().backward()
    return y, z, x.grad


def hooks(device: str) -> Any:
    log: list[Any] = []
    model, x = net(device), numbers(device, 2, 4, grad=True)
    model[0].register_forward_hook(lambda m, args, made: log.append(made.shape))
    model[0].register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    model[1].register_full_backward_hook(lambda m, grads, given: (grads[0] * 2,))
    x.register_hook(lambda grad: grad * 3)
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda p: log.append(p.shape))
    y = model(x)
    y.retain_grad()
    y.register_hook(lambda grad: grad + 1)
    y.sum().backward()
    # Which of a layer's parameters comes first depends on how `linear` is differentiated.
    return x.grad, y.grad, sorted(log)


def checkpointed(device: str, reentrant: bool) -> Any:
    model, x = net(device), numbers(device, 2, 4, grad=True)
    checkpoint(model, x, use_reentrant=reentrant).square().sum().backward()
    return x.grad, [p.grad for p in model.parameters()]


def per_sample_gradients(device: str) -> Any:
    model = net(device)

    def loss(parameters: Any, x: Any) -> Any:
        return torch.func.functional_call(model, parameters, (x[None],)).square().sum()

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))
    return gradients(dict(model.named_parameters()), numbers(device, 3, 4))


def ensemble(device: str) -> Any:
    models = [net(device), net(device)]
    parameters, buffers = torch.func.stack_module_state(models)
    x = numbers(device, 2, 4)

    def call(p: Any, b: Any) -> Any:
        return torch.func.functional_call(models[0], (p, b), (x,))

    return torch.func.vmap(call)(parameters, buffers)


def gradient_penalty(device: str) -> Any:
    model, x = net(device), numbers(device, 2, 4, grad=True)
    (grad,) = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
    grad.square().sum().backward()
    return x.grad, [p.grad for p in model.parameters()]


def forward_mode(device: str) -> Any:
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(numbers(device, 3), numbers(device, 3))
        return torch.autograd.forward_ad.unpack_dual(x.sin() * 2).tangent


def forward_mode_between_devices(device: str) -> Any:
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(numbers(device, 3), numbers(device, 3))
        made = numbers("cpu", 3).copy_(x)
        return made, torch.autograd.forward_ad.unpack_dual(made).tangent


def saved_on_the_cpu(device: str) -> Any:
    x = numbers(device, 3, grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


def written_without_grad(device: str) -> Any:
    x = numbers(device, 3, grad=True)
    with torch.no_grad():
        x.add_(1)
        x[0] = 5
    x.data.mul_(2)
    return x, x._version, x.is_leaf


def masked_write(device: str) -> Any:
    x = numbers(device, 4, grad=True)
    y = x * 2
    y[y > 0] = 0
    y[0] = x[3]
    y.sum().backward()
    return x.grad


def data_replaced(device: str) -> Any:
    x, y = nn.Parameter(numbers(device, 3)), numbers(device, 2, 2)
    x.data = y
    y.add_(1)
    x.grad = torch.ones_like(x)
    return x, x.grad


def tied(device: str) -> Any:
    torch.manual_seed(0)
    first, last = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
    last.weight = first.weight
    model = nn.Sequential(first, last).to(device)
    assert first.weight is last.weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.tensor([1, 2], device=device)).square().sum().backward()
        optimizer.step()
    return first.weight, len(list(model.parameters()))


def accumulated(device: str) -> Any:
    model = net(device)
    for _ in range(3):
        model(numbers(device, 2, 4)).sum().backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return norm, [p.grad for p in model.parameters()]


def in_threads(device: str) -> Any:
    x, found = numbers(device, 4, 4), [torch.Tensor()] * 3

    def work(place: int) -> None:
        y = (x * place).requires_grad_()
        y.exp().sum().backward()
        assert y.grad is not None
        found[place] = y.grad.cpu()

    threads = [Thread(target=work, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


PROGRAMS: dict[str, agreement.Program] = {
    "function": custom_function,
    "function that writes": function_that_writes,
    "hooks": hooks,
    "checkpoint": lambda d: [checkpointed(d, reentrant) for reentrant in (False, True)],
    "func.grad": lambda d: torch.func.grad(
        lambda x: torch.func.grad(lambda y: (y.sin() * y).sum())(x).sum()
    )(numbers(d, 4)),
    "func.vmap": lambda d: torch.func.vmap(lambda x: x.t().reshape(-1))(numbers(d, 2, 3, 4)),
    "func.jvp": lambda d: torch.func.jvp(
        lambda x: x.exp() * x, (numbers(d, 3),), (numbers(d, 3),)
    ),
    "func.hessian": lambda d: torch.func.hessian(lambda x: (x.cos() * x.sum()).sum())(
        numbers(d, 3)
    ),
    "func.vjp": lambda d: torch.func.vjp(lambda x: x.exp() * x.sum(), numbers(d, 3))[1](
        numbers(d, 3)
    ),
    "func.jacrev": lambda d: torch.func.jacrev(lambda x: x.exp() * x.sum())(numbers(d, 3)),
    "func.jacfwd": lambda d: torch.func.jacfwd(lambda x: x.exp() * x.sum())(numbers(d, 3)),
    "func.linearize": lambda d: torch.func.linearize(torch.sin, numbers(d, 3))[1](numbers(d, 3)),
    "vmap of axes": lambda d: torch.func.vmap(torch.dot, in_dims=(1, 0))(
        numbers(d, 3, 4), numbers(d, 4, 3)
    ),
    "vmap in vmap": lambda d: torch.func.vmap(torch.func.vmap(torch.mul, (None, 0)), (0, None))(
        numbers(d, 3), numbers(d, 4)
    ),
    "ensemble": ensemble,
    "penalty": gradient_penalty,
    "per sample": per_sample_gradients,
    "forward mode": forward_mode,
    "forward mode between devices": forward_mode_between_devices,
    "save_on_cpu": saved_on_the_cpu,
    "no_grad": written_without_grad,
    "masked write": masked_write,
    ".data": data_replaced,
    "tied": tied,
    "accumulated": accumulated,
    "threads": in_threads,
    "jacobian": lambda d: torch.autograd.functional.jacobian(
        lambda x: x.exp() * x.sum(), numbers(d, 3)
    ),
    "detach shares": lambda d: (lambda y: (y.detach().zero_(), y))(numbers(d, 3, grad=True) * 1),
    "layout of gradients": lambda d: (lambda x: ((x * 2).sum().backward(), x.grad.stride()))(
        numbers(d, 3, 4).t().clone().requires_grad_()
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:`torch.jit.script`")  # torch's own decompositions for jvp
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")  # torch's linearize
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_what_it_gives_on_the_cpu(name: str) -> None:
    agreement.check(PROGRAMS[name])


def written_after_being_saved(device: str) -> None:
    y = numbers(device, 3, grad=True).exp()
    y.add_(1)
    y.sum().backward()


def backward_twice(device: str) -> None:
    y = numbers(device, 3, grad=True).exp().sum()
    y.backward()
    y.backward()


ERRORS: dict[str, agreement.Program] = {
    "saved value written to": written_after_being_saved,
    "backward twice": backward_twice,
    "leaf": lambda d: numbers(d, 3, grad=True).add_(1),
    "view of a leaf": lambda d: numbers(d, 3, grad=True)[0].add_(1),
    "expanded": lambda d: numbers(d, 3).expand(2, 3).add_(1),
    "view of strides": lambda d: numbers(d, 3, 4).t().view(-1),
    "out= of a lower kind": lambda d: torch.add(
        numbers(d, 3), 1, out=torch.empty(3, dtype=torch.int32, device=d)
    ),
    "out= with gradients": lambda d: torch.add(
        numbers(d, 3, grad=True), 1, out=torch.empty(3, device=d)
    ),
    "not a scalar": lambda d: numbers(d, 3, grad=True).exp().backward(),
    "no gradients": lambda d: numbers(d, 3).sum().backward(),
    "shapes": lambda d: numbers(d, 3) + numbers(d, 4),
    "matrices": lambda d: numbers(d, 3, 4) @ numbers(d, 3, 4),
    "linear": lambda d: functional.linear(numbers(d, 3, 4), numbers(d, 3, 5)),
    "cat": lambda d: torch.cat([numbers(d, 3, 4), numbers(d, 3)]),
    "cat of sizes": lambda d: torch.cat([numbers(d, 3, 4), numbers(d, 3, 3)]),
    "index": lambda d: numbers(d, 3)[5],
    "too many indices": lambda d: numbers(d, 3, 4)[:, :, 0],
    "item": lambda d: numbers(d, 3).item(),
    "truth": lambda d: bool(numbers(d, 3) > 0),
    "as_strided": lambda d: numbers(d, 3).as_strided((4,), (1,)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_it_raises_what_it_raises_on_the_cpu(name: str) -> None:
    assert agreement.raised(ERRORS[name], "lazytensor") == agreement.raised(ERRORS[name], "cpu")


def test_operands_on_two_devices_are_an_error() -> None:
    with pytest.raises(RuntimeError, match="two devices, lazytensor:0 and cpu!"):
        numbers("lazytensor", 3) + numbers("cpu", 3)


def test_a_checkpoint_draws_the_same_numbers_again() -> None:
    x = torch.ones(100, device="lazytensor", requires_grad=True)
    y = checkpoint(lambda x: functional.dropout(x, 0.5) * x, x, use_reentrant=False)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal((x.grad != 0).cpu(), (y != 0).cpu())


def test_an_out_of_another_shape_is_resized_with_a_warning() -> None:
    out = torch.empty(2, device="lazytensor")
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.add(numbers("lazytensor", 3), 1, out=out)
    assert out.tolist() == [0.0, 1.5, 3.0]
    base = torch.zeros(3, 2, device="lazytensor")
    torch.add(numbers("lazytensor", 3), 1, out=base[:, 1])
    assert base.tolist() == [[0.0, 0.0], [0.0, 1.5], [0.0, 3.0]]


UNSEEN: dict[str, Any] = {
    "max": lambda x: x.max() * x,
    "min": lambda x: torch.min(x) * x,
    "masked_scatter": lambda x: x.masked_scatter(x > 0, x.flip(0)),
    "masked_fill": lambda x: x.masked_fill(x > 0, 2.0),
    "amax": lambda x: x.amax(1),
    "index_put": lambda x: x.index_put((torch.tensor([2, 0, 2]).to(x.device),), x, accumulate=True),
    "cummax": lambda x: x.cummax(0).values,
    "norm": lambda x: x.norm() + x.norm(1, 0) + x.norm(torch.inf),
    "std": lambda x: x.std() * x.var(0),
}


@pytest.mark.parametrize("function", UNSEEN.values(), ids=UNSEEN)
def test_a_backward_asks_for_no_value(function: Any) -> None:
    """Where torch looks at values to choose a derivative, a step would be two programs."""

    def program(device: str) -> Any:
        x = (numbers(device, 3, 4) - 0.3).requires_grad_()
        made = function(x)
        lazytensor.sync()
        cuts = counts["cuts"]
        (grad,) = torch.autograd.grad(made, x, torch.ones_like(made))
        assert counts["cuts"] == cuts
        return grad

    agreement.check(program)
