"""The dynamic part: what the same workloads run and record in each frontend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir import memo
from lazytensor.core.ir.op import all_ops
from lazytensor.core.ir.program import INPUTS, Program
from lazytensor.core.observe import metrics
from lazytensor.core.observe.events import Event, Fallback, listeners
from lazytensor.core.passes.canonicalize import normal
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings
from lazytensor.core.trace.layout_probe import results as results_of
from lazytensor.reuse.components import BACKEND, COMPARED, CORE, is_installed
from lazytensor.reuse.coverage import Lines, executed
from lazytensor.reuse.workloads import WORKLOADS, Workload


@dataclass(frozen=True)
class Run:
    """One workload in one frontend.

    `lines`: number of lines of code run, by component. `steps`: number of runs of these lines. Both
    are counted with the modules imported and all caches empty. `ops`: records of each op of the
    core. `cuts`, `compiles`, `hits`: programs run, compiled, found compiled. `fallbacks`: calls
    that the framework itself computed. `programs`: the programs run, each once. `apart`: the
    largest difference from the first frontend's results, relative to its largest number.
    """

    workload: str
    frontend: str
    lines: dict[str, int]
    steps: dict[str, int]
    ops: dict[str, int]
    cuts: int
    compiles: int
    hits: int
    fallbacks: int
    programs: tuple[Program, ...]
    apart: float

    @property
    def share(self) -> float:
        """The frontend's own share of all lines run in it, the core and the backend."""
        return _share(self.frontend, self.lines)

    @property
    def share_of_steps(self) -> float:
        """The frontend's own share of all steps."""
        return _share(self.frontend, self.steps)


def _share(frontend: str, counts: dict[str, int]) -> float:
    own = counts.get(frontend, 0)
    return own / max(1, own + counts.get(CORE, 0) + counts.get(BACKEND, 0))


def shares_of_steps(found: Iterable[Comparison]) -> dict[str, float]:
    """Per frontend: its own share of the steps in it, the core and the backend."""
    totals: dict[str, Counter[str]] = {}
    for run in (run for comparison in found for run in comparison.runs):
        totals.setdefault(run.frontend, Counter()).update(run.steps)
    return {name: _share(name, total) for name, total in totals.items()}


@dataclass(frozen=True)
class Comparison:
    """One workload in all installed frontends, in their order.

    `equal`: whether the programs have the same normal form. `alike`: whether they are the same as
    recorded.
    """

    workload: Workload
    runs: tuple[Run, ...]
    equal: bool
    alike: bool


def _enabled() -> AbstractContextManager[object]:
    found: AbstractContextManager[object] = import_module("lazytensor.tf").enabled()
    return found


AROUND: Final[dict[str, Callable[[], AbstractContextManager[object]]]] = {"tf": _enabled}
"""Per frontend that has to be switched on: a context that does so."""


COUNTED: Final = ("cuts", "compiles", "cache_hits")


def measure() -> tuple[Comparison, ...]:
    """Run every workload in every frontend twice; the first run does work of imports."""
    installed = [name for name in COMPARED if is_installed(name)]
    modules = {name: import_module(f"lazytensor.reuse.workloads.in_{name}") for name in installed}
    with _everything_recorded():
        fetch(ops.add(ops.leaf(np.ones(2)), ops.leaf(np.ones(2))))  # imports the backend
        for name in installed:
            with AROUND.get(name, nullcontext)():
                pass  # TensorFlow's frontend tests itself once
        return tuple(_compared(workload, modules) for workload in WORKLOADS)


@contextmanager
def _everything_recorded() -> Iterator[None]:
    """Make small arrays lazy, compile programs at once, and do not use the disk cache."""
    before = {name: getattr(settings, name) for name in ("small", "tier", "disk")}
    settings.small, settings.tier, settings.disk = 0, "compile", False
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)


def _forget() -> None:
    """Empty the caches of programs, types and calls; imported modules stay."""
    cache.clear()
    memo.forget()
    for op in all_ops():
        op.signatures.clear()


def _compared(workload: Workload, modules: dict[str, Any]) -> Comparison:
    data = workload.data(np.random.default_rng(0))
    runs: list[Run] = []
    first: list[np.ndarray] = []
    functions = {n: getattr(m, workload.name.replace("-", "")) for n, m in modules.items()}
    _forget()
    for name, function in functions.items():
        run, results = _run(workload.name, name, partial(function, data))
        first = first or results
        runs.append(replace(run, apart=_apart(results, first)))
    runs = [_counted(run, partial(functions[run.frontend], data)) for run in runs]
    recorded = [run.programs for run in runs]
    forms = [tuple(normal(program).program for program in programs) for programs in recorded]
    return Comparison(
        workload,
        tuple(runs),
        all(form == forms[0] for form in forms),
        all(programs == recorded[0] for programs in recorded),
    )


def _counted(run: Run, function: Callable[[], Any]) -> Run:
    lines = _traced(run.frontend, function)
    sizes = {name: len(found) for name, found in sorted(lines.items())}
    steps = {name: found.total() for name, found in sorted(lines.items())}
    return replace(run, lines=sizes, steps=steps)


def _traced(frontend: str, function: Callable[[], Any]) -> Lines:
    """The lines that a workload runs with its modules imported and all caches empty."""
    _forget()
    with AROUND.get(frontend, nullcontext)(), executed() as lines:
        for x in results_of(function()):
            np.asarray(_on_host(x))  # a lazy NumPy array is computed only here
    return lines


def _run(workload: str, frontend: str, function: Callable[[], Any]) -> tuple[Run, list[np.ndarray]]:
    """What a workload records and runs, and its results; `_counted` counts its lines."""
    happened: list[Event | Fallback] = []
    before = metrics.snapshot()
    listeners.append(happened.append)
    try:
        with AROUND.get(frontend, nullcontext)():
            results = [np.asarray(_on_host(x)) for x in results_of(function())]
    finally:
        listeners.remove(happened.append)
    after = metrics.snapshot()
    cuts, compiles, hits = (int(after[name] - before[name]) for name in COUNTED)
    programs = tuple(dict.fromkeys(e.program for e in happened if isinstance(e, Event)))
    recorded = (line[0] for program in programs for line in program.instructions)
    ops = Counter(op.name for op in recorded if op not in INPUTS)
    fallbacks = sum(isinstance(event, Fallback) for event in happened)
    made = Run(
        workload, frontend, {}, {}, dict(sorted(ops.items())),
        cuts, compiles, hits, fallbacks, programs, 0.0,
    )  # fmt: skip
    return made, results


def _on_host(x: Any) -> Any:
    """The value of a frontend's array or tensor, on the host."""
    for name in ("detach", "cpu", "numpy"):
        x = getattr(x, name)() if hasattr(x, name) and not isinstance(x, np.ndarray) else x
    return x


def _apart(results: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference, relative to the largest number."""
    pairs = zip(results, expected, strict=True)
    return max(float(np.abs(x - y).max() / max(1e-30, np.abs(y).max())) for x, y in pairs)
