"""A kernel of an NPBench checkout: its data, and its function with either library."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

PRESETS = ("S", "M", "L", "paper")
RTOL, ATOL, NORM_ERROR = 1e-5, 1e-8, 1e-5  # NPBench's own, where a kernel names no others


@dataclass(frozen=True)
class Kernel:
    """One benchmark as its JSON file describes it."""

    name: str
    source: Path
    folder: Path
    info: Mapping[str, Any]

    @property
    def array_names(self) -> tuple[str, ...]:
        """The arguments that are arrays, in the order of the file."""
        return tuple(self.info["array_args"])

    @property
    def tolerances(self) -> tuple[float, float, float]:
        """Relative, absolute, and relative of the norm."""
        of = self.info.get
        return of("rtol", RTOL), of("atol", ATOL), of("norm_error", NORM_ERROR)

    def function(self, *, swapped: bool = False) -> Callable[..., Any]:
        """The NumPy version from a fresh copy of its module; lazy if `swapped`."""
        name = f"{self.info['module_name']}_numpy"
        module = self._swapped(name) if swapped else self._module(name)
        found: Callable[..., Any] = getattr(module, self.info["func_name"])
        return found

    def by_hand(self) -> Callable[..., Any] | None:
        """The version written for JAX by hand, if there is one; wants double precision."""
        name = f"{self.info['module_name']}_jax"
        if not (self.folder / f"{name}.py").exists():
            return None
        found: Callable[..., Any] = getattr(self._module(name), self.info["func_name"])
        return found

    def data(self, preset: str) -> dict[str, Any]:
        """Every argument by name, arrays made by the kernel's own initialisation."""
        values: dict[str, Any] = dict(self.info["parameters"][preset])
        init = self.info.get("init")
        if init:
            initialise = getattr(self._module(self.info["module_name"]), init["func_name"])
            made = initialise(*[values[name] for name in init["input_args"]])
            outputs = init["output_args"]
            values.update(zip(outputs, [made] if len(outputs) == 1 else made, strict=True))
        return values

    def _swapped(self, name: str) -> ModuleType:
        from lazytensor.swap import swap  # NumPy's own process has nothing of ours

        undo = swap()
        try:
            return self._module(name)
        finally:
            undo()

    def _module(self, name: str) -> ModuleType:
        path = self.folder / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise FileNotFoundError(path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def kernels(source: Path) -> dict[str, Kernel]:
    """Every kernel of a checkout, by name."""
    found = {}
    for path in sorted((source / "bench_info").glob("*.json")):
        info = json.loads(path.read_text())["benchmark"]
        folder = source / "npbench" / "benchmarks" / info["relative_path"]
        found[path.stem] = Kernel(path.stem, source, folder, info)
    return found


class Call:
    """Calls of one function, each on fresh copies of the arrays that nobody else writes to."""

    def __init__(
        self, kernel: Kernel, function: Callable[..., Any], copy: Callable[[Any], Any]
    ) -> None:
        self.function = function
        self.copy = copy
        self.names = [*kernel.info["input_args"]]
        self.arrays = kernel.array_names

    def arguments(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name."""
        return {n: self.copy(data[n]) if n in self.arrays else data[n] for n in self.names}

    def results(self, returned: Any, arguments: Mapping[str, Any]) -> list[Any]:
        """What is returned, and every array that was given: NPBench looks at some of them."""
        results = [*returned] if isinstance(returned, tuple | list) else [returned]
        if returned is None:
            results = []
        return [*results, *(arguments[name] for name in self.arrays if name in arguments)]


def agree(kernel: Kernel, expected: list[Any], given: list[Any]) -> str:
    """An empty text if the results are equal by NPBench's measure; else what is not."""
    rtol, atol, norm_error = kernel.tolerances
    for i, (want, have) in enumerate(zip(expected, given, strict=True)):
        x, y = numpy.asarray(want), numpy.asarray(have)
        if x.shape != y.shape:
            return f"result {i}: {y.shape} instead of {x.shape}"
        if numpy.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            continue
        error = numpy.linalg.norm(x - y) / numpy.linalg.norm(x)
        if not error < norm_error:
            return f"result {i}: relative error {error:.2g}"
    return ""
