"""Bad input raises what NumPy raises, at the user's line, and changes nothing."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.frontends.numpy import coverage
from tests.numpy.agreement import assert_agree, outcome

FAULTS: dict[str, Callable[[Any, Any], Any]] = {
    "shapes": lambda x, np: x + np.ones(5),
    "shapes in place": lambda x, np: x.__iadd__(np.ones(5)),
    "shape grows in place": lambda x, np: x.__iadd__(np.ones((4, 2, 3))),
    "kind in place": lambda x, np: x.astype(int).__iadd__(1.5),
    "complex in place": lambda x, np: x.__imul__(1j),
    "division in place": lambda x, np: x.astype(int).__itruediv__(2),
    "byte overflow": lambda x, np: x.astype(np.uint8) + 300,
    "big integer": lambda x, np: x.astype(int) + 2**70,
    "flags subtracted": lambda x, np: (x > 1) - (x > 2),
    "flag negated": lambda x, np: -(x > 1),
    "bits of floats": lambda x, np: x & 1,
    "shift of floats": lambda x, np: x << 1,
    "matmul": lambda x, np: x @ x,
    "matmul of a number": lambda x, np: x @ 2,
    "negative power": lambda x, np: x.astype(int) ** -1,
    "axis": lambda x, np: x.sum(axis=2),
    "axis twice": lambda x, np: x.sum(axis=(0, 0)),
    "argmax of nothing": lambda x, np: x[:0].argmax(),
    "max of nothing": lambda x, np: x[:0].max(),
    "index": lambda x, np: x[2],
    "index written": lambda x, np: x.__setitem__(2, 0),
    "index array written": lambda x, np: x.__setitem__([0, 5], 0),
    "too many indices": lambda x, np: x[0, 0, 0],
    "value": lambda x, np: x.__setitem__(slice(None), np.ones(5)),
    "mask": lambda x, np: x[np.array([True] * 3)],
    "mask written": lambda x, np: x.__setitem__(np.array([True] * 3), 0),
    "mask value": lambda x, np: x.__setitem__(x > 2, np.ones(2)),
    "reshape": lambda x, np: x.reshape(4, 2),
    "reshape with two unknowns": lambda x, np: x.reshape(-1, -1),
    "transpose": lambda x, np: x.transpose(0, 0),
    "broadcast": lambda x, np: np.broadcast_to(x, (3, 3)),
    "concatenate": lambda x, np: np.concatenate([x, np.ones((2, 2))]),
    "truth": lambda x, np: bool(x),
    "float": lambda x, np: float(x),
    "dtype": lambda x, np: np.zeros(2, dtype="nonsense"),
    "attribute": lambda x, np: x.nonsense,
    "call": lambda x, np: x(1),
    "read-only": lambda x, np: np.broadcast_to(x, (2, 2, 3)).__setitem__(0, 1),
}
OWN_WORDS = {"call", "attribute", "axis twice", "max of nothing", "reshape"}
"""Python names our class in the text, or the words are ours."""


def matrix(np: Any) -> Any:
    return np.arange(6.0).reshape(2, 3) * 1.0


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    assert_agree(lambda np: FAULTS[name](matrix(np), np), text=name not in OWN_WORDS)


@pytest.mark.parametrize("name", FAULTS)
def test_faults_change_nothing(name: str) -> None:
    x = matrix(lnp)
    view = x[:, 1:]
    assert isinstance(outcome(lambda np: FAULTS[name](x, np), lnp), Exception)
    numpy.testing.assert_array_equal(x, matrix(numpy))
    x += 1
    numpy.testing.assert_array_equal(view, matrix(numpy)[:, 1:] + 1)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "out= of another shape": lambda x, np: np.add(x, 1, out=np.zeros((2, 2))),
    "out= in place": lambda x, np: np.multiply(x, x, x[0]),
    "two of out=": lambda x, np: np.divmod(x, 2, out=(np.zeros(4), np.zeros(4))),
    "out= of one operand": lambda x, np: np.sqrt(x, out=np.zeros((4, 3))),
    "einsum: more axes": lambda x, np: np.einsum("ij,jk", x, x[None]),
    "einsum: fewer axes": lambda x, np: np.einsum("ij,jk", x, x[:, 0]),
    "einsum: one operand": lambda x, np: np.einsum("i,i", x[0]),
    "einsum: two operands": lambda x, np: np.einsum("i", x[0], x[0]),
    "einsum: sizes": lambda x, np: np.einsum("ij,jk", x, np.ones((4, 4))),
    "einsum: a diagonal": lambda x, np: np.einsum("ii", x),
    "einsum: too few labels": lambda x, np: np.einsum("i", x),
    "einsum: no such label": lambda x, np: np.einsum("ij->k", x),
    "einsum: a label twice": lambda x, np: np.einsum("i->ii", x[0]),
    "einsum: no letter": lambda x, np: np.einsum("i%", x),
    "einsum with optimize": lambda x, np: np.einsum("ij,jk", x, x, optimize=True),
    "solve: a vector": lambda x, np: np.linalg.solve(np.eye(3) * x[0, 1], np.ones(2)),
    "solve: a matrix": lambda x, np: np.linalg.solve(np.eye(3) * x[0, 1], np.ones((2, 2))),
    "solve: stacks": lambda x, np: np.linalg.solve(
        np.ones((4, 3, 3)), np.ones((2, 3, 1)) * x[0, 1]
    ),
    "histogramdd: many axes": lambda x, np: np.histogramdd(np.ones((20, 100)) * x[0, 1], bins=2),
    "histogramdd: many bins": lambda x, np: np.histogramdd(np.ones((20, 45)) * x[0, 1], bins=2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_shapes_are_refused_in_numpys_words(name: str) -> None:
    assert_agree(lambda np: REFUSED[name](matrix(np), np), text=True)
    assert isinstance(outcome(lambda np: REFUSED[name](matrix(np), np), lnp), ValueError)


TRACED: dict[str, Callable[[Any, Any], Any]] = {
    "a list": lambda x, np: np.stack([x, x[0]]),
    "axes": lambda x, np: np.moveaxis(x, (0, 1), (0,)),
    "a keyword": lambda x, np: np.packbits(x > 0, bitorder="middle"),
    "a writer": lambda x, np: np.putmask(x, x[0] > 0, 0),
    "a method": lambda x, np: x.reshape((3, 2), order="K"),
}


@pytest.mark.parametrize("name", TRACED)
def test_a_traced_call_is_refused_in_numpys_words(name: str) -> None:
    x = numpy.ones((2, 3))
    with pytest.raises(Exception) as theirs:
        TRACED[name](x, numpy)
    with pytest.raises(theirs.type, match=f"^{re.escape(str(theirs.value))}$"):
        lazytensor.export(lambda y: TRACED[name](y, lnp), x)


@pytest.mark.parametrize("name", ["array", "concatenate", "mean", "sort", "stack", "sum"])
@pytest.mark.parametrize("size", [3, 100_000])
def test_a_list_that_holds_itself_is_refused(name: str, size: int) -> None:
    items: list[Any] = [lnp.ones(size) * 2.0]
    items.append(items)
    with pytest.raises((ValueError, RecursionError)):
        getattr(lnp, name)(items)


def test_the_traceback_ends_close_to_the_users_line() -> None:
    def users_function() -> None:
        matrix(lnp) + lnp.ones(5)

    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        users_function()
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [frame for frame in frames if "lazytensor" in frame.filename.replace("tests", "")]
    assert frames[1].name == "users_function"
    assert len(frames) - 2 == len([f for f in own if f not in frames[:2]])
    assert caught.value.__cause__ is None


def named() -> Iterator[tuple[str, Any, Any]]:
    """NumPy's functions and methods, and ours of the same names."""
    for home in ("", "fft", "linalg"):
        theirs, ours = (getattr(np, home) if home else np for np in (numpy, lnp))
        for name in coverage.callables(home):
            yield name, getattr(theirs, name), getattr(ours, name)
    arrays = numpy.ones((3, 3)), lnp.ones((3, 3)) + 0
    for name in dir(numpy.ndarray):
        if not name.startswith("_") and callable(getattr(numpy.ndarray, name)):
            yield f"ndarray.{name}", *(getattr(x, name) for x in arrays)


