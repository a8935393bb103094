"""Iterators over elements: several at once over one array, and loops that write meanwhile."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.settings import settings

COUNT = 20_000


@pytest.fixture(autouse=True)
def bound() -> Iterator[None]:
    """Small views are NumPy's own in these tests."""
    before, settings.small = settings.small, 100
    yield
    settings.small = before


def lent(x: Any) -> Any:
    """`x`, its memory lent to a view that lives on."""
    lazy = np.array(x)
    for i in range(8):
        kept = lazy[i : i + 2]
    assert type(kept) is numpy.ndarray
    return lazy, kept


MADE = {
    "computed": lambda x: (np.array(x) + 0.0, None),
    "lent": lent,
    "a column": lambda x: (np.stack([x, -x], 1)[:, 0], None),
}


def pairs(x: Any) -> Any:
    """Two iterators over one array."""
    return list(zip(x, x, strict=True))


def a_few_for_each(x: Any) -> Any:
    """An iterator for every element of another."""
    return [next(iter(x)) + value for value in x[:50]]


def writing_ahead(x: Any) -> Any:
    """What is written to elements still to come is seen by both iterators."""
    seen = []
    for i, (value, same) in enumerate(zip(x, x, strict=True)):
        if i % 1_000 == 0:
            x[i + 3] = -value
        seen.append(value + same)
    return seen


def writing_whole(x: Any) -> Any:
    """The whole array is replaced meanwhile."""
    seen = []
    for i, value in enumerate(x):
        if i % 5_000 == 0:
            x *= 2.0
        seen.append(value)
    return seen


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize("program", [pairs, a_few_for_each, writing_ahead, writing_whole])
def test_iterators_give_what_numpys_give(make, program):
    data = numpy.arange(float(COUNT))
    x, _ = make(data)
    numpy.testing.assert_array_equal(program(x), program(data))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_iterators_over_one_array_let_each_other_be(make):
    """Each step of an iterator is one call, or a read: nothing is fetched anew."""
    x, _ = make(numpy.arange(float(COUNT)))
    made = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal made
        made += event == "call"

    sys.setprofile(note)
    try:
        pairs(x)
    finally:
        sys.setprofile(None)
    assert made < 3 * COUNT
