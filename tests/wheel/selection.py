"""Which of the tests in NumPy's wheel are run, and which are not, and why."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

SITE: Final = Path(np.__file__).parents[1]
"""Where NumPy is installed; test ids begin there."""

HERE: Final = Path(__file__).parent

MODULES: Final = (
    "_core/tests/test_einsum.py",
    "_core/tests/test_function_base.py",
    "_core/tests/test_indexerrors.py",
    "_core/tests/test_indexing.py",
    "_core/tests/test_item_selection.py",
    "_core/tests/test_mem_overlap.py",
    "_core/tests/test_multiarray.py",
    "_core/tests/test_nep50_promotions.py",
    "_core/tests/test_numeric.py",
    "_core/tests/test_shape_base.py",
    "_core/tests/test_ufunc.py",
    "_core/tests/test_umath.py",
    "_core/tests/test_umath_complex.py",
    "fft/tests/test_helper.py",
    "fft/tests/test_pocketfft.py",
    "lib/tests/test_arraypad.py",
    "lib/tests/test_arraysetops.py",
    "lib/tests/test_function_base.py",
    "lib/tests/test_histograms.py",
    "lib/tests/test_index_tricks.py",
    "lib/tests/test_nanfunctions.py",
    "lib/tests/test_shape_base.py",
    "lib/tests/test_stride_tricks.py",
    "lib/tests/test_twodim_base.py",
    "lib/tests/test_type_check.py",
    "lib/tests/test_ufunclike.py",
    "linalg/tests/test_linalg.py",
    "linalg/tests/test_regression.py",
)
"""NumPy's test modules of what lazy arrays are to do."""


@dataclass(frozen=True)
class Group:
    """Tests that have something in common: the reason, and their ids."""

    reason: str
    patterns: tuple[str, ...]


class Table:
    """Groups of tests, looked up by id."""

    def __init__(self, groups: list[Group]) -> None:
        self.groups = {pattern: group for group in groups for pattern in group.patterns}

    def find(self, test: str) -> str | None:
        """What the table has of a test: itself, its function for all parameters, or its class."""
        plain = test.partition("[")[0]
        return next((x for x in (test, plain, plain.rpartition("::")[0]) if x in self.groups), None)

    def unused(self, tests: list[str]) -> list[str]:
        """What the table has of the modules of these tests, and is none of them."""
        modules = {test.partition("::")[0] for test in tests}
        found = {self.find(test) for test in tests}
        return [x for x in self.groups if x not in found and x.partition("::")[0] in modules]


def table(name: str) -> Table:
    """The table in `name`.toml: per group a `reason` and per module of NumPy's a list of tests."""
    with (HERE / f"{name}.toml").open("rb") as file:
        groups = tomllib.load(file)["group"]
    return Table(
        [
            Group(
                group["reason"],
                tuple(
                    f"numpy/{module}::{test}"
                    for module, tests in group["tests"].items()
                    for test in tests
                ),
            )
            for group in groups
        ]
    )
