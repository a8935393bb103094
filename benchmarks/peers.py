"""The same programs rewritten by hand for `jax.jit`: functional updates, donated buffers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp

Step = Callable[..., tuple[Any, ...]]
STENCIL = (1, 1), (1, 0), (1, 2), (2, 1), (0, 1)


def iterate(step: Step, data: Sequence[Any], steps: int) -> Callable[[], float]:
    """A contestant: `steps` calls of a jitted step on arrays that it may overwrite."""
    compiled = jax.jit(step, donate_argnums=tuple(range(len(data))))

    def run() -> float:
        with jax.enable_x64(True):
            state = tuple(jnp.array(array) for array in data)
            jax.block_until_ready(state)
            start = time.perf_counter()
            for _ in range(steps):
                state = compiled(*state)
            float(state[0].sum())
            return time.perf_counter() - start

    return run


def jacobi(module: ModuleType, data: Sequence[Any], steps: int) -> Callable[[], float]:
    """Both sweeps of a Jacobi step."""

    def sweep(to: Any, of: Any) -> Any:
        rows, columns = of.shape
        total = sum(of[i : rows - 2 + i, j : columns - 2 + j] for i, j in STENCIL)
        return to.at[1:-1, 1:-1].set(0.2 * total)

    def step(A: Any, B: Any) -> tuple[Any, ...]:
        B = sweep(B, A)
        return sweep(A, B), B

    return iterate(step, data, steps)


def gray_scott(module: ModuleType, data: Sequence[Any], steps: int) -> Callable[[], float]:
    """Reaction, diffusion and the periodic border."""

    def wrap(F: Any) -> Any:
        F = F.at[0, :].set(F[-2, :]).at[-1, :].set(F[1, :])
        return F.at[:, 0].set(F[:, -2]).at[:, -1].set(F[:, 1])

    def laplacian(F: Any) -> Any:
        return F[:-2, 1:-1] + F[2:, 1:-1] + F[1:-1, :-2] + F[1:-1, 2:] - 4.0 * F[1:-1, 1:-1]

    def step(U: Any, V: Any) -> tuple[Any, ...]:
        u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
        reaction = u * v * v
        u_t = module.DIFFUSION_U * laplacian(U) - reaction + module.FEED * (1.0 - u)
        v_t = module.DIFFUSION_V * laplacian(V) + reaction - (module.FEED + module.KILL) * v
        return wrap(U.at[1:-1, 1:-1].add(u_t)), wrap(V.at[1:-1, 1:-1].add(v_t))

    return iterate(step, data, steps)


def black_scholes(module: ModuleType, data: Sequence[Any], steps: int) -> Callable[[], float]:
    """One pricing date a call, the date as data."""
    from benchmarks.program import example

    pricing = example("black_scholes", jnp)

    def add(worth: Any, spot: Any, volatility: Any, years: Any) -> Any:
        spread = volatility * jnp.sqrt(years)
        d1 = (
            jnp.log(spot / pricing.STRIKE) + (pricing.RATE + 0.5 * volatility**2) * years
        ) / spread
        bond = pricing.STRIKE * jnp.exp(-pricing.RATE * years)
        call = spot * pricing.normal_cdf(d1) - bond * pricing.normal_cdf(d1 - spread)
        put = call - spot + bond
        return worth + call + put - jnp.abs(spot - pricing.STRIKE)

    compiled = jax.jit(add, donate_argnums=0)

    def run() -> float:
        spot, volatility = (jnp.array(array) for array in data)
        jax.block_until_ready((spot, volatility))
        start = time.perf_counter()
        worth = jnp.zeros_like(spot)
        for date in range(steps):
            worth = compiled(worth, spot, volatility, 1.0 - date / steps)
        float((worth / steps).sum())
        return time.perf_counter() - start

    return run
