"""Advice names what there is, and what it calls lazy is."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor import metrics
from lazytensor.core.observe import events
from lazytensor.inspection import advice
from lazytensor.inspection.explanation import Explanation


def fitted(np: Any) -> Any:
    a, b = np.vander(np.linspace(0.0, 1.0, 9), 3) + 0.0, np.linspace(1.0, 2.0, 9) ** 2
    q, r = np.linalg.qr(a)
    return np.linalg.solve(r, q.conj().T @ b), lambda: np.linalg.lstsq(a, b, rcond=None)[0]


def counted(np: Any) -> Any:
    x = np.arange(12) * 5 % 4
    return (x[:, None] == np.arange(4)).sum(0), lambda: np.bincount(x)


def distinct(np: Any) -> Any:
    x = np.arange(12) * 5 % 4
    y = np.sort(x)
    return y[1:] != y[:-1], lambda: np.diff(np.sort(x)) > 0


def symmetric(np: Any) -> Any:
    a = np.eye(3) + np.ones((3, 3))
    return np.linalg.eigvalsh(a), lambda: np.sort(np.linalg.eigvals(a).real)


LAZY: dict[str, Callable[[Any], Any]] = {
    "numpy.bincount": counted,
    "numpy.linalg.eig": symmetric,
    "numpy.linalg.eigvals": symmetric,
    "numpy.linalg.lstsq": fitted,
    "numpy.unique": distinct,
    "numpy.unique_values": distinct,
}


def test_every_function_is_there_and_has_its_example() -> None:
    assert LAZY.keys() == advice.INSTEAD.keys()
    for name in LAZY:
        assert callable(attrgetter(name.removeprefix("numpy."))(numpy))


@pytest.mark.parametrize("name", LAZY)
def test_what_is_advised_is_lazy_and_right(name: str) -> None:
    metrics.reset()
    found, wanted = LAZY[name](lnp)
    assert (metrics.counts["cuts"], metrics.counts["fallbacks"]) == (0, 0)
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted()), rtol=1e-9)


def test_a_function_of_a_module_is_named_with_it_and_advised_on() -> None:
    metrics.reset()
    x = lnp.eye(3) + lnp.ones((3, 3))
    for i in range(3):
        lnp.linalg.eigvals(x * (i + 1.0))
    assert {event.cause for event in events.events} == {"numpy.linalg.eigvals"}
    said = str(Explanation((event, event.place) for event in events.events))
    assert "numpy.linalg.eigvals needs values" in said
    assert "`np.linalg.eigvalsh` are lazy" in said
