"""One operation at a time on a million elements: where XLA on a CPU wins, and where it loses."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy

import lazytensor
import lazytensor.numpy
from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.row import Effort, Row
from lazytensor.core.backend import backend

LONG_ENOUGH = 0.02  # seconds a timed batch should last, so that the clock does not matter
MOST_CALLS = 50
SETTLING = 40  # calls in a row without a compile after which nothing changes any more
MOST_SETTLING = 400


@dataclass(frozen=True)
class Operation:
    """A function of `np` and arrays; `peer` is false where `jax.jit` cannot take it as it is."""

    inputs: Callable[[numpy.random.Generator], tuple[numpy.ndarray, ...]]
    function: Callable[..., Any]
    peer: bool = True


def vectors(rng: numpy.random.Generator, n: int = 2) -> tuple[numpy.ndarray, ...]:
    """Vectors of a million numbers, positive and at most one."""
    return tuple(1.0 - rng.random(1_000_000) for _ in range(n))


def square(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A matrix of a million numbers and a vector as long as its side."""
    return rng.random((1000, 1000)), rng.random(1000)


def large(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A matrix of four million numbers."""
    return (rng.random((2000, 2000)),)


def singles(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A million positive numbers in single precision."""
    return (vectors(rng)[0].astype(numpy.float32),)


def integers(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A million numbers, and a million places in them."""
    return rng.random(1_000_000), rng.integers(0, 1_000_000, 1_000_000)


def matrices(rng: numpy.random.Generator, side: int, n: int = 1) -> tuple[numpy.ndarray, ...]:
    """Square matrices."""
    return tuple(rng.random((side, side)) for _ in range(n))


def positive_definite(rng: numpy.random.Generator, n: int) -> tuple[numpy.ndarray, ...]:
    """A symmetric positive definite matrix and a right-hand side."""
    root = rng.random((n, n))
    return root @ root.T + n * numpy.eye(n), rng.random(n)


def complexes(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A million complex numbers."""
    return (rng.random(1_000_000) + 1j * rng.random(1_000_000),)


def whole(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A million integers up to a million."""
    return (rng.integers(1, 1_000_000, 1_000_000),)


def cloud(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A thousand points in space: a million pairs."""
    return (rng.random((1000, 3)),)


def stencil(np: Any, A: Any) -> Any:
    """One in-place relaxation step."""
    A[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
    return A


def masked_update(np: Any, x: Any) -> Any:
    """An update where a mask says so."""
    y = x.copy()
    mask = y > 0.5
    y[mask] = y[mask] ** 2 + 1.0
    return y


def distances(np: Any, points: Any) -> Any:
    """All distances between points, by broadcasting."""
    return np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1))


def chain(np: Any, x: Any, y: Any) -> Any:
    """A formula of a dozen operations."""
    return np.sqrt(x * x + y * y) * np.exp(-x) + 0.5 * np.sin(3.0 * x) - np.abs(y - x) / (1.0 + x)


def standardise(np: Any, A: Any, _: Any) -> Any:
    """Columns with mean zero and variance one."""
    return (A - A.mean(axis=0)) / A.std(axis=0)


def sliding_mean(np: Any, x: Any) -> Any:
    """Means of ten neighbours each."""
    return np.lib.stride_tricks.sliding_window_view(x, 10).mean(axis=-1)


OPERATIONS = {
    "x + y": Operation(vectors, lambda np, x, y: x + y),
    "fused chain": Operation(vectors, chain),
    "in-place stencil": Operation(lambda r: square(r)[:1], stencil, peer=False),
    "masked update": Operation(lambda r: vectors(r, 1), masked_update, peer=False),
    "pairwise distance": Operation(cloud, distances),
    "where": Operation(vectors, lambda np, x, y: np.where(x > y, x, 2.0 * y)),
    "power": Operation(vectors, lambda np, x, y: x**y),
    "exp f64": Operation(lambda r: vectors(r, 1), lambda np, x: np.exp(x)),
    "log f64": Operation(lambda r: vectors(r, 1), lambda np, x: np.log(x)),
    "sin f64": Operation(lambda r: vectors(r, 1), lambda np, x: np.sin(x)),
    "tanh f64": Operation(lambda r: vectors(r, 1), lambda np, x: np.tanh(x)),
    "exp f32": Operation(singles, lambda np, x: np.exp(x)),
    "sin f32": Operation(singles, lambda np, x: np.sin(x)),
    "sum": Operation(lambda r: vectors(r, 1), lambda np, x: x.sum()),
    "sum, axis 0": Operation(square, lambda np, A, _: A.sum(axis=0)),
    "sum, axis 1": Operation(square, lambda np, A, _: A.sum(axis=1)),
    "mean and std": Operation(square, standardise),
    "max": Operation(lambda r: vectors(r, 1), lambda np, x: x.max()),
    "argmax": Operation(lambda r: vectors(r, 1), lambda np, x: x.argmax()),
    "argmax, axis 1": Operation(square, lambda np, A, _: A.argmax(axis=1)),
    "cumsum": Operation(lambda r: vectors(r, 1), lambda np, x: np.cumsum(x)),
    "sort": Operation(lambda r: vectors(r, 1), lambda np, x: np.sort(x)),
    "argsort": Operation(lambda r: vectors(r, 1), lambda np, x: np.argsort(x)),
    "median": Operation(lambda r: vectors(r, 1), lambda np, x: np.median(x)),
    "boolean read": Operation(lambda r: vectors(r, 1), lambda np, x: x[x > 0.5], peer=False),
    "integer read": Operation(integers, lambda np, x, i: x[i]),
    "transpose copy": Operation(large, lambda np, A: A.T.copy()),
    "concatenate": Operation(vectors, lambda np, x, y: np.concatenate([x, y])),
    "matvec": Operation(square, lambda np, A, v: A @ v),
    "matmul": Operation(lambda r: matrices(r, 1000, 2), lambda np, A, B: A @ B),
    "fft": Operation(lambda r: (r.random(2**20),), lambda np, x: np.abs(np.fft.fft(x))),
    "fft2": Operation(lambda r: matrices(r, 1024), lambda np, A: np.abs(np.fft.fft2(A))),
    **{
        f"{name} {n}²": Operation(partial(positive_definite, n=n), function)
        for name, sizes, function in (
            ("solve", (300, 1000), lambda np, A, b: np.linalg.solve(A, b)),
            ("cholesky", (300, 1000), lambda np, A, b: np.linalg.cholesky(A)),
            ("eigh", (300,), lambda np, A, b: np.linalg.eigh(A)),
        )
        for n in sizes
    },
    "svd 300²": Operation(lambda r: matrices(r, 300), lambda np, A: np.linalg.svd(A)),
    "histogram": Operation(lambda r: vectors(r, 1), lambda np, x: np.histogram(x, bins=100)),
    "sliding mean": Operation(lambda r: vectors(r, 1), sliding_mean, peer=False),
    "complex argmax": Operation(complexes, lambda np, x: x.argmax()),
    "complex sort": Operation(complexes, lambda np, x: np.sort(x)),
    "gcd.reduce": Operation(whole, lambda np, x: np.gcd.reduce(x), peer=False),
    "unpackbits": Operation(
        lambda r: (r.integers(0, 256, 125_000).astype(numpy.uint8),),
        lambda np, x: np.unpackbits(x),
    ),
}


def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` by `jax.jit`, in double precision like NumPy; waits."""
    compiled = jax.jit(partial(function, jnp))

    def call(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            return jax.block_until_ready(compiled(*arrays))

    return call


def contestant(call: Callable[..., Any], arrays: tuple[Any, ...], calls: int) -> float:
    """Seconds a call, which returns when its result is there; that is kept until the next is."""
    start = time.perf_counter()
    for _ in range(calls):
        kept = call(*arrays)
    seconds = (time.perf_counter() - start) / calls
    del kept
    return seconds


def computed(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose lazy result is computed and waited for."""

    def call(*arrays: Any) -> Any:
        result = function(*arrays)
        for part in result if isinstance(result, tuple) else (result,):
            _ = part.shape  # else `x[mask]` would be put off until somebody asks how long it is
        lazytensor.sync()  # with `settings.wait`
        return result

    return call


def settle(call: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    """Call until the program has been compiled, specialised, and compared with NumPy's time."""
    compiles, quiet = -1, 0
    for _ in range(MOST_SETTLING):
        call(*arrays)
        before, compiles = compiles, lazytensor.metrics.snapshot()["compiles"]
        quiet = quiet + 1 if compiles == before and compiles else 0
        if quiet == SETTLING:
            return


def compare(name: str, effort: Effort) -> Figures:
    """One operation, ours against NumPy, both warm."""
    operation = OPERATIONS[name]
    lazytensor.settings.wait = True
    backend()  # importing it is part of the price of the first compile only
    data = operation.inputs(numpy.random.default_rng(0))
    lazy = tuple(lazytensor.numpy.array(array) for array in data)
    plain = partial(operation.function, numpy)
    ours = computed(partial(operation.function, lazytensor.numpy))
    once = min(contestant(plain, data, 1) for _ in range(3))
    calls = max(1, min(MOST_CALLS, round(LONG_ENOUGH / once)))
    settle(ours, lazy)
    contestants = {
        "ours": lambda: contestant(ours, lazy, calls),
        "numpy": lambda: contestant(plain, data, calls),
    }
    if effort.peers and operation.peer:
        with jax.enable_x64(True):
            device = tuple(jnp.array(array) for array in data)
        by_hand = jitted(operation.function)
        contestants["jax"] = lambda: contestant(by_hand, device, calls)
    samples = interleaved(contestants, effort.rounds(15))
    figures = {
        "NumPy / ours": ratio(samples["numpy"], samples["ours"]),
        "ours": figure(samples["ours"]),
        "NumPy": figure(samples["numpy"]),
        "fallbacks": count(lazytensor.metrics.snapshot()["fallbacks"]),
    }
    if "jax" in samples:
        figures["jax.jit"] = figure(samples["jax"])
    return figures


def rows() -> list[Row]:
    """A row for each operation; nobody promised a speed, so the target is not to lose to NumPy."""
    return [
        Row(
            name,
            name,
            "≥ 0.9× NumPy",
            lambda m: m["NumPy / ours"] >= 0.9,
            partial(compare, name),
        )
        for name in OPERATIONS
    ]
