"""`torch.compile` with this backend, and `wrap`: the same results, still one program a step."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import rnn

import lazytensor.torch
from lazytensor import metrics, settings
from lazytensor.core.ir.recording import nodes_made
from tests.pytorch import agreement
from tests.pytorch.agreement import numbers

STEPS = 5


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def compiled(f: Any, **how: Any) -> Any:
    return torch.compile(f, backend=lazytensor.torch.backend, **how)


def branching(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + 1 if y.sum() > 0 else y - 1


def with_constants(x: torch.Tensor) -> torch.Tensor:
    return x + torch.tensor([1.0, 2.0, 3.0, 4.0], device=x.device) + torch.arange(4).to(x.device)


CALLS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "running statistics": (
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), (2, 3, 8, 8),
    ),
    "views as results": (lambda x: (x.t(), x[0] * 2, x.t() * 2), (3, 4)),
    "a branch on data": (branching, (3, 4)),
    "constants": (with_constants, (3, 4)),
    "sizes": (lambda x: x * x.shape[0], (3, 4)),
    "attention": (
        lambda q: functional.scaled_dot_product_attention(q, q, q, is_causal=True), (2, 2, 4, 8),
    ),
}  # fmt: skip


# dynamo itself looks at `grad` of tensors that live across a break of its graph
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.parametrize("name", CALLS)
def test_results_gradients_and_buffers_are_torchs(name: str) -> None:
    given, shape = CALLS[name]
    torch.manual_seed(0)
    data = torch.randn(shape)
    shown: list[list[torch.Tensor]] = []
    for device in ("cpu", "lazytensor"):
        module = isinstance(given, nn.Module)
        f = copy.deepcopy(given).to(device) if module else given
        call = compiled(f) if device == "lazytensor" else f
        found: list[torch.Tensor] = []
        for shift in range(-1, 2):
            x = (data + 3 * shift).to(device).detach().requires_grad_()
            made = call(x)
            made = made if isinstance(made, tuple) else (made,)
            sum(y.sum() for y in made).backward()
            assert x.grad is not None
            found += [y.detach().cpu() for y in made] + [x.grad.cpu()]
            found += [b.cpu().clone() for b in f.buffers()] if module else []
        shown.append(found)
    for theirs, ours in zip(*shown, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_writes_to_arguments_are_seen() -> None:
    x = torch.ones(3, device="lazytensor")
    assert compiled(lambda x: x.mul_(2) + 1)(x).tolist() == [3, 3, 3]
    assert x.tolist() == [2, 2, 2]


def test_numbers_and_shapes_that_change() -> None:
    f = compiled(lambda x, n: x * n)
    for n in (2, 3, 4, 2.5, 3.5):
        assert f(torch.ones(2, device="lazytensor"), n).tolist() == [n, n]
    for size in (3, 4, 5):
        assert f(torch.ones(size, device="lazytensor"), 2).tolist() == [2] * size


def test_dropout_differs_from_call_to_call() -> None:
    f, x = compiled(nn.Dropout(0.5)), torch.ones(100, device="lazytensor")
    assert not torch.equal(f(x).cpu(), f(x).cpu())


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.conj()
    torch._dynamo.graph_break()
    return y * 2


def with_another_storage(x: torch.Tensor) -> torch.Tensor:
    x.data = x * 2
    return x + 1


def complexes(device: str) -> torch.Tensor:
    return torch.complex(numbers(device, 2, 3), numbers(device, 2, 3) + 1)


def square(device: str) -> torch.Tensor:
    return numbers(device, 3, 3) + 4 * torch.eye(3, device=device)


ALIKE: dict[str, tuple[Any, Callable[[str], torch.Tensor]]] = {
    "a conjugate": (lambda x: x * 2, lambda device: complexes(device).conj()),
    "a negative": (lambda x: x + 0, lambda device: complexes(device).conj().imag),
    "a conjugate of a piece": (lambda x: x[0] * 2, lambda device: complexes(device).t().conj()),
    "a conjugate as the result": (lambda x: (x * 2).conj(), complexes),
    "a conjugate, then a break": (broken, complexes),
    "columns": (lambda x: x * 2, lambda device: numbers(device, 3, 4).t()),
    "columns with gaps": (lambda x: x.t() * 2, lambda device: numbers(device, 6, 4)[::2, ::2]),
    "by strides": (
        lambda x: x.as_strided((2, 2), (1, 2)) * 1, lambda device: numbers(device, 6, 4)[1:, ::2],
    ),
    "as they lie": (
        lambda x: x.as_strided((2, 2), (1, 2)) * 1, lambda device: numbers(device, 6, 4).t(),
    ),
    "turned in place": (lambda x: (x * 2).transpose_(0, 1) + 1, square),
    "of no size": (lambda x: x[:0].t() * 2, square),
    "another storage": (with_another_storage, square),
    "inv": (torch.linalg.inv, square),
    "cholesky": (torch.linalg.cholesky, square),
    "solve": (lambda x: torch.linalg.solve(x, x + 1), square),
    "quantile": (lambda x: torch.quantile(x, 0.3), square),
    "nanquantile": (lambda x: torch.nanquantile(x, 0.3), square),
    "stft": (
        lambda x: torch.stft(x, 8, window=torch.ones(8, device=x.device), return_complex=True),
        lambda device: numbers(device, 16),
    ),
}  # fmt: skip


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", ALIKE)
def test_results_are_those_of_the_cpu(name: str, dynamic: bool | None) -> None:
    f, make = ALIKE[name]
    call = compiled(f, dynamic=dynamic)
    for _ in range(2):
        agreement.check(lambda device: f(make(device)) if device == "cpu" else call(make(device)))


def test_results_lie_as_torch_infers() -> None:
    for dynamic in (None, True):
        found = compiled(lambda x: x.t() * 2, dynamic=dynamic)(numbers("lazytensor", 3, 4))
        assert found.stride() == (1, 4)


def test_a_conjugates_gradient() -> None:
    x = complexes("lazytensor").requires_grad_()
    compiled(lambda x: (x.conj() * x).real.sum())(x).backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad.cpu(), 2 * x.detach().cpu())


OUTSIDE: dict[str, Any] = {
    "a place": lambda x, i: x[i],
    "a row": lambda x, i: functional.embedding(i, x),
    "of two": lambda x, i: x[i] + functional.embedding(i - 1, x),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_is_refused_and_all_else_is_as_it_should_be(name: str) -> None:
    x, i = numbers("lazytensor", 3, 2), torch.tensor([2, 1], device="lazytensor")
    f = OUTSIDE[name]
    both = compiled(lambda x, i: (f(x, i), x * 2))
    for _ in range(2):
        torch.testing.assert_close(both(x, i)[0], f(x, i))
        made, rest = both(x, i + 7)
        with pytest.raises(IndexError, match=r"out of range (for dimension with size|.* has) 3"):
            made.cpu()
        assert torch.equal(rest.cpu(), x.cpu() * 2)


def test_looking_something_up_is_one_operation() -> None:
    f = compiled(lambda i, x: functional.embedding(i, x).sin().cos().exp())
    x, i = numbers("lazytensor", 3, 2), torch.tensor([2, 1], device="lazytensor")
    f(i, x)
    before = nodes_made()
    f(i, x)
    assert nodes_made() - before <= 5  # the graph, its results, a guard, what is guarded


def test_bags_have_gradients() -> None:
    bag = nn.EmbeddingBag(10, 4).to("lazytensor")
    compiled(bag)(torch.tensor([[1, 2], [3, 4]], device="lazytensor")).sum().backward()
    assert bag.weight.grad is not None
    assert bag.weight.grad.sum(1).tolist() == [0, 2, 2, 2, 2, 0, 0, 0, 0, 0]


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


def train(net: Callable[..., Any], parameters: Any, x: torch.Tensor) -> list[float]:
    optimizer = torch.optim.AdamW(parameters, lr=1e-2)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [loss.item() for loss in losses]


def test_training_is_one_program_a_step_and_records_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)
    net, x = network(), torch.randn(4, 8)
    there = copy.deepcopy(net).to("lazytensor")
    expected = train(net, net.parameters(), x)
    f = compiled(there)
    f(x.to("lazytensor")).sum().backward()
    torch.lazytensor.synchronize()
    for p in there.parameters():
        p.grad = None
    metrics.reset()
    found = train(f, there.parameters(), x.to("lazytensor"))
    counts = metrics.snapshot()
    assert found == pytest.approx(expected, rel=1e-5)
    assert (counts["cuts"], counts["fallbacks"]) == (STEPS, 0)
    assert counts["compiles"] <= 2


def test_wrap_takes_and_gives_cpu_tensors_and_trains() -> None:
    net, x = network(), torch.randn(4, 8)
    wrapped = lazytensor.torch.wrap(copy.deepcopy(net))
    expected = train(net, net.parameters(), x)
    assert train(wrapped, wrapped.parameters(), x) == pytest.approx(expected, rel=1e-5)
    assert wrapped(x).device.type == "cpu"
    assert wrapped(x.to("lazytensor")).device.type == "lazytensor"
    torch.testing.assert_close(wrapped(x), net(x))


def test_wrap_reaches_into_containers_and_survives_copies() -> None:
    class Taking(nn.Module):
        def forward(self, pair: Any, *, scale: torch.Tensor) -> dict[str, Any]:
            return {"sum": (pair[0] + pair[1]) * scale, "name": "sum"}

    wrapped = copy.deepcopy(lazytensor.torch.wrap(Taking()))
    x = torch.ones(2, requires_grad=True)
    made = wrapped((x, x), scale=torch.tensor(3.0))
    made["sum"].sum().backward()
    assert (made["name"], made["sum"].tolist()) == ("sum", [6, 6])
    assert x.grad is not None
    assert x.grad.tolist() == [6, 6]
    state = pickle.loads(pickle.dumps(lazytensor.torch.wrap(network()).cpu().state_dict()))
    assert next(iter(state)) == "module.0.weight"


def test_wrap_takes_packed_sequences() -> None:
    class Doubling(nn.Module):
        def forward(self, given: list[rnn.PackedSequence]) -> tuple[rnn.PackedSequence, str]:
            (x,) = given
            assert x.data.device.type == "lazytensor"
            return x._replace(data=x.data * 2), "doubled"

    x = rnn.pack_padded_sequence(numbers("cpu", 5, 3, 2), torch.tensor([2, 5, 3]), False, False)
    made, _ = lazytensor.torch.wrap(Doubling())([x])
    found, lengths = rnn.pad_packed_sequence(made)
    assert found.device.type == "cpu"
    assert lengths.tolist() == [2, 5, 3]
    torch.testing.assert_close(found, 2 * rnn.pad_packed_sequence(x)[0])
    assert lazytensor.torch.wrap(Doubling())([x.to("lazytensor")])[0].data.is_lazytensor


def test_wrapped_modules_may_be_moved() -> None:
    net, x = network(), torch.randn(4, 8)
    wrapped = lazytensor.torch.wrap(copy.deepcopy(net)).cpu()
    torch.testing.assert_close(wrapped(x), net(x))
    wrapped.to("lazytensor")
    torch.testing.assert_close(wrapped(x), net(x))


def test_wrap_refuses_what_is_no_module() -> None:
    with pytest.raises(TypeError, match=r"a torch.nn.Module was expected"):
        lazytensor.torch.wrap(network)  # type: ignore[arg-type]
