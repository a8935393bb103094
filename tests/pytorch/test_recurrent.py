"""Recurrent networks: values and gradients of the CPU's, derivatives of two orders, one program."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils._pytree import tree_map
from torch.utils.checkpoint import checkpoint

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics, settings
from lazytensor.core.ir.recording import nodes_made
from tests.sweeps import one_in

pytestmark = pytest.mark.usefixtures("no_fallback")

NETS: dict[str, Any] = {
    "LSTM": lambda: nn.LSTM(3, 4),
    "LSTM, no bias": lambda: nn.LSTM(3, 4, bias=False),
    "LSTM, two layers, both ways, projected": lambda: nn.LSTM(
        3, 4, num_layers=2, bidirectional=True, proj_size=2
    ),
    "GRU": lambda: nn.GRU(3, 4),
    "GRU, no bias": lambda: nn.GRU(3, 4, bias=False),
    "GRU, two layers, both ways": lambda: nn.GRU(3, 4, num_layers=2, bidirectional=True),
    "GRU, batches first": lambda: nn.GRU(3, 4, batch_first=True),
    "RNN": lambda: nn.RNN(3, 4),
    "RNN, relu, three layers, both ways": lambda: nn.RNN(
        3, 4, num_layers=3, bidirectional=True, nonlinearity="relu"
    ),
}
CELLS: dict[str, Any] = {
    "LSTMCell": lambda: nn.LSTMCell(3, 4),
    "LSTMCell, no bias": lambda: nn.LSTMCell(3, 4, bias=False),
    "GRUCell": lambda: nn.GRUCell(3, 4),
    "GRUCell, no bias": lambda: nn.GRUCell(3, 4, bias=False),
}


def both(make: Any) -> Iterator[tuple[str, Any]]:
    """The same module on the CPU and on the device."""
    module = make()
    for device in ("cpu", "lazytensor"):
        yield device, copy.deepcopy(module).to(device)


def leaves(made: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = torch.utils._pytree.tree_leaves(made)
    return found


def on_host(made: Any) -> Any:
    return [x.detach().cpu() for x in leaves(made)]


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("name", NETS | CELLS)
def test_values_and_gradients_are_the_cpus(name: str) -> None:
    x = torch.randn(*((5, 2, 3) if name in NETS else (2, 3)))
    found = []
    for device, module in both((NETS | CELLS)[name]):
        given = leaf(x, device)
        made = module(given)
        sum(y.square().sum() for y in leaves(made)).backward()
        grads = [given.grad, *(p.grad for p in module.parameters())]
        with torch.no_grad():
            found.append(on_host((made, grads, module(given))))
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)


@one_in(3)
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", NETS | CELLS)
def test_derivatives_of_two_orders_and_forwards(name: str) -> None:
    module = (NETS | CELLS)[name]().double().to("lazytensor")
    names = [name for name, _ in module.named_parameters()]
    shape = (2, 2, 3) if name in NETS else (2, 3)
    x = torch.randn(shape, dtype=torch.float64, device="lazytensor", requires_grad=True)

    def call(x: Any, *parameters: Any) -> Any:
        return tuple(leaves(functional_call(module, dict(zip(names, parameters, strict=True)), x)))

    given = x, *module.parameters()
    assert torch.autograd.gradcheck(call, given, fast_mode=True)
    assert torch.autograd.gradgradcheck(call, given, fast_mode=True)
    assert torch.autograd.gradcheck(call, given, fast_mode=True, check_forward_ad=True)


def states_for(module: Any, count: int) -> Any:
    """First states, as a caller would give them."""
    ways = module.num_layers * (2 if module.bidirectional else 1)
    sizes = [module.proj_size or module.hidden_size, module.hidden_size]
    made = [torch.randn(ways, count, size) for size in sizes[: 2 if module.mode == "LSTM" else 1]]
    return tuple(made) if len(made) > 1 else made[0]


def leaf(x: torch.Tensor, device: str) -> torch.Tensor:
    """A copy there that gets a gradient."""
    return x.clone().to(device).requires_grad_()


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("lengths", [[5, 3, 2], [2, 5, 5], [1, 1, 1]], ids=str)
@pytest.mark.parametrize("name", [name for name in NETS if "first" not in name])
def test_packed_sequences(name: str, lengths: list[int]) -> None:
    x, first, found = torch.randn(5, 3, 3), None, []
    for device, module in both(NETS[name]):
        first = states_for(module, 3) if first is None else first
        given = leaf(x, device)
        begin = tree_map(lambda t, device=device: leaf(t, device), first)
        made, last = module(pack_padded_sequence(given, lengths, enforce_sorted=False), begin)
        padded = pad_packed_sequence(made)
        (padded[0].square().sum() + sum(t.sum() for t in leaves(last))).backward()
        grads = [given.grad, [t.grad for t in leaves(begin)], [p.grad for p in module.parameters()]]
        found.append(on_host((padded, last, grads)))
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in NETS if "projected" not in name])
def test_what_is_recorded_does_not_grow_with_the_length(name: str) -> None:
    (_, _), (_, module) = both(NETS[name])
    made = []
    for length in (9, 9, 300, 300):  # the first call of each is traced
        x = torch.randn(length, 2, 3, device="lazytensor", requires_grad=True)
        before = nodes_made()
        module(x)[0].sum().backward()
        made.append(nodes_made() - before)
    assert made[1] == made[3]


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("wanted", ["output", "state", "first state"])
def test_gradients_of_one_result_alone(name: str, wanted: str) -> None:
    """What is not asked for counts as zeros."""
    x, first, found = torch.randn(4, 2, 3), None, []
    for device, module in both(NETS[name]):
        first = states_for(module, 2) if first is None else first
        given = x.to(device) if wanted == "first state" else leaf(x, device)
        begin = tree_map(lambda t, device=device: leaf(t, device), first)
        for p in module.parameters():
            p.requires_grad_(wanted != "first state")
        output, last = module(given, begin)
        made = output if wanted == "output" else leaves(last)[-1]
        made.square().sum().backward()
        grads = [t.grad for t in (given, *leaves(begin)) if t.requires_grad]
        found.append(on_host(grads))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(
    "shapes",
    [((5, 2, 4), (1, 2, 4)), ((5, 2, 3), (1, 3, 4)), ((5, 2, 3), (2, 2, 4)), ((2,), (1, 4))],
    ids=str,
)
def test_what_does_not_fit_is_refused_as_on_the_cpu(name: str, shapes: Any) -> None:
    texts = []
    for device, module in both(NETS[name]):
        x, state = (torch.zeros(shape, device=device) for shape in shapes)
        given = (state, state) if name == "LSTM" else state
        with pytest.raises((RuntimeError, ValueError)) as error:
            module(x, given)
        texts.append((error.type, str(error.value)))
    assert texts[0] == texts[1]


def test_checkpoints_and_inference() -> None:
    x = torch.randn(5, 2, 3)
    found = []
    for device, module in both(NETS["LSTM"]):
        given = leaf(x, device)
        made = checkpoint(lambda t, module=module: module(t)[0], given, use_reentrant=False)
        made.square().sum().backward()
        with torch.inference_mode():
            again = module(given)[0]
        found.append(on_host([made, given.grad, again]))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(name: str, dtype: torch.dtype) -> None:
    x = torch.randn(*((5, 2, 3) if name in NETS else (2, 3)))
    (_, host), (_, there) = both((NETS | CELLS)[name])
    with torch.autocast("lazytensor", dtype=dtype):
        made = leaves(there(x.to("lazytensor")))[0]
    assert made.dtype == dtype
    made.float().sum().backward()
    assert all(p.grad.dtype == torch.float32 for p in there.parameters())
    torch.testing.assert_close(made.float().cpu(), leaves(host(x))[0], rtol=3e-2, atol=3e-2)


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_training_is_one_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    x = torch.randn(7, 2, 3)
    losses = []
    for device, module in both(NETS[name]):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        given = x.to(device)
        torch.lazytensor.synchronize()
        metrics.reset()
        values = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = module(given)[0].square().mean()
            loss.backward()
            optimizer.step()
            values.append(loss.detach())
        losses.append([value.item() for value in values])
    counts = metrics.snapshot()
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert counts["compiles"] <= 2
    assert counts["cuts"] == 10


def test_dropout_between_layers_is_drawn_again_under_a_seed() -> None:
    module = nn.LSTM(3, 4, num_layers=2, dropout=0.5).to("lazytensor")
    x = torch.randn(5, 2, 3).to("lazytensor")

    def drawn() -> Any:
        torch.manual_seed(3)
        return module(x)[0].cpu()

    torch.testing.assert_close(drawn(), drawn(), rtol=0, atol=0)
    assert not torch.equal(module(x)[0].cpu(), drawn())


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_of_single_samples() -> None:
    x = torch.randn(3, 5, 2, 3)
    found = []
    for device, module in both(NETS["LSTM"]):

        def loss(parameters: Any, x: Any, module: Any = module) -> Any:
            return functional_call(module, parameters, (x,))[0].square().sum()

        each = vmap(grad(loss), in_dims=(None, 0), randomness="different")
        parameters = dict(module.named_parameters())
        rows = [grad(loss)(parameters, one.to(device)) for one in x]
        stacked = [torch.stack(several) for several in zip(*map(leaves, rows), strict=True)]
        if device == "lazytensor":  # the CPU's kernel of whole networks has no rule for it
            found.append(on_host(leaves(each(parameters, x.to(device)))))
        found.append(on_host(stacked))
    torch.testing.assert_close(found[1], found[2])
    torch.testing.assert_close(found[0], found[2])


def test_compiled_by_torch() -> None:
    x = torch.randn(5, 2, 3)
    found = []
    for device, module in both(NETS["LSTM"]):
        call = torch.compile(module, backend="lazytensor") if device == "lazytensor" else module
        made = call(x.to(device))[0]
        made.sum().backward()
        found.append(on_host((made, [p.grad for p in module.parameters()])))
    torch.testing.assert_close(*found)
