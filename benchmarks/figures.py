"""Measured numbers: the median of some samples with the quartiles around it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (0.0, "ns"))
MIN_FOR_QUARTILES = 3

LOOK = 0.005  # seconds between two looks whether a library's threads are still busy
BUSY = 0.1  # processors in use, above which they are
LONGEST_REST = 0.5  # seconds
SHORT = 0.3  # seconds; what takes less is called once more, as a rest cools caches too


@dataclass(frozen=True)
class Figure:
    """One number, with the machine's noise: half of the samples lie between `low` and `high`.

    `unit` is `s` for seconds, `x` for a ratio, `MB`, or empty for a count.
    """

    median: float
    low: float
    high: float
    unit: str = "s"

    def __str__(self) -> str:
        if self.unit == "":
            return f"{self.median:g}"
        factor, unit = (1.0, self.unit) if self.unit != "s" else _scale(self.median)
        shown = f"{_digits(self.median / factor)}{'×' if unit == 'x' else ' ' + unit}"
        if self.low == self.high:
            return shown
        return f"{shown} ({_digits(self.low / factor)}–{_digits(self.high / factor)})"


Figures = dict[str, Figure]


def _scale(seconds: float) -> tuple[float, str]:
    factor, unit = next(scale for scale in SCALES if abs(seconds) >= scale[0])
    return (factor or 1e-9), unit


def _digits(value: float) -> str:
    """Three significant digits, without an exponent."""
    size = abs(value)
    if size >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def figure(samples: Sequence[float], unit: str = "s") -> Figure:
    """The median and the quartiles of some samples."""
    if len(samples) < MIN_FOR_QUARTILES:
        return Figure(statistics.median(samples), min(samples), max(samples), unit)
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Figure(middle, low, high, unit)


def count(value: float) -> Figure:
    """A number that has no noise."""
    return Figure(value, value, value, "")


def ratio(of: Sequence[float], to: Sequence[float]) -> Figure:
    """Round by round, how many times `of` is `to`: slow phases of the machine cancel out."""
    return figure([a / b for a, b in zip(of, to, strict=True)], "x")


def seconds_of(action: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def rest() -> None:
    """Wait until no thread of this process is busy any more.

    The threads of OpenBLAS and OpenMP wait for more work by spinning, for 0.1 s and longer: on two
    processors whoever comes next has but one, and its products of matrices take twice their time.
    """
    start = time.perf_counter()
    while time.perf_counter() - start < LONGEST_REST:
        used = time.process_time()
        time.sleep(LOOK)
        if time.process_time() - used < BUSY * LOOK:
            return


def interleaved(
    contestants: Mapping[str, Callable[[], float]], rounds: int, warmup: int = 1
) -> dict[str, list[float]]:
    """Let contestants take turns, in reverse order every other round. They time themselves.

    Between two turns is a rest, so that none runs beside the threads of the one before.
    """
    for contestant in contestants.values():
        for _ in range(warmup):
            contestant()
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for _ in range(rounds):
        for name in order:
            rest()
            sample = contestants[name]()
            samples[name].append(sample if sample > SHORT else contestants[name]())
        order.reverse()
    return samples
