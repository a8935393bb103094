"""Small tensors of which the host has the elements are computed at once, by torch's CPU kernels."""

from __future__ import annotations

import copy
import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import lazytensor
import lazytensor.numpy as lnp
from lazytensor import metrics
from lazytensor.core.policy import EAGER_ELEMENTS, EAGER_TABLE, EAGER_WEIGHTS
from lazytensor.core.settings import settings
from lazytensor.frontends.torch.dispatch.eager import is_at_hand
from lazytensor.frontends.torch.native.loading import boxed
from lazytensor.frontends.torch.native.plans import ASKED
from lazytensor.frontends.torch.random.randomness import default
from tests.pytorch import agreement
from tests.pytorch.agreement import numbers
from tests.pytorch.test_boxed import CALLS, Call, functions_called, lies, square, x

pytestmark = pytest.mark.skipif(boxed is None, reason="Python kernels record every call here")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", 16384)


def there(*shape: int) -> Tensor:
    return numbers("lazytensor", *shape)


def tokens(count: int) -> Tensor:
    return torch.arange(count, device="lazytensor")


LARGE = EAGER_WEIGHTS + 1
"""Elements of a tensor that is recorded."""

MORE: dict[str, Call] = {
    "an index": lambda d: x(d)[torch.tensor([2, 0], device=d), 1:],
    "a mask": lambda d: x(d)[x(d) > 0],
    "written at an index": lambda d: x(d).index_put_((torch.tensor([0], device=d),), x(d)[1:2]),
    "pieces": lambda d: [y * 2 for y in x(d).split(2, 1)],
    "sizes": lambda d: [y * 2 for y in x(d).split([1, 3], 1)],
    "a row of numbers": lambda d: torch.arange(2, 9, 2, device=d) + 1,
    "what is made": lambda d: (torch.zeros(3, device=d), torch.full((2, 2), 5, device=d)),
    "a number": lambda d: torch.scalar_tensor(2.5, device=d) + 1,
    "a gradient between bounds": lambda d: clamped(d),
    "made like": lambda d: (torch.ones_like(x(d)), x(d).new_full((2,), 3.0)),
    "grown": lambda d: numbers(d, 90, 1) * numbers(d, 90),
    "sorted": lambda d: x(d).sort(1, descending=True),
    "several in a list": lambda d: torch._foreach_add([x(d), x(d)], 1.0),
    "a convolution": lambda d: functional.conv1d(numbers(d, 1, 2, 9), numbers(d, 3, 2, 3)),
    "a lookup": lambda d: functional.embedding(torch.tensor([3, 1], device=d), numbers(d, 5, 4)),
    "attention": lambda d: functional.scaled_dot_product_attention(*[numbers(d, 1, 2, 3, 4)] * 3),
    "from the CPU and back": lambda d: torch.ones(3).to(d).cpu() + 1,
    "copied": lambda d: (x(d).copy_(torch.ones(3, 4)), torch.zeros(3, 4).copy_(x(d))),
    "half": lambda d: (x(d).half() + 1).float(),
    "one step of a network": lambda d: network(nn.LSTM, d, 1)[0],
    "some steps of a network": lambda d: network(nn.GRU, d, 4)[0],
}  # fmt: skip


def clamped(device: str) -> Tensor:
    given = x(device).requires_grad_()
    return torch.autograd.grad(given.clamp(-0.5, 0.5).sum(), given)[0]


def network(kind: Any, device: str, steps: int) -> Any:
    torch.manual_seed(0)
    return kind(4, 5, num_layers=2, bidirectional=True).to(device)(numbers(device, steps, 2, 4))


@pytest.mark.parametrize("name", CALLS | MORE)
def test_a_call_gives_what_the_cpu_gives(name: str) -> None:
    call = (CALLS | MORE)[name]
    assert lies(call("lazytensor")) == lies(call("cpu"))
    torch.testing.assert_close(
        agreement.result(call, "lazytensor"), agreement.result(call, "cpu"), equal_nan=True
    )


AT_ONCE = [*CALLS, *MORE]
for lacking in (
    "a complex number", "a conjugate", "a negated part", "no elements", "half",
    "from the CPU and back", "copied", "a mask",
):  # fmt: skip
    AT_ONCE.remove(lacking)


@pytest.mark.parametrize("name", AT_ONCE)
def test_nothing_is_recorded(name: str) -> None:
    before = metrics.snapshot()["nodes"]
    made = (CALLS | MORE)[name]("lazytensor")
    assert metrics.snapshot()["nodes"] == before
    results = made if isinstance(made, tuple | list) else (made,)
    assert all(is_at_hand(y) for y in results if isinstance(y, Tensor))