def test_a_keyword_that_there_is_not_is_refused_by_name_and_nothing_is_computed() -> None:
    checked = 0
    before = lazytensor.metrics.snapshot()["fallbacks"]
    for name, theirs, ours in named():
        for count in () if isinstance(theirs, type) else (0,) if "." in name else (1, 2):
            try:
                theirs(*[numpy.ones((3, 3))] * count, nonsense=1)
                continue
            except Exception as error:  # noqa: BLE001  whatever NumPy says of it
                expected = str(error)
            with pytest.raises((TypeError, ValueError)) as caught:
                ours(*[lnp.ones((3, 3)) + 0] * count, nonsense=1)
            text = str(caught.value)
            if "unexpected keyword argument 'nonsense'" in text:
                unnamed = expected.startswith("this function got")  # by NumPy's C itself
                assert re.match(r"[\w.]+\(", text) or (unnamed and text == expected), name
                checked += 1
    assert checked > 400
    assert lazytensor.metrics.snapshot()["fallbacks"] == before


def test_a_fallback_warns_once_a_call_site_and_counts() -> None:
    def call() -> Any:
        return lnp.arctan2.reduce(lnp.arange(3.0) * 1, axis=0, keepdims=True)

    before = lazytensor.metrics.snapshot()["fallbacks"]
    with pytest.warns(LazyTensorWarning, match=r"test_errors.py:\d+: numpy.arctan2.reduce is not"):
        found = call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()
    assert lazytensor.metrics.snapshot()["fallbacks"] == before + 2
    assert type(found) is lnp.ndarray
    numpy.testing.assert_allclose(found, [numpy.arctan2.reduce(numpy.arange(3.0))])


def test_a_fallback_writes_back() -> None:
    x = lnp.arange(4.0) * 1
    view = x[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LazyTensorWarning)
        lnp.divide.at(view, [0, 0], 10)
    numpy.testing.assert_array_equal(x, [0, 1, 2, 3 / 10 / 10])
