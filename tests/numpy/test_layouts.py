"""How results lie in memory: as NumPy's do, for operands that lie in every way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.array import Lazy

Function = Callable[[Any, Any], Any]

OPERANDS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda np: grid(np, 3, 4),
    "columns": lambda np: grid(np, 4, 3).T,
    "by order": lambda np: np.asfortranarray(grid(np, 3, 4)),
    "backwards": lambda np: grid(np, 3, 8)[::-1, ::-2],
    "columns backwards": lambda np: grid(np, 8, 3)[::2].T[:, ::-1],
    "one row for all": lambda np: np.broadcast_to(grid(np, 4), (3, 4)),
    "first last": lambda np: grid(np, 4, 4, 3).transpose(2, 0, 1),
    "last two": lambda np: grid(np, 3, 4, 4).transpose(0, 2, 1),
    "first two": lambda np: grid(np, 4, 3, 4).transpose(1, 0, 2),
    "all turned": lambda np: grid(np, 4, 4, 3).transpose(2, 1, 0),
    "with gaps": lambda np: grid(np, 4, 6, 4)[:, ::-2].transpose(1, 2, 0),
}


def grid(np: Any, *shape: int) -> Any:
    return np.arange(float(numpy.prod(shape))).reshape(shape) + 0


FUNCTIONS: dict[str, Function] = {
    "concatenate": lambda np, x: [np.concatenate([x, x + 1], axis=axis) for axis in (0, 1, -1)],
    "concatenate in rows": lambda np, x: np.concatenate([x, x.copy()]),
    "concatenate real": lambda np, x: np.concatenate([x, numpy.ones(x.shape, order="F")]),
    "stack": lambda np, x: [np.stack([x, x], axis=axis) for axis in (0, 1, -1)],
    "hstack": lambda np, x: (np.hstack([x, x]), np.vstack([x, x]), np.dstack([x, x])),
    "tile": lambda np, x: (np.tile(x, (1, 1)), np.tile(x, (2, 100))),
    "r_": lambda np, x: (np.r_[x, x], np.c_[x, x]),
    "fft": lambda np, x: [np.fft.fft(x, axis=axis) for axis in (0, 1)],
    "fft of length": lambda np, x: (np.fft.fft(x, n=100, axis=0), np.fft.rfft(x, n=3)),
    "fft2": lambda np, x: (np.fft.fft2(x), np.fft.irfft2(x), np.fft.rfftn(x, axes=(0, 1))),
    "accumulate": lambda np, x: (np.add.accumulate(x), np.maximum.accumulate(x, axis=1)),
    "cumulative_sum": lambda np, x: np.cumulative_sum(x, axis=0, include_initial=True),
    "reduceat": lambda np, x: np.add.reduceat(x, [0, 1], axis=1),
    "outer": lambda np, x: (np.add.outer(x, [1.0, 2.0]), np.multiply.outer(x[:, 0], x)),
    "nancumsum": lambda np, x: np.nancumsum(x, axis=0),
    "mean": lambda np, x: [f(x, axis=i) for f in (np.mean, np.std, np.median) for i in (0, 1)],
    "mean method": lambda np, x: (x.mean(axis=0), x - x.mean(axis=1, keepdims=True)),
    "nanmax": lambda np, x: (np.nanmax(x, axis=0), np.nanmean(x, axis=-1)),
    "norm": lambda np, x: np.linalg.norm(x, axis=0),
    "diff": lambda np, x: (np.diff(x, axis=0), np.diff(x, n=2)),
    "gradient": lambda np, x: np.gradient(x),
    "isclose": lambda np, x: (np.isclose(x, x), np.isposinf(x), np.isreal(x)),
    "tril": lambda np, x: np.tril(x),
    "round": lambda np, x: (x.round(1), np.round(x, 2)),
    "delete": lambda np, x: (np.delete(x, 0, axis=0), np.insert(x, 1, 7, axis=1)),
    "pad": lambda np, x: (np.pad(x, 1), np.pad(x, 100, mode="edge")),
    "partition": lambda np, x: (np.partition(x, 1, axis=0), np.sort_complex(x)),
    "einsum": lambda np, x: (
        np.einsum("...ij,...kj->...ik", x, x),
        np.einsum("i,...->i...", x[:, 0].ravel(), x),
    ),
    "linspace": lambda np, x: np.linspace(x, x + 1, 5),
    "unpackbits": lambda np, x: np.unpackbits(x.astype(np.uint8), axis=0),
    "bytes swapped": lambda np, x: (x.astype(">f8"), x.astype(">f8") + x, np.sin(x.astype(">f8"))),
    "longdouble": lambda np, x: x.astype(np.longdouble) * x,
    "objects": lambda np, x: x.astype(object) + 1,
}


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_lie_as_numpys(name: str, operand: str) -> None:
    """Twice, so that what was learnt of the first call is used by the second."""
    x, y = OPERANDS[operand](numpy), OPERANDS[operand](lnp)
    assert isinstance(y, Lazy)
    with numpy.errstate(all="ignore"):
        expected = FUNCTIONS[name](numpy, x)
        for _ in range(2):
            assert _layouts(FUNCTIONS[name](lnp, y)) == _layouts(expected)


def _layouts(made: Any) -> list[Any]:
    if isinstance(made, tuple | list):
        return [_layouts(x) for x in made]
    steps = zip(made.shape, made.strides, strict=True)
    flags = made.flags.c_contiguous, made.flags.f_contiguous, made.flags.writeable
    return [made.shape, [step for n, step in steps if n > 1], *flags]


def test_users_functions_are_called_once() -> None:
    """NumPy is asked how results lie, never with what it would call."""
    calls: list[int] = []

    def count(block: Any) -> Any:
        calls.append(1)
        return block.sum()

    x = lnp.asfortranarray(lnp.arange(12.0).reshape(3, 4) + 0)
    lnp.apply_along_axis(count, 0, x)
    assert len(calls) == 4