def test_an_eager_call_runs_no_python_of_ours() -> None:
    given = square("lazytensor")
    calls: list[Callable[[], Any]] = [
        lambda: given + given.t(),
        lambda: given.mul_(1.0),
        lambda: given.sum().item(),
        lambda: given[1:] @ given,
        lambda: torch.zeros(3, device="lazytensor").normal_(),
    ]
    for call in calls:
        assert not [name for name in functions_called(call) if "/frontends/" in name]


@pytest.mark.parametrize(
    ("count", "call", "is_eager"),
    [
        (EAGER_ELEMENTS, lambda a: a + 1, True),
        (EAGER_ELEMENTS + 1, lambda a: a + 1, False),
        (EAGER_ELEMENTS, lambda a: a[:, None] + a, False),
        (EAGER_WEIGHTS, lambda a: torch.zeros_like(a), True),
        (EAGER_WEIGHTS, lambda a: torch.cat([a[8:], a[:8]]), True),
        (EAGER_WEIGHTS, lambda a: a.view(256, 256) @ a.view(256, 256)[:, :4], True),
        (LARGE, lambda a: torch.zeros_like(a), False),
        (EAGER_TABLE, lambda a: there(4, 1024) @ a.view(1024, -1), True),
        (EAGER_TABLE, lambda a: there(5, 1024) @ a.view(1024, -1), False),
        (EAGER_TABLE + 1024, lambda a: there(4, 1024) @ a.view(1024, -1), False),
        (EAGER_TABLE, lambda a: there(4, 1) @ a.view(1, -1), False),
        (EAGER_TABLE, lambda a: functional.embedding(tokens(64), a.view(1024, -1)), True),
        (EAGER_TABLE, lambda a: functional.embedding(tokens(65), a.view(1024, -1)), False),
    ],
)
def test_sizes_decide(count: int, call: Callable[[Tensor], Tensor], is_eager: bool) -> None:
    assert is_at_hand(call(there(count))) == is_eager


