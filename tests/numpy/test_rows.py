"""Loops over rows, columns and elements, of arrays and of views of them, become NumPy's own."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lazy
from lazytensor.core.ir.recording import nodes_made
from lazytensor.core.settings import settings

ROWS, COLUMNS = 1000, 300
FEW = 2 * ROWS
"""Nodes recorded until the memory is lent, and for keys; a loop that stays lazy records more."""

Body = Callable[[Any, Any], None]
LOOPS: dict[str, Body] = {}


def loop(body: Body) -> Body:
    LOOPS[body.__name__] = body
    return body


@loop
def rows_in_place(np: Any, m: Any) -> None:
    for row in m:
        row += 1.0


@loop
def rows_by_number(np: Any, m: Any) -> None:
    for i in range(len(m)):
        row = m[i]
        row *= 2.0


@loop
def into_rows(np: Any, m: Any) -> None:
    for i in range(len(m)):
        np.add(m[i], 1.0, out=m[i])


@loop
def filled(np: Any, m: Any) -> None:
    for row in m:
        row.fill(3.0)


@loop
def sorted_rows(np: Any, m: Any) -> None:
    for row in m:
        row.sort()


@loop
def masked(np: Any, m: Any) -> None:
    for row in m:
        row[row < 1.0] += 2.0


@loop
def columns(np: Any, m: Any) -> None:
    for column in m.reshape(COLUMNS, ROWS).T:
        column += 1.0


@loop
def two_views(np: Any, m: Any) -> None:
    for row, other in zip(m, m[::-1], strict=True):
        row += other


@loop
def keys_of_a_transpose(np: Any, m: Any) -> None:
    turned = m.T
    for _ in range(3):
        for i in range(len(turned)):
            turned[i] += 1.0
            turned[:, i] = turned[::-1, i]


@loop
def elements_of_a_view(np: Any, m: Any) -> None:
    inner = m[1:-1, ::-1]
    for i in range(1, len(inner)):
        inner[i, 0] = inner[i - 1, 1] + 1.0
        inner[i, 1] += float(inner[i, 2])


@loop
def rows_of_a_view(np: Any, m: Any) -> None:
    inner = m[1:-1]
    for i in range(len(inner)):
        inner[i] -= float(inner[i].max())


@loop
def of_a_flat_view(np: Any, m: Any) -> None:
    flat = m.reshape(-1)[:-1]
    for i in range(2000):
        flat[i] = flat[i + 1] * 0.5


@pytest.fixture(autouse=True)
def _rows_are_small() -> Iterator[None]:
    before, settings.small = settings.small, 16_384
    yield
    settings.small = before


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("body", LOOPS.values(), ids=LOOPS)
def test_a_loop_over_parts_becomes_numpys(body: Body, order: Any) -> None:
    numbers = numpy.sin(numpy.arange(float(ROWS * COLUMNS)))
    start = numpy.asarray(numbers.reshape(ROWS, COLUMNS), order=order)
    expected = start.copy("K")
    body(numpy, expected)
    array = lazy.asarray(start) + 0.0
    before = nodes_made()
    body(lazy, array)
    assert nodes_made() - before < FEW
    numpy.testing.assert_array_equal(numpy.asarray(array), expected)


@pytest.mark.parametrize(
    "key", [0, (slice(None), 0), (slice(2, 5), slice(None, None, -1))], ids=str
)
def test_parts_lie_as_numpys_do(key: Any) -> None:
    expected = numpy.zeros((200, 100), order="F")
    array = lazy.asarray(expected) + 0.0
    for _ in range(20):
        array[key] += 1.0
        expected[key] += 1.0
    part = array[key]
    assert type(part) is numpy.ndarray
    assert part.strides == expected[key].strides
    assert array.strides == expected.strides
    numpy.testing.assert_array_equal(numpy.asarray(array), expected)


@pytest.mark.one_memory
def test_elements_of_what_xla_computed_are_read_in_its_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    start = numpy.arange(90_000.0).reshape(300, 300)
    array = lazy.asarray(start) + 1.0
    for recorded in (20, 20, 0):  # it is known at the first element; Python warms up, too
        array = array + 1.0
        start += 1.0
        lazytensor.sync()
        assert type(array.ref.node.value) is not numpy.ndarray
        before = nodes_made()
        found = [array[i, i] for i in range(300)]
        assert nodes_made() - before <= recorded
        assert not array.ref.node.value.flags.owndata
        array += 2.0
        start += 2.0
        lazytensor.sync()
        numpy.testing.assert_array_equal(numpy.array(found, float), start.diagonal() - 1.0)
        numpy.testing.assert_array_equal(numpy.asarray(array), start + 1.0)


def test_a_part_of_what_is_not_to_be_written_to_is_not_either() -> None:
    whole = lazy.zeros((300, 300)) + 0.0
    view = whole[:]
    view.flags.writeable = False
    for i in range(300):
        row = view[i]
        assert not row.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            row += 1.0
    assert float(whole.sum()) == 0.0
