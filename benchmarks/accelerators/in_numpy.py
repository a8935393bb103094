"""The models in NumPy. `np` is NumPy or ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.accelerators.sizes import JACOBI_SIDE, OPTIONS

Step = Callable[[], Any]


def jacobi(np: Any) -> Step:
    """A sweep of a five-point stencil."""
    u = np.random.rand(JACOBI_SIDE, JACOBI_SIDE)

    def step() -> Any:
        inner = u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = 0.2 * inner
        return u

    return step


def black_scholes(np: Any) -> Step:
    """Prices of calls and of puts."""
    price, strike, years = (np.random.rand(OPTIONS) + 0.5 for _ in range(3))

    def normal(x: Any) -> Any:
        return 0.5 * (1.0 + np.tanh(x * (0.7978845608 + 0.0356774081 * x * x)))

    def step() -> Any:
        spread = 0.2 * np.sqrt(years)
        d1 = (np.log(price / strike) + (0.02 + 0.02) * years) / spread
        d2 = d1 - spread
        value = strike * np.exp(-0.02 * years)
        call = price * normal(d1) - value * normal(d2)
        return np.stack([call, call - price + value])

    return step


MODELS = {f.__name__: f for f in (jacobi, black_scholes)}
