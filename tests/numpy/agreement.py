"""The law of the NumPy frontend: the same code gives the same result with NumPy and with ours."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

import lazytensor.numpy
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar

Program = Callable[[Any], Any]


def outcome(program: Program, np: ModuleType) -> Any:
    """What `program` returns, or the exception that it raises."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", LazyTensorWarning)
        try:
            result = program(np)
            return real(result)
        except Exception as error:  # noqa: BLE001 (it is the result)
            return error


def real(value: Any) -> Any:
    """`value` with its lazy arrays and scalars computed."""
    if isinstance(value, tuple | list):
        return [real(item) for item in value]
    if isinstance(value, Lazy):
        array = numpy.asarray(value)
        return array[()] if type(value) is Scalar else array
    return value


def assert_agree(program: Program, rtol: float = 1e-6, text: bool = False) -> None:
    """`program(np)` is the same for both: value, dtype, shape, array or scalar, or exception.

    `text`: the message of an exception is the same too. Results of floating point may differ by
    `rtol`, relative to the dtype's own precision where that is coarser.
    """
    expected = outcome(program, numpy)
    actual = outcome(program, lazytensor.numpy)
    assert_same(actual, expected, rtol, text)


def assert_same(actual: Any, expected: Any, rtol: float, text: bool = False) -> None:
    """One outcome is the other."""
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert_same_error(actual, expected, text)
        return
    if isinstance(expected, list):
        assert isinstance(actual, list), (actual, expected)
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, rtol)
        return
    if not isinstance(expected, numpy.ndarray | numpy.generic):
        assert isinstance(actual, type(expected)), (actual, expected)
        assert actual == expected
        return
    assert isinstance(actual, numpy.ndarray | numpy.generic), (actual, expected)
    assert isinstance(actual, numpy.ndarray) == isinstance(expected, numpy.ndarray), (
        actual,
        expected,
    )
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    assert actual.shape == expected.shape
    if expected.dtype.kind in "fc":
        precision = 8 * float(numpy.finfo(expected.dtype).eps)
        numpy.testing.assert_allclose(actual, expected, rtol=max(rtol, precision), atol=precision)
    else:
        numpy.testing.assert_array_equal(actual, expected)


def assert_same_error(actual: Any, expected: Any, text: bool) -> None:
    """Both are exceptions, ours of the class of NumPy's."""
    if not isinstance(actual, Exception):
        raise AssertionError(f"raised nothing but gave {actual!r}; NumPy: {expected!r}")
    if not isinstance(expected, Exception):
        raise AssertionError(f"raised {actual!r}; NumPy gave {expected!r}") from actual
    base = next(
        c for c in type(expected).__mro__ if c.__module__ in ("builtins", "numpy.exceptions")
    )
    if not isinstance(actual, base):
        raise AssertionError(f"raised {actual!r}; NumPy raised {expected!r}") from actual
    if text:
        assert str(actual) == str(expected)
