"""Operations on a million elements, as functions of a NumPy; nothing here is of this library."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy
import scipy.special

from benchmarks.contestant import Contestant, take_turns


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


def tested_rounds(np: Any, x: Any, y: Any) -> Any:
    """A hundred rounds, each of which asks for a value."""
    for _ in range(100):
        x = np.where(x > 0.5, x * 0.5 + 0.25, y)
        if float(x.max()) < 0.0:
            break
    return x


def updated_rounds(np: Any, x: Any, y: Any) -> Any:
    """The same, with updates in place."""
    x = x + y
    for _ in range(100):
        x += y
        x *= 0.5
        if float(x.max()) < 0.0:
            break
    return x


def masked_rounds(np: Any, z: Any, c: Any) -> Any:
    """Fifty rounds of Mandelbrot's iteration where it has not diverged yet."""
    z = z * 0.0
    for _ in range(50):
        inside = abs(z) < 2.0
        z[inside] = z[inside] ** 2 + c[inside]
    return z


def from_scipy(name: str, np: Any, x: Any) -> Any:
    """A special function of SciPy's between 0 and 30."""
    return getattr(scipy.special, name)(30.0 * x)


def plane(rng: numpy.random.Generator) -> tuple[numpy.ndarray, ...]:
    """A part of the complex plane, twice."""
    points = rng.uniform(-2.0, 0.5, (250, 250)) + 1j * rng.uniform(-1.2, 1.2, (250, 250))
    return points, points.copy()


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
    "i0": Operation(lambda r: vectors(r, 1), lambda np, x: np.i0(10.0 * x)),
    **{
        f"scipy.special.{name}": Operation(
            lambda r: vectors(r, 1),
            partial(from_scipy, name),
            peer=False,
        )
        for name in ("j0", "y1", "k0", "i0e", "erfcx")
    },
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
    "rounds with a test 200²": Operation(lambda r: matrices(r, 200, 2), tested_rounds, peer=False),
    "rounds in place 200²": Operation(lambda r: matrices(r, 200, 2), updated_rounds, peer=False),
    "rounds by a mask 250²": Operation(plane, masked_rounds, peer=False),
}


def seconds_of_calls(call: Callable[..., Any], arrays: tuple[Any, ...], calls: int) -> float:
    """Seconds a call, which returns when its result is there; that is kept until the next is."""
    start = time.perf_counter()
    for _ in range(calls):
        kept = call(*arrays)
    seconds = (time.perf_counter() - start) / calls
    del kept
    return seconds


def apart(name: str, calls: int) -> Contestant:
    """An operation of NumPy's in a process of its own, as people without this library have it.

    In one process NumPy would have its large arrays from a malloc that keeps what is freed.
    """
    return Contestant(f"from benchmarks.functions import work; work({name!r}, {calls})")


def work(name: str, calls: int) -> None:
    """Be that process."""
    operation = OPERATIONS[name]
    data = operation.inputs(numpy.random.default_rng(0))
    plain = partial(operation.function, numpy)
    take_turns(lambda: seconds_of_calls(plain, data, calls))
