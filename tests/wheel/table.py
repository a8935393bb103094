"""Tables of tests in other packages: which are to fail, or are not run, and why."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


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


def read(file: Path, package: str) -> Table:
    """The table in a file: per group a `reason` and per module of the package a list of tests.

    Ids begin with the package, if it is not empty.
    """
    prefix = f"{package}/" if package else ""
    with file.open("rb") as opened:
        groups = tomllib.load(opened).get("group", [])
    return Table(
        [
            Group(
                group["reason"],
                tuple(
                    f"{prefix}{module}::{test}"
                    for module, tests in group["tests"].items()
                    for test in tests
                ),
            )
            for group in groups
        ]
    )
