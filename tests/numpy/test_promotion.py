"""Which dtype a result has: NumPy's rule (NEP 50) for every pair of dtypes and Python numbers."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import ml_dtypes
import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.conversion import common, result_type
from lazytensor.frontends.numpy.ufuncs.promotion import CANONICAL
from tests.numpy.agreement import assert_agree

DTYPES = [
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
NUMBERS = [True, 1, 2.5, 1j, numpy.float64(1), numpy.int8(1), numpy.float16(1), numpy.bool_(True)]
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.and_,
    operator.lshift,
    operator.lt,
    operator.eq,
]


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
def test_pairs_of_dtypes(function: Any) -> None:
    for left, right in itertools.product(DTYPES, repeat=2):
        assert_agree(lambda np, a=left, b=right: function(np.ones(2, a), np.ones(2, b)).dtype)


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
def test_dtypes_and_numbers(function: Any) -> None:
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        assert_agree(lambda np, a=dtype, b=number: function(np.ones(2, a), b).dtype)
        assert_agree(lambda np, a=dtype, b=number: function(b, np.ones(2, a)).dtype)


@pytest.mark.parametrize("value", [255, 256, -1, 2**31, 2**63, 2**64, 1e40, -1e400, float("nan")])
def test_numbers_at_the_edge(value: Any) -> None:
    for dtype, function in itertools.product(DTYPES, (operator.add, operator.lt, operator.eq)):
        assert_agree(lambda np, d=dtype, f=function: f(np.ones(2, d), value), text=True)


@pytest.mark.parametrize("value", [255, 256, -1, 2**63, 2.7, 1e300, float("nan"), True, 1j, "3"])
def test_assigned_numbers(value: Any) -> None:
    def program(np: Any, dtype: str) -> Any:
        x = np.zeros(2, dtype)
        x[0] = value
        return x

    for dtype in DTYPES:
        if dtype != "bool" or not isinstance(value, str):
            assert_agree(lambda np, d=dtype: program(np, d))


@pytest.mark.parametrize("dtype", DTYPES)
def test_assigned_arrays_are_cast(dtype: str) -> None:
    def program(np: Any, other: str) -> Any:
        x = np.zeros(3, dtype)
        x[:] = np.array([0, 1, 100]).astype(other)
        return x

    for other in DTYPES:
        if not (dtype.startswith(("bool", "int", "uint", "float")) and other.startswith("complex")):
            assert_agree(lambda np, o=other: program(np, o))


def test_result_type_is_numpys() -> None:
    values = [*map(numpy.dtype, DTYPES), 1, 2.5, 1j, True, numpy.float32(1)]
    for left, right in itertools.product(values, repeat=2):
        try:
            expected = numpy.result_type(left, right)
        except TypeError:
            continue
        if not (type(left) is type(right) is int):
            assert result_type(left, right) == expected, (left, right)


def test_common_nodes_have_one_dtype() -> None:
    nodes = common(lnp.ones(2, lnp.float32), 2.5, numpy.float16(1), [1, 2])
    assert {node.type.dtype for node in nodes} == {numpy.dtype("float64")}
    nodes = common(lnp.ones(2, lnp.float32), 2.5, True)
    assert {node.type.dtype for node in nodes} == {numpy.dtype("float32")}


def test_every_spelling_of_a_dtype_is_one_object() -> None:
    for spelling in ("q", "l", "longlong", numpy.int64, int):
        assert lnp.ones(2, dtype=spelling).dtype is CANONICAL[numpy.dtype("int64")]


def test_small_floats_promote_as_ml_dtypes_says() -> None:
    x = lnp.ones(2, dtype=ml_dtypes.bfloat16)
    assert (x + x).dtype == ml_dtypes.bfloat16
    assert (x + lnp.ones(2, dtype=lnp.float32)).dtype == numpy.float32