def test_the_setting_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", 0)
    assert not is_at_hand(there(3))
    assert not is_at_hand(torch.zeros(3, device="lazytensor"))


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_what_a_program_computes_is_recorded_on_whatever_ran_it(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    total = there(LARGE).sum()
    lazytensor.sync()
    assert not is_at_hand(total)
    assert not is_at_hand(total * 2)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_what_came_from_the_host_stays_at_hand_whatever_ran_a_program_on_it(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    weight = there(8)
    for _ in range(3):
        recorded = there(LARGE).exp()[:8] * weight
        lazytensor.sync()
        assert not is_at_hand(recorded)
        assert is_at_hand(weight * 2)
    assert torch.equal((weight * 2).cpu(), numbers("cpu", 8) * 2)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_what_small_programs_have_computed_is_at_hand_until_a_large_one_runs(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the words that follow a long prompt: the first one reads what a large program made."""
    monkeypatch.setattr(settings, "tier", tier)
    kept = there(LARGE).exp()[:12].view(3, 4).t().contiguous().t()  # shown in another order
    lazytensor.sync()
    found = []
    for _ in range(4):
        new = there(3, 1)
        assert is_at_hand(new * 2)
        kept = torch.cat([kept, new], 1)
        lazytensor.sync()
        found.append(is_at_hand(kept[:, 1:] * 2))
    assert found == [True] * 4
    first = numbers("cpu", LARGE).exp()[:12].view(3, 4)
    torch.testing.assert_close(kept.cpu(), torch.cat([first, *[numbers("cpu", 3, 1)] * 4], 1))
    later = there(4) * there(LARGE).exp().sum()
    lazytensor.sync()
    assert not is_at_hand(later)
    assert is_at_hand(kept * 2)  # eager calls have made it


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_what_a_program_has_computed_is_at_hand_for_the_many_calls_that_follow(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a loop that acts many times between two training steps."""
    monkeypatch.setattr(settings, "tier", tier)
    x = there(2, 8)
    for _ in range(2):
        weight, bias = there(LARGE).sum() * there(3, 8), there(LARGE).sum() * there(3)
        lazytensor.sync()
        found = []
        for _ in range(2 * ASKED):
            y = functional.linear(x, weight, bias)
            found.append(is_at_hand(y))
            numbers_of_y = y.cpu()
        assert not any(found[:2])
        assert all(found[-ASKED:])
        torch.testing.assert_close(
            numbers_of_y, functional.linear(x.cpu(), weight.cpu(), bias.cpu())
        )


def test_views_and_writes_go_on_where_recording_begins() -> None:
    def program(device: str) -> Any:
        a = numbers(device, 4, 4)
        row, turned = a[1], a.t()
        row.add_(1)  # at once
        a.mul_(numbers(device, LARGE).sum())  # recorded
        turned[0].sub_(3)
        row.mul_(2)
        return a, row, turned

    agreement.check(program)


def test_a_recorded_program_does_not_see_later_writes() -> None:
    def program(device: str) -> Any:
        a, large = numbers(device, 3), numbers(device, LARGE)
        made = large[:3] * a
        a.add_(1)
        return made, a

    agreement.check(program)


def test_writes_are_seen_by_arrays_that_share() -> None:
    a = there(3)
    a.add_(1)
    shared = lnp.asarray(a)
    assert type(shared) is lnp.ndarray
    a.add_(1)
    assert shared.tolist() == a.tolist() == [1.0, 2.5, 4.0]
    shared[0] = 7.0
    assert a.tolist() == [7.0, 2.5, 4.0]


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(6, 6),
    "convolution": lambda: nn.Conv1d(6, 6, 3, padding=1),
    "layer norm": lambda: nn.LayerNorm(6),
    "group norm": lambda: nn.GroupNorm(2, 6),
    "batch norm": lambda: nn.BatchNorm1d(6),
    "pool": lambda: nn.MaxPool1d(2),
    "mean pool": lambda: nn.AvgPool1d(2),
    "adaptive pool": lambda: nn.AdaptiveMaxPool1d(3),
    "gelu": lambda: nn.GELU(),
    "prelu": lambda: nn.PReLU(),
    "softmax": lambda: nn.LogSoftmax(1),
    "LSTM": lambda: nn.LSTM(6, 6, 2),
    "GRU": lambda: nn.GRU(6, 6, bidirectional=True),
    "attention": lambda: nn.TransformerEncoderLayer(6, 2, 8, 0.0),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("is_recorded", [True, False], ids=["backward recorded", "at once"])
def test_what_a_layer_keeps_serves_either_backward(name: str, is_recorded: bool) -> None:
    """What the CPU's kernel keeps for the gradient, the recorded gradient takes."""

    def program(device: str) -> Any:
        torch.manual_seed(0)
        layer = LAYERS[name]().to(device)
        given = numbers(device, 6, 6, 6, grad=True)
        made = layer(given)
        made = made[0] if isinstance(made, tuple) else made
        by = (torch.ones(LARGE, device=device).mean() if is_recorded else 2.0) * made.sin().sum()
        by.backward()
        return made, given.grad, [p.grad for p in layer.parameters()]

    mine, theirs = (agreement.result(program, device) for device in ("lazytensor", "cpu"))
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)  # sums in another order


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
@pytest.mark.parametrize("is_recorded", [True, False], ids=["backward recorded", "at once"])
def test_cells_are_computed_at_once(cell: Any, is_recorded: bool) -> None:
    def program(device: str) -> Any:
        torch.manual_seed(0)
        net = cell(3, 4).to(device)
        state = net(numbers(device, 2, 3))
        for _ in range(2):
            state = net(numbers(device, 2, 3), state)
        last = state[0] if isinstance(state, tuple) else state
        by = torch.ones(LARGE, device=device).mean() if is_recorded else 1.0
        (by * last.square().sum()).backward()
        return last, [p.grad for p in net.parameters()]

    before = metrics.snapshot()["nodes"]
    agreement.check(program)
    assert is_recorded or metrics.snapshot()["nodes"] == before


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1),
    "momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, 0.1, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, 0.1, maximize=True),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_small_model_is_trained_at_once(name: str) -> None:
    before = metrics.snapshot()["nodes"]

    def program(device: str) -> Any:
        net = agreement.net(device)
        optimizer = OPTIMIZERS[name](net.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            net(numbers(device, 7, 4)).square().sum().backward()
            optimizer.step()
        return list(net.parameters())

    mine, theirs = (agreement.result(program, device) for device in ("lazytensor", "cpu"))
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    assert metrics.snapshot()["nodes"] == before


DRAWS: dict[str, Callable[[], Any]] = {
    "rand": lambda: torch.rand(5, 7, device="lazytensor"),
    "randn": lambda: torch.randn(33, device="lazytensor"),
    "randn f64": lambda: torch.randn(33, device="lazytensor", dtype=torch.float64),
    "uniform": lambda: torch.zeros(9, device="lazytensor").uniform_(-1, 4),
    "normal": lambda: torch.zeros(9, device="lazytensor").normal_(2, 3),
    "a part": lambda: (lambda a: (a[::2].normal_(), a))(torch.zeros(9, device="lazytensor")),
    "a generator": lambda: torch.rand(
        9, device="lazytensor", generator=torch.Generator("lazytensor").manual_seed(7)
    ),
    "bernoulli": lambda: torch.bernoulli(torch.full((9,), 0.3, device="lazytensor")),
    "bernoulli_": lambda: torch.zeros(9, device="lazytensor").bernoulli_(0.3),
    "dropout": lambda: functional.dropout(torch.ones(40, device="lazytensor"), 0.4),
    "multinomial": lambda: torch.multinomial(torch.ones(3, 4, device="lazytensor"), 2),
    "exponential": lambda: torch.zeros(9, device="lazytensor").exponential_(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_those_of_a_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for small in (16384, 0):
        monkeypatch.setattr(settings, "small", small)
        torch.manual_seed(3)
        made = DRAWS[name]()
        results = made if isinstance(made, tuple) else (made,)
        assert all(is_at_hand(y) == (small > 0) for y in results)
        drawn.append(([y.detach().cpu() for y in results], default.counter))
    assert drawn[0][1] == drawn[1][1]
    torch.testing.assert_close(drawn[0][0], drawn[1][0])


def test_what_nothing_is_written_to_is_zero() -> None:
    assert not torch.empty(9, device="lazytensor").any()


def test_copies_and_files_hold_the_elements() -> None:
    a = there(3, 4).t()
    file = io.BytesIO()
    torch.save(a, file)
    file.seek(0)
    for copied in (copy.deepcopy(a), pickle.loads(pickle.dumps(a)), torch.load(file)):
        assert copied.stride() == a.stride()
        assert torch.equal(copied.cpu(), a.cpu())


def test_an_exported_model_keeps_its_weights() -> None:
    net = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)).to("lazytensor")
    given = there(2, 4)
    wanted = net(given)
    program = lazytensor.export(net, given)
    assert any("weight" in name for name in program.weights)
    np.testing.assert_allclose(program(given.cpu().numpy()), wanted.detach().cpu(), rtol=1e-5)


def test_threads_share_tensors_that_turn_into_arrays() -> None:
    shared = [there(16) for _ in range(40)]

    def work(seed: int) -> float:
        total = 0.0
        for i, a in enumerate(shared):
            total += float((a * 2).sum())
            if (i + seed) % 3 == 0:
                a.untyped_storage().handle  # noqa: B018 -- what records asks for it
            total += float(a.t().sum())
        return total

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(work, range(64)))
    assert made == {40 * 3 * float(there(16).cpu().sum())}


def test_what_is_dropped_leaves_no_objects() -> None:
    given = square("lazytensor")

    def work(count: int) -> int:
        for _ in range(count):
            (given.t() + given).relu().sum(0).mul_(2.0)
            given.untyped_storage().handle  # noqa: B018 -- recorded, and brought back
        return sys.getallocatedblocks()

    work(500)
    before = work(500)
    assert work(2000) - before < 500  # a leak of one object a call would be 2,000 and more


def test_a_refused_call_raises_the_devices_error() -> None:
    for call in (lambda d: x(d) + numbers(d, 3), lambda d: x(d) @ x(d), lambda d: x(d)[5]):
        assert agreement.raised(call, "lazytensor") == agreement.raised(call, "cpu")


PROGRAM = """
import os
import torch, lazytensor.torch
x = torch.arange(6.0, device="lazytensor")
for _ in range(6):
    x = (x + 1).view(2, 3).t().reshape(-1) * 0.5
wanted = (x + x).tolist()
child = os.fork()
if not child:
    os._exit(3 if (x + x).tolist() == wanted else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_computes_at_once_too() -> None:
    environment = {**os.environ, "LAZYTENSOR_SMALL": "16384"}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"


def test_steps_that_lie_on_the_device_are_torchs() -> None:
    def program(device: str) -> Any:
        net = agreement.net(device)
        optimizer = torch.optim.AdamW(net.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            net(numbers(device, 7, 4)).square().sum().backward()
            optimizer.step()
            for state in optimizer.state.values():
                state["step"] = state["step"].to(device)
        return list(net.parameters())

    mine, theirs = (agreement.result(program, device) for device in ("lazytensor", "cpu"))
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
