"""The user's setting, a thread's account and a tracer's call: none changes another's bound."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as np
from lazytensor.core.policy import LOSS_SECONDS
from lazytensor.core.runtime import cost_model
from lazytensor.core.settings import Settings, settings
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.host.bound import (
    everything_lazy,
    is_raised,
    put_back,
    raise_to,
    setting,
)
from lazytensor.frontends.numpy.host.profitability import account

BOUND = 100


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    put_back()
    monkeypatch.setattr(settings, "small", BOUND)
    yield
    put_back()


def is_lazy(size: int) -> bool:
    return issubclass(type(np.zeros(size)), Lazy)


def elsewhere(what: Callable[[], Any]) -> Any:
    """What a call gives in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(what()))
    thread.start()
    thread.join()
    return found[0]


def test_a_bound_that_is_raised_is_one_threads() -> None:
    raise_to(3 * BOUND)
    assert (settings.small, setting()) == (3 * BOUND, BOUND)
    assert not is_lazy(2 * BOUND)
    assert elsewhere(lambda: (settings.small, is_raised(), is_lazy(2 * BOUND))) == (
        BOUND,
        False,
        True,
    )


def test_an_assignment_ends_the_bounds_of_threads_that_have_ended() -> None:
    elsewhere(lambda: raise_to(3 * BOUND))
    assert type(settings) is not Settings, "the thread's bound is looked up"
    settings.small = BOUND
    assert type(settings) is Settings, "a plain attribute again"


def test_an_assignment_within_a_tracers_call_leaves_it_lazy() -> None:
    with everything_lazy():
        settings.small = BOUND
        assert settings.small == 0
    assert settings.small == BOUND


def test_what_one_thread_has_lost_is_not_anothers() -> None:
    account().seconds = 0.0
    elsewhere(lambda: account().lost(2 * LOSS_SECONDS, 2 * BOUND))
    assert (account().seconds, is_raised(), settings.small) == (0.0, False, BOUND)


@pytest.mark.parametrize("raised", [0, 3 * BOUND])
def test_a_trace_leaves_the_bound_as_it_was(raised: int) -> None:
    if raised:
        raise_to(raised)
    seen = []

    def function(x: Any) -> Any:
        seen.append((settings.small, setting(), is_raised(), is_lazy(1)))
        lazytensor.trace(lambda y: y + 1, x)
        seen.append((settings.small, setting(), is_raised(), is_lazy(1)))
        return x + np.zeros(5)

    lazytensor.trace(function, numpy.arange(5.0))
    assert seen == [(0, BOUND, False, True)] * 2
    assert (settings.small, setting(), is_raised()) == (raised or BOUND, BOUND, bool(raised))


def test_a_trace_that_fails_leaves_the_bound_as_it_was() -> None:
    def fails(x: Any) -> Any:
        raise KeyError(x)

    with pytest.raises(KeyError):
        lazytensor.trace(fails, numpy.arange(5.0))
    assert (settings.small, is_lazy(5)) == (BOUND, False)


def test_a_trace_is_its_own_threads() -> None:
    begun, seen = threading.Event(), threading.Event()

    def function(x: Any) -> Any:
        begun.set()
        assert seen.wait(60)
        return x + 1

    tracer = threading.Thread(target=lazytensor.trace, args=(function, numpy.arange(3.0)))
    tracer.start()
    assert begun.wait(60)
    assert (settings.small, is_lazy(5)) == (BOUND, False)
    settings.small = 7
    assert (is_lazy(5), is_lazy(8)) == (False, True)
    seen.set()
    tracer.join()
    assert (settings.small, setting()) == (7, 7)


@pytest.mark.parametrize("chosen", [0, BOUND, 2 * BOUND])
def test_what_the_user_sets_ends_what_was_raised(chosen: int) -> None:
    raise_to(3 * BOUND)
    settings.small = chosen
    assert (settings.small, is_raised(), is_lazy(2 * BOUND)) == (chosen, False, True)


def in_torch() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("lazytensor.torch")
    x = torch.ones(10, 20).to("lazytensor")
    for i in range(20):
        assert float((x * (i + 0.5)).sum()) == 200 * (i + 0.5)


def in_tf() -> None:
    pytest.importorskip("tensorflow")
    import tensorflow as tf

    import lazytensor.tf

    with lazytensor.tf.enabled():
        x = tf.ones((10, 20)) + 1
        for i in range(20):
            assert float(tf.reduce_sum(x * float(i))) == 400.0 * i


def in_numpy() -> None:
    x = np.ones((10, 20)) + 1
    for i in range(20):
        assert float((x * i).sum()) == 400.0 * i


@pytest.mark.parametrize(("work", "counts"), [(in_torch, False), (in_tf, False), (in_numpy, True)])
def test_an_account_hears_only_of_numpys_cuts(
    work: Callable[[], None], counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each program is on arrays of a size that counts, and loses by the price of recording."""
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(cost_model, "SECONDS_PER_CALL", 1.0)
    work()
    put_back()
    mine = account()
    mine.seconds = 0.0
    work()
    assert (is_raised() or mine.seconds != 0.0) is counts


def test_a_bound_is_raised_for_some_seconds() -> None:
    """Then recording is tried again, also where a loop calls nothing that records."""
    raise_to(3 * BOUND, 60.0)
    assert not is_lazy(2 * BOUND)
    raise_to(3 * BOUND, 0.0)
    assert is_lazy(2 * BOUND)
    assert not is_raised()
