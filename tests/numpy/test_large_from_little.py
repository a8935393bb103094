"""Functions that make a large array of little give what NumPy's give."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lazytensor.numpy as lnp

COUNT = 100_000
SIDE = 300

MADE: dict[str, Callable[[Any], Any]] = {
    "array of a list": lambda m: m.array(list(range(COUNT))),
    "array of a buffer": lambda m: m.array(memoryview(bytes(COUNT))),
    "c_": lambda m: m.c_[range(COUNT), range(COUNT)],
    "diag": lambda m: m.diag(range(SIDE)),
    "eye": lambda m: m.eye(SIDE, k=1),
    "frombuffer": lambda m: m.frombuffer(bytes(COUNT), np.uint8),
    "fromfunction": lambda m: m.fromfunction(lambda i, j: i * 2 + j, (SIDE, SIDE), dtype=int),
    "fromiter": lambda m: m.fromiter((i * 2 for i in range(COUNT)), float),
    "fromstring": lambda m: m.fromstring("3 " * COUNT, sep=" "),
    "full": lambda m: m.full((COUNT, 2), [1, 2]),
    "geomspace": lambda m: m.geomspace(1, 2, COUNT),
    "hanning": lambda m: m.hanning(COUNT),
    "indices": lambda m: m.indices((SIDE, SIDE)),
    "ix_": lambda m: m.ix_(range(COUNT), [1])[0],
    "linspace": lambda m: m.linspace(0, 1, COUNT),
    "loadtxt": lambda m: m.loadtxt(io.StringIO("3\n" * COUNT)),
    "logspace": lambda m: m.logspace(0, 1, COUNT),
    "meshgrid": lambda m: m.meshgrid(range(SIDE), range(SIDE))[1],
    "mgrid": lambda m: m.mgrid[:SIDE, :SIDE],
    "r_": lambda m: m.r_[:COUNT],
    "repeat": lambda m: m.repeat([1, 2], COUNT),
    "tile": lambda m: m.tile([1, 2], COUNT),
    "tri": lambda m: m.tri(SIDE),
    "tril_indices": lambda m: m.tril_indices(SIDE)[0],
    "vectorize": lambda m: m.vectorize(lambda i: i + 1)(range(COUNT)),
}


@pytest.mark.parametrize("name", MADE)
def test_it_is_what_numpy_makes(name: str) -> None:
    made, expected = MADE[name](lnp), MADE[name](np)
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-12)


def test_a_users_function_gets_lazy_arrays_and_makes_a_lazy_one() -> None:
    assert type(MADE["fromfunction"](lnp)) is lnp.ndarray
