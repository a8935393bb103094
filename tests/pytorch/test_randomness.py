"""Random numbers: streams repeat under a seed, generators are independent, nothing recompiles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics, settings


def probability() -> torch.Tensor:
    return torch.full((200,), 0.5, device="lazytensor")


DRAWS: dict[str, Callable[[Any], torch.Tensor]] = {
    "rand": lambda g: torch.rand(50, device="lazytensor", generator=g),
    "randn": lambda g: torch.randn(50, device="lazytensor", generator=g),
    "randint": lambda g: torch.randint(1000, (50,), device="lazytensor", generator=g),
    "randperm": lambda g: torch.randperm(50, device="lazytensor", generator=g),
    "bernoulli": lambda g: torch.bernoulli(probability(), generator=g),
    "multinomial": lambda g: torch.multinomial(torch.ones(50, device="lazytensor"), 9, generator=g),
    "normal": lambda g: torch.normal(torch.zeros(50, device="lazytensor"), 1.0, generator=g),
    "exponential_": lambda g: torch.empty(50, device="lazytensor").exponential_(generator=g),
    "poisson": lambda g: torch.poisson(torch.full((50,), 20.0, device="lazytensor"), generator=g),
    "complex": lambda g: torch.randn(9, device="lazytensor", dtype=torch.complex64, generator=g),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_a_stream_repeats_under_its_seed_and_goes_on(name: str) -> None:
    draw, generator = DRAWS[name], torch.Generator(device="lazytensor")
    first, second = draw(generator.manual_seed(7)).cpu(), draw(generator).cpu()
    assert torch.equal(draw(generator.manual_seed(7)).cpu(), first)
    assert not torch.equal(first, second)
    state = generator.get_state()
    third = draw(generator).cpu()
    assert torch.equal(draw(generator.set_state(state)).cpu(), third)
    for twin in (pickle.loads(pickle.dumps(generator)), generator.clone_state()):
        assert torch.equal(draw(twin).cpu(), draw(copy_of(generator)).cpu())
    torch.manual_seed(7)
    assert torch.equal(draw(None).cpu(), first)


def copy_of(generator: torch.Generator) -> torch.Generator:
    return copy.deepcopy(generator)


def test_torchs_generators_are_what_they_were() -> None:
    mine = torch.Generator("lazytensor")
    assert mine.device == torch.device("lazytensor", 0)
    assert isinstance(mine, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator)
    assert torch.Generator().device.type == "cpu"
    with pytest.raises(RuntimeError, match="Expected a 'lazytensor' device type for generator"):
        torch.rand(3, device="lazytensor", generator=torch.Generator())


def test_the_state_of_the_default_stream_is_kept_and_restored() -> None:
    state = torch.lazytensor.get_rng_state()
    first = torch.rand(5, device="lazytensor").tolist()
    with torch.random.fork_rng():
        torch.rand(5, device="lazytensor")
    second = torch.rand(5, device="lazytensor").tolist()
    torch.lazytensor.set_rng_state(state)
    assert torch.rand(5, device="lazytensor").tolist() == first
    assert torch.rand(5, device="lazytensor").tolist() == second
    torch.lazytensor.manual_seed_all(3)
    assert torch.lazytensor.initial_seed() == 3


def test_draws_have_the_distribution_they_are_named_after() -> None:
    torch.manual_seed(0)
    n = 20_000
    weights = torch.tensor([0.0, 1.0, 3.0], device="lazytensor")
    for counts in (
        torch.multinomial(weights, n, replacement=True).cpu().bincount(minlength=3),
        torch.multinomial(weights.expand(n, 3), 1).cpu().flatten().bincount(minlength=3),
    ):
        assert counts[0] == 0
        assert abs(counts[2] / n - 0.75) < 0.02
    pairs = torch.multinomial(weights, 2).cpu()
    assert sorted(pairs.tolist()) == [1, 2]
    assert torch.randperm(1000, device="lazytensor").cpu().sort()[0].tolist() == list(range(1000))
    waits = torch.empty(n, device="lazytensor").exponential_(2.0).cpu()
    assert abs(waits.mean() - 0.5) < 0.02
    assert waits.min() > 0


N = 3000


def many(*values: float) -> torch.Tensor:
    return torch.tensor(values, device="lazytensor").repeat_interleave(N)


DISTRIBUTIONS: dict[str, tuple[Callable[..., torch.Tensor], tuple[tuple[float, ...], ...]]] = {
    "poisson": (torch.poisson, ((0.0,), (0.7,), (11.0,), (13.0,), (400.0,))),
    "binomial": (torch.binomial, ((5.0, 0.2), (30.0, 0.9), (100.0, 0.4), (9.0, 1.0))),
    "gamma": (torch._standard_gamma, ((0.5,), (0.9,), (1.0,), (7.5,), (900.0,))),
}  # fmt: skip
MOMENTS: dict[str, Callable[..., tuple[float, float]]] = {
    "poisson": lambda mean: (mean, mean),
    "binomial": lambda n, p: (n * p, n * p * (1 - p)),
    "gamma": lambda shape: (shape, shape),
}
"""Mean and variance."""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_draws_have_the_mean_and_variance_of_their_distribution(name: str) -> None:
    torch.manual_seed(0)
    draw, cases = DISTRIBUTIONS[name]
    columns = [many(*column) for column in zip(*cases, strict=True)]
    drawn = draw(*columns).cpu().double().view(len(cases), N)
    for row, case in zip(drawn, cases, strict=True):
        mean, variance = MOMENTS[name](*case)
        assert abs(row.mean() - mean) <= 5 * (variance / N) ** 0.5
        assert abs(row.var() - variance) <= 0.25 * variance
        assert name == "gamma" or torch.equal(row, row.round())


def test_draws_from_a_dirichlet_distribution_add_up_to_1() -> None:
    torch.manual_seed(0)
    weights = torch.tensor([0.5, 1.0, 2.5], device="lazytensor")
    drawn = torch._sample_dirichlet(weights.expand(N, 3)).cpu()
    torch.testing.assert_close(drawn.sum(1), torch.ones(N))
    torch.testing.assert_close(drawn.mean(0), weights.cpu() / 4, atol=0.02, rtol=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.uniform_(2, 1),
        lambda x: x.normal_(0, -1),
        lambda x: x.bernoulli_(2.0),
        lambda x: x.exponential_(-1.0),
        lambda x: x.random_(5, 3),
        lambda x: torch.multinomial(x, 9),
    ],
)
def test_what_cannot_be_drawn_is_torchs_error(call: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError) as theirs:
        call(torch.ones(3))
    with pytest.raises(RuntimeError) as mine:
        call(torch.ones(3, device="lazytensor"))
    assert str(mine.value) == str(theirs.value)


def test_draws_of_later_steps_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    x = torch.ones(64, device="lazytensor")
    torch.lazytensor.synchronize()
    masks = []
    for step in range(4):
        masks.append((functional.dropout(x, 0.5) + torch.randn_like(x)).cpu())
        if step == 0:
            metrics.reset()
    assert metrics.snapshot()["compiles"] == 0
    assert len({tuple(mask.tolist()) for mask in masks}) == 4
