"""How draws move with the parameters of their distribution: against exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
import torch

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor.core.observe.metrics import counts
from lazytensor.core.settings import settings

SHAPES = (1e-2, 0.3, 1.0, 2.5, 40.0)
DRAWS = (1e-4, 0.2, 0.5, 0.9)


def exact(share: Callable[[Any], Any], shape: float, density: Any) -> float:
    """Minus the slope of a distribution function with its shape, over the density."""
    return float(-mpmath.diff(share, shape, h=mpmath.mpf(10) ** -9) / density)


def gamma_slope(shape: float, draw: float) -> float:
    a, x = mpmath.mpf(shape), mpmath.mpf(draw)
    density = x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)
    return exact(lambda t: mpmath.gammainc(t, 0, x, regularized=True), a, density)


def beta_slope(shape: float, other: float, draw: float) -> float:
    a, b, x = map(mpmath.mpf, (shape, other, draw))
    density = x ** (a - 1) * (1 - x) ** b / mpmath.beta(a, b)
    return exact(lambda t: mpmath.betainc(t, b, 0, x, regularized=True), a, density)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma(shape: float) -> None:
    draws = [shape * draw * 2 for draw in DRAWS] + [shape + 7]
    with mpmath.workdps(30):
        expected = torch.tensor([gamma_slope(shape, x) for x in draws], dtype=torch.float64)
    x = torch.tensor(draws, dtype=torch.float64)
    found = torch._standard_gamma_grad(
        torch.full_like(x, shape).to("lazytensor"), x.to("lazytensor")
    )
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_beta(shape: float) -> None:
    given = [(shape, other, x) for other in SHAPES[::2] for x in DRAWS]
    with mpmath.workdps(30):
        expected = torch.tensor([beta_slope(*line) for line in given], dtype=torch.float64)
    a, b, x = torch.tensor(given, dtype=torch.float64).to("lazytensor").unbind(1)
    found = torch._dirichlet_grad(x, a, a + b)
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-9, atol=0)


def test_edges_are_finite() -> None:
    """A draw that was rounded to zero, or to one, has a slope."""
    shape = torch.tensor([0.01, 1.0, 3.0]).to("lazytensor").repeat(2)
    draw = torch.tensor([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]).to("lazytensor")
    for made in (
        torch._standard_gamma_grad(shape, draw),
        torch._dirichlet_grad(draw, shape, shape + 0.5),
    ):
        assert made.isfinite().all().item()


def test_draws_are_differentiated_on_the_device() -> None:
    before = counts["fallbacks"]
    shape = torch.tensor([0.5, 2.0, 7.0]).to("lazytensor").requires_grad_()
    for distribution in (
        torch.distributions.Gamma(shape, shape),
        torch.distributions.Beta(shape, shape + 1),
        torch.distributions.Dirichlet(shape),
        torch.distributions.StudentT(shape),
    ):
        (grad,) = torch.autograd.grad(distribution.rsample((5,)).square().sum(), shape)
        assert grad.isfinite().all().item()
    assert counts["fallbacks"] == before
