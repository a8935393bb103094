"""A pytest plugin under which NumPy's own test modules import another NumPy.

It is loaded by `runner.py` in a process of its own: NumPy's tests keep their own settings there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy
import pytest

import lazytensor.numpy
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.swap import swap
from tests.sweeps import is_chosen
from tests.wheel.selection import HERE, SITE
from tests.wheel.suite import Suite
from tests.wheel.table import read


def is_numpys_test(namespace: Mapping[str, Any], frame: FrameType) -> bool:
    """Whether code with these globals is one of NumPy's test modules."""
    file = namespace.get("__file__")
    return (
        isinstance(file, str)
        and file.startswith(str(SITE / "numpy"))
        and os.path.basename(os.path.dirname(file)) == "tests"
    )


class NumPys(Suite):
    """Swaps NumPy for the modules of NumPy's tests."""

    def __init__(self, replacement: str, report: Path, one_in: int) -> None:
        tables = (read(HERE / f"{name}.toml", "numpy") for name in ("left_out", "exceptions"))
        super().__init__(report, *tables, lazily=replacement != "numpy")
        self.replacement = replacement
        self.one_in = one_in

    def pytest_configure(self, config: pytest.Config) -> None:
        if not self.lazily:
            return
        warnings.simplefilter("ignore", LazyTensorWarning)
        config.addinivalue_line(
            "filterwarnings", "ignore::lazytensor.core.errors.LazyTensorWarning"
        )
        config.add_cleanup(swap(replacement=self.replacement, owned=is_numpys_test))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave most cases of tests of long tables, if the run is to be short."""
        super().pytest_collection_modifyitems(items)
        items[:] = [x for x in items if "[" not in x.name or is_chosen(x.nodeid, self.one_in)]

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Draw the same random numbers in every run: an exception is strict, so it always fails.

        A test that counts references is to count its own, and not what others left to `gc`.
        """
        numpy.random.seed(0)
        lazytensor.numpy.random.seed(0)
        if isinstance(item, pytest.Function) and "getrefcount" in item.function.__code__.co_names:
            gc.collect()

    def pytest_runtest_teardown(self) -> None:
        """Compute what a test has left over, as no other test is to hear of its errors."""
        if self.lazily:
            with contextlib.suppress(Exception):
                lazytensor.sync()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--in-place-of-numpy", default="lazytensor.numpy", metavar="MODULE")
    parser.addoption("--outcomes", default=os.devnull, metavar="FILE")
    parser.addoption("--one-in", type=int, default=1, metavar="N")


def pytest_configure(config: pytest.Config) -> None:
    report = Path(config.getoption("--outcomes"))
    given = config.getoption("--in-place-of-numpy"), report, config.getoption("--one-in")
    suite = NumPys(*given)
    config.pluginmanager.register(suite, "wheel")
