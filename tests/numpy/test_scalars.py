"""Lazy scalars stand in for NumPy's scalars, and stay lazy under arithmetic."""

from __future__ import annotations

import copy
import math
import numbers
import pickle
from collections.abc import Iterable, Sized
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.array import Scalar
from tests.numpy.agreement import assert_agree

SOURCES = {
    "sum": lambda np: np.array([1.5, 2.25]).sum(),
    "element": lambda np: np.array([[3, 4], [5, 6]])[1, 0],
    "narrow": lambda np: np.array([0.1, 0.7], dtype=np.float32).max(),
    "whole": lambda np: np.array([2.0, 1.0]).sum(),
    "flag": lambda np: (np.array([1, 2]) > 1).any(),
    "complex": lambda np: np.array([1 + 2j]).sum(),
    "byte": lambda np: np.array([7], dtype=np.uint8)[0],
    "position": lambda np: np.array([1.0, 9.0]).argmax(),
    "norm": lambda np: np.sqrt(np.array([4.0, 5.0]).sum()),
    "zero": lambda np: np.zeros(3).sum(),
}
USES = {
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x}",
    "fixed": lambda x: f"{x:.3f}",
    "percent": lambda x: f"{x:%}",
    "old formatting": lambda x: "%s %r" % (x, x),  # noqa: UP031 (it is what is tested)
    "hash": hash,
    "equal hashes": lambda x: hash(x) == hash(x.item()),
    "key": lambda x: {x: 1}[x.item()],
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": lambda x: "abcdefgh"[x],
    "range": lambda x: list(range(x)),
    "repeat": lambda x: [0] * x,
    "repeat from the left": lambda x: x * [0],
    "repeat text": lambda x: "ab" * x,
    "round": round,
    "round to digits": lambda x: round(x, 1),
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "sqrt of math": lambda x: math.sqrt(x),
    "isinf of math": lambda x: math.isinf(x),
    "is a number": lambda x: isinstance(x, numbers.Number),
    "is real": lambda x: isinstance(x, numbers.Real),
    "is integral": lambda x: isinstance(x, numbers.Integral),
    "is a float": lambda x: isinstance(x, float),
    "is an int": lambda x: isinstance(x, int),
    "is numpy's": lambda x: isinstance(x, numpy.generic),
    "is of its dtype": lambda x: isinstance(x, x.dtype.type),
    "is an array": lambda x: isinstance(x, numpy.ndarray),
    "is a scalar": lambda x: numpy.isscalar(x),
    "dtype": lambda x: (str(x.dtype), x.shape, x.ndim, x.size, x.itemsize, x.nbytes),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "copy": lambda x: (copy.copy(x), copy.deepcopy(x)),
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "astype": lambda x: x.astype(numpy.float32),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conjugate": lambda x: x.conjugate(),
    "len": len,
    "is sized": lambda x: (isinstance(x, Sized), hasattr(x, "__len__")),
    "is iterable": lambda x: (isinstance(x, Iterable), numpy.iterable(x)),
    "iterate": iter,
    "index empty": lambda x: x[()],
    "index newaxis": lambda x: x[None],
    "index ellipsis": lambda x: x[...],
    "index number": lambda x: x[0],
    "call": lambda x: x(),
    "sum of it": lambda x: x.sum(),
    "reshape": lambda x: x.reshape(1, 1),
    "ratio": lambda x: x.as_integer_ratio(),
    "numerator": lambda x: x.numerator,
    "denominator": lambda x: x.denominator,
    "sympy": lambda x: str(pytest.importorskip("sympy").sympify(x)),
    "is integer": lambda x: x.is_integer(),
    "bits": lambda x: x.bit_count(),
    "tobytes": lambda x: x.tobytes(),
    "assign": lambda x: x.__setitem__((), 1),
    "flags": lambda x: x.flags.writeable,
    "plus": lambda x: x + 1,
    "plus a list": lambda x: x + [1, 2],  # noqa: RUF005 (no concatenation is meant)
    "minus from the left": lambda x: 2.5 - x,
    "power": lambda x: x**2,
    "compare": lambda x: (x < 3, x == x, x != 2),
    "compare with text": lambda x: x == "a",
    "compare with none": lambda x: x == None,  # noqa: E711 (it is what is tested)
    "max of python": lambda x: max(x, 2.75),
    "sum of python": lambda x: sum([x, x]),
    "sorted": lambda x: sorted([x, 5, x]),
    "join": lambda x: ",".join(map(str, [x, x])),
    "conditional": lambda x: 1 if x else 2,
    "divmod": lambda x: divmod(x, 2),
    "matmul": lambda x: x @ x,
    "negate": lambda x: -x,
    "invert": lambda x: ~x,
    "and": lambda x: x & 1,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("source", SOURCES)
def test_scalars_are_like_numpys(source: str, use: str) -> None:
    assert_agree(lambda np: USES[use](SOURCES[source](np)))


def test_augmented_assignment_rebinds() -> None:
    def program(np: Any) -> Any:
        x = y = np.array([1.0, 2.0]).sum()
        x += 1
        return x, y

    assert_agree(program)


def test_a_scalar_keeps_its_value_when_the_array_changes() -> None:
    def program(np: Any) -> Any:
        array = np.array([1.0, 2.0])
        x = array[0]
        array[0] = 9
        return x

    assert_agree(program)


def test_arithmetic_stays_lazy() -> None:
    x = lnp.arange(5.0) + 1
    before = lazytensor.metrics.snapshot()["cuts"]
    made = [x.sum() * 2, x[1] - 1, 2.0 / x.max(), x.mean() < 3, -x.min(), x.sum() * x]
    assert lazytensor.metrics.snapshot()["cuts"] == before
    assert [type(value) is Scalar for value in made] == [True] * 5 + [False]
    assert made[0] == 30


def test_a_sync_computes_scalars_too() -> None:
    total = (lnp.arange(4.0) * 2).sum()
    lazytensor.sync()
    before = lazytensor.metrics.snapshot()["cuts"]
    assert float(total) == 12
    assert lazytensor.metrics.snapshot()["cuts"] == before
