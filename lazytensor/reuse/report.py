"""The whole report: as plain data, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import lazytensor
from lazytensor.reuse import static
from lazytensor.reuse.components import COMPARED, is_installed
from lazytensor.reuse.dynamic import Comparison, Run, measure, shares_of_steps
from lazytensor.reuse.static import Frontend, Static

SCHEMA: Final = 2
"""Increased when a name in the record is removed or changes its meaning."""


@dataclass(frozen=True)
class Report:
    """The results of `lazytensor reuse`; `dynamic` is empty if no workloads were run."""

    static: Static
    dynamic: tuple[Comparison, ...]

    def record(self) -> dict[str, Any]:
        """The report as plain data; docs/reuse.md explains the names."""
        found = self.static
        return {
            "schema": SCHEMA,
            "version": lazytensor.__version__,
            "static": {
                "shared_lines": found.shared,
                "tool_lines": found.tools,
                "ops_declared": found.declared,
                "ops_in_all": list(found.in_all()),
                "compositions": {name: list(users) for name, users in found.compositions.items()},
                "frontends": {f.name: _frontend(f) for f in found.frontends},
            },
            "dynamic": {
                "installed": {name: is_installed(name) for name in COMPARED},
                "share_of_steps": shares_of_steps(self.dynamic),
                "workloads": [_comparison(found) for found in self.dynamic],
            },
        }


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "name": found.workload.name,
        "says": found.workload.says,
        "equal": found.equal,
        "equal_as_recorded": found.alike,
        "runs": {run.frontend: _run(run) for run in found.runs},
    }


def _run(run: Run) -> dict[str, Any]:
    record = {name: getattr(run, name) for name in RECORDED}
    shares = {"share": run.share, "share_of_steps": run.share_of_steps}
    return record | shares | {"programs": len(run.programs)}


RECORDED: Final = ("lines", "steps", "ops", "cuts", "compiles", "hits", "fallbacks", "apart")


def _frontend(found: Frontend) -> dict[str, Any]:
    record = {name: value for name, value in asdict(found).items() if name != "name"}
    return record | {"ops": list(found.ops), "compositions": list(found.compositions)}


def make(others: Iterable[Path] = (), *, runs: bool = True) -> Report:
    """Measure everything; `others` are folders of other frontends.

    `runs`: run the workloads too. Raises: SyntaxError for a file of `others` that is not Python.
    """
    return Report(static.measure(others), measure() if runs else ())
