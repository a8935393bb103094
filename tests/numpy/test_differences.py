"""What docs/differences.md says, where no other test does."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.observe import metrics
from lazytensor.core.settings import settings


def written(hand_over: Callable[[Any], Any]) -> list[float]:
    """What an array holds after something was written into what it has handed over."""
    x = lnp.ones(3) + 1
    hand_over(x)[...] = 7.0
    return x.tolist()  # type: ignore[no-any-return]


def taken() -> tuple[float, bool]:
    """What a real array holds after a write to the lazy one made of it."""
    real = numpy.ones(3)
    lazy = lnp.asarray(real)
    lazy[0] = 7.0
    return float(real[0]), lnp.shares_memory(real, lazy)


class Own(lnp.ndarray):
    """A user's subclass."""


CLAIMS: dict[str, tuple[Callable[[], Any], Any]] = {
    "nothing is checked at first": (lambda: set(lnp.geterr().values()), {"ignore"}),
    "empty is zeros": (lambda: lnp.empty(3).tolist(), [0.0, 0.0, 0.0]),
    "infinity floor-divided": (lambda: float((lnp.ones(2) * lnp.inf // 2)[0]), numpy.inf),
    "sorts are stable": (
        lambda: lnp.argsort(lnp.arange(90) % 2).tolist(),
        [*range(0, 90, 2), *range(1, 90, 2)],
    ),
    "asarray copies": (lambda: written(numpy.asarray), [2.0, 2.0, 2.0]),
    "a real array is copied": (taken, (1.0, False)),
    "no array interface": (lambda: hasattr(lnp.ones(2), "__array_interface__"), False),
    "a file takes the data": (lambda: io.BytesIO().write(lnp.ones(2).data), 16),
    "no real array": (lambda: isinstance(lnp.ones(2), numpy.ndarray), False),
    "real arrays are instances": (lambda: isinstance(numpy.ones(2), lnp.ndarray), True),
    "subclasses are NumPy's": (lambda: issubclass(Own, numpy.ndarray), True),
    "scalars are floats": (lambda: isinstance(lnp.ones(2).sum(), float | numpy.float64), True),
    "scalars have a type of their own": (
        lambda: issubclass(type(lnp.ones(2).sum()), numpy.float64),
        False,
    ),
    "scalars are pickled as NumPy's": (
        lambda: type(pickle.loads(pickle.dumps(lnp.ones(2).sum()))),
        numpy.float64,
    ),
    "handles are small": (lambda: sys.getsizeof(lnp.ones(1000)) < 200, True),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_page_is_right(claim: str) -> None:
    program, expected = CLAIMS[claim]
    assert program() == expected


def test_subnormals_are_zero_where_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for tier in ("compile", "interpret"):
        monkeypatch.setattr(settings, "tier", tier)
        found[tier] = (lnp.array([1e-300]) * lnp.array([1e-10])).tolist()
    assert found == {"compile": [0.0], "interpret": [1e-310]}


def test_a_write_to_a_masked_part_of_itself_is_no_cut() -> None:
    z, m = lnp.arange(9.0), lnp.arange(9) > 4
    before = metrics.snapshot()["cuts"]
    z[m] = lnp.sqrt(z[m])
    lnp.where(m, z, 0.0)
    assert metrics.snapshot()["cuts"] == before
