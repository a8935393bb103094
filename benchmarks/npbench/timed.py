"""Timed calls of a kernel; NumPy's are made in a process that has nothing of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy

from benchmarks.contestant import Contestant, take_turns
from benchmarks.machine import take_memory
from benchmarks.npbench.kernel import Call, Kernel, kernels

TAKEN = 4  # times what it is given is what a call needs


class Timed:
    """One library's calls. `seconds` are of the last call, results waited for."""

    def __init__(self, call: Call, data: Mapping[str, Any], ready: Callable[[list[Any]], None]):
        self.call = call
        self.data = data
        self.ready = ready
        self.results: list[Any] = []

    def __call__(self) -> float:
        self.results = []  # the last call's memory is free again before the next takes any
        arguments = self.call.arguments(self.data)
        start = time.perf_counter()
        returned = self.call.function(*arguments.values())
        self.results = self.call.results(returned, arguments)
        self.ready(self.results)
        return time.perf_counter() - start


def by_numpy(kernel: Kernel, data: Mapping[str, Any]) -> Timed:
    """Calls of the kernel as it is."""
    return Timed(Call(kernel, kernel.function(), numpy.copy), data, lambda _: None)


def take_memory_for(data: Mapping[str, Any]) -> None:
    """Have the machine give what a first call will need; to be called right before it."""
    given = sum(x.nbytes for x in data.values() if isinstance(x, numpy.ndarray))
    take_memory(TAKEN * given)


def apart(kernel: Kernel, preset: str) -> Contestant:
    """The same in a process of its own, which does not have this library.

    NumPy takes its memory from malloc, which this library tells to keep what is freed: in one
    process NumPy would have that too, and the threads of one library would wait beside the other's.
    """
    given = f"{str(kernel.source)!r}, {kernel.name!r}, {preset!r}"
    return Contestant(f"from benchmarks.npbench.timed import work; work({given})")


def work(source: str, name: str, preset: str) -> None:
    """Be that process."""
    kernel = kernels(Path(source))[name]
    data = kernel.data(preset)
    take_memory_for(data)
    take_turns(by_numpy(kernel, data))
