"""Settings for the whole suite: how many random programs Hypothesis writes, what goes first."""

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Iterator

import pytest

os.environ.setdefault("LAZYTENSOR_SMALL", "0")  # test data is small, and is to be lazy
# Else it is the CPU that decides which of its kernels TensorFlow takes, and they differ: without
# oneDNN grouped convolutions have no gradient, and what batch norm keeps for its own is another.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

from hypothesis import HealthCheck, settings

import lazytensor
from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.trace_state import Recorder
from lazytensor.core.runtime import background
from lazytensor.core.runtime.program_cache import cache
from tests.sweeps import is_left_out

IS_APART = bool(os.environ.get("LAZYTENSOR_TESTS_APART"))
"""Whether the suite runs on a device that is not the host."""
if IS_APART:
    from tests import apart

    apart.take_over()

# A compile may take seconds, and comes at unforeseeable examples: time per example says nothing.
SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# Derandomised, so that a change is judged by the same programs as the change before it.
settings.register_profile("ci", max_examples=120, derandomize=True, **SHARED)
settings.register_profile("nightly", max_examples=10_000, print_blob=True, **SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

LONGEST = ("tests/wheel/", "tests/ops/test_laws.py", "tests/tensorflow_frontend/test_sweep.py")
"""Files that take minutes: they begin first, or the other processes wait for them at the end."""


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no executables on disk, and leave none among the user's.

    What an earlier run of the suite has stored is run by XLA where the first run is interpreted.
    """
    folder = tempfile.TemporaryDirectory(prefix="lazytensor-tests-")
    os.environ["LAZYTENSOR_CACHE_DIR"] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.fixture(autouse=True)
def _nothing_recorded() -> None:
    """Where a graph is cut by itself depends on the loops before, and not on other tests'."""
    thread.recorder = Recorder()
    if IS_APART:  # there, all programs that come back are compiled in the background
        background.drain()


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """What moves between two memories: the backend is a device that is not the host."""
    from tests import apart

    def settle() -> None:
        lazytensor.sync()
        background.drain()
        cache.clear()

    monkeypatch.setattr(lazytensor.settings, "disk", False)
    settle()
    apart.take_over()
    apart.moved.clear()
    yield apart.moved
    settle()
    if not IS_APART:
        apart.give_back()


@pytest.fixture(params=["interpret", "compile"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Programs are run by NumPy, or by XLA."""
    monkeypatch.setattr(lazytensor.settings, "tier", request.param)
    return str(request.param)


def pytest_collection_finish() -> None:
    """Spare each full collection what is imported and collected, and there for good."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what a commit does not run, and put the longest files first."""
    left_out = set(filter(is_left_out, items))
    if left_out:
        items[0].config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    if IS_APART:
        other = pytest.mark.skip(reason="about a device whose memory is the host's")
        for item in items:
            if item.get_closest_marker("one_memory"):
                item.add_marker(other)
