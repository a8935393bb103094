"""A pytest plugin that runs PyTorch's device-generic tests on this device, or on the CPU.

It is loaded by `runner.py` in a process of its own, whose torch has the device registered.
"""

from __future__ import annotations

import contextlib
import os
import unittest.case
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

import lazytensor
import lazytensor.torch
from lazytensor.core.ir.recording import nodes_made
from lazytensor.core.trace import eager_mode
from tests.torch_suite.selection import CPU, DEVICE, HERE, is_for
from tests.wheel.suite import Suite
from tests.wheel.table import Table, read


def _undecorated(*_args: Any, **_kwargs: Any) -> Callable[[Any], Any]:
    return lambda test: test


REMOVED: Final[dict[str, dict[str, Any]]] = {
    "common_cuda": {"tf32_is_not_fp32": lambda: False},
    "common_mkldnn": {"bf32_on_and_off": _undecorated},
    "common_nn": {"new_module_tests": []},
}
"""Names in `torch.testing._internal` that tests of torch 2.6 import and torch 2.13 has not."""


def _without_loops(items: list[pytest.Item]) -> None:
    """Take off what ends in itself: `super(self.__class__, self).setUp()`, in a base class.

    Torch 2.13 derives a device's tests from the class that torch 2.6 copied. What such functions
    do beside that is CUDA's.
    """
    classes = {base for item in items for base in getattr(item, "cls", object).__mro__}
    for base in classes:
        for name in ("setUp", "tearDown"):
            own = vars(base).get(name)
            if own is not None and {"super", "__class__"} <= {*own.__code__.co_names}:
                delattr(base, name)


def _look_at_once() -> None:
    """Run each operation where it is recorded, in blocks that expect an error of it.

    What only data can tell is raised where a result is looked at, and such blocks look at none.
    """
    kind: Any = unittest.case._AssertRaisesContext
    leave = kind.__exit__

    def enter(self: Any) -> Any:
        with contextlib.suppress(Exception):  # not an error of operations recorded before
            lazytensor.sync()
        eager_mode.attach()
        return self

    def exit(self: Any, *error: Any) -> Any:
        eager_mode.detach()
        return leave(self, *error)

    kind.__enter__, kind.__exit__ = enter, exit


def _table(folder: str) -> Table:
    """What the files of a folder say: one for each file of PyTorch's tests."""
    found = [read(file, "") for file in sorted((HERE / folder).glob("*.toml"))]
    return Table([group for table in found for group in dict.fromkeys(table.groups.values())])


class Torchs(Suite):
    """Keeps the tests of one device, and counts the operations that each records."""

    def __init__(self, report: Path, *, lazily: bool) -> None:
        super().__init__(report, _table("left_out"), _table("exceptions"), lazily=lazily)
        self.device = DEVICE if lazily else CPU

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what the tables leave out, and the tests of other devices."""
        if self.lazily:
            super().pytest_collection_modifyitems(items)
        _without_loops(items)
        items[:] = [item for item in items if is_for(item.nodeid, self.device)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        made = nodes_made()
        try:
            return (yield)
        finally:
            self.recorded[item.nodeid] = nodes_made() - made

    def pytest_runtest_teardown(self) -> None:
        """Compute what a test has left over: no other test is to hear of its errors."""
        if self.lazily:
            with contextlib.suppress(Exception):
                lazytensor.sync()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--on-the-cpu", action="store_true", help="run the CPU's tests")
    parser.addoption("--outcomes", default=os.devnull, metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    for module, names in REMOVED.items():
        loaded = import_module(f"torch.testing._internal.{module}")
        for name, value in names.items():
            vars(loaded).setdefault(name, value)
    lazily = not config.getoption("--on-the-cpu")
    if lazily:
        _look_at_once()
    suite = Torchs(Path(config.getoption("--outcomes")), lazily=lazily)
    config.pluginmanager.register(suite, "torch-suite")
