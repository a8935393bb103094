"""How the thread that compiles shares the GIL: it rests, unless somebody waits for it."""

from __future__ import annotations

import gc
import sys
import time
import weakref
from collections.abc import Iterator
from threading import Thread

import pytest

from lazytensor.core.device import garbage, gil
from tests.core.processes import run


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which a thread rested."""
    found: list[float] = []
    monkeypatch.setattr(gil.time, "sleep", found.append)
    return found


def work() -> None:
    end = time.perf_counter() + 2 * gil.WORK_SECONDS
    while time.perf_counter() < end:
        pass


def test_a_thread_that_yields_rests_in_proportion_to_its_work(rests: list[float]) -> None:
    with gil.yielding():
        gil.rest()
        work()
        gil.rest()
        gil.rest()
    work()
    gil.rest()
    assert len(rests) == 1
    assert rests[0] >= gil.REST_PER_WORK * 2 * gil.WORK_SECONDS


def test_it_does_not_rest_while_somebody_waits(rests: list[float]) -> None:
    with gil.yielding(), gil.without_rest():
        work()
        gil.rest()
    assert rests == []


@pytest.mark.parametrize("yields", [False, True])
def test_a_thread_that_works_for_it_rests_if_it_does(rests: list[float], yields: bool) -> None:
    def working() -> None:
        work()
        gil.rest()

    def started() -> None:
        thread = Thread(target=gil.resting_alike(working))
        thread.start()
        thread.join()

    if yields:
        with gil.yielding():
            started()
    else:
        started()
    assert len(rests) == yields


def test_an_import_rests_between_modules(rests: list[float]) -> None:
    with gil.yielding():
        work()
        sys.modules.pop("colorsys", None)
        import colorsys  # noqa: F401
    assert len(rests) == 1


@pytest.fixture
def thawed() -> Iterator[None]:
    """Nothing is frozen, as it is in the tests' own process."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("thawed")
def test_promoted_objects_are_collected_once_they_are_garbage() -> None:
    class Ring:
        pass

    ring = Ring()
    ring.itself = ring  # type: ignore[attr-defined]
    seen = weakref.ref(ring)
    garbage.promote()
    assert gc.get_count()[1:] == (0, 0)
    del ring
    gc.collect()
    assert seen() is None


@pytest.mark.usefixtures("thawed")
def test_what_the_user_has_frozen_stays_frozen() -> None:
    gc.freeze()
    garbage.promote()
    assert gc.get_freeze_count() > 0


@pytest.mark.parametrize("collects", [True, False])
def test_an_import_leaves_the_collection_of_garbage_as_it_was(collects: bool) -> None:
    program = f"""
        import gc, sys
        gc.{"enable" if collects else "disable"}()
        runs = 0
        def count(phase, _):
            global runs
            runs += phase == "start" and "lazytensor.api" in sys.modules
        gc.callbacks.append(count)
        import lazytensor
        assert gc.isenabled() is {collects} and not runs, runs
        import lazytensor.core.device.garbage as garbage
        try:
            with garbage.importing():
                assert not gc.isenabled()
                import lazytensor.no_module
        except ImportError:
            pass
        assert gc.isenabled() is {collects}
    """
    run(program)
